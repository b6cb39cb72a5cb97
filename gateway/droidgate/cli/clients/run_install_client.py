"""What `droidgate install-client` does, and its document."""

from __future__ import annotations

import json
import shlex
from typing import Any, Literal

import yaml

from droidgate.cli.clients.client_options import SERVER_NAME, InstallClient
from droidgate.cli.exit_codes import ExitCode
from droidgate.cli.failure_texts import hint_of, print_problem
from droidgate.cli.output.json_output import PublishedDocument
from droidgate.cli.output.pages import Block, Line, file_lines
from droidgate.cli.output.reports import Report
from droidgate.cli.output.safe_text import one_line
from droidgate.serving.client_settings import toml_edit
from droidgate.serving.client_settings.settings_installation import (
    ClientChange,
    install_client,
    settings_with_entry,
    start_warnings,
)
from droidgate_mappings.model.errors import UsageError
from droidgate_mappings.tables.clients import load_clients

Status = Literal["created", "updated", "removed", "unchanged", "would change"]


class InstallClientDocument(PublishedDocument, schema="droidgate.install-client/1"):
    """A change of a client's settings.

    Attributes:
        client: Id of the client.
        path: Its settings.
        status: The outcome; `would change` where they were not written.
        entry: The entry of the server; None where it is removed.
        diff: The change as a unified diff.
        backup: Where the settings before are.
        next_step: What the user does next.
        warnings: Why the client will not be able to start the server, or gets no tools of it.
    """

    client: str
    path: str
    status: Status
    entry: dict[str, Any] | None
    diff: str
    backup: str | None
    next_step: str
    warnings: tuple[str, ...]


def install(options: InstallClient) -> Report | int:
    """Change a client's settings, or print the entry."""
    if options.is_printed and options.remove:
        raise UsageError("--print and --remove exclude each other", hint="leave one of them out")
    entry: dict[str, Any] = {
        "serials": tuple(options.serials or ()),
        "name": options.name,
        "project": options.project,
    }
    if options.is_printed and not options.as_json:
        print(_settings_text(options.client, settings_with_entry(options.client, **entry)))
        for warning in start_warnings(entry["serials"], is_shared=options.project is not None):
            print_problem(warning)
        return ExitCode.OK
    change = install_client(options.client, **entry, remove=options.remove, write=not options.is_printed)
    for warning in change.warnings:
        print_problem(warning)
    status = _status(change, is_written=not options.is_printed)
    if options.as_json:
        files = {} if options.is_printed else {change.path: status}
        return Report(tuple, lambda: _document(change, status), files=files)
    return Report(lambda: _page(change, status, options), lambda: _document(change, status))


def _status(change: ClientChange, *, is_written: bool) -> Status:
    if not change.is_change:
        return "unchanged"
    if not is_written:
        return "would change"
    if change.after is None:
        return "removed"
    return "created" if change.before is None else "updated"


def _document(change: ClientChange, status: Status) -> InstallClientDocument:
    return InstallClientDocument.of(
        change,
        path=str(change.path),
        status=status,
        entry=None if change.entry is None else dict(change.entry),
        backup=None if change.backup is None else str(change.backup),
        warnings=tuple("; ".join(filter(None, (each.located, hint_of(each)))) for each in change.warnings),
    )


def _settings_text(client: str, settings: dict[str, Any]) -> str:
    syntax = load_clients()[client].syntax
    if syntax == "toml":
        return toml_edit.write_tables(settings)
    if syntax == "yaml":
        return yaml.safe_dump(settings, sort_keys=False, allow_unicode=True).rstrip()
    return json.dumps(settings, indent=2, ensure_ascii=False)


def _undo_of(options: InstallClient) -> str:
    """Return the command that removes the entry."""
    words = ["droidgate", "install-client", options.client, "--remove"]
    if options.name != SERVER_NAME:
        words += ["--name", options.name]
    if options.project is not None:
        words += ["--project", str(options.project)]
    return shlex.join(words)


def _page(change: ClientChange, status: Status, options: InstallClient) -> list[Block]:
    if options.remove and not change.is_change:
        return [Line(f"nothing to remove: {one_line(str(change.path))} has no server {options.name!r}")]
    blocks: list[Block] = [Line(line.expandtabs(4)) for line in change.diff.splitlines()]
    blocks += file_lines({change.path: status})
    if change.backup is not None:
        blocks.append(Line(f"backup: {one_line(str(change.backup))}"))
    if change.is_change:
        blocks += [] if options.remove else [Line(f"undo: {one_line(_undo_of(options))}")]
        blocks.append(Line(f"next: {change.next_step}"))
    return blocks
