"""The parameters for the target of the IR: the runtime and device, and whether it has extensions."""

from __future__ import annotations

from typing import Any

from moir.arguments import TARGET as EXPECTED_TARGET
from moir.parameters.kinds import UNLESS, choice
from moir.parameters.parameter import Parameter
from moir.target_records import OPENVINO_CPU, TARGETS

TOKENIZERS = Parameter(
    "tokenizers",
    UNLESS,
    True,
    "convert a language model without its tokenizer; refuse strings that need operations of OpenVINO Tokenizers, an "
    "extension of the runtime",
    in_python="use operations of OpenVINO Tokenizers, an extension of the runtime, for strings that the operation sets "
    "cannot express; False refuses a model that needs them",
    option="--no-tokenizers",
    former=("--no-tokenizer",),
)

TARGET = Parameter(
    "target",
    choice(TARGETS, EXPECTED_TARGET),
    OPENVINO_CPU,
    "openvino-cpu (default): write operations that the CPU plugin computes wrongly in other forms, which are right on all "
    "devices; none: write them as they are",
)

RUNTIME_PARAMETERS: tuple[Parameter[Any], ...] = (TOKENIZERS, TARGET)
