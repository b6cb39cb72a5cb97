"""Verifying the JAR signature of an APK (scheme v1) as Android does.

Sources: AOSP StrictJarFile, StrictJarVerifier, StrictJarManifestReader (the text of META-INF/MANIFEST.MF and
of the `.SF` files), ApkSignatureVerifier; PKCS#7, RFC 2315.
"""

from __future__ import annotations

import base64
import binascii
import hashlib
import hmac
import re
from collections.abc import Mapping
from typing import Final

from droidgate_android.apk.apk_budgets import MIB, Budget, Limits
from droidgate_android.apk.archive import Archive
from droidgate_android.apk.der import (
    INTEGER,
    OBJECT,
    OCTETS,
    SEQUENCE,
    SET,
    TAGGED_0,
    Certificate,
    DerElement,
    first_element,
    read_certificate,
)
from droidgate_android.apk.public_keys import Hash, KeyKind, check_signature
from droidgate_android.apk.signing_block import (
    FIRST_SDK_WITH_V2,
    FIRST_SDK_WITH_V3,
    MAX_SIGNERS,
    BrokenSignatureError,
)
from droidgate_mappings.records import dataclass, field

_HEADER: Final = re.compile(rb"([0-9A-Za-z_-]{1,70}): ((?:[^\r\n\0]++|(?:\r\n|\n|\r) )*+)((?:\r\n|\n|\r)*+)")
_BREAK: Final = re.compile(rb"\r\n|\n|\r")
_CONTINUED: Final = re.compile(rb"(?:\r\n|\n|\r) ")


@dataclass(slots=True)
class JarManifest:
    """A manifest or a `.SF` file.

    Attributes:
        data: Its bytes.
        main: The attributes of the first section by their names in lower case.
        main_end: Where the first section ends.
        sections: The attributes of each other section by its `Name`.
        ranges: Where each section begins and ends.
        repeated: Names that more than one section has.
    """

    data: bytes
    main: Mapping[str, str] = field(default_factory=dict)
    main_end: int = 0
    sections: dict[str, dict[str, str]] = field(default_factory=dict)
    ranges: dict[str, tuple[int, int]] = field(default_factory=dict)
    repeated: list[str] = field(default_factory=list)


def parse_jar_manifest(data: bytes) -> JarManifest:
    """Return the sections of a manifest.

    Raises:
        BrokenSignatureError: the data is not a manifest.
    """
    manifest = JarManifest(data)
    position, headers = _section(data, 0)
    manifest.main, manifest.main_end = dict(headers), position
    while position < len(data):
        start = position
        position, headers = _section(data, position)
        if not headers:
            break
        if headers[0][0] != "name":
            raise BrokenSignatureError("a section of its JAR manifest has no name")
        name = headers[0][1]
        if name in manifest.sections:
            manifest.repeated.append(name)
        manifest.sections.setdefault(name, {}).update(headers[1:])
        manifest.ranges[name] = start, position
    return manifest


def _section(data: bytes, position: int) -> tuple[int, list[tuple[str, str]]]:
    """Return where a section ends, and its attributes in order."""
    headers: list[tuple[str, str]] = []
    while position < len(data):
        match = _HEADER.match(data, position)
        if match is None:
            raise BrokenSignatureError("its JAR manifest is broken")
        position = match.end()
        breaks = len(_BREAK.findall(match[3]))
        if not breaks:
            break  # a line without an end does not count
        value = _CONTINUED.sub(b"", match[2]).decode("utf-8", "surrogateescape")
        headers.append((match[1].decode("ascii").lower(), value))
        if breaks > 1:
            break
    return position, headers


FOLDER: Final = "META-INF/"
MANIFEST: Final = f"{FOLDER}MANIFEST.MF"
BLOCK_ENDINGS: Final = (".RSA", ".DSA", ".EC")
MAX_BLOCK_BYTES: Final = MIB

_ANDROID_MANIFEST: Final = "AndroidManifest.xml"
_MAX_MANIFEST_BYTES: Final = 64 * MIB
_HASHES: Final[tuple[tuple[str, Hash], ...]] = (
    ("sha-512", "sha512"),
    ("sha-384", "sha384"),
    ("sha-256", "sha256"),
    ("sha1", "sha1"),
)
_HASH_OBJECTS: Final[dict[bytes, Hash]] = {
    bytes.fromhex("2b0e03021a"): "sha1",
    bytes.fromhex("608648016503040201"): "sha256",
    bytes.fromhex("608648016503040202"): "sha384",
    bytes.fromhex("608648016503040203"): "sha512",
}
_KEY_OBJECTS: Final[dict[bytes, KeyKind]] = {
    bytes.fromhex("2a864886f70d010101"): "rsa",
    bytes.fromhex("2a864886f70d010105"): "rsa",
    bytes.fromhex("2a864886f70d01010b"): "rsa",
    bytes.fromhex("2a864886f70d01010c"): "rsa",
    bytes.fromhex("2a864886f70d01010d"): "rsa",
    bytes.fromhex("2a8648ce380401"): "dsa",
    bytes.fromhex("2a8648ce380403"): "dsa",
    bytes.fromhex("608648016503040302"): "dsa",
    bytes.fromhex("2a8648ce3d0201"): "ec",
    bytes.fromhex("2a8648ce3d0401"): "ec",
    bytes.fromhex("2a8648ce3d040302"): "ec",
    bytes.fromhex("2a8648ce3d040303"): "ec",
    bytes.fromhex("2a8648ce3d040304"): "ec",
}
_SIGNED_DATA: Final = bytes.fromhex("2a864886f70d010702")
_CONTENT_TYPE: Final = bytes.fromhex("2a864886f70d010903")
_MESSAGE_DIGEST: Final = bytes.fromhex("2a864886f70d010904")


@dataclass(frozen=True, slots=True)
class _SignerInfo:
    certificate: Certificate
    hash_object: bytes
    key_object: bytes
    attributes: DerElement | None
    signature: bytes


@dataclass(frozen=True, slots=True)
class SignedData:
    """PKCS#7 SignedData.

    Attributes:
        content_type: Object identifier of what is signed.
        signers: The signers whose certificate is in it.
    """

    content_type: bytes
    signers: tuple[_SignerInfo, ...]

    @property
    def certificates(self) -> tuple[bytes, ...]:
        """The signers' certificates in DER."""
        return tuple(signer.certificate.der for signer in self.signers)


def read_signed_data(data: bytes) -> SignedData:
    """Return the signers of a signature block file.

    Raises:
        BrokenSignatureError: it is not PKCS#7 SignedData in DER.
    """
    whole = first_element(data).children()
    if len(whole) < 2 or whole[0].content != _SIGNED_DATA:  # noqa: PLR2004
        raise BrokenSignatureError("the signature is not PKCS#7 SignedData")
    fields = first_element(whole[1].content).children()
    if len(fields) < 4 or fields[2].tag != SEQUENCE or fields[-1].tag != SET:  # noqa: PLR2004
        raise BrokenSignatureError("the PKCS#7 SignedData is broken")
    certificates = [
        read_certificate(item.raw)
        for field in fields[3:-1]
        if field.tag == TAGGED_0
        for item in field.children()
    ]
    by_name = {(item.issuer, item.serial): item for item in reversed(certificates)}
    infos = fields[-1].children()
    if len(infos) > MAX_SIGNERS:
        raise BrokenSignatureError(f"it has more than {MAX_SIGNERS} signers")
    signers = [_signer_info(info, by_name) for info in infos]
    content = fields[2].children()
    if not content or content[0].tag != OBJECT:
        raise BrokenSignatureError("the PKCS#7 SignedData is broken")
    return SignedData(content[0].content, tuple(signer for signer in signers if signer is not None))


def _signer_info(info: DerElement, known: Mapping[tuple[bytes, bytes], Certificate]) -> _SignerInfo | None:
    fields = info.children()
    if len(fields) < 5:  # noqa: PLR2004
        raise BrokenSignatureError("a PKCS#7 signer is broken")
    signer_id, hash_algorithm, rest = fields[1].children(), fields[2].children(), fields[3:]
    attributes = rest.pop(0) if rest[0].tag == TAGGED_0 else None
    if len(rest) < 2 or len(signer_id) < 2 or rest[1].tag != OCTETS or signer_id[1].tag != INTEGER:  # noqa: PLR2004
        raise BrokenSignatureError("a PKCS#7 signer is broken")
    key_algorithm = rest[0].children()
    certificate = known.get((signer_id[0].raw, signer_id[1].content))
    if certificate is None or not hash_algorithm or not key_algorithm:
        return None
    return _SignerInfo(
        certificate, hash_algorithm[0].content, key_algorithm[0].content, attributes, rest[1].content
    )


def _verified_certificate(block: bytes, signed: bytes) -> bytes:
    """Return the certificate of the first signer that verifies, which is the one that counts."""
    data = read_signed_data(block)
    problem = BrokenSignatureError("the PKCS#7 SignedData has no signer whose certificate is in it")
    for signer in data.signers:
        try:
            _verify_signer_info(signer, data.content_type, signed)
        except BrokenSignatureError as error:
            problem = error
        else:
            return signer.certificate.der
    raise problem


def _verify_signer_info(info: _SignerInfo, content_type: bytes, signed: bytes) -> None:
    digest, kind = _HASH_OBJECTS.get(info.hash_object), _KEY_OBJECTS.get(info.key_object)
    if digest is None or kind is None:
        raise BrokenSignatureError("its signature algorithm is not known")
    if info.attributes is not None:
        values = _attribute_values(info.attributes)
        if values.get(_CONTENT_TYPE) != content_type:
            raise BrokenSignatureError("its signed attributes name another type of content")
        expected = values.get(_MESSAGE_DIGEST, b"")
        if not hmac.compare_digest(expected, hashlib.new(digest, signed).digest()):
            raise BrokenSignatureError("the signature is of another file")
        # What is signed is the SET itself, not the tag that replaces it in the SignerInfo.
        signed = bytes((0x31,)) + info.attributes.raw[1:]
    check_signature(kind, digest, info.certificate.public_key, info.signature, signed)


def _attribute_values(attributes: DerElement) -> dict[bytes, bytes]:
    values: dict[bytes, bytes] = {}
    for item in attributes.children():
        parts = item.children()
        contained = parts[1].children() if len(parts) > 1 else []
        if not contained or parts[0].content in values:
            raise BrokenSignatureError("its signed attributes are broken")
        values[parts[0].content] = contained[0].content
    return values


def verify_jar(archive: Archive, sdk: int, limits: Limits) -> tuple[bytes, ...]:
    """Verify the v1 signature of an APK that has no newer one.

    Args:
        archive: The APK.
        sdk: The release of Android.
        limits: How much may be read.

    Returns:
        The signers' certificates in DER; empty where no file is a signature.

    Raises:
        BrokenSignatureError: Android would refuse the signature.
        InputError: the file cannot be read.
        BudgetError: it takes more than the limits allow.
    """
    blocks = [name for name in archive.names_below(FOLDER, BLOCK_ENDINGS) if _signed_name(name) in archive]
    if not blocks:
        return ()
    if len(blocks) > MAX_SIGNERS:
        raise BrokenSignatureError(f"it has more than {MAX_SIGNERS} signers")
    if archive.has_duplicates:
        raise BrokenSignatureError("names are in the archive twice, so it is not clear what was signed")
    # All of the content is unpacked once more, which the budget of what is read does not cover.
    unpacked = Budget(Limits(inflated_bytes=limits.verified_bytes))
    content = Archive(archive.source, unpacked, packed_size=archive.packed_size)
    if MANIFEST not in content:
        raise BrokenSignatureError(f"it has no {MANIFEST}")
    manifest = parse_jar_manifest(content.read_entry(MANIFEST, _MAX_MANIFEST_BYTES))
    if manifest.repeated:
        raise BrokenSignatureError("a name is in its JAR manifest twice")
    missing = next((name for name in manifest.sections if name not in content), None)
    if missing is not None:
        raise BrokenSignatureError(f'"{missing[:80]}" is signed and not in the archive')
    signatures = [
        signature for name in blocks if (signature := _verify_block(content, name, manifest, sdk)) is not None
    ]
    return _verify_entries(content, manifest, signatures)


def _signed_name(block: str) -> str:
    return block.rpartition(".")[0] + ".SF"


@dataclass(frozen=True, slots=True)
class _Signature:
    certificate: bytes
    names: frozenset[str]


def _verify_block(content: Archive, name: str, manifest: JarManifest, sdk: int) -> _Signature | None:
    """Return who signed which entries; None where Android does not count the file."""
    signed = content.read_entry(_signed_name(name), _MAX_MANIFEST_BYTES)
    certificate = _verified_certificate(content.read_entry(name, MAX_BLOCK_BYTES), signed)
    try:
        parsed = parse_jar_manifest(signed)
    except BrokenSignatureError:
        return None
    _check_not_stripped(parsed.main.get("x-android-apk-signed", ""), sdk)
    if "signature-version" not in parsed.main:
        return None
    by_signtool = "signtool" in parsed.main.get("created-by", "")
    if manifest.main_end > 0 and not by_signtool:
        matches = _matches(
            parsed.main, "-digest-manifest-main-attributes", manifest.data[: manifest.main_end]
        )
        if matches is False:
            raise BrokenSignatureError("the main part of its JAR manifest is not what was signed")
    whole = "-digest" if by_signtool else "-digest-manifest"
    if not _matches(parsed.main, whole, manifest.data):
        for entry, attributes in parsed.sections.items():
            if entry not in manifest.ranges:
                return None
            start, end = manifest.ranges[entry]
            section = manifest.data[start:end]
            if by_signtool and section.endswith(b"\n\n"):
                section = section[:-1]
            if not _matches(attributes, "-digest", section):
                raise BrokenSignatureError(
                    f'the part of its JAR manifest about "{entry[:80]}" is not what was signed'
                )
    return _Signature(certificate, frozenset(parsed.sections))


def _check_not_stripped(schemes: str, sdk: int) -> None:
    for part in schemes.split(","):
        first = {"2": FIRST_SDK_WITH_V2, "3": FIRST_SDK_WITH_V3}.get(part.strip())
        if first is not None and sdk >= first:
            raise BrokenSignatureError(
                f"its v1 signature says that there is a v{part.strip()} signature, which is missing"
            )


def _matches(attributes: Mapping[str, str], ending: str, data: bytes) -> bool | None:
    """Return whether data has the digest that attributes give with the strongest hash; None without one."""
    for name, algorithm in _HASHES:
        digest = attributes.get(name + ending)
        if digest is not None:
            return hmac.compare_digest(hashlib.new(algorithm, data).digest(), _decoded(digest))
    return None


def _decoded(digest: str) -> bytes:
    try:
        return base64.b64decode(digest.encode("ascii", "replace"))
    except binascii.Error:
        return b""


def _verify_entries(
    content: Archive, manifest: JarManifest, signatures: list[_Signature]
) -> tuple[bytes, ...]:
    signers: frozenset[bytes] | None = None
    for name in content.all_names:
        if name.endswith("/") or name.startswith(FOLDER):
            continue
        attributes = manifest.sections.get(name)
        of_entry = frozenset(signature.certificate for signature in signatures if name in signature.names)
        hash_name = next((item for item in _HASHES if item[0] + "-digest" in (attributes or {})), None)
        if attributes is None or hash_name is None or not of_entry:
            raise BrokenSignatureError(f'nobody signed "{_printable_name(name)}"')
        if signers is not None and of_entry != signers:
            raise BrokenSignatureError(f'others signed "{_printable_name(name)}" than the rest')
        signers = of_entry
        digest = hashlib.new(hash_name[1])
        content.copy_entry(name, digest.update)
        if not hmac.compare_digest(digest.digest(), _decoded(attributes[hash_name[0] + "-digest"])):
            raise BrokenSignatureError(f'"{_printable_name(name)}" is not what was signed')
    if not signers or _ANDROID_MANIFEST not in content:
        raise BrokenSignatureError(f"nobody signed {_ANDROID_MANIFEST}")
    return tuple(
        dict.fromkeys(signature.certificate for signature in signatures if signature.certificate in signers)
    )


def _printable_name(name: str) -> str:
    return name[:80].encode("utf-8", "surrogateescape").decode("utf-8", "backslashreplace")
