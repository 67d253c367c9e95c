"""The forms in which a converted model is written: the files of IR, or an ONNX model."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

from moir.emit.files import check_output, weights_path
from moir.errors import UsageError
from moir.frameworks.records import ONNX_SUFFIX
from moir.options import ConversionOptions
from moir.parameters.compression import KEEP_PRECISION
from moir.parameters.runtime import TARGET
from moir.support.records import Record
from moir.targets.registry import NO_TARGET

if TYPE_CHECKING:
    from typing import TypeAlias

    from xdsl.dialects.builtin import ModuleOp

    from moir.emit.onnx.write import WrittenOnnx
    from moir.emit.write import WrittenModel

    Progress: TypeAlias = Callable[[int, int], None]


class OnnxSettings(Record):
    """How an ONNX model is written.

    Args:
        opset: the version of ONNX's operator set; None for the default one.
        matmul_nbits: whether products by weights of 4 and 8 bits become com.microsoft.MatMulNBits.
    """

    opset: int | None = None
    matmul_nbits: bool = False


class OutputForm(Record):
    """A form of output.

    Args:
        name: its name, for messages.
        files: the files that may be written for the path of the model.
        check: raises ConversionError if the file may not be written.
        save: writes a converted module to a path, with the settings of an ONNX model; calls a function, if one is
            given, with the number of bytes of weights that are written, and with their sum.
    """

    name: str
    files: Callable[[Path], tuple[Path, ...]]
    check: Callable[[Path], None]
    save: Callable[[ModuleOp, Path, OnnxSettings, Progress | None], WrittenModel | WrittenOnnx]


def _data_path(path: Path) -> Path:
    from moir.emit.onnx.write import DATA_SUFFIX

    return path.with_name(path.name + DATA_SUFFIX)


def _check_onnx(path: Path) -> None:
    from moir.files.output import ONNX_FILE, check_replaceable

    check_replaceable(path, ONNX_FILE)


def _save_onnx(module: ModuleOp, path: Path, settings: OnnxSettings, _progress: Progress | None) -> WrittenOnnx:
    from moir.onnx_export import save_onnx

    return save_onnx(module, path, opset=settings.opset, matmul_nbits=settings.matmul_nbits)


def _save_ir(module: ModuleOp, path: Path, _settings: OnnxSettings, progress: Progress | None) -> WrittenModel:
    from moir.conversion import write_checked

    return write_checked(module, path, progress=progress)


IR_FORM = OutputForm("OpenVINO IR", lambda path: (path, weights_path(path)), check_output, _save_ir)
ONNX_FORM = OutputForm("ONNX", lambda path: (path, _data_path(path)), _check_onnx, _save_onnx)


def output_form(path: Path) -> OutputForm:
    """The form of the model that is written to a path."""
    return ONNX_FORM if path.suffix.lower() == ONNX_SUFFIX else IR_FORM


def options_for(
    form: OutputForm, conversion: ConversionOptions, settings: OnnxSettings, *, names_target: bool, uses_cache: bool
) -> ConversionOptions:
    """The options of a conversion, completed for a form of output: for an ONNX model, operations are not changed for a
    runtime.

    Args:
        form: the form.
        conversion: the options that are given.
        settings: the settings of an ONNX model that are asked for.
        names_target: whether a target is among the options.
        uses_cache: whether results are kept in a cache.

    Raises UsageError for options that belong to the other form.
    """
    if form is IR_FORM:
        if settings.opset is not None:
            raise UsageError("--opset is the version of an ONNX model, but IR is written", hint="give a path that ends in .onnx with -o")
        if settings.matmul_nbits:
            raise UsageError("--matmul-nbits is a form of an ONNX model, but IR is written", hint="give a path that ends in .onnx with -o")
        return conversion
    if names_target and conversion[TARGET] is not NO_TARGET:
        raise UsageError("--target says for which runtime IR is written, but ONNX is", hint="leave out --target")
    if uses_cache:
        raise UsageError("--cache keeps IR, but ONNX is written", hint="leave out --cache")
    if conversion[KEEP_PRECISION]:
        raise UsageError("--keep-precision marks layers of IR, but ONNX is written", hint="leave out --keep-precision")
    if settings.opset is not None:
        from moir.lowering.to_onnx.table import check_version

        check_version(settings.opset)
    return conversion.with_value(TARGET, NO_TARGET)
