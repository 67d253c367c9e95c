"""The parameters that say how weights are stored."""

from __future__ import annotations

from moir.parameters.kinds import SWITCH
from moir.parameters.parameter import Parameter, PassRequest

COMPRESS_TO_FP16 = Parameter(
    "compress_to_fp16",
    SWITCH,
    False,
    "store weights in half precision",
    passes=(PassRequest("compress-to-fp16"),),
)

COMPRESSION_PARAMETERS = (COMPRESS_TO_FP16,)
