"""The sample apps as signed APKs.

They are signed with one key that is made from a public number: the same in each run, and no secret. It stands
for "made for the virtual phone" and shows nothing else; a real phone may take such an APK like any other.
"""

from __future__ import annotations

import datetime as dt
import hashlib
from dataclasses import dataclass
from functools import cache
from typing import Final

from cryptography import x509
from cryptography.exceptions import UnsupportedAlgorithm
from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID

from droidgate_android.apk.pack import pack_project
from droidgate_android.apk.signing_keys import SigningKey
from droidgate_phone.apps.pdf_document import PdfPage, write_pdf
from droidgate_phone.filler_packages import filler_files
from droidgate_phone.sample_apps import sample_apps_directory

_SAMPLES: Final = {
    "clock-in": ("dev.droidgate.sample.clockin", "clock-in/app"),
    "notes": ("dev.droidgate.sample.notes", "notes/app"),
    "notes-legacy": ("dev.droidgate.sample.notes.legacy", "notes/legacy"),
    "pdf-tool": ("dev.droidgate.sample.pdftool", "pdf-tool/app"),
    "tally": ("dev.droidgate.sample.tally", "tally/app"),
    "weather": ("dev.droidgate.sample.weather", "weather/app"),
    "agent": ("dev.droidgate.sample.agent", "agent/app"),
}
REPORT: Final = "/sdcard/Download/report.pdf"
REPORT_PAGES: Final = ("Rain fell on nine days.", "The river rose by a hand.", "Nobody was hurt.")
_SEED: Final = b"droidgate virtual phone"
_MADE: Final = dt.datetime(2026, 1, 1, tzinfo=dt.UTC)
_VALID: Final = dt.timedelta(days=365 * 30)


@dataclass(frozen=True, slots=True)
class SamplePackage:
    """A sample app, packed.

    Attributes:
        name: What users call it.
        package: Its application id.
        apk: The signed APK.
    """

    name: str
    package: str
    apk: bytes


def sample_packages() -> tuple[SamplePackage, ...]:
    """Return the sample apps; each is packed once for this process."""
    return tuple(map(sample_package, _SAMPLES))


@cache
def sample_package(name: str) -> SamplePackage:
    """Return one sample app.

    Raises:
        KeyError: there is none of this name.
    """
    package, module = _SAMPLES[name]
    return SamplePackage(
        name, package, pack_project(sample_apps_directory() / module, key=signing_key(), package=package)
    )


def report() -> bytes:
    """Return a PDF file of three pages, which `REPORT` is on the phone."""
    return write_pdf(PdfPage((line,)) for line in REPORT_PAGES)


def filler_package(number: int) -> bytes:
    """Return the APK of a small app without behaviour, always the same for a number from 0 on."""
    return pack_project(filler_files(number), key=signing_key())


@cache
def signing_key() -> SigningKey:
    """Return the key that everything here is signed with.

    Its certificate, and with it every APK, is the same in each run where OpenSSL signs as RFC 6979 says (3.2
    and later); with older ones it is made anew for each process.
    """
    number = int.from_bytes(hashlib.sha256(_SEED).digest(), "big")
    private = ec.derive_private_key(number, ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, _SEED.decode())])
    builder = x509.CertificateBuilder(
        issuer_name=name,
        subject_name=name,
        public_key=private.public_key(),
        serial_number=1,
        not_valid_before=_MADE,
        not_valid_after=_MADE + _VALID,
    )
    try:
        certificate = builder.sign(private, hashes.SHA256(), ecdsa_deterministic=True)
    except UnsupportedAlgorithm:
        certificate = builder.sign(private, hashes.SHA256())
    return SigningKey(private, certificate)
