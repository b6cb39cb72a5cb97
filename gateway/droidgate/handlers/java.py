"""The Java class that validates a call's arguments and calls one typed method per capability (Java 8, org.json only)."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final

from droidgate.handlers.methods import Method, Parameter, ValueKind

_TYPES: Final[dict[ValueKind, tuple[str, str]]] = {
    "boolean": ("boolean", "Boolean"),
    "int32": ("int", "Integer"),
    "int64": ("long", "Long"),
    "float": ("float", "Float"),
    "double": ("double", "Double"),
    "string": ("String", "String"),
    "bytes": ("byte[]", "byte[]"),
    "array": ("JSONArray", "JSONArray"),
    "object": ("JSONObject", "JSONObject"),
    "any": ("Object", "Object"),
    "void": ("void", "Void"),
}
_READERS: Final[dict[ValueKind, str]] = {
    "boolean": "asBoolean",
    "int32": "asInt",
    "int64": "asLong",
    "float": "asFloat",
    "double": "asDouble",
    "string": "asString",
    "bytes": "asBytes",
    "array": "asArray",
    "object": "asObject",
    "any": "asAny",
    "void": "asAny",
}
_WIDTH: Final = 100


def java_string(text: str) -> str:
    """Return a Java string literal in ASCII."""
    simple = {"\\": "\\\\", '"': '\\"', "\n": "\\n", "\r": "\\r", "\t": "\\t"}
    pieces = []
    for unit in _utf16_units(text):
        character = chr(unit)
        if character in simple:
            pieces.append(simple[character])
        else:
            pieces.append(character if 0x20 <= unit < 0x7F else f"\\u{unit:04x}")
    return '"' + "".join(pieces) + '"'


def _utf16_units(text: str) -> Iterator[int]:
    data = text.encode("utf-16-be", "surrogatepass")
    return (int.from_bytes(data[at : at + 2], "big") for at in range(0, len(data), 2))


def java_comment(text: str, indent: str, tags: Sequence[tuple[str, str]] = ()) -> list[str]:
    """Return a Javadoc comment of a text and its `@param` tags, safe against `*/`, markup and Unicode escapes."""
    lines = [*_wrap(_comment_text(text), indent)]
    for name, about in tags:
        lines.extend(_wrap(f"@param {name} {_comment_text(about)}", indent))
    if len(lines) == 1 and len(lines[0]) + len(indent) < _WIDTH - 8:
        return [f"{indent}/** {lines[0]} */"]
    return [f"{indent}/**", *(f"{indent} * {line}" for line in lines), f"{indent} */"]


def _comment_text(text: str) -> str:
    escapes = {"&": "&amp;", "<": "&lt;", ">": "&gt;", "@": "&#64;", "\\": "&#92;", "*/": "*&#47;"}
    for plain, escaped in escapes.items():
        text = text.replace(plain, escaped)
    return " ".join("".join(one if one.isprintable() else " " for one in text).split())


def _wrap(text: str, indent: str) -> Iterator[str]:
    width = _WIDTH - len(indent) - 3
    line = ""
    for word in text.split(" "):
        if line and len(line) + 1 + len(word) > width:
            yield line
            line = word
        else:
            line = f"{line} {word}" if line else word
    yield line


def java_type(parameter: Parameter) -> str:
    """Return the Java type of a parameter: boxed where it may be null, a list where its items are scalars."""
    if parameter.kind == "array" and parameter.item_kind != "any":
        return f"List<{_TYPES[parameter.item_kind][1]}>"
    return _TYPES[parameter.kind][1 if parameter.optional else 0]


def java_return_type(method: Method) -> str:
    """Return the Java type of a method's result; JSONObject for named outputs."""
    if method.returns == "array" and method.return_item_kind != "any":
        return f"List<{_TYPES[method.return_item_kind][1]}>"
    return _TYPES[method.returns][0]


def write_calls_class(package: str, name: str, methods: Sequence[Method]) -> str:
    """Return the source of the class that checks and makes calls.

    Args:
        package: Its Java package.
        name: Its simple name, such as `NotesCalls`.
        methods: What it calls.

    Returns:
        Java 8 source that needs org.json only. `call(id, arguments)` returns what the method returned (null for void) and throws
        `CallException` with a failure token (`unknown_capability`, `invalid_argument`).
    """
    lines = [
        f"package {package};",
        "",
        "import java.util.ArrayList;",
        "import java.util.Arrays;",
        "import java.util.HashSet;",
        "import java.util.Iterator;",
        "import java.util.List;",
        "import java.util.Set;",
        "",
        "import org.json.JSONArray;",
        "import org.json.JSONException;",
        "import org.json.JSONObject;",
        "",
        "/** Checks the arguments of a call and makes it. Made by droidgate and made anew by it. */",
        f"public final class {name} {{",
        *_capabilities_interface(methods),
        "",
        *_FAILURE.splitlines(),
        "",
        "    private final Capabilities capabilities;",
        "",
        f"    public {name}(Capabilities capabilities) {{",
        "        this.capabilities = capabilities;",
        "    }",
        "",
        *_dispatch(methods),
    ]
    for method in methods:
        lines.extend(["", *_caller(method)])
    lines.extend(["", *_ARGUMENTS.splitlines(), "}", ""])
    return "\n".join(lines)


def _signature(method: Method) -> str:
    parameters = ", ".join(f"{java_type(one)} {one.identifier}" for one in method.parameters)
    return f"{java_return_type(method)} {method.identifier}({parameters}) throws CallException, JSONException"


def _method_comment(method: Method, indent: str) -> list[str]:
    tags = [(one.identifier, one.description) for one in method.parameters if one.description]
    return java_comment(method.description or f"The capability {method.capability_id}", indent, tags)


def _capabilities_interface(methods: Sequence[Method]) -> Iterator[str]:
    yield "    /** What the app does: one method for each capability. */"
    yield "    public interface Capabilities {"
    for position, method in enumerate(methods):
        if position:
            yield ""
        yield from _method_comment(method, "        ")
        yield f"        {_signature(method)};"
    yield "    }"


def write_capabilities_class(package: str, name: str, calls: str, methods: Sequence[Method]) -> str:
    """Return the source of the class that the app's author fills in: it implements every capability by refusing it."""
    lines = [
        f"package {package};",
        "",
        "import java.util.List;",
        "",
        "import org.json.JSONArray;",
        "import org.json.JSONException;",
        "import org.json.JSONObject;",
        "",
        "/** What the app does when a capability is called: put its work in place of each refusal. */",
        f"final class {name} implements {calls}.Capabilities {{",
    ]
    for position, method in enumerate(methods):
        if position:
            lines.append("")
        lines.append("    @Override")
        lines.append(
            f"    public {_signature(method).replace('throws CallException', f'throws {calls}.CallException')} {{"
        )
        refusal = java_string(f"{method.capability_id} is not implemented yet")
        lines.append(f'        throw new {calls}.CallException("unavailable", {refusal});')
        lines.append("    }")
    lines.extend(["}", ""])
    return "\n".join(lines)


def _dispatch(methods: Sequence[Method]) -> Iterator[str]:
    yield "    /**"
    yield "     * Makes one call."
    yield "     *"
    yield "     * @param capability its id"
    yield "     * @param arguments the arguments by name"
    yield "     * @return what the capability returned, null where it returns nothing"
    yield "     */"
    yield "    public Object call(String capability, JSONObject arguments)"
    yield "            throws CallException, JSONException {"
    yield "        switch (capability) {"
    for method in methods:
        yield f"            case {java_string(method.capability_id)}:"
        yield f"                return {method.identifier}(arguments);"
    yield "            default:"
    yield '                throw new CallException("unknown_capability", "No capability " + capability);'
    yield "        }"
    yield "    }"


def _caller(method: Method) -> Iterator[str]:
    yield f"    private Object {method.identifier}(JSONObject arguments) throws CallException, JSONException {{"
    names = "".join(f", {java_string(one.name)}" for one in method.parameters)
    yield f"        Arguments given = new Arguments(arguments{names});"
    call = f"capabilities.{method.identifier}("
    end = ");"
    void = method.returns == "void"
    head = f"        {'' if void else 'return '}{call}"
    if not method.parameters:
        yield head + end
    else:
        yield head
        last = len(method.parameters) - 1
        for position, one in enumerate(method.parameters):
            yield f"                {_argument(one)}{end if position == last else ','}"
    if void:
        yield "        return null;"
    yield "    }"


def _argument(one: Parameter) -> str:
    required = "false" if one.optional else "true"
    name = java_string(one.name)
    if one.kind == "array" and one.item_kind != "any":
        boxed = _TYPES[one.item_kind][1]
        return f"given.listOf({name}, {required}, {boxed}.class)"
    if one.enum and one.kind == "string" and all(isinstance(value, str) for value in one.enum):
        values = ", ".join(java_string(str(value)) for value in one.enum)
        return f"given.oneOf({name}, {required}, {values})"
    return f"given.{_READERS[one.kind]}({name}, {required})"


_FAILURE: Final = """\
    /** A call that failed, with the token that stands at the head of its message. */
    public static final class CallException extends Exception {
        private static final long serialVersionUID = 1L;
        private final String token;

        public CallException(String token, String message) {
            super(token + ": " + message);
            this.token = token;
        }

        /** The failure token, such as invalid_argument. */
        public String token() {
            return token;
        }
    }"""

_ARGUMENTS: Final = """\
    /** The arguments of one call, read strictly. */
    private static final class Arguments {
        private final JSONObject values;

        Arguments(JSONObject values, String... names) throws CallException {
            this.values = values;
            Set<String> known = new HashSet<>(Arrays.asList(names));
            for (Iterator<String> keys = values.keys(); keys.hasNext(); ) {
                String key = keys.next();
                if (!known.contains(key)) {
                    throw invalid(key, "is not a parameter");
                }
            }
        }

        Object asAny(String name, boolean required) throws CallException {
            Object value = values.opt(name);
            if (value == null || value == JSONObject.NULL) {
                if (required) {
                    throw invalid(name, "is missing");
                }
                return null;
            }
            return value;
        }

        Boolean asBoolean(String name, boolean required) throws CallException {
            return as(name, asAny(name, required), Boolean.class);
        }

        Integer asInt(String name, boolean required) throws CallException {
            return as(name, asAny(name, required), Integer.class);
        }

        Long asLong(String name, boolean required) throws CallException {
            return as(name, asAny(name, required), Long.class);
        }

        Float asFloat(String name, boolean required) throws CallException {
            return as(name, asAny(name, required), Float.class);
        }

        Double asDouble(String name, boolean required) throws CallException {
            return as(name, asAny(name, required), Double.class);
        }

        String asString(String name, boolean required) throws CallException {
            return as(name, asAny(name, required), String.class);
        }

        JSONObject asObject(String name, boolean required) throws CallException {
            return as(name, asAny(name, required), JSONObject.class);
        }

        JSONArray asArray(String name, boolean required) throws CallException {
            return as(name, asAny(name, required), JSONArray.class);
        }

        byte[] asBytes(String name, boolean required) throws CallException {
            String text = asString(name, required);
            return text == null ? null : decodeBase64(name, text);
        }

        String oneOf(String name, boolean required, String... allowed) throws CallException {
            String value = asString(name, required);
            if (value != null && !Arrays.asList(allowed).contains(value)) {
                throw invalid(name, "is none of " + Arrays.toString(allowed));
            }
            return value;
        }

        <T> List<T> listOf(String name, boolean required, Class<T> type) throws CallException {
            JSONArray array = asArray(name, required);
            if (array == null) {
                return null;
            }
            List<T> items = new ArrayList<>(array.length());
            for (int i = 0; i < array.length(); i++) {
                Object item = array.opt(i);
                if (item == null || item == JSONObject.NULL) {
                    throw invalid(name + "[" + i + "]", "is null");
                }
                items.add(as(name + "[" + i + "]", item, type));
            }
            return items;
        }

        private static <T> T as(String name, Object value, Class<T> type) throws CallException {
            if (value == null || type.isInstance(value)) {
                return type.cast(value);
            }
            if (value instanceof Number) {
                Object number = convert((Number) value, type);
                if (number != null) {
                    return type.cast(number);
                }
            }
            throw invalid(name, "is not of type " + type.getSimpleName());
        }

        private static Object convert(Number value, Class<?> type) {
            double wide = value.doubleValue();
            boolean whole = value instanceof Integer || value instanceof Long;
            if (type == Long.class && whole) {
                return value.longValue();
            }
            if (type == Integer.class && whole && value.longValue() == value.intValue()) {
                return value.intValue();
            }
            if (type == Double.class && !Double.isNaN(wide) && !Double.isInfinite(wide)) {
                return wide;
            }
            if (type == Float.class && Math.abs(wide) <= Float.MAX_VALUE) {
                return (float) wide;
            }
            return null;
        }

        private static byte[] decodeBase64(String name, String text) throws CallException {
            String digits = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
            int end = text.length();
            while (end > 0 && end > text.length() - 2 && text.charAt(end - 1) == '=') {
                end--;
            }
            byte[] decoded = new byte[end * 3 / 4];
            int bits = 0;
            int held = 0;
            int at = 0;
            for (int i = 0; i < end; i++) {
                int digit = digits.indexOf(text.charAt(i));
                if (digit < 0) {
                    throw invalid(name, "is not base64");
                }
                bits = (bits << 6 | digit) & 0xFFF;
                held += 6;
                if (held >= 8) {
                    held -= 8;
                    decoded[at++] = (byte) (bits >> held);
                }
            }
            return decoded;
        }

        private static CallException invalid(String name, String reason) {
            return new CallException("invalid_argument", name + " " + reason);
        }
    }"""
