"""Changes of the engines that no outcome shows, looked at one by one; each with the reason.

A change is named by its module or file, the text of its line, and what replaces it.
"""

from collections.abc import Mapping
from typing import Final

Key = tuple[str, str, str]

REVIEWED: Final[Mapping[Key, str]] = {
    (
        "BackendAnswer.java",
        "return new BackendAnswer(Route.TOOL, 0, extras, null, null, null);",
        "'0' to '1' at 37",
    ): "a tool's response has no code",
    (
        "Constraints.java",
        'return order == 0 ? !keyword.startsWith("exclusive") : order < 0 == atMost;',
        "'0' to '1' at 63",
    ): "equal values were handled before",
    (
        "droidgate_shim.engine.routes",
        'kind = _WORD_KINDS.get(type_behind(declared, definitions).kind, "string")',
        "'string' to 'string!'",
    ): "every kind is in the table",
    (
        "droidgate_shim.engine.rates",
        "def take(self, now: int, carrier: Carrier, caller: int) -> Failure | None:",
        "without self._buckets.pop(key, None)",
    ): "the order of the buckets only decides which may be forgotten first",
    (
        "droidgate_shim.engine.strict_json",
        "number = int(digits) if len(digits) <= MAX_NUMBER_CHARACTERS else _refuse_number()",
        "LtE to Lt",
    ): "an integer of 32 characters is beyond 64 bits anyway",
    (
        "droidgate_shim.engine.strict_json",
        'if len(exponent.lstrip("+-")) > MAX_EXPONENT_DIGITS:',
        "'+-' to '+-!'",
    ): "no such sign comes through the decoder",
    (
        "droidgate_mappings.values.failures",
        "return write_failure(self.token, self.text or load_failure_tokens()[self.token].meaning)",
        "returns None",
    ): "the engine writes its failures itself; this one is for the command line",
    (
        "droidgate_shim.engine.authority",
        'Carrier = Literal["start", "bind"]',
        "'bind' to 'bind!'",
    ): "a type of the checker's",
    (
        "droidgate_mappings.values.patterns",
        'if self.peek() and self.peek() in "*+?{":',
        "without raise UnsupportedPatternError('a quantifier behind a quantifier')",
    ): "the next part cannot begin with a quantifier and is refused then",
    (
        "droidgate_mappings.values.constraints",
        "if scale > _MAX_SCALE or max(number.adjusted(), step.adjusted()) > _MAX_SCALE:",
        "Gt to GtE",
    ): "a bound of time; no number within the limits of JSON has so many digits",
    (
        "droidgate_appfunctions.wire_documents",
        "if isinstance(exact, Decimal) and exact.is_finite() and exact.adjusted() < _MAX_DIGITS:",
        "Lt to LtE",
    ): "a bound of time: 65 digits are beyond 64 bits as well",
    (
        "droidgate_appfunctions.wire_documents",
        '__all__ = ["KIND_OF_SCALAR", "read_document", "write_document"]',
        "'read_document' to 'read_document!'",
    ): "names for a star import, which nobody makes",
    (
        "droidgate_appfunctions.wire_documents",
        'kind, written = _DocumentWriter(walk).write_item(values, input_type, "", 0)',
        "0 to 1",
    ): "a bound: the JSON of a request is not as deep",
    (
        "droidgate_mappings.values.constraints",
        "scale = max(0, -_exponent(number), -_exponent(step))",
        "0 to 1",
    ): "both numbers times ten are as much a multiple",
    (
        "droidgate_mappings.values.constraints",
        'sign = "-" if number < 0 else ""',
        "'-' to '-!'",
    ): "the text is only compared with others of its making",
    (
        "droidgate_mappings.values.coercion",
        "if isinstance(value, str) and len(value) <= _MAX_NUMBER_TEXT and _NUMBER_TEXT.fullmatch(value):",
        "LtE to Lt",
    ): "a number of 64 characters is refused by the JSON that reads it",
    (
        "droidgate_mappings.values.coercion",
        "return int(value) if isinstance(value, float) and value.is_integer() else None",
        "returns None",
    ): "an engine's numbers are decimals",
    (
        "droidgate_mappings.values.failures",
        (
            "def __init__(self, failure: Failure, *, pointer: str | None = None, hint: str | None = None)"
            " -> None:"
        ),
        "without super().__init__(failure.message(), hint=hint)",
    ): "human-readable words",
    (
        "droidgate_mappings.values.arguments",
        "raise _invalid(left_out[0].pointer, left_out[0].message)",
        "0 to 1",
    ): "for callers that want exact arguments; an engine wants none",
}
