"""Recording a conversion for a report: its stages, the states of the module between them, and the rewrites."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import ExitStack
from typing import TYPE_CHECKING, Any

from moir.conversion import Observer
from moir.dialects.framework import FrameworkOp
from moir.dialects.interface import count_kinds, inputs_of, outputs_of
from moir.dialects.moir import models_of
from moir.report_page.snapshots import Snapshots, shortened
from moir.rewriting.events import RewriteEvent, traced

if TYPE_CHECKING:
    from xdsl.dialects.builtin import ModuleOp

    from moir.errors import ConversionError


class ReportRecorder(Observer):
    """Records one conversion. A conversion that fails is recorded up to the stage that fails."""

    def __init__(self) -> None:
        self.module: ModuleOp | None = None
        """The module after the last completed stage; None before the import."""
        self._snapshots = Snapshots()
        self._stages: list[dict[str, Any]] = []
        self._rewrites: list[dict[str, Any]] = []
        self._origins: dict[int, list[int]] = {}
        self._stage = 0
        self._stack = ExitStack()
        self._interfaces: list[dict[str, Any]] = []

    def start(self, number: int, stage: str) -> None:
        self._stage = number
        if number:
            self._stack.enter_context(traced(self._record_rewrite))

    def finish(self, number: int, stage: str, module: ModuleOp, seconds: float) -> None:
        self._stack.close()
        self.module = module
        changed = self._snapshots.add(module)
        self._add(number, stage, seconds, changed=changed, kinds=dict(count_kinds(module).most_common()))

    def finish_unchanged(self, number: int, stage: str, module: ModuleOp, seconds: float) -> None:
        if not self._stages:
            self.finish(number, stage, module, seconds)
            return
        self._stack.close()
        self._add(number, stage, seconds, changed=False, kinds=self._stages[-1]["kinds"])

    def _add(self, number: int, stage: str, seconds: float, *, changed: bool, kinds: dict[str, int]) -> None:
        """Record a stage; the module after it is the last snapshot."""
        state = len(self._snapshots.states) - 1
        self._stages.append(
            {"number": number, "name": stage, "seconds": round(seconds, 6), "state": state, "changed": changed, "kinds": kinds}
        )

    def close(self) -> None:
        self._stack.close()

    def _record_rewrite(self, event: RewriteEvent) -> None:
        if event.reason is not None:
            return
        for op in event.operations:
            self._origins.setdefault(self._snapshots.number(op), []).append(len(self._rewrites))
        before, after = ([shortened(text) for text in texts] for texts in (event.before, event.after))
        self._rewrites.append({"stage": self._stage, "pattern": event.pattern, "before": before, "after": after})

    def content(self, error: ConversionError | None = None) -> dict[str, Any]:
        """The content of the page, as values of JSON.

        Args:
            error: the error that ended the conversion.

        Returns `stages`, `states` and `records` (see `Snapshots`), `rewrites`, `origins` (the indices of the rewrites
        that made an operation, by its id), `unsupported` (the ids of operations that could not be converted),
        `inputs` and `outputs` of the last state, and the text of the `error`.
        """
        models = [] if self.module is None else models_of(self.module)
        return {
            "stages": self._stages,
            "states": self._snapshots.states,
            "records": self._snapshots.records,
            "rewrites": self._rewrites,
            "origins": self._origins,
            "unsupported": [] if error is None else self._unsupported(error),
            "inputs": [str(port) for model in models[:1] for port in inputs_of(model)],
            "outputs": [str(port) for model in models[:1] for port in outputs_of(model)],
            "error": None if error is None else str(error),
        }

    def _unsupported(self, error: ConversionError) -> Sequence[int]:
        """The numbers of the operations at fault: the one of the error, or all operations of the framework that are
        left.
        """
        if self.module is None:
            return []
        names = {error.node} if error.node else set[str | None]()
        named_operations = [op for op in self.module.walk() if op.attributes.get("name") is not None]
        named = [op for op in named_operations if names and str(getattr(op.attributes["name"], "data", "")) in names]
        chosen = named or [op for op in self.module.walk() if isinstance(op, FrameworkOp)]
        return [self._snapshots.number(op) for op in chosen]
