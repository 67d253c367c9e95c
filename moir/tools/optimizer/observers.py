"""The observers of the passes of `moir-opt`, as its options request them."""

from __future__ import annotations

import argparse
from collections.abc import Callable
from pathlib import Path
from typing import IO, TYPE_CHECKING

from moir.errors import UsageError
from moir.pipeline import is_pass, pass_names
from moir.support.suggestions import did_you_mean
from moir.tools.optimizer.ir_printing import ModulePrinter, PassSelection, VerificationAfterPass

if TYPE_CHECKING:
    from xdsl.dialects.builtin import ModuleOp

    from moir.conversion import Observer
    from moir.pipeline import LoadedExtensions


def printed_before(options: argparse.Namespace) -> PassSelection:
    """The passes before which the module is printed."""
    return PassSelection.of(options.print_ir_before, options.print_ir_before_all)


def printed_after(options: argparse.Namespace) -> PassSelection:
    """The passes after which the module is printed.

    All passes, if the module is to be printed after changes and no pass is named.
    """
    names: list[str] = options.print_ir_after
    return PassSelection.of(names, options.print_ir_after_all or (options.print_ir_after_change and not names))


def check_names(options: argparse.Namespace, extensions: LoadedExtensions | None) -> None:
    """Raises UsageError if an option names a pass that does not exist."""
    for name in (*printed_before(options).pass_names(), *printed_after(options).pass_names()):
        if not is_pass(name) and not (extensions is not None and extensions.has(name)):
            known = [*pass_names(), *([] if extensions is None else extensions.names())]
            raise UsageError(f"there is no pass {name!r}; {did_you_mean(name, known, '--list-passes prints all')}")


def observers_of(options: argparse.Namespace, render: Callable[[ModuleOp, IO[str]], None]) -> list[Observer]:
    """The observers that options request.

    Args:
        options: the command line.
        render: prints a module in the form that options request.
    """
    observers: list[Observer] = []
    before, after, failure = printed_before(options), printed_after(options), options.print_ir_after_failure
    if before or after or failure:
        changed_only = options.print_ir_after_change and not options.print_ir_after_all
        observers.append(ModulePrinter(render, before=before, after=after, changed_only=changed_only, failure=failure))
    if options.trace_rewrites is not None:
        from moir.tools.optimizer.tracing import RewriteTrace

        observers.append(RewriteTrace(options.trace_rewrites))
    if options.dump_ir:
        from moir.tools.optimizer.dumps import DumpWriter

        observers.append(DumpWriter(Path(options.dump_ir), provenance=options.print_provenance))
    if options.verify_each:
        observers.append(VerificationAfterPass())
    if options.crash_reproducer:
        from moir.tools.optimizer.reproducer import ReproducerWriter

        # After the verification, which counts as a part of the pass.
        observers.append(ReproducerWriter(Path(options.crash_reproducer), options))
    return observers
