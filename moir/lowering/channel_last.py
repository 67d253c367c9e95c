"""The lowering pass of frameworks whose operations have an attribute for the data layout."""

from __future__ import annotations

from dataclasses import dataclass

from xdsl.dialects.builtin import ModuleOp

from moir.analysis.analyses import Analyses
from moir.lowering.driver import LoweringPass, lower


@dataclass(frozen=True)
class ChannelLastLoweringPass(LoweringPass):
    """Lowers the dialect of a framework with channels last; if `keeps_layouts` is true, operations with a data layout
    stay.
    """

    keeps_layouts: bool = False
    """Whether operations with an attribute for their data layout are kept, for transformations of extensions."""

    def run(self, module: ModuleOp, analyses: Analyses) -> bool:
        lower(module, self.FRAMEWORK, keeps_layouts=self.keeps_layouts)
        return True
