"""`moir-opt --trace-rewrites`: prints the rewrites of each pass to stderr.

A rewrite is printed with the operations that it erases and inserts:

    // fuse-swish: Multiply(x, Sigmoid(x))
    - %1 = opset1.Multiply(%2, %3) : tensor<4xf32>
    - %3 = opset1.Sigmoid(%2) : tensor<4xf32>
    + %4 = opset4.Swish(%2) : tensor<4xf32>
"""

from __future__ import annotations

import sys
from contextlib import ExitStack
from typing import TYPE_CHECKING

from moir.conversion import Observer
from moir.rewriting.events import RewriteEvent, traced

if TYPE_CHECKING:
    from xdsl.dialects.builtin import ModuleOp


class RewriteTrace(Observer):
    """Prints the rewrites of the passes it observes.

    Args:
        wanted: text in the names of the passes and patterns whose rewrites are printed; empty for all.
    """

    def __init__(self, wanted: str = "") -> None:
        self._wanted = wanted.lower()
        self._stage = ""
        self._stack = ExitStack()

    def start(self, number: int, stage: str) -> None:
        self._stage = stage
        self._stack.enter_context(traced(self.print_event))

    def finish(self, number: int, stage: str, module: ModuleOp, seconds: float) -> None:
        self._stack.close()

    def close(self) -> None:
        self._stack.close()

    def print_event(self, event: RewriteEvent) -> None:
        """Print a rewrite if its pass or pattern is wanted."""
        pattern = event.pattern if event.pattern == self._stage else f"{self._stage}: {event.pattern}"
        if self._wanted in pattern.lower():
            outcome = "" if event.reason is None else f", declined: {event.reason}"
            lines = [f"// {pattern}{outcome}", *(f"- {text}" for text in event.before), *(f"+ {text}" for text in event.after)]
            print("\n".join(lines), file=sys.stderr)
