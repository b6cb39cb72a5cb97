"""Calls of goose-mobile's receivers by `am broadcast` (reference mobile-mcp-and-mmcp 3.3 and 7). No I/O."""

from __future__ import annotations

from droidgate_mappings.formats.leniency import ReadingContext
from droidgate_mappings.formats.shell_calls import (
    BroadcastOutput,
    NotCarriedError,
    OrderedBroadcast,
    ShellAnswer,
    ShellCall,
    ShellCalls,
    ShellResult,
)
from droidgate_mmcp.format import BROADCAST_ROUTE, NAMES
from droidgate_mmcp.wire import MmcpToolCall, read_broadcast_result, write_broadcast_call


class BroadcastShellCalls(ShellCalls):
    """How Android's shell calls the tools of a receiver, which have no state."""

    route_id = BROADCAST_ROUTE

    def write(self, call: ShellCall) -> OrderedBroadcast:
        """Return the invoke broadcast, to this receiver alone.

        Raises:
            NotCarriedError: the provider does not say which receiver it is.
        """
        package, component = call.provider.package, call.provider.component
        if package is None or component is None:
            raise NotCarriedError("the receiver is not known")
        extras = write_broadcast_call(MmcpToolCall(call.capability.id, dict(call.arguments)))
        return OrderedBroadcast(f"{package}/{component}", NAMES["invoke_action"], extras)

    def read(self, call: ShellCall, output: ShellAnswer) -> ShellResult:
        """Return the result data, and why it may be a failure: this dialect marks none (row M48)."""
        del call
        if not isinstance(output, BroadcastOutput):
            raise TypeError(output)
        result = read_broadcast_result(output.code, output.data, ReadingContext())
        if result.failure is not None:
            return ShellResult(token=result.failure.token, message=result.failure.message)
        note = None if result.hint is None else f"the text resembles a failure ({result.hint})"
        return ShellResult(result.value, note=note)
