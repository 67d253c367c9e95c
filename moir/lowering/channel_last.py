"""The lowering pass of frameworks with operations that say the layout of their data, which extensions may have kept."""

from __future__ import annotations

from dataclasses import dataclass

from xdsl.dialects.builtin import ModuleOp

from moir.analysis.analyses import Analyses
from moir.lowering.driver import LoweringPass, lower


@dataclass(frozen=True)
class ChannelLastLoweringPass(LoweringPass):
    """Lowers the dialect of a channel-last framework; operations that say the layout of their data may stay."""

    keeps_layouts: bool = False
    """Whether these operations stay, for transformations of extensions."""

    def run(self, module: ModuleOp, analyses: Analyses) -> bool:
        lower(module, self.FRAMEWORK, keeps_layouts=self.keeps_layouts)
        return True
