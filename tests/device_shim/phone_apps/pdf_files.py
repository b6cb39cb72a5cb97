"""PDF files for the virtual phone."""

from collections.abc import Sequence

from droidgate_phone.apps.pdf_document import PdfPage, write_pdf


def pdf_with(*pages: Sequence[str]) -> bytes:
    """Return a PDF file; each page has its lines of Latin text one below the other."""
    return write_pdf(PdfPage(tuple(lines)) for lines in pages)
