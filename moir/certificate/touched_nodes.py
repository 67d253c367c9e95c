"""Which rewrites touched the nodes of a model during its conversion."""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterable
from contextlib import contextmanager

from xdsl.dialects.builtin import LocationAttr, ModuleOp
from xdsl.ir import Operation

from moir.bisection.examined_conversion import LOWERED
from moir.conversion import Observer
from moir.dialects.locations import located, separate
from moir.rewriting.events import RECORDING, Recording


class TouchedNodes(Observer):
    """Collects the names of rewrites by the nodes from which the rewritten operations come.

    A rewrite has the name of its pass and that of its pattern, `fuse-swish: FuseSwish`; if a pass changes an operation
    without reporting a rewrite, the name of the pass is recorded. Nodes are the locations of operations.

    Args:
        is_lowered: whether the model needs no lowering.
    """

    def __init__(self, *, is_lowered: bool = False) -> None:
        self._rules: dict[LocationAttr, dict[str, bool]] = {}
        """Rewrites by node, with whether they were done after the lowering."""
        self._is_lowered = is_lowered
        self._stage = "import"
        self._reported: set[LocationAttr] = set()
        self._contents: dict[Operation, tuple[object, ...]] = {}

    def start(self, number: int, stage: str) -> None:
        self._stage = stage
        self._reported.clear()

    def finish(self, number: int, stage: str, module: ModuleOp, seconds: float) -> None:
        contents = {op: _contents(op) for op in module.walk() if op is not module}
        if self._contents:
            for op, parts in contents.items():
                if self._contents.get(op) != parts:
                    for node in separate(located(op)):
                        if node not in self._reported:
                            self._touch(node, stage)
        self._contents = contents
        self._is_lowered = self._is_lowered or stage == LOWERED

    def finish_unchanged(self, number: int, stage: str, module: ModuleOp, seconds: float) -> None:
        self._is_lowered = self._is_lowered or stage == LOWERED

    @contextmanager
    def recorded(self) -> Generator[None]:
        """Collect what passes report in this context."""
        token = RECORDING.set(_SilentRecording(self._note))
        try:
            yield
        finally:
            RECORDING.reset(token)
            self._contents.clear()

    def rules(self, operations: Iterable[Operation], *, of_lowering: bool = True) -> list[str]:
        """The rewrites that touched the nodes of some operations, in the order in which they first did.

        Args:
            operations: the operations.
            of_lowering: whether to name those, too, that were done up to the lowering.
        """
        nodes = dict.fromkeys(node for op in operations for node in separate(located(op)))
        touched = (rule for node in nodes for rule, is_later in self._rules.get(node, {}).items() if of_lowering or is_later)
        return list(dict.fromkeys(touched))

    def _note(self, pattern: str, operations: Iterable[Operation]) -> None:
        rule = self._stage if pattern == self._stage else f"{self._stage}: {pattern}"
        for op in operations:
            for node in separate(located(op)):
                self._reported.add(node)
                self._touch(node, rule)

    def _touch(self, node: LocationAttr, rule: str) -> None:
        self._rules.setdefault(node, {})[rule] = self._is_lowered


class _SilentRecording(Recording):
    """Reports rewrites without their texts, which would take longer than the passes.

    Args:
        note: is called with the pattern of each rewrite, and the operations that remain of what it built.
    """

    def __init__(self, note: Callable[[str, Iterable[Operation]], object]) -> None:
        super().__init__(lambda _: None)
        self._note = note

    def text(self, op: Operation) -> str:
        return ""

    def applied(self, pattern: str, before: tuple[str, ...], after: Iterable[Operation]) -> None:
        self._note(pattern, [op for op in dict.fromkeys(after) if op.parent is not None])

    def declined(self, pattern: str, root: str, reason: str) -> None:
        pass


def _contents(op: Operation) -> tuple[object, ...]:
    """The operands, attributes and other facts that determine what an operation computes, without names and types."""
    return (*op.operands, *op.properties.values())
