"""Two phones and two clients on one server: nobody waits for an app that never answers, or uses another's
approval.
"""

from collections.abc import Iterator
from functools import partial
from pathlib import Path

import anyio
import mcp_types
import pytest
from mcp import Client

from droidgate.calls.approvals import refuse
from droidgate.devices.adb_client import AdbServer, ServerAddress
from droidgate.devices.device import Device
from droidgate.serving.phone_tools import PhoneTools, ServedPhone
from droidgate_phone.common.faults import Faults
from droidgate_phone.phone import start_phone
from gateway.calling.phones_with_shims import NOTES, ReachedPhone
from gateway.serving.clients_of_tests import Ask, http_client
from gateway.serving.running_servers import running_server
from gateway.serving.test_phone_tools import answer, text_of

NOTE = {"title": "Milk", "content": "two litres"}


@pytest.fixture
def phones(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[list[ReachedPhone]]:
    monkeypatch.setenv("DROIDGATE_HOME", str(tmp_path))
    with start_phone(server_port=0) as first, start_phone(server=first.server) as second:
        assert first.server_port is not None
        server = AdbServer(ServerAddress(port=first.server_port))
        yield [ReachedPhone(each, Device(server, each.serial), tmp_path) for each in (first, second)]


@pytest.mark.slow
def test_a_silent_app_blocks_no_other_and_each_client_has_approvals_of_its_own(
    phones: list[ReachedPhone],
) -> None:
    first, second = phones
    served = [ServedPhone(each.device.serial, partial(each.caller, approver=refuse)) for each in phones]
    tools = PhoneTools(served)
    tools.look()
    names = {(tool.group, tool.name.rpartition("_")[2]): tool.name for tool in tools.snapshot().tools}
    on_first = names[f"{first.device.serial}/{NOTES}", "createNote"]
    on_second = names[f"{second.device.serial}/{NOTES}", "createNote"]
    asked: dict[str, list[str]] = {"patient": [], "other": []}

    ended: list[str] = []

    async def create(client: Client, name: str) -> mcp_types.CallToolResult:
        result = await client.call_tool(name, NOTE)
        ended.append(name)
        return result

    async def main() -> None:
        def ask(name: str) -> Ask:
            return answer("always", asked[name])

        with running_server(tools) as server:
            async with (
                http_client(server, "2025-11-25", ask("patient"), name="Patient") as patient,
                http_client(server, "2025-11-25", ask("other"), name="Other") as other,
            ):
                assert not (await create(patient, on_first)).is_error
                assert not (await create(patient, on_first)).is_error
                assert len(asked["patient"]) == 1
                assert asked["other"] == []
                first.phone.system.faults = Faults(silent=frozenset({NOTES}))
                async with anyio.create_task_group() as waiting:
                    waiting.start_soon(create, patient, on_first)
                    with anyio.fail_after(20):
                        while not first.phone.log.of_kind("app-silent"):  # noqa: ASYNC110 - another thread's
                            await anyio.sleep(0.02)
                    # The first phone still waits for its app; the second one, and lists, are served.
                    with anyio.fail_after(20):
                        created = await create(other, on_second)
                        assert '"title":"Milk"' in text_of(created)
                        assert (await other.list_tools()).tools
                    assert len(asked["other"]) == 1
                    assert ended == [on_first, on_first, on_second]
                    waiting.cancel_scope.cancel()

    anyio.run(main)
    first.device.run(["am", "force-stop", NOTES])
    log = "".join(path.read_text() for path in (first.folder / "audit").glob("*.jsonl"))
    assert '"mcp:patient"' in log
    assert '"mcp:other"' in log
