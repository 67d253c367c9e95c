"""The releases of OpenVINO Runtime that `--runtime` names, the oldest first.

This module imports no operations, so that the command line can list the releases without loading them.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from types import MappingProxyType

from moir.errors import UsageError
from moir.support.suggestions import did_you_mean
from moir.targets.releases.release import Release

_OLDEST_ELEMENTS = "f32 f16 f64 i64 i32 i16 i8 u64 u32 u16 u8 boolean i4 u4"

_RELEASES = (
    # IR version 10: static shapes only. No package of the first three could be run.
    Release("2020.4", 4, elements=_OLDEST_ELEMENTS, ir_version=10, has_dynamic_dimensions=False),
    Release("2021.1", 5, ir_version=10, has_dynamic_dimensions=False),
    Release("2021.2", 6, ir_version=10, has_dynamic_dimensions=False),
    Release("2021.3", 7, lacks="opset7.Einsum", ir_version=10, has_dynamic_dimensions=False, measured="2021.3.0"),
    Release("2021.4", 7, elements="bf16 u1", ir_version=10, has_dynamic_dimensions=False, measured="2021.4.2"),
    # IR version 11.
    Release("2022.1", 8, measured="2022.1.0"),
    Release("2022.2", 9, measured="2022.2.0"),
    Release("2022.3", 10, measured="2022.3.2"),
    Release("2023.0", 11, measured="2023.0.2"),
    Release("2023.1", 12, measured="2023.1.0"),
    Release(
        "2023.2",
        12,
        also="opset13.BitwiseAnd opset13.BitwiseNot opset13.BitwiseOr opset13.BitwiseXor opset13.NMSRotated",
        elements="nf4",
        measured="2023.2.0",
    ),
    Release("2023.3", 13, measured="2023.3.0"),
    Release("2024.0", 14, elements="f8e4m3 f8e5m2 string", measured="2024.0.0"),
    Release("2024.1", 14, lacks="opset14.AvgPool", elements="u2 u3 u6", measured="2024.1.0"),
    Release(
        "2024.2",
        14,
        also="opset15.EmbeddingBagOffsets opset15.EmbeddingBagPacked opset15.ROIAlignRotated opset15.ScatterNDUpdate",
        measured="2024.2.0",
    ),
    Release("2024.3", 14, also="opset15.Col2Im", elements="f4e2m1 f8e8m0", measured="2024.3.0"),
    Release(
        "2024.4",
        14,
        also="opset15.BitwiseLeftShift opset15.BitwiseRightShift opset15.StringTensorPack opset15.StringTensorUnpack",
        measured="2024.4.0",
    ),
    Release("2024.5", 15, measured="2024.5.0"),
    Release("2024.6", 15, measured="2024.6.0"),
    Release("2025.0", 15, measured="2025.0.0"),
    Release("2025.1", 15, also="opset16.ISTFT opset16.SegmentMax", measured="2025.1.0"),
    Release("2025.2", 15, also="opset16.SparseFillEmptyRows", measured="2025.2.0"),
    Release("2025.3", 15, also="opset16.AvgPool", measured="2025.3.0"),
    Release("2025.4", 16, measured="2025.4.1"),
    Release("2026.0", 16, measured="2026.0.0"),
    Release("2026.1", 16, measured="2026.1.0"),
    Release("2026.2", 16, also="opset17.ErfInv", measured="2026.2.1"),
    Release("2026.3", 16, measured="2026.3.1"),
    Release("2026.4", 17, measured="2026.4.1"),
)

RELEASES: Mapping[str, Release] = MappingProxyType({each.name: each for each in _RELEASES})
"""The releases by name, the oldest first."""


def release_named(name: str) -> Release:
    """A release by its name, `2024.6`, or by the version of a package of it, `2024.6.0`. Raises UsageError if there is
    none.
    """
    short = ".".join(name.split(".")[:2])
    names = list(RELEASES)
    if short not in RELEASES or not all(part.isdecimal() for part in name.split(".")):
        known = f"the releases are {names[0]} to {names[-1]}"
        raise UsageError(f"there is no release {name!r} of the runtime", hint=did_you_mean(name, RELEASES, known))
    return RELEASES[short]


def is_earlier(release: Release, other: str) -> bool:
    """Whether a release is older than the one with the name `other`."""
    return _RELEASES.index(release) < _RELEASES.index(RELEASES[other])


@cache
def _since(operation: str) -> int:
    """The index in `RELEASES` of the first release that accepts an operation although its operation set is not complete
    there yet.
    """
    return next((index for index, each in enumerate(_RELEASES) if operation in each.also.split()), len(_RELEASES))


@cache
def accepts(release: Release, operation: str) -> bool:
    """Whether a release accepts an operation such as `opset8.Gather`. True for operations of extensions."""
    opset = operation.partition(".")[0].removeprefix("opset")
    if not opset.isdecimal():
        return True
    if operation in release.lacks.split():
        return False
    return int(opset) <= release.opset or _since(operation) <= _RELEASES.index(release)


@cache
def accepts_element(release: Release, element: str) -> bool:
    """Whether a release accepts an element type, given its name in the IR."""
    return any(element in each.elements.split() for each in _RELEASES[: _RELEASES.index(release) + 1])


def first_with(operation: str) -> Release | None:
    """The oldest release that accepts an operation; None if no release does."""
    return next((each for each in _RELEASES if accepts(each, operation)), None)


def first_with_element(element: str) -> Release | None:
    """The oldest release that accepts an element type, given its name in the IR; None if no release does."""
    return next((each for each in _RELEASES if accepts_element(each, element)), None)
