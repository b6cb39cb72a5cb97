package dev.droidgate.shim;

/** Names of the protocols, as the adapters' tables have them, and of this app's own extras. */
final class Names {
    static final String SERVICE = "mobile.mcp.SERVICE";
    static final String CALLBACK = "mcp_callback";
    static final int MESSAGE_INVOKE = 1;
    static final int MESSAGE_RESULT = 2;
    static final int MESSAGE_FUNCTION = 3;
    static final int MESSAGE_FUNCTION_RESULT = 4;
    static final int MESSAGE_CANCEL_FUNCTION = 5;
    static final String CAPABILITIES = "mobile.mcp.tool.capabilities";
    static final String OLD_CAPABILITIES = "mcp.capabilities";

    static final String MMCP_MANIFEST = "mMCP_manifest";
    static final String MMCP_CALL = "com.example.mMCP.ACTION_TOOL_CALL";
    static final String TOOL_NAME = "tool_name";
    static final String PARAMETERS = "parameters";
    static final String RESULT = "result";
    static final String ERROR = "error";

    static final String MMCP_DISCOVERY = "com.example.ACTION_MMCP_DISCOVERY";
    static final String MMCP_INVOKE = "com.example.ACTION_MMCP_INVOKE";
    static final String TOOL = "tool";
    static final String PARAMS = "params";
    static final String TOOLS = "tools";
    static final String DESCRIPTION = "description";

    static final String ORIGIN_PACKAGE = "gateway_origin_package";
    static final String ORIGIN_CERTIFICATE = "gateway_origin_certificate";

    static final String ANY_APP = "any-app";
    static final String EVERYTHING = "*";
    static final String SHELL_IDENTITY_PACKAGE = "dev.droidgate.shim";
    static final String PACKAGE = "package";
    static final String FUNCTION = "function";
    static final String DOCUMENT = "document";
    static final String RESPONSE = "response";
    static final String CODE = "code";
    static final String MESSAGE = "message";
    static final String TOKEN = "token";
    static final String EXECUTE_APP_FUNCTIONS = "android.permission.EXECUTE_APP_FUNCTIONS";

    private Names() {}
}
