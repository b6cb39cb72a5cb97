"""Which parents of a trace context are kept, by W3C's grammar; OpenTelemetry's reader is the other side."""

from typing import Any

import pytest
from opentelemetry import trace
from opentelemetry.trace.propagation.tracecontext import TraceContextTextMapPropagator

from droidgate.calls.trace_context import read_traceparent

TRACE, PARENT = "4bf92f3577b34da6a3ce929d0e0e4736", "00f067aa0ba902b7"
VALID = f"00-{TRACE}-{PARENT}-01"
# What is sent -> what is kept. Examples of W3C Trace Context (3.2, 3.3), and what a hostile client sends.
PARENTS: dict[Any, str | None] = {
    VALID: VALID,
    f"00-{TRACE}-{PARENT}-00": f"00-{TRACE}-{PARENT}-00",
    f"cc-{TRACE}-{PARENT}-01": VALID,
    f"cc-{TRACE}-{PARENT}-01-what-will-be": VALID,
    f"ff-{TRACE}-{PARENT}-01": None,
    f"{VALID}-x": None,
    f"{VALID}\n": None,
    f" {VALID}": None,
    f"00-{TRACE.upper()}-{PARENT}-01": None,
    f"00-{'0' * 32}-{PARENT}-01": None,
    f"00-{TRACE}-{'0' * 16}-01": None,
    f"00-{TRACE}-{PARENT}": None,
    f"00-{TRACE}-{PARENT}-1": None,
    f"00-{TRACE[:-1]}\u0661-{PARENT}-01": None,
    f"cc-{TRACE}-{PARENT}-01.x": None,
    f"cc-{TRACE}-{PARENT}-01-\u202e": None,
    "": None,
    "x" * 100_000: None,
    None: None,
    1: None,
    (VALID,): None,
}


@pytest.mark.parametrize("sent", PARENTS, ids=lambda sent: repr(sent)[:70])
def test_a_parent_is_read_where_it_follows_the_grammar(sent: Any) -> None:
    expected = PARENTS[sent]
    assert read_traceparent(sent) == expected
    # OpenTelemetry reads texts only, strips blanks around them, and takes any rest of a later version.
    if isinstance(sent, str) and sent == sent.strip() and not sent.startswith("cc-"):
        context = TraceContextTextMapPropagator().extract({"traceparent": sent})
        span = trace.get_current_span(context).get_span_context()
        assert span.is_valid == (expected is not None)
        assert not span.is_valid or f"{span.trace_id:032x}" == TRACE
