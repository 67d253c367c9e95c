"""The scales of sums and states in the integer kernels of recurrent operators, as attributes of their operations.

    UNIDIRECTIONAL_SEQUENCE_LSTM of int8, with five intermediate tensors
->  tflite.UNIDIRECTIONAL_SEQUENCE_LSTM {gate_scales = [2⁻¹², …], hidden_scale, hidden_zero_point, cell_scale, …}

An operator has an integer kernel if its data are quantized; with data in floats its weights alone are integers.

Source: `PopulateQuantizedLstmParams8x8_16` of lstm.cc and svdf.cc of TensorFlow Lite 2.21.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from xdsl.ir import Attribute

from moir.dialects.properties import attribute_of
from moir.frontends.numbers import shortest
from moir.frontends.tflite.flatbuffer import ModelFile
from moir.frontends.tflite.quantization import is_rounded
from moir.frontends.tflite.tensors import Tensor

LSTM_KINDS = frozenset(("LSTM", "UNIDIRECTIONAL_SEQUENCE_LSTM"))

SUM_SCALE = 2.0**-12
"""The scale of the sum of a gate before its activation: 16-bit integers for the range [-8, 8)."""

GATES = 4
HIDDEN = 4
"""The index of the intermediate tensor whose scale is that of a cell's output before its projection."""

INTERMEDIATES = 5
NORMS = slice(20, 24)
CELL_STATE, BASIC_CELL_STATE, SVDF_STATE = 19, 4, 4
"""The indices of the operands that are a state of 16 bits: of an LSTM with all operands, of a basic LSTM, of an SVDF.
"""


def integer_kernel(
    file: ModelFile, kind: str, attributes: Mapping[str, Attribute], operands: Sequence[Tensor | None], intermediates: Sequence[Tensor]
) -> dict[str, Attribute]:
    """The attributes of the integer kernel of a recurrent operator; none for other operators and for data in floats.

    Raises ModelFileError for an LSTM without the five intermediate tensors that the 16-bit kernel has.
    """
    if not operands or operands[0] is None or not is_rounded(operands[0]):
        return {}
    if kind == "SVDF":
        return {"state_scale": attribute_of(_scale(file, operands, SVDF_STATE))}
    if kind not in LSTM_KINDS:
        return {}
    if attributes.get("kernel_type") == attribute_of("BASIC"):
        return {"gate_scales": attribute_of([SUM_SCALE] * GATES), "cell_scale": attribute_of(_scale(file, operands, BASIC_CELL_STATE))}
    if len(intermediates) != INTERMEDIATES:
        hint = "quantize the model with a newer converter, which writes LSTMs with states of 16 bits"
        raise file.error(f"a {kind} of integers has {len(intermediates)} intermediate tensors, not {INTERMEDIATES}", hint)
    has_norms = any(each is not None for each in operands[NORMS])
    gates = [_scale(file, intermediates, index) if has_norms else SUM_SCALE for index in range(GATES)]
    hidden = intermediates[HIDDEN].quantization
    zero = 0 if hidden is None or hidden.zero_point is None else int(hidden.zero_point[0])
    return {
        "gate_scales": attribute_of(gates),
        "hidden_scale": attribute_of(_scale(file, intermediates, HIDDEN)),
        "hidden_zero_point": attribute_of(zero),
        "cell_scale": attribute_of(_scale(file, operands, CELL_STATE)),
    }


def _scale(file: ModelFile, tensors: Sequence[Tensor | None], index: int) -> float:
    """The scale of the tensor at an index of `tensors`. Raises ModelFileError if it has none, or several."""
    tensor = tensors[index] if index < len(tensors) else None
    if tensor is None or tensor.quantization is None or tensor.quantization.scale.size != 1:
        name = "" if tensor is None else f" {tensor.name!r}"
        raise file.error(f"the tensor{name} of a recurrent operator of integers has no scale", "the file is damaged")
    return shortest(float(tensor.quantization.scale[0]))
