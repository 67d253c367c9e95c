"""The pass that runs a transformation of a user.

The transformation runs if it is enabled and its conditions hold. The module is verified after it. An error names the
transformation, the line and the node. With the attribute `force_clean_up`, constants are folded and dead operations
erased afterwards; with `force_shape_inference`, all types are inferred again.
"""

from __future__ import annotations

import logging
from dataclasses import dataclass

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.passes import ModulePass
from xdsl.utils.exceptions import VerifyException

from moir.dialects.moir import ModelOp, models_of
from moir.dialects.opset.infrastructure import Result
from moir.errors import INTERRUPTIONS, ConversionError
from moir.extensions.environment import Choice
from moir.extensions.failures import failure
from moir.extensions.transformation import PhasePass, UserTransformation
from moir.pipeline import load_pass
from moir.rewriting.verification import Snapshot, verify_module

logger = logging.getLogger("moir")

CLEAN_UP: dict[str, tuple[str, ...]] = {
    "front": ("eliminate-dead",),
    "middle": ("fold-constants", "eliminate-dead"),
    "back": ("fold-constants", "eliminate-dead"),
}
"""Phase -> the passes that run after a transformation with `force_clean_up`.

Framework dialects, in the front phase, cannot be folded.
"""


def has_outputs(model: ModelOp) -> bool:
    """Whether a model has a Result."""
    return any(isinstance(op, Result) for op in model.block.ops)


@dataclass(frozen=True)
class TransformationPass(ModulePass):
    """A transformation of an extension as a pass, whose name is that of the transformation."""

    transformation: UserTransformation
    inner: ModulePass
    phase: str
    """The phase in which the pass runs: `front`, `middle` or `back`."""
    choice: Choice | None = None
    """The transformations that the user enables and disables; None for a pass listed by name, which always runs."""

    @staticmethod
    def of(transformation: UserTransformation, inner: ModulePass, phase: str, choice: Choice | None) -> TransformationPass:
        """Make the pass of a transformation, an instance of a subclass with its name.

        Args:
            transformation: the transformation.
            inner: the pass that does its work.
            phase: the phase in which it runs.
            choice: what the user enables and disables; None to run it in any case.
        """
        named = type("NamedTransformationPass", (TransformationPass,), {"name": transformation.name})
        return named(transformation, inner.in_phase(phase) if isinstance(inner, PhasePass) else inner, phase, choice)

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        if self.choice is not None and not self.transformation.is_enabled(self.choice):
            return
        try:
            if not self._conditions_hold(op):
                return
            before, with_outputs = Snapshot(op), [model for model in models_of(op) if has_outputs(model)]
            self.inner.apply(ctx, op)
            verify_module(op, before=before)
            if not all(map(has_outputs, with_outputs)):
                raise ConversionError("it leaves a model without outputs", hint="connect what it builds to the Results of the model")
        except (MemoryError, BrokenPipeError, *INTERRUPTIONS):
            raise
        except VerifyException as error:
            raise ConversionError(f"it leaves an invalid module: {error}", location=self.transformation.title) from error
        except BaseException as error:
            raise failure(error, self.transformation.title, self.transformation.owns) from error
        # Erases the replaced operations, which may have no lowering; no other pass of the front phase erases them.
        if (self.phase == "front" and not self.transformation.keeps_dead) or self.transformation.flag("force_clean_up"):
            for name in CLEAN_UP[self.phase]:
                load_pass(name)().apply(ctx, op)
        if self.transformation.flag("force_shape_inference") and self.phase != "front":
            load_pass("infer-types")().apply(ctx, op)

    def _conditions_hold(self, module: ModuleOp) -> bool:
        for number, condition in enumerate(self.transformation.conditions(), 1):
            for model in models_of(module):
                argument = self.transformation.condition_argument(model)
                if not condition(argument):
                    told = self.transformation.told_by_condition(argument)
                    logger.info(
                        "%s does not run: predicate %d of its graph_condition does not hold%s", self.transformation.title, number, told
                    )
                    return False
        return True
