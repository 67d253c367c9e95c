"""Where the references are wrong themselves, or need help."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

import numpy as np
import onnx
from onnx import defs, helper, numpy_helper

Fault = Callable[[onnx.NodeProto, int], bool]


def _always(_node: onnx.NodeProto, _opset: int) -> bool:
    return True


def _flattens(_node: onnx.NodeProto, opset: int) -> bool:
    return opset < 13


def _is_old(_node: onnx.NodeProto, opset: int) -> bool:
    return opset < 7


def _rounds_up(node: onnx.NodeProto, _opset: int) -> bool:
    return any(attribute.name == "ceil_mode" and attribute.i for attribute in node.attribute)


def _sums_without_absolute(node: onnx.NodeProto, _opset: int) -> bool:
    return any(attribute.name == "p" and attribute.i == 1 for attribute in node.attribute)


def _is_not_plain(node: onnx.NodeProto, _opset: int) -> bool:
    """Whether a recurrent node is more than a forward one: other directions, lengths and clips are passed over."""
    given = {attribute.name: helper.get_attribute_value(attribute) for attribute in node.attribute}
    plain = (
        given.get("direction", b"forward") == b"forward" and not given.keys() & {"clip", "activations"} and not given.get("input_forget")
    )
    return not plain or bool(given.get("layout")) or (len(node.input) > 4 and bool(node.input[4]))


def _resizes_to_fractions(node: onnx.NodeProto, _opset: int) -> bool:
    """Whether positions depend on the size of the result, which is not rounded if computed from scales, or 1 is a case of its own."""
    given = {attribute.name: helper.get_attribute_value(attribute) for attribute in node.attribute}
    mode = given.get("coordinate_transformation_mode", b"")
    if given.get("nearest_mode") in (b"floor", b"ceil") and given.get("mode", b"nearest") == b"nearest":
        # Places are computed in f64, where those between two elements are beside them.
        return True
    computes_sizes = len(node.input) < 4 or given.get("keep_aspect_ratio_policy", b"stretch") != b"stretch"
    return mode == b"pytorch_half_pixel" or (mode in (b"align_corners", b"tf_crop_and_resize") and computes_sizes)


def _aligns_at_an_axis(node: onnx.NodeProto, opset: int) -> bool:
    """Whether operands are aligned as before version 7, which the evaluator does not do."""
    return opset < 7 and any(attribute.name == "axis" for attribute in node.attribute)


def _shows_scores_before_the_cap(node: onnx.NodeProto, _opset: int) -> bool:
    """Whether an output wants scores before the soft cap, and gets those after it."""
    given = {attribute.name: helper.get_attribute_value(attribute) for attribute in node.attribute}
    return given.get("softcap", 0) > 0 and not given.get("qk_matmul_output_mode") and len(node.output) > 3 and bool(node.output[3])


def _has_filters_of_two_axes(node: onnx.NodeProto) -> bool:
    kernel = next((attribute.ints for attribute in node.attribute if attribute.name == "kernel_shape"), ())
    return len(kernel) == 2


def _counts_ignored_targets(node: onnx.NodeProto, _opset: int) -> bool:
    """Whether a mean without weights ignores the class -1, which the evaluator takes for no class at all."""
    given = {attribute.name: helper.get_attribute_value(attribute) for attribute in node.attribute}
    return given.get("ignore_index") == -1 and len(node.input) < 3


FAULTS: Mapping[str, Fault] = {
    **dict.fromkeys(("NegativeLogLikelihoodLoss", "SoftmaxCrossEntropyLoss"), _counts_ignored_targets),
    "Attention": _shows_scores_before_the_cap,
    # Zero points and scales of output channels are aligned as if there were two axes.
    "ConvInteger": lambda node, _: len(node.input) > 3 and not _has_filters_of_two_axes(node),
    "QLinearConv": lambda node, _: not _has_filters_of_two_axes(node),
    # Channels of the first group only; a wanted shape that needs no padding has some in front.
    "ConvTranspose": lambda node, _: any(
        (attribute.name == "group" and attribute.i > 1) or attribute.name == "output_shape" for attribute in node.attribute
    ),
    # Slopes of channels are aligned with the last axis.
    "PRelu": _is_old,
    # With pads at one end only, the windows begin elsewhere. Indices begin in each channel.
    "MaxPool": lambda node, opset: _rounds_up(node, opset) or len(node.output) > 1,
    # One output is sorted in any case.
    "Unique": lambda node, _: len(node.output) == 1 and any(each.name == "sorted" and not each.i for each in node.attribute),
    # Samples beyond the border are taken from elsewhere.
    "GridSample": lambda node, _: any(each.s in (b"cubic", b"bicubic") for each in node.attribute),
    **dict.fromkeys(("Add", "And", "Div", "Equal", "Greater", "Less", "Mul", "Or", "Pow", "Sub", "Xor"), _aligns_at_an_axis),
    # Scan outputs are joined along their first axis.
    "Loop": _always,
    # An empty optional value has an element.
    "Optional": _always,
    # A window of one channel is empty.
    "LRN": _always,
    # Before version 13 the axes from `axis` on are one.
    "Softmax": _flattens,
    "LogSoftmax": _flattens,
    "Hardmax": _flattens,
    # Before version 7 padding is counted, and the third operand of Gemm is passed over.
    "AveragePool": lambda node, opset: _is_old(node, opset) or _rounds_up(node, opset),
    "Gemm": _is_old,
    # The result has the element type of the data, where the schema says f32.
    "LinearRegressor": _always,
    "TreeEnsembleRegressor": _always,
    # Positions that ceil_mode adds.
    "LpPool": _rounds_up,
    "LpNormalization": _sums_without_absolute,
    "Resize": _resizes_to_fractions,
    "RNN": _is_not_plain,
    "GRU": _is_not_plain,
    "LSTM": _is_not_plain,
}
"""What onnx.reference computes wrongly, by operation."""


def evaluator_is_wrong(model: onnx.ModelProto) -> bool:
    """Whether onnx.reference is known to compute a model wrongly."""
    opset = next((each.version for each in model.opset_import if not each.domain), 0)
    return any(node.op_type in FAULTS and FAULTS[node.op_type](node, opset) for node in model.graph.node)


def evaluator_changes_strings(model: onnx.ModelProto, strings: Iterable[str]) -> bool:
    """Whether onnx.reference drops empty strings, words of strings, and accents."""
    return any(node.op_type == "StringNormalizer" for node in model.graph.node) and any(
        not each or " " in each or not each.isascii() for each in strings
    )


def evaluator_rounds(model: onnx.ModelProto, widths: Iterable[int]) -> bool:
    """Whether onnx.reference computes places or levels in 16 bits, of operands of some numbers of bytes."""
    kinds = ("AffineGrid", "GridSample", "InstanceNormalization", "MelWeightMatrix", "QLinearMatMul", "QuantizeLinear")
    return 2 in widths and any(node.op_type in kinds or _crops(node) for node in model.graph.node)


def evaluator_misses_values(model: onnx.ModelProto, results: Iterable[np.ndarray[Any, Any]]) -> bool:
    """Whether onnx.reference has the logarithm of a probability of 0 or an infinite sum of squares, or compares nothing."""
    if any(node.op_type == "ReduceL2" for node in model.graph.node) and any(np.isinf(result).any() for result in results):
        return True
    if any(node.op_type == "Unique" for node in model.graph.node) and any(not result.size for result in results):
        return True
    return any(node.op_type == "LogSoftmax" for node in model.graph.node) and any(
        np.isneginf(result.astype(np.float64)).any() for result in results if result.dtype.kind in "fV"
    )


def turns_backward_slices(graph: onnx.GraphProto, values: Mapping[str, np.ndarray[Any, Any]]) -> bool:
    """Whether a backward slice ends at the largest integer, which ONNX Runtime takes for the begin of the axis.

    The specification counts it from the begin as any other end.
    """
    return _has_backward_slice(graph, values, 2, lambda ends: ends >= np.iinfo(np.int32).max)


def passes_over_first_elements(graph: onnx.GraphProto, values: Mapping[str, np.ndarray[Any, Any]]) -> bool:
    """Whether a backward slice may begin before the data: onnx.reference has nothing of them, and the specification the first element."""
    return _has_backward_slice(graph, values, 1, lambda starts: starts < -1)


def _has_backward_slice(
    graph: onnx.GraphProto, values: Mapping[str, np.ndarray[Any, Any]], index: int, holds: Callable[[np.ndarray[Any, Any]], Any]
) -> bool:
    """Whether something holds of a bound, the operand at an index, of a slice with a negative step."""
    for node in graph.node:
        if node.op_type == "Slice" and len(node.input) > 4:
            bounds, steps = values.get(node.input[index]), values.get(node.input[4])
            if bounds is not None and steps is not None and bool((holds(bounds) & (steps < 0)).any()):
                return True
    return False


def runtime_is_wrong(model: onnx.ModelProto, arrays: Sequence[np.ndarray[Any, Any]], results: Sequence[np.ndarray[Any, Any]]) -> bool:
    """Whether ONNX Runtime is known to compute wrong results, or others than moir, of some inputs and constants.

    It sums truncated exponentials of integers, overflows in SoftPlus from 89 on, has no piece of an empty string where
    there is a delimiter, places the single point of an axis at the end of it, passes over some NaN in Softmax, leaves
    quantized products over nothing as they are in memory, takes the largest end of a backward slice for the first
    element, does not crop an axis whose size stays, squares large numbers for a norm, and rounds the small number that
    keeps MeanVarianceNormalization of equal halves from dividing by 0. Where Clip has one limit it takes the largest
    number of the type for the other, as ONNX says; moir lets infinities pass, so that Clip of positive numbers is Relu.
    """
    for node in model.graph.node:
        given = {attribute.name: helper.get_attribute_value(attribute) for attribute in node.attribute}
        match node.op_type:
            case "ReduceLogSumExp" if arrays[0].dtype.kind in "iu":
                return True
            case "RNN" | "GRU" | "LSTM" if b"Softplus" in given.get("activations", ()):
                largest = float(np.finfo(np.float32).max)
                return any(not (np.abs(result.astype(np.float64)) < largest).all() for result in results)
            case "LogSoftmax" | "Softmax":
                opset = next((each.version for each in model.opset_import if not each.domain), 0)
                return _loses_nan(arrays[0], results[0], given.get("axis", -1 if opset >= 13 else 1), flattens=opset < 13)
            case "QLinearMatMul":
                return results[0].size > 0 and (arrays[0].size == 0 or arrays[3].size == 0)
            case "Slice" if _slices_backwards_from_the_end(model, node):
                return True
            case "StringSplit" if given.get("delimiter"):
                return any(not text for text in arrays[0].ravel())
            case "ReduceL2":
                # Their squares are infinite.
                return any(1e18 < abs(number) < np.inf for number in arrays[0].astype(np.float64).ravel())
            case "Resize" if _crops(node):
                return _keeps_a_cropped_axis(arrays, results[0], given.get("axes"))
            case "Clip" if not {"min", "max"} <= given.keys() and (len(node.input) < 3 or not all(node.input)):
                return bool(np.isinf(arrays[0].astype(np.float64)).any())
            case "MeanVarianceNormalization" if arrays[0].dtype == np.float16:
                return bool(np.isfinite(arrays[0]).all() and np.isnan(results[0]).any())
            case "AffineGrid" if given.get("align_corners"):
                return 1 in results[0].shape[1:-1]
            case _:
                pass
    return False


def _keeps_a_cropped_axis(arrays: Sequence[np.ndarray[Any, Any]], result: np.ndarray[Any, Any], axes: Sequence[int] | None) -> bool:
    """Whether a part of an axis is resized to the size of the whole."""
    data, region = arrays[0], arrays[1].astype(np.float64)
    each = range(data.ndim) if axes is None else axes
    parts = zip(each, region, region[len(each) :], strict=False)
    return any(data.shape[axis] == result.shape[axis] and (begin, end) != (0, 1) for axis, begin, end in parts)


def _slices_backwards_from_the_end(model: onnx.ModelProto, node: onnx.NodeProto) -> bool:
    """Whether a slice with a negative step has the largest integer, which is clamped to the last element, as a constant end."""
    constants = {each.name: numpy_helper.to_array(each) for each in model.graph.initializer}
    ends, steps = (constants.get(node.input[index]) if len(node.input) > index else None for index in (2, 4))
    if ends is None or steps is None:
        return False
    return bool(((steps < 0) & (ends >= np.iinfo(np.int32).max)).any())


def _loses_nan(x: np.ndarray[Any, Any], result: np.ndarray[Any, Any], axis: int, *, flattens: bool) -> bool:
    """Whether a Softmax has numbers where one of the elements along its axis, or after it, is NaN."""
    axes = tuple(range(axis % max(x.ndim, 1), x.ndim)) if flattens else axis
    if not x.ndim or x.shape != result.shape:
        return False
    holds = np.broadcast_to(np.isnan(x.astype(np.float64)).any(axis=axes, keepdims=True), x.shape)
    return not np.isnan(result.astype(np.float64)[holds]).all()


def _crops(node: onnx.NodeProto) -> bool:
    """Whether a node has places that depend on numbers of an operand."""
    return any(attribute.s == b"tf_crop_and_resize" for attribute in node.attribute)


def leaves_gaps(model: onnx.ModelProto) -> bool:
    """Whether strides exceed windows, and padding is automatic: ONNX does not say where the windows begin.

    With the larger part of the padding after the data they may exceed them by 1, but for MaxPool: ONNX Runtime refuses
    padding of -1, and onnx.reference puts it in front.
    """
    for node in model.graph.node:
        given = {attribute.name: helper.get_attribute_value(attribute) for attribute in node.attribute}
        if given.get("auto_pad", b"").startswith(b"SAME") and "kernel_shape" in given:
            sizes = zip(given["kernel_shape"], given.get("strides", ()), given.get("dilations") or [1] * 9, strict=False)
            room = 1 if given["auto_pad"] == b"SAME_LOWER" or node.op_type == "MaxPool" else 2
            if any(stride > (length - 1) * step + room for length, stride, step in sizes):
                return True
    return False


def windows_exceed(model: onnx.ModelProto, data: Sequence[np.ndarray[Any, Any]]) -> bool:
    """Whether a window of a model of one node is larger than its padded data: ONNX Runtime has a position for it all the same."""
    given = {attribute.name: helper.get_attribute_value(attribute) for attribute in model.graph.node[0].attribute}
    kernel = given.get("kernel_shape")
    if len(model.graph.node) > 1 or not kernel or given.get("auto_pad", b"NOTSET").startswith(b"SAME"):
        return False
    pads, steps = given.get("pads") or [0] * 2 * len(kernel), given.get("dilations") or [1] * len(kernel)
    sizes = zip(kernel, steps, pads, pads[len(kernel) :], data[0].shape[2:], strict=False)
    return any((length - 1) * step + 1 > before + size + after for length, step, before, after, size in sizes)


WIDENED = 22
"""The operator set that allows bfloat16 in many operations and changes nothing else; ONNX Runtime lacks many of them."""


def without_wider_types(model: onnx.ModelProto) -> onnx.ModelProto | None:
    """A model that means the same in the operator set before WIDENED; None if some operation is not one that only got more types."""
    for node in model.graph.node:
        if node.domain:
            return None
        versions = [each.version for each in model.opset_import if not each.domain]
        if not versions or defs.get_schema(node.op_type, versions[0], "").since_version != WIDENED:
            return None
    copied = onnx.ModelProto()
    copied.CopyFrom(model)
    for each in copied.opset_import:
        if not each.domain:
            each.version = WIDENED - 1
    copied.ir_version = 10
    return copied
