"""Which values of a trace context are kept, by W3C's grammar; OpenTelemetry's reader is the other side."""

from typing import Any

import pytest
from opentelemetry import trace
from opentelemetry.trace.propagation.tracecontext import TraceContextTextMapPropagator

from droidgate.calls.trace_context import TraceContext, read_trace_context

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
STATES: dict[Any, bool] = {
    "rojo=00f067aa0ba902b7,congo=t61rcWkgMzE": True,
    "rojo=1 \t,\t congo=2, ,": True,
    "0w529a3039@dt=FfAC_,a0=b/c d": True,
    "0a=b": False,
    "a=1,b=2,a=3": False,
    "": False,
    "a": False,
    "a=": False,
    "A=1": False,
    "a=1=2": False,
    "a=\u00e9": False,
    "a=1\nb=2": False,
    "a=1;b=2, c": False,
    ",".join(f"k{number}=1" for number in range(32)): True,
    ",".join(f"k{number}=1" for number in range(33)): False,
    "a" * 257 + "=1": False,
    "a=" + "x" * 256: True,
    "a=" + "x" * 257: False,
    f"a={'x' * 250},b={'y' * 250},c={'z' * 10}": False,
    None: False,
    1: False,
}


@pytest.mark.parametrize("sent", PARENTS, ids=lambda sent: repr(sent)[:70])
def test_a_parent_is_read_where_it_follows_the_grammar(sent: Any) -> None:
    expected = PARENTS[sent]
    read = read_trace_context({"traceparent": sent, "tracestate": "a=1", "progressToken": 1})
    assert read == (None if expected is None else TraceContext(expected, "a=1"))
    # OpenTelemetry reads texts only, strips blanks around them, and takes any rest of a later version.
    if isinstance(sent, str) and sent == sent.strip() and not sent.startswith("cc-"):
        context = TraceContextTextMapPropagator().extract({"traceparent": sent})
        span = trace.get_current_span(context).get_span_context()
        assert span.is_valid == (expected is not None)
        assert not span.is_valid or f"{span.trace_id:032x}" == TRACE


@pytest.mark.parametrize("sent", STATES, ids=lambda sent: repr(sent)[:70])
def test_a_state_is_read_where_it_follows_the_grammar_and_has_a_parent(sent: Any) -> None:
    state = sent if STATES[sent] else None
    assert read_trace_context({"traceparent": VALID, "tracestate": sent}) == TraceContext(VALID, state)
    assert read_trace_context({"traceparent": "x", "tracestate": sent}) is None
    if isinstance(sent, str) and len(sent) <= 512:
        carrier = {"traceparent": VALID, "tracestate": sent}
        span = trace.get_current_span(TraceContextTextMapPropagator().extract(carrier))
        assert bool(span.get_span_context().trace_state) == STATES[sent]
