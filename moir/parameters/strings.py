"""The parameters that say how strings are computed."""

from __future__ import annotations

from moir.parameters.kinds import UNLESS
from moir.parameters.parameter import Parameter

TOKENIZERS = Parameter(
    "tokenizers",
    UNLESS,
    True,
    "refuse strings that need operations of OpenVINO Tokenizers, an extension of the runtime",
    in_python="use operations of OpenVINO Tokenizers, an extension of the runtime, for strings that the operation sets "
    "cannot express; False refuses a model that needs them",
    option="--no-tokenizers",
)

STRING_PARAMETERS = (TOKENIZERS,)
