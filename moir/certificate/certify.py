"""Certificates: a conversion is done again, compared with the files that were written, and judged piece by piece.

1. The model is converted as before, with its rewrites recorded. The bytes of the IR have to be the same.
2. The framework's own runtime computes the tensors of the model on random inputs; where there is none, the lowered
   model, so that the lowering is not judged.
3. Each piece of the IR (`moir.certificate.pieces`) is executed alone on the tensors of the model that it reads.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path
from tempfile import TemporaryDirectory

from xdsl.dialects.builtin import ModuleOp

from moir.certificate.digests import digest_of_file, digest_of_files
from moir.certificate.examination import Examination
from moir.certificate.recorded_conversion import recorded_conversion
from moir.certificate.records import Certificate
from moir.certificate.reference_choice import chosen_reference
from moir.conversion import write_checked
from moir.emit.files import weights_path
from moir.execution.openvino_runtime import title
from moir.options import ConversionOptions
from moir.parameters.extension import EXTENSIONS
from moir.support.records import Record
from moir.support.turns import in_turn
from moir.version import VERSION


class CertifiedConversion(Record):
    """A conversion that was done again for its certificate.

    Args:
        certificate: the certificate.
        again: the digests of the IR that the repeated conversion wrote, by path relative to the folder of the
            certificate.
    """

    certificate: Certificate
    again: Mapping[str, str]

    @property
    def changed(self) -> list[str]:
        """The files of the IR that the repeated conversion did not reproduce byte by byte."""
        return [path for path, digest in self.certificate.ir.items() if self.again[path] != digest]

    @property
    def is_right(self) -> bool:
        """Whether no piece is wrong, and the repeated conversion reproduced the IR."""
        return not self.changed and not self.certificate.wrong


@in_turn
def certify(
    model: Path, xml: Path, folder: Path, options: ConversionOptions, passes: str | None = None, seed: int = 0
) -> CertifiedConversion:
    """The certificate of a conversion that was done.

    Args:
        model: the model.
        xml: the IR that was written; its weights are beside it.
        folder: the folder of the certificate, to which its paths are relative.
        options: the options of the conversion.
        passes: the pipeline; None for the default one.
        seed: the seed of random inputs.

    Raises ConversionError if the model cannot be converted again, ExecutionError if there is no runtime for the IR, and
    OSError for files that cannot be read.
    """
    runtime = title()
    conversion = recorded_conversion(model, options, passes)
    again = _digests_of_ir(conversion.module, xml, folder)
    reference = chosen_reference(model, conversion, options, seed)
    pieces = Examination(conversion, reference).certified()
    certificate = Certificate(
        moir=VERSION,
        model=relative(model, folder),
        options={each.name: each.kind.plain(value) for each, value in options.given.items()},
        passes=passes,
        source={relative(path, _folder_of(model)): digest_of_file(path) for path in sorted(conversion.read)},
        extensions=_digests_of_extensions(options),
        ir={relative(path, folder): digest_of_file(path) for path in (xml, weights_path(xml))},
        reference=reference.title,
        runtime=runtime,
        seed=seed,
        notes=reference.notes,
        pieces=pieces,
    )
    return CertifiedConversion(certificate, again)


def relative(path: Path, folder: Path) -> str:
    """A path relative to a folder, with slashes on every system."""
    return Path(os.path.relpath(path.resolve(), folder.resolve())).as_posix()


def _folder_of(model: Path) -> Path:
    return model if model.is_dir() else model.parent


def _digests_of_ir(module: ModuleOp, xml: Path, folder: Path) -> dict[str, str]:
    """Write the module as IR to a temporary folder, and return the digests of its files.

    The keys are the paths that the files have at `xml`, relative to `folder`.
    """
    with TemporaryDirectory(prefix="moir-certificate-") as temporary:
        written = write_checked(module, Path(temporary) / xml.name)
        return {relative(path, folder): digest_of_file(copy) for path, copy in zip((xml, weights_path(xml)), written.files, strict=True)}


def _digests_of_extensions(options: ConversionOptions) -> dict[str, str]:
    """The digests of extensions: of their files or folders; an installed extension has its version in place of a
    digest.
    """
    paths = [Path(each) for each in options[EXTENSIONS] or ()]
    return {str(path): digest_of_files(path) if path.is_dir() else digest_of_file(path) for path in paths if path.exists()}
