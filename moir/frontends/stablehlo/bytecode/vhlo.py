"""Types and attributes of VHLO, and the names of the attributes of its operations.

All attributes of an operation are in its properties, without names, in alphabetical order of their names.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from xdsl.dialects.builtin import ComplexType
from xdsl.ir import Attribute

from moir.dialects.shapes import impossibility
from moir.frontends.stablehlo.bytecode.numbers import Cursor
from moir.frontends.stablehlo.element_types import ELEMENTS, storage_of
from moir.frontends.stablehlo.program import Dense, FunctionType, OtherType, Quantized, TensorType, TupleType, Type
from moir.frontends.stablehlo.quantized_types import fault_of_type
from moir.support.tables import words

Read = Callable[[int], Any]
"""The type of functions that return the attribute, or the type, of an index in the file."""

SCALARS: dict[int, str] = {
    0: "i1",
    2: "bf16",
    3: "f16",
    4: "f32",
    5: "f64",
    6: "f8E4M3FN",
    7: "f8E5M2",
    10: "i4",
    11: "i8",
    12: "i16",
    13: "i32",
    14: "i64",
    15: "ui4",
    16: "ui8",
    17: "ui16",
    18: "ui32",
    19: "ui64",
    27: "f8E4M3FNUZ",
    28: "f8E5M2FNUZ",
    29: "f8E4M3B11FNUZ",
    31: "i2",
    32: "ui2",
    35: "f8E4M3",
    36: "f8E3M4",
    37: "f4E2M1FN",
    38: "f6E2M3FN",
    39: "f6E3M2FN",
    40: "f8E8M0FNU",
}
"""The element types by their codes."""

_SIGNED = 1
"""The flag that marks a quantized type of signed integers; the storage type in the file has no sign."""

_UNSIGNED = {ELEMENTS[f"i{width}"]: ELEMENTS[f"ui{width}"] for width in (4, 8, 16, 32)}

_NONE = 33
"""The code of the type that stands for an absent attribute."""

_WIDTHS = {"i1": 1, "i2": 2, "i4": 4, "i8": 8, "ui2": 2, "ui4": 4, "ui8": 8}

ENUMERATIONS: dict[int, tuple[str, ...]] = {
    3: ("EQ", "NE", "GE", "GT", "LE", "LT"),
    4: ("NOTYPE", "FLOAT", "TOTALORDER", "SIGNED", "UNSIGNED"),
    5: ("UNSPECIFIED", "ORIGINAL", "STATUS_RETURNING", "STATUS_RETURNING_UNIFIED", "TYPED_FFI"),
    7: ("FFT", "IFFT", "RFFT", "IRFFT"),
    11: ("DEFAULT", "HIGH", "HIGHEST"),
    12: ("DEFAULT", "THREE_FRY", "PHILOX"),
    13: ("UNIFORM", "NORMAL"),
    16: ("TRANSPOSE_INVALID", "NO_TRANSPOSE", "TRANSPOSE", "ADJOINT"),
}
"""The values of attributes that are one of several words, by their codes."""


def read_type(cursor: Cursor, types: Read, _: Read) -> Type:
    """Read a type; `types` gives a type by its index."""
    code = cursor.number()
    if code in SCALARS:
        return TensorType((), ELEMENTS[SCALARS[code]])
    match code:
        case 1:
            inner = types(cursor.number())
            element = _element(cursor, inner)
            if isinstance(element, Quantized):
                cursor.fail("complex numbers of quantized ones")
            return TensorType((), ComplexType(element))  # pyright: ignore[reportArgumentType]
        case 8:
            inputs = tuple(types(cursor.number()) for _ in range(cursor.count("inputs")))
            return FunctionType(inputs, tuple(types(cursor.number()) for _ in range(cursor.count("outputs"))))
        case 9:
            return TensorType((), ELEMENTS["index"])
        case 20 | 21:
            if code == 21:
                cursor.number()
            return _tensor(cursor, types)
        case 22:
            return OtherType("token")
        case 23:
            return TupleType(tuple(types(cursor.number()) for _ in range(cursor.count("elements"))))
        case 24 | 30:
            return TensorType((), _quantized(cursor, types, per_axis=code == 30))
        case 25:
            return TensorType(None, _element(cursor, types(cursor.number())))
        case _:
            if code != _NONE:
                cursor.fail(f"a type with the unknown code {code}", hint="is the file newer than this version of moir?")
            return OtherType("none")


def _element(cursor: Cursor, type_: Any) -> Attribute | Quantized:
    if not isinstance(type_, TensorType):
        cursor.fail("a tensor has no element type")
    return type_.element


def _tensor(cursor: Cursor, types: Read) -> TensorType:
    sizes = [cursor.signed() for _ in range(cursor.count("dimensions"))]
    shape = tuple(size if size >= 0 else -1 for size in sizes)
    if reason := impossibility([size for size in shape if size >= 0]):
        cursor.fail(reason)
    return TensorType(shape, _element(cursor, types(cursor.number())))


def _quantized(cursor: Cursor, types: Read, *, per_axis: bool) -> Quantized:
    is_signed = bool(cursor.number() & _SIGNED)
    storage, expressed = (_element(cursor, types(cursor.number())) for _ in range(2))
    if isinstance(storage, Quantized) or isinstance(expressed, Quantized):
        cursor.fail("a quantized type of quantized numbers")
    if not is_signed:
        storage = _UNSIGNED.get(storage, storage)
    axis: int | None = None
    if per_axis:
        axis = cursor.number()
        lowest, highest = cursor.signed(), cursor.signed()
        scales = [_float(cursor, "f64") for _ in range(cursor.count("scales"))]
        zeros = [cursor.signed() for _ in range(cursor.count("zero points"))]
    else:
        scales, zeros = [_float(cursor, "f64")], [cursor.signed()]
        lowest, highest = cursor.signed(), cursor.signed()
    quantized = Quantized(storage, expressed, tuple(scales), tuple(zeros), axis, lowest, highest)
    if fault := fault_of_type(quantized):
        cursor.fail(fault)
    return quantized


def _float(cursor: Cursor, name: str) -> float:
    """Read a float of the type `name`, which is stored as its bit pattern."""
    kind = storage_of(ELEMENTS[name])
    if kind is None:
        cursor.fail(f"a float of the type {name}")
    bits = cursor.byte() if kind.itemsize == 1 else cursor.signed()
    return float(np.array(bits & ((1 << 8 * kind.itemsize) - 1), f"u{kind.itemsize}").view(kind))


def read_attribute(cursor: Cursor, types: Read, attributes: Read) -> Any:
    """Read an attribute; `types` and `attributes` give those that it refers to by index."""
    code = cursor.number()
    if code in ENUMERATIONS:
        index = cursor.number()
        words = ENUMERATIONS[code]
        return words[index] if index < len(words) else str(index)
    match code:
        case 1:
            return [attributes(cursor.number()) for _ in range(cursor.count("entries"))]
        case 2:
            return bool(cursor.number())
        case 6:
            pairs = [(attributes(cursor.number()), attributes(cursor.number())) for _ in range(cursor.count("entries"))]
            return {str(name): value for name, value in pairs}
        case 8 | 9:
            type_ = types(cursor.number())
            return _number(cursor, type_)
        case 14:
            return attributes(-1 - cursor.number())
        case 15:
            return _dense(cursor, types(cursor.number()))
        case 17:
            return types(cursor.number())
        case _:
            return None


def _number(cursor: Cursor, type_: Any) -> int | float:
    element = type_.element if isinstance(type_, TensorType) else None
    name = next((name for name, each in ELEMENTS.items() if each == element), "")
    if name.startswith(("f", "bf")):
        return _float(cursor, name)
    value = cursor.byte() if name in _WIDTHS else cursor.signed()
    if name in ("i1",):
        return value & 1
    width = _WIDTHS.get(name, 64)
    if width < 64 and not name.startswith("u") and value >= 1 << (width - 1):
        value -= 1 << width
    return value


def _dense(cursor: Cursor, type_: Any) -> Dense:
    """Read a constant of the tensor type `type_`; a single element stands for all elements."""
    data = cursor.bytes(cursor.count("bytes"))
    if not isinstance(type_, TensorType) or type_.shape is None or min(type_.shape, default=0) < 0:
        cursor.fail("a constant has no static shape")
    element = type_.element.storage if isinstance(type_.element, Quantized) else type_.element
    kind = storage_of(element)
    if kind is None:
        cursor.fail("constants of this element type are not supported", hint="convert them to another type before the export")
    count = 1
    for size in type_.shape:
        count *= size
    if kind == np.dtype(bool):
        values = np.frombuffer(data, np.uint8)
        if values.size == 1 and count > 8:
            values = values & 1
        elif values.size != count:
            values = np.unpackbits(values, bitorder="little")[:count] if values.size == (count + 7) // 8 else values
        values = values.astype(bool)
    else:
        values = np.frombuffer(data[: len(data) // kind.itemsize * kind.itemsize], kind)
    if values.size not in (1, count):
        cursor.fail(f"a constant of {count} elements has {values.size}")
    return Dense(values.reshape(type_.shape if values.size == count else ()), type_)


_CONVOLUTION = (
    *("batch_group_count", "feature_group_count", "input_batch_dimension", "input_feature_dimension", "input_spatial_dimensions"),
    *("kernel_input_feature_dimension", "kernel_output_feature_dimension", "kernel_spatial_dimensions", "lhs_dilation"),
    *("output_batch_dimension", "output_feature_dimension", "output_spatial_dimensions", "padding", "precision_config"),
    *("rhs_dilation", "window_reversal", "window_strides"),
)
_GATHER = ("collapsed_slice_dims", "index_vector_dim", "indices_are_sorted", "offset_dims", "operand_batching_dims")
_INDICES = ("start_index_map", "start_indices_batching_dims")
_CUSTOM_CALL = (
    *("api_version", "backend_config", "call_target_name", "called_computations", "has_side_effect", "operand_layouts"),
    *("output_operand_aliases", "result_layouts"),
)

_ACCURACY = words("cbrt cosine exponential exponential_minus_one log log_plus_one logistic rsqrt sine sqrt tan tanh")

_GROUPS = ("channel_id", "replica_groups", "use_global_device_ids")

ATTRIBUTES: dict[str, tuple[str, ...]] = {
    **{f"{name}_v2": ("result_accuracy",) for name in _ACCURACY},
    **dict.fromkeys(("all_gather_v1", "all_gather_v2"), ("all_gather_dim", *_GROUPS)),
    **dict.fromkeys(("all_reduce_v1", "all_reduce_v2"), _GROUPS),
    **dict.fromkeys(
        ("all_to_all_v1", "all_to_all_v2"), ("channel_id", "concat_dimension", "replica_groups", "split_count", "split_dimension")
    ),
    "batch_norm_inference_v1": ("epsilon", "feature_index"),
    "broadcast_in_dim_v1": ("broadcast_dimensions",),
    "call_v1": ("callee",),
    "cholesky_v1": ("lower",),
    "collective_broadcast_v1": ("channel_id", "replica_groups"),
    "collective_broadcast_v2": ("channel_id", "has_dynamic_root", "replica_groups"),
    "collective_permute_v1": ("channel_id", "source_target_pairs"),
    "collective_reduce_v1": ("channel_id", "has_dynamic_root", "replica_groups", "use_global_device_ids"),
    "compare_v1": ("compare_type", "comparison_direction"),
    "composite_v1": ("composite_attributes", "decomposition", "name", "version"),
    "composite_v2": ("composite_attributes", "decomposition", "name", "version"),
    "concatenate_v1": ("dimension",),
    "constant_v1": ("value",),
    "convolution_v1": _CONVOLUTION,
    "custom_call_v1": _CUSTOM_CALL,
    "custom_call_v2": (*_CUSTOM_CALL, "result_tilings"),
    "dot_general_v1": (
        *("lhs_batching_dimensions", "lhs_contracting_dimensions", "precision_config"),
        *("rhs_batching_dimensions", "rhs_contracting_dimensions"),
    ),
    "dot_general_v2": (
        *("accumulation_type", "allow_imprecise_accumulation", "lhs_batching_dimensions", "lhs_component_count"),
        *("lhs_contracting_dimensions", "lhs_precision_type", "num_primitive_operations", "precision_config"),
        *("rhs_batching_dimensions", "rhs_component_count", "rhs_contracting_dimensions", "rhs_precision_type"),
    ),
    "dot_v1": ("precision_config",),
    "dynamic_broadcast_in_dim_v1": ("broadcast_dimensions", "known_expanding_dimensions", "known_nonexpanding_dimensions"),
    "dynamic_conv_v2": tuple(name for name in _CONVOLUTION if name != "padding"),
    "dynamic_gather_v1": (*_GATHER[:4], "start_index_map"),
    "dynamic_gather_v2": (*_GATHER, *_INDICES),
    "dynamic_iota_v1": ("iota_dimension",),
    "dynamic_slice_v1": ("slice_sizes",),
    "einsum_v1": ("einsum_config",),
    "fft_v1": ("fft_length", "fft_type"),
    "func_v1": ("arg_attrs", "function_type", "res_attrs", "sym_name", "sym_visibility"),
    "gather_v1": (*_GATHER[:4], "slice_sizes", "start_index_map"),
    "gather_v2": (*_GATHER, "slice_sizes", *_INDICES),
    "get_dimension_size_v1": ("dimension",),
    "get_tuple_element_v1": ("index",),
    "iota_v1": ("iota_dimension",),
    "map_v1": ("dimensions",),
    "pad_v1": ("edge_padding_high", "edge_padding_low", "interior_padding"),
    "reduce_precision_v1": ("exponent_bits", "mantissa_bits"),
    "reduce_scatter_v1": ("channel_id", "replica_groups", "scatter_dimension", "use_global_device_ids"),
    "reduce_v1": ("dimensions",),
    "reduce_window_v1": ("base_dilations", "padding", "window_dilations", "window_dimensions", "window_strides"),
    "reverse_v1": ("dimensions",),
    "rng_bit_generator_v1": ("rng_algorithm",),
    "rng_v1": ("rng_distribution",),
    "scatter_v1": (
        *("index_vector_dim", "indices_are_sorted", "inserted_window_dims", "scatter_dims_to_operand_dims"),
        *("unique_indices", "update_window_dims"),
    ),
    "scatter_v2": (
        *("index_vector_dim", "indices_are_sorted", "input_batching_dims", "inserted_window_dims", "scatter_dims_to_operand_dims"),
        *("scatter_indices_batching_dims", "unique_indices", "update_window_dims"),
    ),
    "select_and_scatter_v1": ("padding", "window_dimensions", "window_strides"),
    "set_dimension_size_v1": ("dimension",),
    "slice_v1": ("limit_indices", "start_indices", "strides"),
    "sort_v1": ("dimension", "is_stable"),
    "torch_index_select_v1": ("batch_dims", "dim"),
    "transpose_v1": ("permutation",),
    "triangular_solve_v1": ("left_side", "lower", "transpose_a", "unit_diagonal"),
}
"""The names of the attributes of each version of an operation, in the order of the properties."""
