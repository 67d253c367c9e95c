"""The parameters for the target of the IR: the runtime and device, and whether it has extensions."""

from __future__ import annotations

from typing import Any

from moir.parameters.arguments import TARGET as EXPECTED_TARGET
from moir.parameters.kinds import UNLESS, choice, or_none, structured
from moir.parameters.parameter import Parameter, PassRequest
from moir.targets.registry import OPENVINO_CPU, TARGETS
from moir.targets.releases.registry import release_named
from moir.targets.releases.release import Release

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


def _release(value: object) -> Release:
    if isinstance(value, Release):
        return value
    if not isinstance(value, str):
        raise TypeError("it is not a text")
    return release_named(value)


def _name(release: Release) -> str:
    return release.name


RUNTIME: Parameter[Release | None] = Parameter(
    "runtime",
    or_none(structured("a release of OpenVINO Runtime, such as '2022.3'", _release, _name)),
    None,
    "write IR that this release of OpenVINO Runtime reads, 2020.4 to 2026.4: newer operations are replaced by older ones; one "
    "that has none is an error",
    metavar="VERSION",
    passes=(PassRequest("lower-to-release", field="release"), PassRequest("check-release", field="release")),
)

RUNTIME_PARAMETERS: tuple[Parameter[Any], ...] = (TOKENIZERS, TARGET, RUNTIME)
