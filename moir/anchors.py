"""Passes that do nothing: they mark where the phases begin and end, for passes that are slotted in between."""

from __future__ import annotations

from dataclasses import dataclass

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.passes import ModulePass


@dataclass(frozen=True)
class AnchorPass(ModulePass):
    """A mark in the pipeline."""

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        pass


@dataclass(frozen=True)
class FrontStartPass(AnchorPass):
    """The module is as the frontend read it."""

    name = "front-start"


@dataclass(frozen=True)
class FrontFinishPass(AnchorPass):
    """Everything is lowered to opset dialects and typed."""

    name = "front-finish"


@dataclass(frozen=True)
class MiddleStartPass(AnchorPass):
    """Simplification and fusion begin."""

    name = "middle-start"


@dataclass(frozen=True)
class MiddleFinishPass(AnchorPass):
    """Nothing is left to simplify."""

    name = "middle-finish"


@dataclass(frozen=True)
class BackStartPass(AnchorPass):
    """Preparation of emission begins."""

    name = "back-start"


@dataclass(frozen=True)
class BackFinishPass(AnchorPass):
    """The module can be emitted."""

    name = "back-finish"


ANCHORS: dict[str, type[AnchorPass]] = {
    each.name: each for each in (FrontStartPass, FrontFinishPass, MiddleStartPass, MiddleFinishPass, BackStartPass, BackFinishPass)
}
"""The anchors by name."""
