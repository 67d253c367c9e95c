"""`moir.certify` and `moir.verify_certificate`: certificates in Python."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from moir.certificate.certify import CertifiedConversion
from moir.certificate.certify import certify as certified
from moir.certificate.json_form import read_certificate, write_certificate
from moir.certificate.verification import certified_again, differences
from moir.errors import UsageError
from moir.options import ConversionOptions


def certify(
    model: str | Path, ir: str | Path, certificate: str | Path | None = None, *, passes: str | None = None, seed: int = 0, **options: Any
) -> CertifiedConversion:
    """Certify an IR: the conversion is repeated, and each piece of the IR is executed and compared with the model.

    Args:
        model: the model file or folder.
        ir: the `.xml` that a conversion has written, with its `.bin` beside it.
        certificate: the file (`.json`) to write; None to write none.
        passes: the pipeline of the conversion, as text; None for the default one.
        seed: the seed of random inputs.
        options: the options of the conversion, as in `moir.convert_model`. They have to be those that gave the IR.

    Returns the certificate, and the files that the repeated conversion did not reproduce. Raises UsageError for a file
    that does not exist, ConversionError for a model that cannot be converted, and ExecutionError if OpenVINO Runtime is
    missing.
    """
    source, xml = Path(model), Path(ir)
    for path in (source, xml):
        if not path.exists():
            raise UsageError("there is no such file", location=str(path))
    folder = xml.parent if certificate is None else Path(certificate).parent
    done = certified(source, xml, folder, ConversionOptions(**options), passes, seed)
    if certificate is not None:
        write_certificate(done.certificate, Path(certificate))
    return done


def verify_certificate(certificate: str | Path) -> list[str]:
    """Repeat the conversion and the checks of a certificate.

    Args:
        certificate: the file that `moir.certify` or `moir MODEL --certify` has written.

    Returns what differs, as sentences: files, pieces and judgements; an empty list if nothing does. A piece that was
    wrong and still is does not differ. Raises as `certify` does, and UsageError for a file that is no certificate.
    """
    path = Path(certificate)
    known = read_certificate(path)
    return differences(known, certified_again(known, path.parent))
