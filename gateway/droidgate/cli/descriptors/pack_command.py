"""`droidgate pack`."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from droidgate.cli.budgets import Deadline, Memory, RunBudget, run_within
from droidgate.cli.options import AsJson


class KeyTypeOption(StrEnum):
    """What `--key-type` takes."""

    EC = "ec"
    RSA = "rsa"


Project = Annotated[
    Path,
    typer.Argument(
        metavar="PROJECT", help="Folder of an Android project, of its module, or with an AndroidManifest.xml"
    ),
]
Out = Annotated[Path, typer.Option("--output", "-o", metavar="APK", help="The file to write")]
Dex = Annotated[
    list[Path] | None,
    typer.Option("--dex", metavar="FILE", help="Compiled code; may be repeated, classes.dex first"),
]
KeyTypeChoice = Annotated[
    KeyTypeOption, typer.Option("--key-type", help="Kind of the key that is made and kept at the first run")
]
KeyFile = Annotated[
    Path | None,
    typer.Option(
        "--key",
        metavar="FILE",
        help="Sign with this key: PEM, the PKCS#8 key without a password and its certificate",
    ),
]
Package = Annotated[
    str | None,
    typer.Option("--package", metavar="ID", help="Application id, in place of what the project says"),
]
VersionCode = Annotated[
    int | None, typer.Option("--version-code", metavar="N", help="In place of what the project says")
]
MinimumSdk = Annotated[
    int | None, typer.Option("--min-sdk", metavar="N", help="In place of what the project says")
]
TargetSdk = Annotated[
    int | None, typer.Option("--target-sdk", metavar="N", help="In place of what the project says")
]
Generate = Annotated[
    bool, typer.Option("--generate", help="Write the descriptors of functions that Kotlin sources declare")
]
Force = Annotated[bool, typer.Option("--force", help="Replace a file that is there and differs")]


def register(app: typer.Typer) -> None:
    """Add the command to the program."""
    app.command("pack", short_help="Make a signed APK of an app's source tree")(_pack)


def _pack(  # noqa: PLR0913
    project: Project,
    *,
    out: Out,
    dex: Dex = None,
    key_type: KeyTypeChoice = KeyTypeOption.EC,
    key: KeyFile = None,
    package: Package = None,
    version_code: VersionCode = None,
    minimum_sdk: MinimumSdk = None,
    target_sdk: TargetSdk = None,
    generate: Generate = False,
    force: Force = False,
    memory: Memory = 4096,
    deadline: Deadline = 300.0,
    as_json: AsJson = False,
) -> int:
    """Make an APK that installs from the manifest, resources and assets of a source tree.

    It needs none of Android's tools. Code is what `--dex` gives; without it the app installs, and agents find
    what it declares, but nothing in it runs. Libraries from Maven are not packed. Agents find functions that
    only Kotlin sources declare where `--generate` writes their descriptors.
    """
    from droidgate.cli.descriptors.packing import report_packing
    from droidgate.migration.packing import pack
    from droidgate_mappings.output_folder import check_folder

    # The key is made by the packing, and nothing is to be left behind.
    check_folder(out.parent)

    def run() -> int:
        packed = pack(
            project,
            dex=dex or (),
            key=key,
            key_type=key_type.value,
            package=package,
            version_code=version_code,
            minimum_sdk=minimum_sdk,
            target_sdk=target_sdk,
            generate=generate,
        )
        return report_packing(project, packed, out, generate=generate, force=force, as_json=as_json)

    return run_within(RunBudget(memory, deadline), run)
