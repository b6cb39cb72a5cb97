"""What a command has to print, and the one way in which it is printed: as text, JSON, SARIF or Markdown."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from droidgate.cli.exit_codes import ExitCode
from droidgate.cli.output.pages import Block, file_lines, print_file_notes, show

if TYPE_CHECKING:
    from droidgate.cli.output.json_output import Document
    from droidgate_mappings.model.findings import Finding


Form = Literal["text", "json", "sarif", "markdown"]


@dataclass(frozen=True, slots=True)
class Report:
    """What a command has to print; each form is made when it is asked for.

    Attributes:
        page: Returns the text.
        document: Returns what `--json` prints.
        code: The exit code.
        files: What became of files that were written: the end of the text, or notes next to a document.
        findings: Returns what `--sarif` prints.
        is_data: As `show` takes it.
    """

    page: Callable[[], Iterable[Block]]
    document: Callable[[], Document]
    code: int = ExitCode.OK
    files: Mapping[Path, str] = field(default_factory=dict)
    findings: Callable[[], Iterable[Finding]] = tuple
    is_data: bool = False

    def print(self, form: Form = "text") -> int:
        """Print it in a form, and return the exit code."""
        if form == "text":
            show([*self.page(), *file_lines(self.files)], is_data=self.is_data)
            return self.code
        if form == "markdown":
            from droidgate.cli.output.markdown import markdown_page

            sys.stdout.write(markdown_page(self.page()))
        elif form == "json":
            from droidgate.cli.output.json_output import print_json

            print_json(self.document())
        else:
            from droidgate.cli.output.json_output import print_json
            from droidgate.cli.output.sarif import sarif_log

            print_json(sarif_log(self.findings()))
        print_file_notes(self.files)
        return self.code
