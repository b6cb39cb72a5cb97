"""Record what droidgate prints and writes, and compare two records, while its code moves (issue 27).

Run it from the checkout: `.venv/bin/python scripts/freeze.py record FOLDER [--corpus ../shared/corpus]` and
`.venv/bin/python scripts/freeze.py compare OLD NEW`. It uses the installed command and its modules' entry
points only, so that it records the same before and after a move. Deleted when the issue ends.
"""

from __future__ import annotations

import argparse
import contextlib
import csv
import datetime as dt
import difflib
import functools
import gc
import gzip
import hashlib
import http.client
import itertools
import json
import multiprocessing
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import zipfile
from collections.abc import Iterator, Sequence
from importlib import import_module
from importlib.metadata import entry_points
from pathlib import Path
from typing import Any, Final

import typer
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID

_CHECKOUT: Final = Path(__file__).resolve().parent.parent
_LARGE: Final = 200_000
"""Characters from which a recorded file is compressed."""
_SECONDS: Final = 120
_PROGRAM: Final = [sys.executable, "-P", "-m", "droidgate"]
_VOLATILE: Final = {
    "port of loopback": (r"(127\.0\.0\.1|localhost):\d+", r"\1:PORT"),
    "milliseconds": (r'("?\w*(?:_ms|milliseconds)"?: ?)\d+(\.\d+)?', r"\1MS"),
    "milliseconds at the end of a row": (r"(?m)((?:[]}.…]|\.apk +[\d,]+) +)\d+$", r"\1MS"),
    "files a second": (r"[\d.,]+ a second", "RATE"),
    "seconds": (r"\b\d+(\.\d+)? (m?s|seconds)\b", "SECONDS"),
    "fence around texts of apps": (r"\b[0-9a-f]{16}\b", "FENCE"),
}
"""What varies between two runs of what measures or listens: a pattern and what replaces it."""

_REVISIONS: Final = ("2025-11-25", "2026-07-28")
_TOOLS: Final[list[tuple[str, dict[str, Any]]]] = [
    ("weather_currentWeather", {"location": "Oslo"}),
    ("clockin_query_clock_in", {"date": "2026-02-03"}),
    ("pdftool_page_count", {"path": 7}),
]

_SERVERS: Final = {
    "stdio": ("serve --all --allow *", True),
    "http": ("serve --all --allow * --no-token --http 0", True),
    "mobile-agent": ("serve-mobile-agent --data-port 0 --action-port 0", False),
}
"""How a phone is served, and whether the conversation has calls."""

_ON_PHONE: Final = (
    "discover --json",
    "discover",
    "devices --json",
    "phone apps",
    "shim install --from adb: --format all --key key.pem --json",
    "shim status",
    "shim doctor",
    "shim call query_clock_in --json",
    "call currentWeather location=Oslo --yes --json",
    "call page_count path=7 --yes",
    "serve --plan",
    "pins list",
)

_folder = Path()
"""Folder that is recorded into."""

_log = 2
"""Descriptor of the standard error stream of this process, which runs redirect."""


def main() -> int:
    """Record, or compare and return 1 if there is a difference."""
    parser = argparse.ArgumentParser(description=__doc__)
    commands = parser.add_subparsers(dest="command", required=True)
    recording = commands.add_parser("record")
    recording.add_argument("folder", type=Path)
    recording.add_argument("--corpus", type=Path, default=Path("../shared/corpus"))
    recording.add_argument("--jobs", type=int, default=os.cpu_count())
    recording.add_argument("--every", type=int, default=1, help="take every so many-th file of the corpus")
    comparing = commands.add_parser("compare")
    comparing.add_argument("old", type=Path)
    comparing.add_argument("new", type=Path)
    comparing.add_argument("--lines", type=int, default=20, help="most lines of a file's difference")
    comparing.add_argument("--files", type=int, default=40, help="most files whose difference is shown")
    given = parser.parse_args()
    if given.command == "compare":
        return _compare(given.old, given.new, given.lines, given.files)
    return _record(given.folder.resolve(), given.corpus.resolve(strict=True), given.jobs, given.every)


def _compare(old: Path, new: Path, lines: int, files: int) -> int:
    found = [path.relative_to(root) for root in (old, new) for path in root.rglob("*") if path.is_file()]
    names = sorted({path.as_posix().removesuffix(".gz") for path in found})
    different = 0
    for name in names:
        before, after = _stored(old, name), _stored(new, name)
        if before == after:
            continue
        different += 1
        print(f"{name}: {'new' if before is None else 'gone' if after is None else 'differs'}")
        if before is not None and after is not None and different <= files:
            shown = list(difflib.unified_diff(_lines(before), _lines(after), lineterm="", n=1))[2:]
            print(*(f"    {line[:300]}" for line in shown[:lines]), sep="\n")
            if len(shown) > lines:
                print(f"    ... {len(shown) - lines} lines more")
    print(f"{different} of {len(names)} files differ")
    return 1 if different else 0


def _lines(text: str) -> list[str]:
    """Return the lines of a text; a long one is cut where its sentences or members end."""
    parts = [re.split(r"(?<=[.,;]) |(?<=,)(?=\")", s) if len(s) > 300 else [s] for s in text.splitlines()]  # noqa: PLR2004
    return [part for line in parts for part in line]


def _stored(root: Path, name: str) -> str | None:
    packed = root / f"{name}.gz"
    if packed.exists():
        return gzip.decompress(packed.read_bytes()).decode()
    return (root / name).read_bytes().decode() if (root / name).exists() else None


def _record(folder: Path, corpus: Path, jobs: int, every: int) -> int:
    global _folder, _log
    _folder, _log = folder, os.dup(2)
    folder.mkdir(parents=True)
    with tempfile.TemporaryDirectory(prefix="freeze-") as name:
        scratch = Path(name)
        sources = _lay_out(scratch, corpus, every)
        os.chdir(scratch)
        kept = {name: os.environ[name] for name in ("PATH", "PYTHONHASHSEED") if name in os.environ}
        os.environ.clear()
        os.environ.update(
            kept, HOME=str(scratch / "home"), TMPDIR=str(scratch / "tmp"), LANG="C.UTF-8", TZ="UTC"
        )
        tempfile.tempdir = None
        _warm_up()
        os.dup2(_log, 2)
        apps = [source for source in sources if source.startswith("apps/")]
        with multiprocessing.get_context("fork").Pool(jobs) as pool:
            with _timed("sources"):
                read = pool.map(_record_source, sources, chunksize=1)
            formats: dict[str, list[str]] = {}
            for source, found in zip(sources, read, strict=True):
                for format_ in found:
                    formats.setdefault(format_, []).append(source)
            pairs = {pair for group in formats.values() for pair in itertools.pairwise(group)}
            pairs |= {(old, new) for old in apps for new in apps if old != new}
            with _timed("pairs"):
                pool.map(_record_pair, sorted(pairs), chunksize=4)
        with _timed("help, shims, files, catalog"):
            _record_help()
            _record_shims(apps)
            _record_files()
            _record_catalog()
        with _timed("phone"):
            _record_phone()
    return 0


@contextlib.contextmanager
def _timed(title: str) -> Iterator[None]:
    start = time.monotonic()
    yield
    os.write(_log, f"{title}: {time.monotonic() - start:.0f} s\n".encode())


def _lay_out(scratch: Path, corpus: Path, every: int) -> list[str]:
    """Copy corpus and apps, lay the corpus's files out as in their repositories; return all sources."""
    for name in ("home", "tmp", "out"):
        (scratch / name).mkdir()
    shutil.copytree(corpus, scratch / "corpus")
    shutil.copytree(_CHECKOUT / "device_shim" / "apps", scratch / "apps")
    trees: dict[Path, int] = {}
    for index in sorted((scratch / "corpus").glob("*/index.tsv")):
        for row in csv.DictReader(index.read_text().splitlines(), delimiter="\t", quoting=csv.QUOTE_NONE):
            repository = f"{row['repo'].replace('/', '__')}@{row['commit'][:7]}"
            tree = scratch / "trees" / index.parent.name / repository
            copied, file = index.parent / row["file"], tree / row["path"]
            if copied.is_file() and re.match(r"(?!.*\.\.)[^/]", row["path"]):
                file.parent.mkdir(parents=True, exist_ok=True)
                shutil.copy(copied, file)
                trees[tree] = trees.get(tree, 0) + 1
    found = [path for path in sorted((scratch / "corpus").glob("*/*")) if path.name != "index.tsv"]
    found += sorted(tree for tree, files in trees.items() if files > 1)
    found = found[::every] + sorted((scratch / "corpus").glob("*"))
    found += [path for path in sorted((scratch / "apps").glob("*")) if path.is_dir()]
    return [*(path.relative_to(scratch).as_posix() for path in found), "mobile-agent:"]


def _warm_up() -> None:
    """Import what most commands need once, so that each run is a fork of this process.

    The tree of commands is made once too, which takes most of a short run.
    """
    make_group = typer.main.get_group
    made: list[tuple[typer.core.TyperGroup, Sequence[Any]]] = []

    def get_group(typer_instance: typer.Typer) -> typer.core.TyperGroup:
        del typer_instance
        if not made:
            # A run builds the command that it calls only.
            group = make_group(import_module("droidgate.cli.program").build_app())
            made.append((group, tuple(group.params)))
        group, parameters = made[0]
        group.params = list(parameters)  # each run adds those of completion
        return group

    typer.main.get_group = get_group
    with Path("tmp/warm").open("wb") as file:
        os.dup2(file.fileno(), 1)
        os.dup2(file.fileno(), 2)
    os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
    for command in ("inspect", "lint --json", "convert --to mcp -o tmp/w", "diff apps/tally"):
        _enter([*command.split(), "apps/notes"])
    home = Path(str(sys.modules["droidgate"].__file__)).resolve()
    if _CHECKOUT not in home.parents:
        sys.exit(f"droidgate is of another checkout: {home}")
    gc.collect()
    gc.freeze()


def _enter(arguments: Sequence[str]) -> int:
    sys.argv = ["droidgate", *arguments]
    try:
        (script,) = entry_points(group="console_scripts", name="droidgate")
        script.load()()
    except SystemExit as end:
        return end.code if isinstance(end.code, int) else int(end.code is not None)
    finally:
        sys.stdout.flush()
        sys.stderr.flush()
    return 0


@functools.lru_cache(maxsize=1)
def _run(*arguments: str) -> tuple[int, str, str]:
    """Run a command in a fork of this process, or give what it just gave: exit code, output, errors."""
    with tempfile.TemporaryFile() as out, tempfile.TemporaryFile() as err:
        child = os.fork()
        if child == 0:
            code = 99
            try:
                os.dup2(out.fileno(), 1)
                os.dup2(err.fileno(), 2)
                signal.alarm(_SECONDS * 5)
                code = _enter(arguments)
            finally:
                os._exit(code)
        code = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
        texts = []
        for file in (out, err):
            file.seek(0)
            texts.append(file.read().decode(errors="backslashreplace"))
    return code, texts[0], texts[1]


def _shown(*arguments: str, written: str | None = None) -> str:
    """Run a command and return what is recorded of it: the command, its ends, and the files that it wrote."""
    code, out, err = _run(*arguments)
    parts = [f"$ droidgate {' '.join(arguments)}\n{out}--- exit {code}\n", err and f"--- stderr\n{err}"]
    files = [path for path in sorted(Path(written).rglob("*")) if path.is_file()] if written else []
    parts += [f"--- file {path.as_posix()}\n{_content(path.read_bytes())}\n" for path in files]
    return "".join(parts)


def _content(data: bytes) -> str:
    try:
        text = data.decode()
    except UnicodeDecodeError:
        text = "\0"
    return f"{len(data)} bytes, sha256 {hashlib.sha256(data).hexdigest()}" if "\0" in text else text


def _write(name: str, text: str, *, is_volatile: bool = False) -> None:
    for folder, word in ((str(Path.cwd()), "SCRATCH"), (str(_CHECKOUT), "CHECKOUT")):
        text = text.replace(folder, word)
    for pattern, word in _VOLATILE.values() if is_volatile else ():
        text = re.sub(pattern, word, text)
    path = _folder / name
    path.parent.mkdir(parents=True, exist_ok=True)
    if len(text) > _LARGE:
        path.with_name(f"{path.name}.gz").write_bytes(gzip.compress(text.encode(), mtime=0))
    else:
        path.write_bytes(text.encode())


@functools.cache
def _targets() -> list[str]:
    """Return what can be written, as FORMAT+DIALECT."""
    formats = json.loads(_run("formats", "--json")[1])["formats"]
    return [f"{f['id']}+{d['id']}" for f in formats for d in f["dialects"] if d["written"]]


def _record_source(source: str) -> list[str]:
    """Record all about one source; return the formats that were found in it."""
    name = source.rstrip(":")
    for command in ("lint", "inspect"):
        _write(f"{command}/{name}.txt", _shown(command, source) + _shown(command, source, "--json"))
    out = _run("inspect", source, "--json")[1]
    found = {provider["protocol"] for provider in json.loads(out)["providers"]} if out else set()
    if found:
        _record_conversions(source, name)
    else:
        _write(f"convert/{name}/mcp.txt", _shown("convert", source, "--to", "mcp", "-o", f"out/{name}/mcp"))
    return sorted(found)


def _record_conversions(source: str, name: str) -> None:
    """Convert into every dialect, as text too into the first of each format, and compare with those."""
    seen: set[str] = set()
    # Into each dialect goes what is read of files by themselves, and of the sample apps.
    is_area = Path(name).parent.name == "corpus" or name.startswith("trees/")
    for target in _targets():
        if is_area and target.partition("+")[0] in seen:
            continue
        out = f"out/{name}/{target}"
        command = ("convert", source, "--to", target, "-o")
        text = _shown(*command, out, "--json", written=out)
        format_ = target.partition("+")[0]
        if format_ not in seen:
            seen.add(format_)
            text += _shown(*command, f"{out}-text")
            if Path(out).exists():
                compared = _shown("diff", source, out) + _shown("diff", source, out, "--json")
                _write(f"diff/converted/{name}/{format_}.txt", compared)
        _write(f"convert/{name}/{target}.txt", text)
    for tools in sorted(Path("out", name).glob("mcp+2026-07-28/**/tools.json"))[:1]:
        _record_edits(tools, name)


def _record_edits(tools: Path, name: str) -> None:
    """Compare a list of tools with itself where a tool is gone, and where a type is another one."""
    for edit, change in (("removed", _without_last), ("retyped", _with_another_type)):
        document = json.loads(tools.read_text())
        change(document["tools"])
        edited = Path("out/edited", name, edit, "tools.json")
        edited.parent.mkdir(parents=True, exist_ok=True)
        edited.write_text(json.dumps(document, indent=2))
        command = ("diff", tools.as_posix(), edited.as_posix())
        _write(f"diff/edited/{name}/{edit}.txt", _shown(*command) + _shown(*command, "--json"))


def _without_last(tools: list[Any]) -> None:
    tools[-1:] = []


def _with_another_type(tools: list[Any]) -> None:
    for tool in tools:
        for schema in tool["inputSchema"].get("properties", {}).values():
            if isinstance(schema, dict):
                schema["type"] = "string" if schema.get("type") != "string" else "boolean"


def _record_pair(pair: tuple[str, str]) -> None:
    old, new = pair
    name = f"{old.replace('/', '_')}--{hashlib.sha256(new.encode()).hexdigest()[:8]}"[-200:]
    _write(f"diff/pairs/{name}.txt", _shown("diff", old, new) + _shown("diff", old, new, "--json"))


def _record_help(*command: str) -> None:
    """Record the help of a command, its JSON Schema, and those of the commands in it."""
    name = " ".join(command) or "droidgate"
    text = _run(*command, "--help")[1]
    _write(f"help/{name}.txt", _shown(*command, "--help"))
    if "--json-schema" in text:
        _write(f"json-schema/{name}.txt", _shown(*command, "--json-schema"))
    for title, body in re.findall(r"^([A-Z][^\n]*):\n((?:  .*\n|\n)+)", text, re.MULTILINE):
        if title not in {"Usage", "Options", "Arguments"}:
            for inner in re.findall(r"^  ([a-z][a-z-]*)(?:  |$)", body, re.MULTILINE):
                _record_help(*command, inner)


def _record_shims(apps: Sequence[str]) -> None:
    """Build shims and APKs of the sample apps; record what is in them, except signatures."""
    _write_key()
    signed = ("--key", "key.pem")
    _record_files_of_build("all", "shim", "build", *(f"--from={app}" for app in apps), "--aggregate", *signed)
    for app in apps:
        options = ("shim", "build", "--from", app, "--format", "all", *signed, "--signer", "ab" * 32)
        _record_files_of_build(app, *options, "--json")
        _record_files_of_build(f"{app}-text", *options, "--advertise", "mmcp", "--details")
        _record_files_of_build(f"{app}-packed", "pack", app, *signed, "--json", file="app.apk")


def _record_files_of_build(name: str, *command: str, file: str = "") -> None:
    out = Path("out/shims", name)
    out.mkdir(parents=True)
    text = _shown(*command, "-o", (out / file).as_posix())
    # The signature has random bytes; so have digests of the whole file.
    for apk in sorted(out.rglob("*.apk")):
        text = text.replace(hashlib.sha256(apk.read_bytes()).hexdigest(), "DIGEST")
        text += f"--- {apk.as_posix()}\n"
        with zipfile.ZipFile(apk) as opened:
            for item in opened.infolist():
                if not item.filename.startswith("META-INF/"):
                    text += f"{item.filename} {item.compress_type}\n{_content(opened.read(item))}\n"
        text += _shown("inspect", apk.as_posix(), "--json")
    _write(f"shims/{name}.txt", text)


def _write_key() -> None:
    key = ec.derive_private_key(0x2727, ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "freeze")])
    start = dt.datetime(2026, 1, 1, tzinfo=dt.UTC)
    builder = x509.CertificateBuilder().subject_name(name).issuer_name(name).public_key(key.public_key())
    builder = builder.serial_number(27).not_valid_before(start)
    builder = builder.not_valid_after(start + dt.timedelta(days=20_000))
    certificate = builder.sign(key, hashes.SHA256(), ecdsa_deterministic=True)
    encodings = serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
    pem = key.private_bytes(*encodings) + certificate.public_bytes(serialization.Encoding.PEM)
    Path("key.pem").touch(mode=0o600)
    Path("key.pem").write_bytes(pem)


def _record_files() -> None:
    """Record digests of the vectors and of the shim's code, the formats, and the demonstration."""
    tracked = [*sorted((_CHECKOUT / "device_shim" / "vectors").rglob("*"))]
    tracked += sorted(_CHECKOUT.glob("[!.]*/**/classes.dex"))
    lines = [f"{p.name} {hashlib.sha256(p.read_bytes()).hexdigest()}\n" for p in tracked if p.is_file()]
    _write("digests.txt", "".join(lines))
    _write("formats.txt", _shown("formats") + _shown("formats", "--json"))
    _write("matrix.txt", _shown("formats", "--matrix") + _shown("formats", "--matrix", "--details"))
    _write("demo.txt", _shown("demo", "--details"), is_volatile=True)


def _record_catalog() -> None:
    """Scan corpus and sample apps, and report on the catalog."""
    command = [*_PROGRAM, "scan", "corpus", "apps", "-o", "out/catalog", "--workers", "1"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    _write("catalog/scan.txt", f"{done.stdout}--- exit {done.returncode}\n{done.stderr}", is_volatile=True)
    for name in ("", "--details", "--json", "--json --details"):
        _write(f"catalog/coverage {name}.txt", _shown("coverage", "out/catalog", *name.split()))
    tables = _shown("coverage", "out/catalog", "--no-match", "--csv", "out/csv", written="out/csv")
    _write("catalog/tables.txt", tables)


def _record_phone() -> None:
    """Record commands that work on a virtual phone, then a conversation for each way of serving it."""
    started = json.loads(_run("phone", "start", "--json")[1])
    os.environ["ANDROID_ADB_SERVER_PORT"] = str(started["server_port"])
    try:
        for number, command in enumerate(_ON_PHONE):
            _write(f"phone/{number:02} {command}.txt", _shown(*command.split()), is_volatile=True)
        for revision in _REVISIONS:
            for name, (command, tools) in _SERVERS.items():
                text = "".join(_conversation(revision, command.split(), _TOOLS if tools else ()))
                _write(f"serve/{name}-{revision}.txt", text, is_volatile=True)
    finally:
        _run("phone", "stop", "--port", str(started["port"]))


def _conversation(revision: str, command: Sequence[str], tools: Sequence[tuple[str, Any]]) -> Iterator[str]:
    """Start a server and yield what is said: over HTTP where it takes a port, else over standard input."""
    with (
        Path("tmp/errors").open("w+") as errors,
        subprocess.Popen(
            [*_PROGRAM, *command], stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=errors, text=True
        ) as process,
    ):
        try:
            hosts = _addresses(process) if "0" in command else [""]
            for host in hosts:
                headers: dict[str, str] = {}
                for message in _messages(revision, tools):
                    yield f"> {json.dumps(message)}\n"
                    yield _posted(host, message, revision, headers) if host else _piped(process, message)
            if hosts != [""]:
                process.terminate()
            process.communicate(timeout=_SECONDS)
            yield f"--- exit {process.returncode}\n{Path(errors.name).read_text()}"
        finally:
            process.kill()


def _addresses(process: subprocess.Popen[str]) -> list[str]:
    """Return where a server listens, two addresses for MobileAgent's."""
    text = ""
    for _ in range(_SECONDS * 10):
        text = Path("tmp/errors").read_text()
        found = re.findall(r"http://([\w.]+:\d+)/mcp\n", text)
        if len(found) == 1 + ("Mobile" in text) or process.poll() is not None:
            return found
        time.sleep(0.1)
    raise TimeoutError(text)


def _messages(revision: str, tools: Sequence[tuple[str, Any]]) -> Iterator[dict[str, Any]]:
    prefix = "io.modelcontextprotocol"
    meta = {"_meta": {f"{prefix}/protocolVersion": revision, f"{prefix}/clientCapabilities": {}}}
    client = {"name": "freeze", "version": "1"}
    requests: list[tuple[str, dict[str, Any]]] = [("server/discover", {})]
    if revision == "2025-11-25":
        meta = {}
        requests = [("initialize", {"protocolVersion": revision, "capabilities": {}, "clientInfo": client})]
    requests += [("tools/list", {}), ("resources/list", {})]
    requests += [("tools/call", {"name": name, "arguments": arguments}) for name, arguments in tools]
    for number, (method, parameters) in enumerate(requests, 1):
        yield {"jsonrpc": "2.0", "id": number, "method": method, "params": parameters | meta}
        if method == "initialize":
            yield {"jsonrpc": "2.0", "method": "notifications/initialized"}


def _piped(process: subprocess.Popen[str], message: dict[str, Any]) -> str:
    """Send a message; return all that comes up to its answer, if it has one."""
    assert process.stdin is not None  # noqa: S101
    assert process.stdout is not None  # noqa: S101
    process.stdin.write(json.dumps(message) + "\n")
    process.stdin.flush()
    answers: list[dict[str, Any]] = [{}]
    while answers[-1].get("id") != message.get("id"):
        answers.append(json.loads(process.stdout.readline()))
    return "".join(f"{json.dumps(answer, indent=1)}\n" for answer in answers[1:])


def _posted(host: str, message: dict[str, Any], revision: str, kept: dict[str, str]) -> str:
    """Post a message, with the headers that are kept of a session; return what came."""
    kept |= {"Content-Type": "application/json", "Accept": "application/json, text/event-stream"}
    kept["MCP-Protocol-Version"] = revision
    method = {"Mcp-Method": message["method"]}
    if "name" in message.get("params", ()):
        method["Mcp-Name"] = message["params"]["name"]
    connection = http.client.HTTPConnection(host, timeout=_SECONDS)
    connection.request("POST", "/mcp", json.dumps(message), kept | method)
    response = connection.getresponse()
    if session := response.getheader("Mcp-Session-Id"):
        kept["Mcp-Session-Id"] = session
    body = response.read().decode()
    with contextlib.suppress(json.JSONDecodeError):
        body = json.dumps(json.loads(body), indent=1)
    connection.close()
    return f"{response.status} {response.getheader('Content-Type')}\n{body}\n"


if __name__ == "__main__":
    sys.exit(main())
