"""The differences between a certificate and the conversion when it is repeated."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path

from moir.certificate.certify import CertifiedConversion, certify
from moir.certificate.records import Certificate
from moir.errors import UsageError
from moir.options import ConversionOptions


def certified_again(certificate: Certificate, folder: Path) -> CertifiedConversion:
    """Repeat the conversion and the checks of a certificate from its files.

    Args:
        certificate: the certificate.
        folder: the folder to which its paths are relative.

    Raises UsageError for files that do not exist and options that this version does not have, and as `certify` does.
    """
    model, xml = folder / certificate.model, next((folder / path for path in certificate.ir if path.endswith(".xml")), None)
    if xml is None:
        raise UsageError("the certificate names no .xml")
    for path in (model, *(folder / each for each in certificate.ir)):
        if not path.exists():
            raise UsageError("there is no such file", location=str(path), hint="the certificate names it relative to its own folder")
    return certify(model, xml, folder, ConversionOptions(**certificate.options), certificate.passes, certificate.seed)


def differences(certificate: Certificate, again: CertifiedConversion) -> list[str]:
    """The differences between a certificate and the repeated conversion `again`, as sentences; empty if there are
    none.
    """
    other = again.certificate
    results: list[str] = []
    for what, before, after in (("moir", certificate.moir, other.moir), ("the reference", certificate.reference, other.reference)):
        results += [f"{what} is {after}, not {before}"] if before != after else []
    results += _changed_files("the source", certificate.source, other.source)
    results += _changed_files("the extension", certificate.extensions, other.extensions)
    results += _changed_files("the IR", certificate.ir, other.ir)
    results += [f"{path}: the conversion gives other bytes" for path, digest in certificate.ir.items() if again.again.get(path) != digest]
    return [*results, *_changed_pieces(certificate, other)]


def _changed_files(what: str, before: Mapping[str, str], after: Mapping[str, str]) -> Iterator[str]:
    for path in dict.fromkeys((*before, *after)):
        if path not in after:
            yield f"{what} {path} is not read any more"
        elif path not in before:
            yield f"{what} {path} is not in the certificate"
        elif before[path] != after[path]:
            yield f"{what} {path} has changed"


def _changed_pieces(before: Certificate, after: Certificate) -> Iterator[str]:
    pieces = {piece.tensor: piece for piece in before.pieces}
    for piece in after.pieces:
        known = pieces.pop(piece.tensor, None)
        if known is None:
            yield f"the piece {piece.tensor} is not in the certificate"
        elif (known.justification, known.digest) != (piece.justification, piece.digest):
            changed = "has changed" if known.justification == piece.justification else f"was {known.justification}"
            yield f"the piece {piece.tensor} {changed}; it is {piece.justification}{piece.reason and f': {piece.reason}'}"
    for tensor in pieces:
        yield f"there is no piece {tensor} any more"
