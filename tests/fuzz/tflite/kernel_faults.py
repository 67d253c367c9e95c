"""Kernels of TensorFlow Lite that compute something undefined, where no result is the right one."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
import tensorflow as tf

from tests.fuzz.draw import Array

Values = Callable[[int], Array]
"""The value of a tensor by its number."""


def is_undefined(content: bytes, inputs: Mapping[str, Array]) -> bool:
    """Whether a kernel of a model computes something undefined for given inputs."""
    interpreter: Any = tf.lite.Interpreter(
        model_content=content,
        experimental_op_resolver_type=tf.lite.experimental.OpResolverType.BUILTIN_WITHOUT_DEFAULT_DELEGATES,
        experimental_preserve_all_tensors=True,
    )
    operators = [each for each in interpreter._get_ops_details() if each["op_name"] in RULES]
    if not operators:
        return False
    for each in interpreter.get_input_details():
        interpreter.resize_tensor_input(each["index"], inputs[each["name"]].shape)
    interpreter.allocate_tensors()
    for each in interpreter.get_input_details():
        interpreter.set_tensor(each["index"], inputs[each["name"]])
    interpreter.invoke()
    details = {each["index"]: each for each in interpreter.get_tensor_details()}
    return any(
        RULES[each["op_name"]]([details[index] for index in (*each["inputs"], *each["outputs"])], interpreter.get_tensor)
        for each in operators
    )


def divides_beyond_its_shifts(tensors: Sequence[Mapping[str, Any]], value: Values) -> bool:
    """Whether a division of integers divides by the zero point, or shifts a quotient by more than 31 places.

    The kernel shifts the dividend to the left until 31 bits are used, and the product with the reciprocal to the right
    by as many places more as the divisor has bits, less the exponent of scale / (scale of the divisor · scale of the
    result).
    """
    if tensors[0]["dtype"] not in (np.int8, np.uint8):
        return False
    scales, zeros = zip(*(each["quantization"] for each in tensors), strict=True)
    dividend, divisor = (np.abs(value(each["index"]).astype(np.int64) - zero) for each, zero in zip(tensors[:2], zeros[:2], strict=True))
    if np.any(divisor == 0):
        return True
    exponent = np.frexp(scales[0] / (scales[1] * scales[2]))[1]
    headroom = 31 - np.frexp(dividend)[1]
    return bool(np.any(exponent - (np.frexp(divisor)[1] - 1) - headroom < -31))


def transforms_one_number(tensors: Sequence[Mapping[str, Any]], value: Values) -> bool:
    """Whether a Fourier transform is one of rows with one number, whose imaginary part the kernel does not set to 0."""
    return value(tensors[1]["index"]).tolist()[-1:] == [1]


def rounds_nan(tensors: Sequence[Mapping[str, Any]], value: Values) -> bool:
    """Whether NaN becomes an integer."""
    given = value(tensors[0]["index"])
    return given.dtype.kind == "f" and bool(np.isnan(given).any())


RULES: Mapping[str, Callable[[Sequence[Mapping[str, Any]], Values], bool]] = {
    "DIV": divides_beyond_its_shifts,
    "QUANTIZE": rounds_nan,
    "RFFT2D": transforms_one_number,
}
"""What tells whether an operator is undefined, of its operands and results."""
