"""A certificate as JSON: written, and read with its types checked, since a file may hold anything."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any, cast

from moir.certificate.records import JUSTIFICATIONS, Certificate, CertifiedPiece
from moir.errors import UsageError
from moir.files.output import CERTIFICATE_FILE, replacing_file
from moir.files.reading import read_whole

FORMAT = 1
"""The version of the JSON format of certificates."""

LARGEST = 256 << 20
"""The size in bytes of the largest certificate that is read."""

_TEXTS, _LISTS = ("tensor", "reason", "equal_to", "digest"), ("inputs", "nodes", "operations", "rules")


def to_json(certificate: Certificate) -> dict[str, Any]:
    """A certificate as an object of JSON. Fields of pieces that are empty are left out."""
    fields = certificate.by_name()
    pieces = [{name: value for name, value in piece.by_name().items() if value not in ("", None, ())} for piece in certificate.pieces]
    return {"certificate": FORMAT, "counts": dict(certificate.counts), **fields, "pieces": pieces}


def write_certificate(certificate: Certificate, path: Path) -> None:
    """Write a certificate to a file, which appears complete or not at all.

    Raises ConversionError for an older file that is no certificate, and OSError.
    """
    text = json.dumps(to_json(certificate), indent=1, ensure_ascii=False)
    with replacing_file(path, CERTIFICATE_FILE) as file:
        file.write(f"{text}\n".encode(errors="surrogateescape"))


def read_certificate(path: Path) -> Certificate:
    """Read a certificate. Raises UsageError for another kind of file, ModelFileError for one that cannot be read."""
    try:
        fields = json.loads(read_whole(path, "a certificate", LARGEST))
        return of_json(fields)
    except (ValueError, RecursionError, TypeError, KeyError) as error:
        raise UsageError("this is not a certificate of moir", location=str(path), hint="moir MODEL --certify FILE writes one") from error


def of_json(fields: Any) -> Certificate:
    """The certificate in a JSON object. Raises TypeError, KeyError or UsageError if the object is not one."""
    table = _table(fields)
    if table["certificate"] != FORMAT:
        raise UsageError(f"the certificate has the form {table['certificate']!r}; this version of moir reads {FORMAT}")
    seed = table["seed"]
    if not isinstance(seed, int) or seed < 0:
        raise TypeError
    return Certificate(
        moir=_text(table["moir"]),
        model=_text(table["model"]),
        options=_table(table["options"]),
        passes=None if table["passes"] is None else _text(table["passes"]),
        source=_texts_by_name(table["source"]),
        extensions=_texts_by_name(table["extensions"]),
        ir=_texts_by_name(table["ir"]),
        reference=_text(table["reference"]),
        runtime=_text(table["runtime"]),
        seed=seed,
        notes=_texts(table["notes"]),
        pieces=[_piece(_table(each)) for each in _list(table["pieces"])],
    )


def _piece(fields: dict[str, Any]) -> CertifiedPiece:
    if fields["justification"] not in JUSTIFICATIONS:
        raise TypeError
    texts = {name: _text(fields.get(name, "")) for name in _TEXTS}
    lists = {name: _texts(fields.get(name, [])) for name in _LISTS}
    justification = fields["justification"]
    numbers = {name: _number(fields.get(name)) for name in ("error", "tolerance")}
    return CertifiedPiece(**cast("Any", {**texts, **lists, **numbers, "justification": justification}))


def _number(value: object) -> float | None:
    if value is not None and not isinstance(value, int | float):
        raise TypeError
    return value


def _text(value: object) -> str:
    if not isinstance(value, str):
        raise TypeError
    return value


def _list(value: object) -> list[Any]:
    if not isinstance(value, list):
        raise TypeError
    return cast("list[Any]", value)


def _texts(value: object) -> tuple[str, ...]:
    return tuple(map(_text, _list(value)))


def _table(value: object) -> dict[str, Any]:
    if not isinstance(value, dict):
        raise TypeError
    return cast("dict[str, Any]", value)


def _texts_by_name(value: object) -> dict[str, str]:
    return {name: _text(text) for name, text in _table(value).items()}
