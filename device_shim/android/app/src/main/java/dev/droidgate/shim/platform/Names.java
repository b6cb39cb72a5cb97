package dev.droidgate.shim.platform;

/** Names of the protocols, as the adapters' tables have them, and of this app's own extras. */
public final class Names {
    public static final String SERVICE = "mobile.mcp.SERVICE";
    public static final String CALLBACK = "mcp_callback";
    public static final int MESSAGE_INVOKE = 1;
    public static final int MESSAGE_RESULT = 2;
    public static final int MESSAGE_FUNCTION = 3;
    public static final int MESSAGE_FUNCTION_RESULT = 4;
    public static final int MESSAGE_CANCEL_FUNCTION = 5;
    public static final String CAPABILITIES = "mobile.mcp.tool.capabilities";
    public static final String OLD_CAPABILITIES = "mcp.capabilities";

    public static final String MMCP_MANIFEST = "mMCP_manifest";
    public static final String MMCP_CALL = "com.example.mMCP.ACTION_TOOL_CALL";
    public static final String TOOL_NAME = "tool_name";
    public static final String PARAMETERS = "parameters";
    public static final String RESULT = "result";
    public static final String ERROR = "error";

    public static final String MMCP_DISCOVERY = "com.example.ACTION_MMCP_DISCOVERY";
    public static final String MMCP_INVOKE = "com.example.ACTION_MMCP_INVOKE";
    public static final String TOOL = "tool";
    public static final String PARAMS = "params";
    public static final String TOOLS = "tools";
    public static final String DESCRIPTION = "description";

    public static final String ORIGIN_PACKAGE = "gateway_origin_package";
    public static final String ORIGIN_CERTIFICATE = "gateway_origin_certificate";

    public static final String ANY_APP = "any-app";
    public static final String EVERYTHING = "*";
    public static final String SHELL_IDENTITY_PACKAGE = "dev.droidgate.shim";
    public static final String PACKAGE = "package";
    public static final String FUNCTION = "function";
    public static final String DOCUMENT = "document";
    public static final String RESPONSE = "response";
    public static final String CODE = "code";
    public static final String MESSAGE = "message";
    public static final String TOKEN = "token";
    public static final String EXECUTE_APP_FUNCTIONS = "android.permission.EXECUTE_APP_FUNCTIONS";

    private Names() {}
}
