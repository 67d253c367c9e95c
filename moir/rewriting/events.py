"""Rewrite events: which operations a pattern replaced by which, and where a pattern matched but declined.

    with traced(events.append):
        some_pass.apply(context, module)

The pattern driver, the lowering driver and the passes that replace operations themselves report events here. Without a
listener no events are recorded and no text is built.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterable, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from io import StringIO

from xdsl.ir import Operation

from moir.support.records import Record


class RewriteEvent(Record):
    """One application of a pattern, or one match that was declined.

    Args:
        pattern: the pattern: a class, the expression of a fusion rule, or the function of a lowering.
        before: the operations that are replaced, as text, the root first; a declined event has the root only.
        after: the new operations that remain, and the root if it remains.
        reason: why a pattern that matched was not applied; None if it was.
        operations: the operations of `after` themselves. Later rewrites may change or erase them.
    """

    pattern: str
    before: tuple[str, ...]
    after: tuple[str, ...] = ()
    reason: str | None = None
    operations: tuple[Operation, ...] = ()


Listener = Callable[[RewriteEvent], object]


class Recording:
    """Creates events for rewrites and passes them to a listener.

    A value has the same number (`%3`) in all texts of one recording.

    Args:
        listener: is called with each event.
        limit: the number of rewrites after which passes stop rewriting; None for no limit.
        has_texts: whether events have the texts of operations; they are empty otherwise.
    """

    def __init__(self, listener: Listener, limit: int | None = None, *, has_texts: bool = True) -> None:
        # Printing is imported when it is wanted: most conversions do not trace.
        from xdsl.printer import Printer

        self._listener = listener
        self._limit = limit
        self._has_texts = has_texts
        self._rewrites = 0
        self._text = StringIO()
        self._printer = Printer(self._text)

    @property
    def is_exhausted(self) -> bool:
        """Whether the limit of rewrites is reached, so that the pass has to stop."""
        return self._limit is not None and self._rewrites >= self._limit

    def text(self, op: Operation) -> str:
        """An operation as text, which is empty if events have no texts."""
        if not self._has_texts:
            return ""
        start = self._text.tell()
        self._printer.print_op(op)
        self._text.seek(start)
        text = self._text.read()
        return " ".join(text.split())

    def replaced(self, pattern: str, before: Sequence[Operation], after: Iterable[Operation]) -> None:
        """Report that a pattern has replaced the operations `before`, which must not be erased yet, by those in
        `after`.
        """
        self.applied(pattern, tuple(map(self.text, before)), after)

    def applied(self, pattern: str, before: tuple[str, ...], after: Iterable[Operation]) -> None:
        """Report a replacement by a pattern whose replaced operations `before` are given as text.

        Operations in `after` that are already erased are omitted.
        """
        self._rewrites += 1
        remaining = tuple(op for op in dict.fromkeys(after) if op.parent is not None)
        self._listener(RewriteEvent(pattern, before, tuple(map(self.text, remaining)), operations=remaining))

    def declined(self, pattern: str, root: str, reason: str) -> None:
        """Report that a pattern matched at `root`, an operation as text, and was not applied."""
        self._listener(RewriteEvent(pattern, (root,), reason=reason))


RECORDING: ContextVar[Recording | None] = ContextVar("recording", default=None)
"""The recording of this thread; None without a listener."""


def is_exhausted() -> bool:
    """Whether a pass must not change the module any more, because the recording permits no further rewrite."""
    recording = RECORDING.get()
    return recording is not None and recording.is_exhausted


@contextmanager
def traced(listener: Listener, limit: int | None = None, *, has_texts: bool = True) -> Generator[None]:
    """Report all rewrites within a `with` statement to a listener; passes stop after `limit` rewrites, if it is given.

    The pattern driver, folding, and the passes that report rewrites of their own obey the limit; lowering does not.
    """
    token = RECORDING.set(Recording(listener, limit, has_texts=has_texts))
    try:
        yield
    finally:
        RECORDING.reset(token)
