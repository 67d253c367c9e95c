"""`check-release`: refuses operations that a release of the runtime does not read and that no older operations replace.

    %y = opset8.If(%condition, %x) …                                                 // for release 2021.4
->  error: tf.If 'cond': OpenVINO Runtime 2021.4 does not read opset8.If; 2022.1 and later do
"""

from __future__ import annotations

from dataclasses import dataclass

from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Operation

from moir.analysis.analyses import Analyses
from moir.analysis.provenance import Source, sources
from moir.dialects.element_types import describe
from moir.dialects.names import name_of
from moir.dialects.opset.interfaces.operation import OpsetOp
from moir.dialects.shapes import element_of, format_shape, shape_of
from moir.errors import UnsupportedOperationError
from moir.rewriting.reporting_pass import ReportingPass
from moir.targets.releases.registry import accepts, accepts_element, first_with, first_with_element, release_named
from moir.targets.releases.release import Release


@dataclass(frozen=True)
class CheckReleasePass(ReportingPass):
    """Refuses operations, element types and dynamic dimensions that a release of the runtime does not read."""

    name = "check-release"

    release: str = ""

    def run(self, module: ModuleOp, analyses: Analyses) -> bool:
        release = release_named(self.release)
        for op in analyses.operations(OpsetOp):
            reason, hint = _refusal(op, release)
            if reason:
                source = next(iter(sources(op)), Source(name_of(op) or "", op.name))
                raise UnsupportedOperationError(
                    f"OpenVINO Runtime {release.name} does not read {reason}", operation=source.operation, node=source.node, hint=hint
                )
        return False


def _refusal(op: Operation, release: Release) -> tuple[str, str | None]:
    """Which part of an operation a release does not read (the operation, a type, a shape), and a hint or None.

    The text is empty if the release reads the operation.
    """
    if not accepts(release, op.name):
        return f"{op.name}, for which there are no older operations here", _since(first_with(op.name))
    for result in op.results:
        element = describe(element_of(result)).xml
        if not accepts_element(release, element):
            return f"values of type {element}", _since(first_with_element(element))
        shape = shape_of(result)
        if not release.has_dynamic_dimensions and (shape is None or min(shape, default=0) < 0):
            return (
                f"tensors with dynamic dimensions, such as {format_shape(shape)}",
                "give the inputs static shapes (--input NAME[1,3,224,224]), or name release 2022.1 or later",
            )
    return "", None


def _since(first: Release | None) -> str | None:
    return None if first is None else f"{first.name} is the first release that does (--runtime {first.name})"
