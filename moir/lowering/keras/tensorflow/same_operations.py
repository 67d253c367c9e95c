"""Functions of TensorFlow that create one operation with their own arguments.

    linalg.band_part MatrixBandPart(input, num_lower:int, num_upper:int)

is the operation MatrixBandPart with three operands, of which the last two are integers; operands without a type have a
common element type. After a semicolon come attributes: the attribute's name, then, after `=`, the name of the argument
if it differs, and the default.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import partial
from typing import Any

from xdsl.ir import SSAValue

from moir.lowering.keras.tensorflow.calls import FUNCTIONS, Call
from moir.support.records import Record

_ROWS = """
bitwise.bitwise_and BitwiseAnd(x, y)
bitwise.bitwise_or BitwiseOr(x, y)
bitwise.bitwise_xor BitwiseXor(x, y)
bitwise.invert Invert(x)
bitwise.left_shift LeftShift(x, y)
bitwise.right_shift RightShift(x, y)
batch_to_space BatchToSpaceND(input, block_shape:int, crops:int)
broadcast_to BroadcastTo(input, shape:int)
gather_nd GatherNd(params, indices:int; batch_dims 0)
image.crop_and_resize CropAndResize(image, boxes, box_indices:int, crop_size:int; method "bilinear", extrapolation_value 0.0)
image.hsv_to_rgb HSVToRGB(images)
image.rgb_to_hsv RGBToHSV(images)
linalg.band_part MatrixBandPart(input, num_lower:int, num_upper:int)
linalg.cholesky Cholesky(input)
linalg.cross Cross(a, b)
linalg.det MatrixDeterminant(input)
linalg.inv MatrixInverse(input; adjoint False)
linalg.solve MatrixSolve(matrix, rhs; adjoint False)
linalg.tensor_diag Diag(diagonal)
linalg.tensor_diag_part DiagPart(input)
linalg.triangular_solve MatrixTriangularSolve(matrix, rhs; lower True, adjoint False)
math.acos Acos(x)
math.acosh Acosh(x)
math.asin Asin(x)
math.asinh Asinh(x)
math.atan Atan(x)
math.atan2 Atan2(y, x)
math.atanh Atanh(x)
math.bessel_i0 BesselI0(x)
math.bessel_i0e BesselI0e(x)
math.bessel_i1 BesselI1(x)
math.bessel_i1e BesselI1e(x)
math.betainc Betainc(a, b, x)
math.cumprod Cumprod(x, axis:int 0; exclusive False, reverse False)
math.cumsum Cumsum(x, axis:int 0; exclusive False, reverse False)
math.cumulative_logsumexp CumulativeLogsumexp(x, axis:int 0; exclusive False, reverse False)
math.digamma Digamma(x)
math.erfc Erfc(x)
math.erfinv Erfinv(x)
math.floordiv FloorDiv(x, y)
math.igamma Igamma(a, x)
math.igammac Igammac(a, x)
math.invert_permutation InvertPermutation(x)
math.lgamma Lgamma(x)
math.multiply_no_nan MulNoNan(x, y)
math.ndtri Ndtri(x)
math.nextafter NextAfter(x1, x2)
math.polygamma Polygamma(a, x)
math.reduce_euclidean_norm EuclideanNorm(input_tensor, axis:axes; keep_dims=keepdims False)
math.rint Rint(x)
math.segment_max SegmentMax(data, segment_ids:int)
math.segment_mean SegmentMean(data, segment_ids:int)
math.segment_min SegmentMin(data, segment_ids:int)
math.segment_prod SegmentProd(data, segment_ids:int)
math.segment_sum SegmentSum(data, segment_ids:int)
math.squared_difference SquaredDifference(x, y)
math.unsorted_segment_max UnsortedSegmentMax(data, segment_ids:int, num_segments:int)
math.unsorted_segment_min UnsortedSegmentMin(data, segment_ids:int, num_segments:int)
math.unsorted_segment_prod UnsortedSegmentProd(data, segment_ids:int, num_segments:int)
math.unsorted_segment_sum UnsortedSegmentSum(data, segment_ids:int, num_segments:int)
math.xdivy Xdivy(x, y)
math.xlog1py Xlog1py(x, y)
math.xlogy Xlogy(x, y)
math.zeta Zeta(x, q)
nn.depth_to_space DepthToSpace(input; block_size, data_format "NHWC")
nn.space_to_depth SpaceToDepth(input; block_size, data_format "NHWC")
nn.l2_loss L2Loss(t)
nn.local_response_normalization LRN(input; depth_radius 5, bias 1.0, alpha 1.0, beta 0.5)
rank Rank(input)
realdiv RealDiv(x, y)
reverse ReverseV2(tensor, axis:int)
reverse_sequence ReverseSequence(input, seq_lengths:int; seq_dim=seq_axis, batch_dim=batch_axis 0)
roll Roll(input, shift:int, axis:int)
scatter_nd ScatterNd(indices:int, updates, shape:int)
slice Slice(input_, begin:int, size:int)
space_to_batch SpaceToBatchND(input, block_shape:int, paddings:int)
space_to_batch_nd SpaceToBatchND(input, block_shape:int, paddings:int)
tensor_scatter_nd_add TensorScatterAdd(tensor, indices:int, updates)
tensor_scatter_nd_max TensorScatterMax(tensor, indices:int, updates)
tensor_scatter_nd_min TensorScatterMin(tensor, indices:int, updates)
tensor_scatter_nd_sub TensorScatterSub(tensor, indices:int, updates)
tensor_scatter_nd_update TensorScatterUpdate(tensor, indices:int, updates)
tile Tile(input, multiples:int)
truncatediv TruncateDiv(x, y)
truncatemod TruncateMod(x, y)
"""

_ROW = re.compile(r"(\S+) (\w+)\(([^;)]*)(?:; ([^)]*))?\)")
_OPERAND = re.compile(r"(\w+)(?::(\w+))?(?: (\S+))?")
_ATTRIBUTE = re.compile(r"(\w+)(?:=(\w+))?(?: (\S+))?")
_REQUIRED = object()


class Argument(Record):
    """An argument of a function that becomes an operand or an attribute.

    Args:
        name: its name.
        role: `int` or `axes` for operands of these kinds, the attribute's name for an attribute, and empty for an
            operand of the common element type.
        default: its default; `_REQUIRED` if it has none.
    """

    name: str
    role: str = ""
    default: Any = _REQUIRED


_LITERALS: dict[str, Any] = {"False": False, "True": True, '"bilinear"': "bilinear", '"NHWC"': "NHWC"}


def _default(text: str | None) -> Any:
    if text is None:
        return _REQUIRED
    return _LITERALS[text] if text in _LITERALS else float(text) if "." in text else int(text)


def operation(kind: str, operands: list[Argument], attributes: list[Argument], call: Call, *arguments: Any, **keywords: Any) -> SSAValue:
    """The result of operation `kind`, whose operands and attributes are the arguments of a call.

    Raises TypeError if the arguments are not those of the function.
    """
    every = [*operands, *attributes]
    if len(arguments) > len(every):
        raise TypeError(f"it takes {len(every)} arguments, and is called with {len(arguments)}")
    bound = {each.name: each.default for each in every} | dict(zip((each.name for each in every), arguments, strict=False))
    if unknown := keywords.keys() - bound.keys():
        raise TypeError(f"it has no argument {', '.join(sorted(unknown))}")
    bound |= keywords
    if axes := next((each.name for each in operands if each.role == "axes"), None):
        bound[axes] = None if bound[axes] is _REQUIRED else bound[axes]
    if missing := [name for name, value in bound.items() if value is _REQUIRED]:
        raise TypeError(f"its argument {missing[0]} is missing")
    alike = iter(call.alike(*(bound[each.name] for each in operands if not each.role)))
    values: list[SSAValue] = []
    for each in operands:
        if not each.role:
            values.append(next(alike))
        elif each.role == "axes":
            values.append(call.integers(call.axes(bound[each.name], values[0])))
        else:
            values.append(call.integers(bound[each.name]))
    return call.raw(kind, *values, **{each.role: bound[each.name] for each in attributes})


def _registered(text: str) -> dict[str, Callable[..., SSAValue]]:
    functions: dict[str, Callable[..., SSAValue]] = {}
    for line in text.strip().splitlines():
        match = _ROW.fullmatch(line)
        assert match is not None, line
        name, kind, operands, attributes = match.groups()
        listed = [Argument(own, role or "", _default(default)) for own, role, default in map(_parts(_OPERAND), operands.split(", "))]
        others = [
            Argument(own or attribute, attribute, _default(default))
            for attribute, own, default in map(_parts(_ATTRIBUTE), attributes.split(", ") if attributes else ())
        ]
        functions[name] = partial(operation, kind, listed, others)
    return functions


def _parts(expression: re.Pattern[str]) -> Callable[[str], tuple[Any, ...]]:
    def parts(text: str) -> tuple[Any, ...]:
        match = expression.fullmatch(text)
        assert match is not None, text
        return match.groups()

    return parts


FUNCTIONS.update(_registered(_ROWS))
