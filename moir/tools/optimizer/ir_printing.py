"""Observers that look at the module: one that prints it before and after passes, and one that verifies it after
them.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Callable, Generator, Iterable, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from io import StringIO
from typing import IO

from xdsl.dialects.builtin import ModuleOp
from xdsl.passes import ModulePass

from moir.conversion import Observer
from moir.rewriting.verification import verify_module


class ModuleObserver(Observer):
    """An observer that is also told which module the passes change, and when one has failed."""

    def watch(self, module: ModuleOp, passes: Sequence[ModulePass], first: int) -> None:
        """Called before the first pass.

        Args:
            module: the module that the passes change in place.
            passes: the passes.
            first: number of the first pass.
        """

    def fail(self, error: Exception) -> None:
        """Called when a pass, or the output after the passes, has failed."""


@contextmanager
def reported_to(observers: Iterable[Observer]) -> Generator[None]:
    """A context in which an exception is reported to observers, before it is raised further."""
    try:
        yield
    except Exception as error:
        for observer in observers:
            if isinstance(observer, ModuleObserver):
                observer.fail(error)
        raise


class VerificationAfterPass(Observer):
    """Verifies the module after each pass, for `--verify-each`."""

    def finish(self, number: int, stage: str, module: ModuleOp, seconds: float) -> None:
        if number > 0:
            verify_module(module, stage)


@dataclass(frozen=True)
class PassSelection:
    """The passes before or after which a module is printed.

    Args:
        names: names of passes, or numbers and names as in `007-fold-constants`.
        all: whether all are selected.
    """

    names: frozenset[str] = frozenset()
    all: bool = False

    @staticmethod
    def of(lists: Sequence[str], all_passes: bool) -> PassSelection:
        """The selection of an option: the names, separated by commas, in all texts of `lists`; every pass if
        `all_passes` is set.
        """
        return PassSelection(frozenset(name for text in lists for each in text.split(",") if (name := each.strip())), all_passes)

    def __contains__(self, stage: tuple[int, str]) -> bool:
        number, name = stage
        return self.all or name in self.names or any(_numbered(each) == (number, name) for each in self.names)

    def __bool__(self) -> bool:
        return self.all or bool(self.names)

    def pass_names(self) -> list[str]:
        """The names of the passes, without numbers."""
        return [name if selected is None else selected[1] for name in sorted(self.names) for selected in [_numbered(name)]]


def _numbered(name: str) -> tuple[int, str] | None:
    match = re.fullmatch(r"(\d{1,4})-(.+)", name)
    return (int(match[1]), match[2]) if match else None


class ModulePrinter(ModuleObserver):
    """Prints the module before and after passes to stderr.

    Args:
        render: prints a module to a stream.
        before: the passes before which it is printed.
        after: the passes after which it is printed.
        changed_only: whether it is printed only after passes that changed it.
        failure: whether it is printed after a pass that failed.
    """

    def __init__(
        self,
        render: Callable[[ModuleOp, IO[str]], None],
        *,
        before: PassSelection,
        after: PassSelection,
        changed_only: bool = False,
        failure: bool = False,
    ) -> None:
        self._render = render
        self._before = before
        self._after = after
        self._changed_only = changed_only
        self._failure = failure
        self._module = ModuleOp([])
        self._stage = ""
        self._last = ""

    def watch(self, module: ModuleOp, passes: Sequence[ModulePass], first: int) -> None:
        self._module, self._stage = module, ""
        self._last = self._text() if self._changed_only else ""

    def start(self, number: int, stage: str) -> None:
        self._stage = f"{number:03}-{stage}"
        if (number, stage) in self._before:
            self._print("before", self._text())

    def finish(self, number: int, stage: str, module: ModuleOp, seconds: float) -> None:
        if number == 0 or (number, stage) not in self._after:
            return
        text = self._text()
        if not self._changed_only or text != self._last:
            self._print("after", text)
        self._last = text

    def fail(self, error: Exception) -> None:
        if self._failure and self._stage:
            self._print("after failure of", self._text())

    def _text(self) -> str:
        text = StringIO()
        self._render(self._module, text)
        return text.getvalue()

    def _print(self, when: str, text: str) -> None:
        print(f"// IR {when} {self._stage}\n{text}", file=sys.stderr)
