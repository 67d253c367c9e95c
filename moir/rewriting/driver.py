"""The pattern driver.

A `Pattern` is only tried on operations of its root classes (and their subclasses):
the driver has a table from operation class to patterns, and does nothing on a module without roots. It walks the blocks
once in order; with `fixpoint`, operations that were inserted or whose operands changed are visited again until nothing
changes; with `cascade`, operations that a pattern inserted are visited by the patterns after it.

A replacement inherits the node name and the tensor names of the replaced operation, without the pattern's help.
Replacements, and patterns that matched but declined, are reported to `moir.rewriting.events`.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections import deque
from collections.abc import Callable, Iterable, Sequence
from collections.abc import Set as AbstractSet
from typing import TYPE_CHECKING, ClassVar, cast

from xdsl.dialects.builtin import LocationAttr, ModuleOp
from xdsl.ir import Attribute, Operation, OpResult, SSAValue

from moir.analysis.analyses import Analyses
from moir.analysis.known_values import KnownValues
from moir.dialects.locations import located, merged
from moir.dialects.names import inherit_names
from moir.rewriting.builder import OpBuilder
from moir.rewriting.dead_code import erase
from moir.rewriting.events import RECORDING, Recording
from moir.rewriting.reporting_pass import Elements, Needs, ReportingPass, Roots, all_of, either, needs_of_roots

if TYPE_CHECKING:
    from xdsl.pattern_rewriter import RewritePattern


class Pattern(ABC):
    """A pattern with declared root classes; `match_and_rewrite` is only called on operations of these classes.

    A root may also be given as the name of an operation, so that its class need not be imported for a pattern that
    matches nothing.
    """

    roots: Roots = (Operation,)

    companions: tuple[Roots, ...] = ()
    """For each tuple, every match contains one of these operations besides its root."""

    elements: Elements | None = None
    """Every match has a value of one of these element types; None if that is not known."""

    def __str__(self) -> str:
        return type(self).__name__

    @abstractmethod
    def match_and_rewrite(self, op: Operation, rewriter: Rewriter) -> None:
        """Replace the operation by means of the rewriter's methods if it matches; otherwise change nothing."""

    def may_start_at(self, operation: type[Operation]) -> bool:
        """Whether the pattern is tried on operations of a class: a root or a subclass of one. Called once per class."""
        return True

    def may_match(self, op: Operation) -> bool:
        """A cheap precondition on a root: a rewriter is created, and the pattern tried, only if it holds."""
        return True

    def needs(self) -> Needs | None:
        """The operations that a module has to contain for the pattern to match; None if that is not known."""
        return all_of([needs_of_roots(self.roots, self.may_start_at), *map(needs_of_roots, self.companions)])


def needs_of_patterns(patterns: Iterable[Pattern | RewritePattern]) -> Needs | None:
    """The operations that a module has to contain for any of the patterns to match; None if that is not known."""
    return either(adapted(pattern).needs() for pattern in patterns)


def elements_of_patterns(patterns: Iterable[Pattern | RewritePattern]) -> Elements | None:
    """Element types of which every match of the patterns has a value; None if a pattern does not declare them."""
    elements: set[Attribute] = set()
    for pattern in patterns:
        if not isinstance(pattern, Pattern) or pattern.elements is None:
            return None
        elements |= pattern.elements
    return elements


class Rewriter:
    """The interface with which a pattern replaces operations. Its builder inserts before the match: `rewriter.op.Add(a,
    b)`.

    It also gives access to the known values. One rewriter is used for all matches in turn; `begin` starts the next one.
    """

    def __init__(self, op: Operation, known: KnownValues, recording: Recording | None = None) -> None:
        assert op.parent is not None
        self._recording = recording
        self.known = known
        self.op = OpBuilder(known, op.parent, op)
        self.begin(op)

    def begin(self, op: Operation, pattern: object = None) -> None:
        """Start with a pattern and an operation on which it is tried: reset the record of changes."""
        assert op.parent is not None
        self.has_done_action = False
        self._before: list[str] = []
        self._erased: list[tuple[LocationAttr, Sequence[SSAValue]]] = []
        self._root = "" if self._recording is None else self._recording.text(op)
        self.pattern = pattern
        """The pattern that is being tried, for events; a combined pattern sets it to the one that matched."""
        self.op.block, self.op.anchor, self.op.inserted = op.parent, op, []
        self.touched: list[Operation] = []

    def replace_with(self, op: Operation, values: SSAValue | Sequence[SSAValue]) -> None:
        """Replace the results of an operation by values, which inherit its names, and erase the operation."""
        values = [values] if isinstance(values, SSAValue) else values
        inherit_names(op, values)
        self.substitute(op, values)

    def substitute(self, op: Operation, values: Sequence[SSAValue]) -> None:
        """Replace the uses of an operation's results by other values and erase the operation, without transferring its
        names.

        For values that are not the same tensors as the results.
        """
        for result, value in zip(op.results, values, strict=True):
            self.touched.extend(use.operation for use in result.uses)
            result.replace_all_uses_with(value)
        self.touched.extend(operand.op for operand in op.operands if isinstance(operand, OpResult))
        self.has_done_action = True
        self.erase_replaced(op)

    def erase_replaced(self, op: Operation) -> None:
        """Erase an operation whose results have no uses left, and record it as replaced by the match."""
        self._erased.append((located(op), tuple(op.operands)))
        if self._recording is not None:
            self._before.append(self._recording.text(op))
        erase(op)

    def decline(self, reason: str | Callable[[], str]) -> None:
        """Report why the pattern matched but is not applied; a costly reason is passed as a function."""
        if self._recording is not None:
            self._recording.declined(str(self.pattern), self._root, reason if isinstance(reason, str) else reason())

    def locate_built(self) -> None:
        """Give the operations built for a match the locations of the operations that they replace.

        These are the erased operations, and the operations that only erased ones used.
        """
        root = located(cast(Operation, self.op.anchor))
        locations = [location for location, _ in self._erased if location is not root]
        unused = {each for _, operands in self._erased for each in unused_producers(operands)}
        pending = list(unused)
        while pending:
            op = pending.pop()
            locations.append(located(op))
            producers = [each for each in unused_producers(op.operands, unused) if each not in unused]
            unused.update(producers)
            pending.extend(producers)
        if locations:
            location = merged([root, *locations])
            for each in self.op.inserted or ():
                each.location = location

    def report(self, op: Operation) -> None:
        """Report the replacement of an operation to the listener."""
        if self._recording is not None:
            before = tuple(dict.fromkeys((self._root, *self._before)))
            self._recording.applied(str(self.pattern), before, (*(self.op.inserted or ()), op))


def unused_producers(operands: Sequence[SSAValue], unused: AbstractSet[Operation] = frozenset()) -> list[Operation]:
    """The producers of operands whose results have no uses, or only uses by the operations `unused`."""
    return [
        operand.op
        for operand in operands
        if type(operand) is OpResult
        and (operand.first_use is None or unused)
        and all(use.operation in unused for result in operand.op.results for use in result.uses)
    ]


class XdslPattern(Pattern):
    """A pattern of xDSL, which is tried on all operations, with xDSL's rewriter.

    Args:
        pattern: the pattern.
    """

    def __init__(self, pattern: RewritePattern) -> None:
        self.pattern = pattern

    def __str__(self) -> str:
        return type(self.pattern).__name__

    def match_and_rewrite(self, op: Operation, rewriter: Rewriter) -> None:
        from xdsl.pattern_rewriter import PatternRewriter

        own = PatternRewriter(op)
        self.pattern.match_and_rewrite(op, own)
        rewriter.has_done_action = own.has_done_action


def adapted(pattern: Pattern | RewritePattern) -> Pattern:
    """A pattern as an instance of moir's class; a pattern of xDSL's class is wrapped."""
    return pattern if isinstance(pattern, Pattern) else XdslPattern(pattern)


class PatternTable:
    """Table from operation class to the patterns that may start there.

    Patterns are sorted by root class, the most specific one first, then in the given order.
    """

    def __init__(self, patterns: Iterable[Pattern]) -> None:
        self._by_root: dict[type[Operation] | str, list[Pattern]] = {}
        for pattern in patterns:
            for root in pattern.roots:
                self._by_root.setdefault(root, []).append(pattern)
        self._memo: dict[type[Operation], tuple[Pattern, ...]] = {}

    def patterns(self, operation: type[Operation]) -> tuple[Pattern, ...]:
        """The patterns to try on operations of a class."""
        matching = self._memo.get(operation)
        if matching is None and operation.name not in self._by_root and self._by_root.keys().isdisjoint(operation.__mro__):
            matching = self._memo[operation] = ()
        elif matching is None:
            roots = [root for root in (operation.name, *operation.__mro__) if root in self._by_root]
            patterns = [pattern for root in roots for pattern in self._by_root[root]]
            matching = self._memo[operation] = tuple([pattern for pattern in patterns if pattern.may_start_at(operation)])
        return matching


def rewrite(
    module: ModuleOp,
    patterns: Iterable[Pattern | RewritePattern],
    *,
    fixpoint: bool = False,
    cascade: bool = False,
    known: KnownValues | None = None,
    analyses: Analyses | None = None,
) -> bool:
    """Apply patterns to all operations of a module.

    Args:
        module: changed in place.
        patterns: the patterns.
        fixpoint: whether to visit operations again that are inserted or whose operands change.
        cascade: whether operations that a pattern inserts are visited at once by the patterns after it in `patterns`,
            so that several patterns can change one operation, each of them once.
        known: known values of the module in its present state.
        analyses: facts about the module in its present state, if there are any.

    Returns whether anything changed.
    """
    ordered = [adapted(each) for each in patterns]
    table = PatternTable(ordered)
    indices = {pattern: index for index, pattern in enumerate(ordered)} if cascade else {}
    analyses = analyses or Analyses(module)
    known = known or analyses.known_values
    recording = RECORDING.get()
    if recording is not None and recording.is_exhausted:
        return False
    starting = {each: candidates for each in analyses.classes if (candidates := table.patterns(each))}
    pending = deque((op, 0) for op in analyses.of_classes(starting.keys()))
    changed = False
    rewriter: Rewriter | None = None
    while pending:
        op, first = pending.popleft()
        for pattern in starting.get(type(op)) or table.patterns(type(op)):
            if op.parent is None:
                break
            if (first and indices[pattern] < first) or not pattern.may_match(op):
                continue
            if rewriter is None:
                rewriter = Rewriter(op, known, recording)
            rewriter.begin(op, pattern)
            pattern.match_and_rewrite(op, rewriter)
            if not rewriter.has_done_action:
                continue
            changed = True
            if rewriter.op.inserted:
                rewriter.locate_built()
            rewriter.report(op)
            if recording is not None and recording.is_exhausted:
                return True
            if fixpoint:
                touched = dict.fromkeys([*(rewriter.op.inserted or ()), *rewriter.touched, op])
                pending.extend((each, 0) for each in touched if each.parent is not None and table.patterns(type(each)))
            elif cascade:
                inserted = [each for each in rewriter.op.inserted or () if each.parent is not None and table.patterns(type(each))]
                pending.extendleft((each, indices[pattern] + 1) for each in reversed(inserted))
    return changed


class PatternPass(ReportingPass):
    """A pass that applies patterns."""

    PATTERNS: ClassVar[tuple[type[Pattern] | Pattern, ...]] = ()
    """The patterns, in order: fusion rules, and classes that are made without arguments."""

    FIXPOINT: ClassVar[bool] = False

    def patterns(self) -> Sequence[Pattern]:
        """The patterns, in order."""
        return [each if isinstance(each, Pattern) else each() for each in self.PATTERNS]

    def run(self, module: ModuleOp, analyses: Analyses) -> bool:
        return rewrite(module, self.patterns(), fixpoint=self.FIXPOINT, analyses=analyses)

    @classmethod
    def needs(cls) -> Needs | None:
        return needs_of_patterns(cls().patterns())

    @classmethod
    def elements(cls) -> Elements | None:
        return elements_of_patterns(cls().patterns())
