"""What a command has to print, and the one way in which it is printed: as text, JSON or SARIF."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from droidgate.cli.exit_codes import ExitCode
from droidgate.cli.output.pages import Block, file_lines, print_file_notes, show

if TYPE_CHECKING:
    from droidgate.cli.output.json_output import Document
    from droidgate_mappings.model.findings import Finding
    from droidgate_mappings.model.json_values import Json


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

    def print(self, *, as_json: bool = False, as_sarif: bool = False) -> int:
        """Print it in the form that is asked for, and return the exit code."""
        return self.prepare(as_json=as_json, as_sarif=as_sarif)()

    def prepare(self, *, as_json: bool = False, as_sarif: bool = False) -> Callable[[], int]:
        """Make the form that is asked for, and return what prints it and returns the exit code."""
        if not (as_json or as_sarif):
            page = [*self.page(), *file_lines(self.files)]
            return lambda: self._print_page(page)
        document: Document | Json
        if as_json:
            document = self.document()
        else:
            from droidgate.cli.output.sarif import sarif_log

            document = sarif_log(self.findings())
        return lambda: self._print_document(document)

    def _print_page(self, page: Iterable[Block]) -> int:
        show(page, is_data=self.is_data)
        return self.code

    def _print_document(self, document: Document | Json) -> int:
        from droidgate.cli.output.json_output import print_json

        print_json(document)
        print_file_notes(self.files)
        return self.code
