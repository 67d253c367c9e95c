"""The parameters that say how weights are stored."""

from __future__ import annotations

from typing import Any

from moir.arguments import Expected
from moir.errors import UsageError
from moir.parameters.kinds import SWITCH, or_none, structured
from moir.parameters.parameter import Parameter, PassRequest
from moir.parameters.weight_codes import WeightCodes, weight_codes


def _is_weight_codes(value: Any) -> bool:
    try:
        return isinstance(value, str | WeightCodes) and bool(weight_codes(value))
    except UsageError:
        return False


COMPRESS_TO_FP16 = Parameter(
    "compress_to_fp16",
    SWITCH,
    False,
    "store weights in half precision",
    passes=(PassRequest("compress-to-fp16"),),
)

COMPRESS_WEIGHTS = Parameter(
    "compress_weights",
    or_none(structured(Expected("text such as 'int8', 'int4' or 'int4_sym:64'", _is_weight_codes), weight_codes, str)),
    None,
    "store weights of matrix products and embeddings as integers that the runtime computes with: int8 or int4, also with "
    "_sym or _asym (default); GROUP weights share a scale, and SHARE of the weights get 4 bits, see docs/compression.md",
    metavar="MODE[:GROUP[:SHARE]]",
    passes=(PassRequest("compress-weights", "codes"),),
)

COMPRESSION_PARAMETERS = (COMPRESS_TO_FP16, COMPRESS_WEIGHTS)
