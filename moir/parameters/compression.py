"""The parameters for the storage of weights."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from moir.parameters.kinds import SWITCH, or_none, structured
from moir.parameters.parameter import Parameter, PassRequest

if TYPE_CHECKING:
    from moir.parameters.weight_codes import WeightCodes


def _weight_codes(value: Any) -> WeightCodes:
    from moir.parameters.weight_codes import weight_codes

    return weight_codes(value)


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
    passes=(PassRequest("compress-weights", "codes"),),
)

COMPRESSION_PARAMETERS = (COMPRESS_TO_FP16, COMPRESS_WEIGHTS)
