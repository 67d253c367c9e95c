"""The lowering pass of frameworks whose operations have an attribute for the data layout; extensions may have kept
them.
"""

from __future__ import annotations

from dataclasses import dataclass

from xdsl.dialects.builtin import ModuleOp

from moir.analysis.analyses import Analyses
from moir.lowering.driver import LoweringPass, lower


@dataclass(frozen=True)
class ChannelLastLoweringPass(LoweringPass):
    """Lowers the dialect of a channel-last framework; with `keeps_layouts`, operations with a data layout may stay."""

    keeps_layouts: bool = False
    """Whether operations with an attribute for their data layout are kept, for transformations of extensions."""

    def run(self, module: ModuleOp, analyses: Analyses) -> bool:
        lower(module, self.FRAMEWORK, keeps_layouts=self.keeps_layouts)
        return True
