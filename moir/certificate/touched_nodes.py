"""Which rewrites touched the nodes of a model during its conversion."""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterable
from contextlib import contextmanager

from xdsl.dialects.builtin import LocationAttr, ModuleOp
from xdsl.ir import Operation

from moir.conversion import Observer
from moir.dialects.locations import located, separate
from moir.rewriting.events import RECORDING, Recording


class TouchedNodes(Observer):
    """Collects the names of rewrites by the nodes from which the rewritten operations come.

    A rewrite has the name of its pass and that of its pattern, `fuse-swish: FuseSwish`; if a pass changes an operation
    and reports no rewrite of its node, it has the name of the pass. Nodes are the locations of operations.
    """

    def __init__(self) -> None:
        self._rules: dict[LocationAttr, dict[str, None]] = {}
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
                            self._rules.setdefault(node, {})[stage] = None
        self._contents = contents

    def finish_unchanged(self, number: int, stage: str, module: ModuleOp, seconds: float) -> None:
        pass

    @contextmanager
    def recorded(self) -> Generator[None]:
        """Collect what passes report in this context."""
        token = RECORDING.set(_SilentRecording(self._note))
        try:
            yield
        finally:
            RECORDING.reset(token)
            self._contents.clear()

    def rules(self, operations: Iterable[Operation]) -> list[str]:
        """The rewrites that touched the nodes of some operations, in the order in which they first did."""
        nodes = dict.fromkeys(node for op in operations for node in separate(located(op)))
        return list(dict.fromkeys(rule for node in nodes for rule in self._rules.get(node, ())))

    def _note(self, pattern: str, operations: Iterable[Operation]) -> None:
        rule = self._stage if pattern == self._stage else f"{self._stage}: {pattern}"
        for op in operations:
            for node in separate(located(op)):
                self._reported.add(node)
                self._rules.setdefault(node, {})[rule] = None


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
    """What an operation computes from what; names and types are left out."""
    return (*op.operands, *op.properties.values())
