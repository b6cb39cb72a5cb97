"""What a command has to print, and the one way in which it is printed: in each form that can be asked for."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from droidgate.cli.exit_codes import ExitCode
from droidgate.cli.output.pages import Block, file_lines, print_file_notes, show
from droidgate_mappings.records import dataclass, field

if TYPE_CHECKING:
    from droidgate.cli.output.json_output import Document
    from droidgate_mappings.model.findings import Finding
    from droidgate_mappings.model.json_values import Json


Form = Literal["text", "json", "sarif", "markdown", "junit"]


@dataclass(frozen=True, slots=True)
class Report:
    """What a command has to print; each form is made when it is asked for.

    Attributes:
        page: Returns the text.
        document: Returns what `--json` prints.
        code: The exit code.
        files: What became of files that were written: the end of the text, or notes next to a document.
        findings: Returns what `--sarif` prints.
        junit: Returns what `--junit` prints.
        is_data: As `show` takes it.
    """

    page: Callable[[], Iterable[Block]]
    document: Callable[[], Document]
    code: int = ExitCode.OK
    files: Mapping[Path, str] = field(default_factory=dict)
    findings: Callable[[], Iterable[Finding]] = tuple
    junit: Callable[[], str] = str
    is_data: bool = False

    def print(self, form: Form = "text") -> int:
        """Print it in a form, and return the exit code."""
        return self.prepare(form)()

    def prepare(self, form: Form = "text") -> Callable[[], int]:
        """Make a form of it, and return what prints that and returns the exit code."""
        if form == "text":
            page = [*self.page(), *file_lines(self.files)]
            return lambda: self._print_page(page)
        if form == "markdown":
            from droidgate.cli.output.markdown import markdown_page

            text = markdown_page([*self.page(), *file_lines(self.files)])
            return lambda: self._print_document(text)
        if form == "junit":
            text = self.junit()
            return lambda: self._print_document(text)
        if form == "json":
            document = self.document()
            return lambda: self._print_document(document)
        from droidgate.cli.output.sarif import sarif_log

        log = sarif_log(self.findings())
        return lambda: self._print_document(log)

    def _print_page(self, page: Iterable[Block]) -> int:
        show(page, is_data=self.is_data)
        return self.code

    def _print_document(self, document: Document | Json) -> int:
        """Print a document, or a text that is one, and what became of files on standard error."""
        if isinstance(document, str):
            sys.stdout.write(document)
        else:
            from droidgate.cli.output.json_output import print_json

            print_json(document)
        print_file_notes(self.files)
        return self.code
