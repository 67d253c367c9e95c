"""The parameters for the storage of weights."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from moir.parameters.kinds import LIST, SWITCH, or_none, structured
from moir.parameters.parameter import FieldValue, Options, Parameter, PassRequest
from moir.targets.registry import OPENVINO_CPU

if TYPE_CHECKING:
    from collections.abc import Mapping

    from moir.parameters.weight_codes import WeightCodes


def _weight_codes(value: Any) -> WeightCodes:
    from moir.parameters.weight_codes import weight_codes

    return weight_codes(value)


def _group_size(value: Any) -> int:
    from moir.parameters.weight_codes import group_size

    return group_size(str(value))


def _ratio(value: Any) -> float:
    from moir.parameters.weight_codes import share

    return share(str(value))


def _codes(options: Options) -> Mapping[str, FieldValue] | None:
    """The field `codes` of `compress-weights`; None if no parameter requests compression.

    Raises UsageError if parameters contradict each other.
    """
    from moir.parameters.weight_codes import with_parameters

    codes, group, ratio = options[COMPRESS_WEIGHTS], options[GROUP_SIZE], options[RATIO]
    if codes is None and group is None and ratio is None:
        return None
    return {"codes": str(with_parameters(codes, group, ratio))}


_COMPRESS = PassRequest("compress-weights", options=_codes)

COMPRESS_TO_FP16 = Parameter(
    "compress_to_fp16",
    SWITCH,
    False,
    "store weights in half precision",
    passes=(PassRequest("compress-to-fp16"),),
)

COMPRESS_WEIGHTS: Parameter[WeightCodes | None] = Parameter(
    "compress_weights",
    or_none(structured("how weights are stored: 'int8', 'int4', 'int4_sym:64'", _weight_codes, str)),
    None,
    "store weights of matrix products and embeddings as integers that the runtime computes with: int8 or int4, also with "
    "_sym or _asym (default); GROUP weights share a scale, and SHARE of the weights get 4 bits, see docs/compression.md",
    in_python='store weights of matrix products and embeddings as integers: "int8", "int4", both with "_sym" or "_asym", '
    'a size of groups and a share: "int4_sym:64:0.8"',
    metavar="MODE[:GROUP[:SHARE]]",
    passes=(_COMPRESS,),
)

GROUP_SIZE: Parameter[int | None] = Parameter(
    "group_size",
    or_none(structured("a size of groups of weights: a multiple of 16, or 'channel'", _group_size, int)),
    None,
    "how many weights share a scale with --compress-weights: a multiple of 16, or channel for all of a row; "
    "128 with 4 bits in language models, 16 in others",
    metavar="N",
    passes=(_COMPRESS,),
)

RATIO: Parameter[float | None] = Parameter(
    "ratio",
    or_none(structured("a share of weights: a number from 0 to 1", _ratio, float)),
    None,
    "the share of the weights of matrix products that --compress-weights int4 gives 4 bits, the others get 8: from 0 to 1; "
    "1 in language models, 0.4 in others",
    metavar="SHARE",
    passes=(_COMPRESS,),
)

KEEP_PRECISION: Parameter[tuple[str, ...]] = Parameter(
    "keep_precision",
    LIST,
    (),
    "nodes that are computed in f32 where the runtime computes in f16 or bf16; auto: those that lose too much in f16, see docs/checking.md",
    metavar="NODE[,...]",
    passes=(PassRequest("keep-precision", field="nodes"), *(PassRequest(name) for name in OPENVINO_CPU.marked_forms)),
)

COMPRESSION_PARAMETERS = (COMPRESS_TO_FP16, COMPRESS_WEIGHTS, GROUP_SIZE, RATIO, KEEP_PRECISION)
