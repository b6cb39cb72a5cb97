"""What `prove` does, its document, and the table of merged proofs."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Final

from pydantic import Field, ValidationError

from droidgate.cli.exit_codes import ExitCode
from droidgate.cli.output.json_output import PublishedDocument, json_text, json_value
from droidgate.cli.output.markdown import plain_markdown
from droidgate.cli.output.page_length import shows_details
from droidgate.cli.output.pages import Block, Heading, Line, Table, print_note
from droidgate.cli.output.reports import Report
from droidgate.cli.output.safe_text import one_line
from droidgate.cli.output.waiting_line import clear_waiting_line
from droidgate.cli.prove.prove_options import Prove
from droidgate.computer.output_folder import write_files
from droidgate.devices.device import connect_device
from droidgate.proofs.proof_bench import SAMPLES, Answer, Verdict
from droidgate.proofs.proof_runs import ProvedPhone, chosen_steps, prove
from droidgate.shims.device_user import device_user_of
from droidgate.sources.folder_files import read_bytes
from droidgate_android.apk.apk_application import read_application
from droidgate_android.apk.reader import open_apk
from droidgate_mappings.model.errors import InputError, UsageError, WriteError
from droidgate_mappings.tables.android_names import android_name
from droidgate_mappings.text_safety import visible

_WORDS: Final[Mapping[Verdict, str]] = {
    "passed": "passed",
    "failed": "**failed**",
    "not-applicable": "n/a",
    "needs-a-hand": "by hand",
}
_WORST: Final = ("failed", "needs-a-hand", "passed", "not-applicable")


class ProofDocument(PublishedDocument, schema="droidgate.proof/1"):
    """What `prove --json` prints and `proof.json` holds.

    Attributes:
        phones: The phone; several where proofs were merged.
    """

    phones: tuple[ProvedPhone, ...] = Field(min_length=1)


def prove_and_report(options: Prove) -> Report:
    """Prove a phone, or merge proofs, and report each step.

    Raises:
        UsageError: proofs are named without --merge, or a pattern names no step, or the phone has a shim.
        InputError: a proof or an APK cannot be read.
        WriteError: a file differs and is not to be overwritten.
        DeviceError: the phone cannot be reached.
    """
    files = {name: options.output / f"proof.{name}" for name in ("json", "md")}
    existing = [path for path in files.values() if path.exists()]
    if existing and not options.force:
        hint = "choose another folder with -o, or overwrite with --force"
        raise WriteError("there is a file of that name already", place=str(existing[0]), hint=hint)
    document = _merge_proofs(options.proofs or ()) if options.merge else _prove_phone(options)
    written = write_files(
        {
            files["json"]: json_text(json_value(document)).encode(),
            files["md"]: markdown_table(document.phones).encode(),
        },
        force=True,
    )
    fails = any(
        phone.lost or any(step.verdict == "failed" for step in phone.steps) for phone in document.phones
    )
    return Report(
        lambda: _page(document.phones),
        lambda: document,
        ExitCode.FINDINGS if fails else ExitCode.OK,
        files={path: str(status) for path, status in written.items()},
    )


def _prove_phone(options: Prove) -> ProofDocument:
    if options.proofs:
        raise UsageError("proofs are named without --merge", hint="add --merge to merge them")
    steps = chosen_steps(options.steps or ())
    apks = {} if options.apps is None else _sample_apks(options.apps)
    device_user = device_user_of(connect_device(options.serial))
    return ProofDocument(phones=(prove(device_user, steps, apks, _ask, print_note),))


def _sample_apks(folder: Path) -> dict[str, bytes]:
    apks: dict[str, bytes] = {}
    for path in sorted(folder.rglob("*.apk")):
        with open_apk(path) as apk:
            package = read_application(apk).package
        if package in SAMPLES:
            apks[package] = path.read_bytes()
    if not apks:
        hint = "build them with Gradle from device_shim/apps"
        raise InputError("no APK of a sample app is in the folder", place=str(folder), hint=hint)
    return apks


def _ask(what: str, question: str) -> Answer:
    """Ask on standard error, and read from standard input; nobody answers where one is not a terminal."""
    if not (sys.stdin.isatty() and sys.stderr.isatty()):
        return None
    clear_waiting_line()
    print(
        f"{visible(what)}\n{visible(question)} y: yes, n: no, otherwise skipped ",
        end="",
        file=sys.stderr,
        flush=True,
    )
    answers: Mapping[str, Answer] = {"y": "yes", "yes": "yes", "n": "no", "no": "no"}
    return answers.get(sys.stdin.readline().strip().lower())


def _merge_proofs(paths: Sequence[Path]) -> ProofDocument:
    if not paths:
        raise UsageError(
            "--merge has nothing to merge", hint="name the files, such as a/proof.json b/proof.json"
        )
    phones = [phone for path in paths for phone in _read(path).phones]
    return ProofDocument(phones=tuple(sorted(phones, key=lambda phone: _level(phone.api_level))))


def _read(path: Path) -> ProofDocument:
    hint = "name a proof.json that this version of droidgate wrote"
    try:
        document = ProofDocument.model_validate_json(read_bytes(str(path)))
    except ValidationError as error:
        first = error.errors()[0]
        where = "/".join(map(str, first["loc"])) or "the file"
        raise InputError(f"not a proof: {where}: {first['msg']}", place=str(path), hint=hint) from None
    if "schema_id" not in document.model_fields_set:
        raise InputError("not a proof: it names no schema", place=str(path), hint=hint)
    return document


def _level(text: str) -> tuple[int, ...]:
    return tuple(map(int, text.split(".")))


def markdown_table(phones: Sequence[ProvedPhone]) -> str:
    """Return step, frontend and backend by API level; of several phones of one level the worst counts."""
    levels = sorted({phone.api_level for phone in phones}, key=_level)
    rows: dict[tuple[str, str, str], dict[str, Verdict]] = {}
    for phone in phones:
        for step in phone.steps:
            row = rows.setdefault((step.id, step.frontend or "", step.backend or ""), {})
            verdicts = (row.get(phone.api_level, step.verdict), step.verdict)
            row[phone.api_level] = min(verdicts, key=_WORST.index)
    head = ["step", "frontend", "backend", *map(android_name, levels)]
    lines = [head, ["---"] * len(head)]
    lines += [
        [
            *(plain_markdown(visible(one_line(part))) for part in key),
            *(_WORDS[row[level]] if level in row else "" for level in levels),
        ]
        for key, row in rows.items()
    ]
    reasons = [
        f"{android_name(phone.api_level)}, {phone.manufacturer} {phone.model}: {text}"
        for phone in phones
        for text in _open_points(phone)
    ]
    table = "\n".join(f"| {' | '.join(line)} |" for line in lines)
    return (
        "\n".join([table, "", *(f"- {plain_markdown(visible(one_line(text)))}" for text in reasons)]) + "\n"
    )


def _open_points(phone: ProvedPhone) -> Iterator[str]:
    if phone.lost is not None:
        yield f"the phone went away in {phone.lost}"
    for step in phone.steps:
        if step.verdict in ("failed", "needs-a-hand"):
            yield f"{step.id}, {step.verdict}: {step.reason}"


def _page(phones: Sequence[ProvedPhone]) -> Iterator[Block]:
    for phone in phones:
        yield Heading(one_line(f"{android_name(phone.api_level)}, {phone.manufacturer} {phone.model}"))
        shown_steps = [step for step in phone.steps if shows_details() or step.verdict == "failed"]
        if shown_steps:
            rows = [(step.verdict, step.id, one_line(step.reason or step.title)) for step in shown_steps]
            yield Table(("verdict", "step", "reason"), rows)
        if phone.lost is not None:
            yield Line(f"the phone went away in {phone.lost}")
        if phone.left:
            yield Line("left on the phone; `droidgate prove` removes it at its next start, or by hand:")
            yield from (Line(one_line(command), 1) for command in phone.left)
        verdicts = [step.verdict for step in phone.steps]
        counts = [f"{verdicts.count(verdict)} {words}" for verdict, words in _COUNTED.items()]
        yield Line(", ".join(counts))


_COUNTED: Final[Mapping[Verdict, str]] = {
    "passed": "passed",
    "failed": "failed",
    "not-applicable": "not applicable at this API level",
    "needs-a-hand": "need a hand",
}
