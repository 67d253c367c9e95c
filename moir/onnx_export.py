"""A converted module as an ONNX model: the lowering to the `onnx` dialect, and the file."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from moir.conversion import run, stage
from moir.errors import EmissionError, UsageError
from moir.files.remote.addresses import is_address, shown
from moir.files.remote.local import local_output
from moir.files.source_files import check_as_read, check_not_read
from moir.frameworks.records import ONNX_SUFFIX
from moir.parameters.arguments import FLAG, MODULE, PATH, Expected, checked
from moir.support.turns import in_turn

if TYPE_CHECKING:
    from xdsl.dialects.builtin import ModuleOp

    from moir.emit.onnx.write import WrittenOnnx

OPSET = Expected("a version of ONNX's operator set, an int", lambda value: type(value) is int)


@in_turn
@checked(module=MODULE, path=PATH, opset=OPSET.or_none(), matmul_nbits=FLAG)
def save_onnx(module: ModuleOp, path: str | Path, *, opset: int | None = None, matmul_nbits: bool = False) -> WrittenOnnx:
    """Write a converted module as an ONNX model.

    Args:
        module: a module in opset dialects, converted with `target="none"`, or in the `onnx` dialect, whose version of
            the operator set is kept; it is not changed.
        path: the path or the address of the file, which at an address ends in `.onnx`, and appears when it is complete.
            Weights of 2 GB and more are written to a file of this name with `.data` beside it.
        opset: the version of ONNX's operator set, 13 or newer; by default the newest that is commonly implemented.
        matmul_nbits: whether products by weights of 4 and 8 bits become com.microsoft.MatMulNBits, which only ONNX
            Runtime has.

    Raises ArgumentError for arguments of other types, UsageError for a version or an address that cannot be written,
    UnsupportedOperationError for an operation that ONNX does not have, and EmissionError for a module that ONNX cannot
    represent; then no file is changed.
    """
    address = str(path)
    if is_address(address) and not address.lower().endswith(ONNX_SUFFIX):
        raise UsageError(f"the name of the file to write must end in {ONNX_SUFFIX}", location=shown(address))
    with local_output(address) as output:
        written = _written(module, output.path, opset, matmul_nbits)
    return written.at(shown(output.address))


def _written(module: ModuleOp, path: Path, opset: int | None, matmul_nbits: bool) -> WrittenOnnx:
    from moir.emit.onnx.write import DATA_SUFFIX, write_onnx
    from moir.files.output import ONNX_FILE, WEIGHTS_FILE, replacing_file
    from moir.lowering.to_onnx.driver import LowerToOnnxPass, is_lowered
    from moir.lowering.to_onnx.table import PREFERRED
    from moir.rewriting.verification import verify_module

    data_path = path.with_name(path.name + DATA_SUFFIX)
    check_not_read(module, (path, data_path))
    lowered = module.clone()
    with stage("the lowering to ONNX"):
        verify_module(lowered)
        if not is_lowered(lowered):
            run(lowered, [LowerToOnnxPass(PREFERRED if opset is None else opset, matmul_nbits)])
    with stage("emission"):
        check_as_read(module)
        try:
            return write_onnx(lowered, path, lambda file: replacing_file(file, WEIGHTS_FILE if file == data_path else ONNX_FILE))
        except OSError as error:
            reason = f"the model cannot be written: {error.strerror or error}"
            raise EmissionError(reason, location=str(error.filename or path), hint="choose another output") from error
