"""`set-model-name`: the model gets another name.

    set-model-name{to="net"}

    moir.model @graph { … }
->  moir.model @net { … }
"""

from __future__ import annotations

from dataclasses import dataclass

from xdsl.dialects.builtin import ModuleOp, StringAttr

from moir.analysis.analyses import Analyses
from moir.dialects.moir import models_of
from moir.rewriting.reporting_pass import ReportingPass


@dataclass(frozen=True)
class SetModelNamePass(ReportingPass):
    """Names the model.

    Args:
        to: the name; empty changes nothing.
    """

    name = "set-model-name"

    KEEPS_DIMENSIONS = True

    to: str = ""

    def run(self, module: ModuleOp, analyses: Analyses) -> bool:
        for model in models_of(module) if self.to else ():
            model.properties["sym_name"] = StringAttr(self.to)
        return bool(self.to)
