"""`moir operations`: the operations of the frameworks, and how moir converts them.

moir operations                   how many operations of each framework are supported
moir operations tf                all operations of TensorFlow
moir operations onnx Clip         what is read of an operation, what becomes of it, from which version on
moir operations Clip              the same, in all frameworks that have an operation of that name
"""

from __future__ import annotations

import argparse
import json
import sys
from collections import Counter
from collections.abc import Sequence

from moir.errors import UsageError
from moir.frameworks import lowered
from moir.frameworks.record import Framework
from moir.inspection.operations import Operations, operations_of
from moir.inspection.operations.operation import MISSING, REFUSED, TREATMENTS, Operation
from moir.inspection.tables import Table, plain
from moir.support.suggestions import did_you_mean, nearest
from moir.tools.argument_parser import ArgumentParser
from moir.tools.failures import report_failures
from moir.tools.streams import text_output
from moir.tools.terminal import print_tables


def argument_parser() -> ArgumentParser:
    """The argument parser of `moir operations`."""
    parser = ArgumentParser(prog="moir operations", description="Print which operations are supported, and what becomes of them.")
    names = ", ".join(each.dialect for each in lowered())
    parser.add_argument("framework", nargs="?", metavar="FRAMEWORK", help=f"a framework ({names}), or KIND for all frameworks")
    parser.add_argument("kind", nargs="?", metavar="KIND", help="an operation as the framework spells it")
    parser.add_argument("--json", action="store_true", help="print JSON")
    parser.add_debug_argument()
    return parser


def main(arguments: Sequence[str]) -> int:
    """Run `moir operations`; returns the exit status."""
    return report_failures("moir operations", lambda: _print(argument_parser().parsed(arguments)), debug="--debug" in arguments)


def _print(options: argparse.Namespace) -> int:
    framework = None if options.framework is None else _framework_named(options.framework)
    if options.framework is None:
        listed = [operations_of(each) for each in lowered()]
        _write(options.json, [{"framework": each.framework, "operations": _counts(each)} for each in listed], [_overview(listed)])
    elif options.kind is None and framework is not None:
        operations = operations_of(framework)
        _write(options.json, operations.to_dict(), operations.tables())
    else:
        kind = options.framework if options.kind is None else options.kind
        if options.kind is not None and framework is None:
            known = [each.dialect for each in lowered()]
            raise UsageError(
                f"there is no framework {options.framework!r}", hint=did_you_mean(options.framework, known, f"they are {', '.join(known)}")
            )
        matches = _operations_named(kind, lowered() if framework is None else [framework])
        _write(options.json, [{"framework": name, **plain(each)} for name, each in matches], [_details(*each) for each in matches])
    return 0


def _write(as_json: bool, content: object, tables: list[Table]) -> None:
    if as_json:
        text_output().write(json.dumps(content, indent=2, ensure_ascii=False) + "\n")
    else:
        print_tables(tables, sys.stdout)


def _framework_named(name: str) -> Framework | None:
    """The framework with a name: that of its dialect, or its title in any case without blanks; None if there
    is none.
    """
    wanted = name.lower().replace(" ", "")
    return next((each for each in lowered() if wanted in (each.dialect, each.title.lower().replace(" ", ""))), None)


def _counts(operations: Operations) -> dict[str, int]:
    counts = Counter(each.treatment for each in operations.operations)
    return {name: counts[name] for name in TREATMENTS if counts[name]}


def _overview(listed: list[Operations]) -> Table:
    rows = [
        (each.framework, each.title, str(sum(count for name, count in _counts(each).items() if name not in (REFUSED, MISSING))))
        for each in listed
    ]
    return Table("frameworks", ("name", "framework", "supported operations"), tuple(rows))


def _operations_named(kind: str, frameworks: list[Framework]) -> list[tuple[str, Operation]]:
    """The operations of a kind, in any case, with the names of their frameworks. Raises UsageError if there is none."""
    listed = [(each.dialect, operation) for each in frameworks for operation in operations_of(each).operations]
    matches = [each for each in listed if each[1].kind == kind] or [each for each in listed if each[1].kind.lower() == kind.lower()]
    if not matches:
        where = frameworks[0].title if len(frameworks) == 1 else "any framework"
        similar = nearest(kind, [each.kind for _, each in listed])
        near = [f"{name} {each.kind}" for name, each in listed if each.kind in similar]
        suggestion = f"did you mean moir operations {' or '.join(near[:3])}?"
        hint = suggestion if near else "moir operations FRAMEWORK lists all; an extension can add one"
        raise UsageError(f"moir knows no operation {kind!r} of {where}", hint=hint)
    return matches


def _details(framework: str, operation: Operation) -> Table:
    """The properties of an operation, as a table with a row for each."""
    properties = {
        "treatment": f"{operation.treatment}: {TREATMENTS[operation.treatment]}",
        "versions": ", ".join(map(str, operation.versions)),
        "since": str(operation.since) if operation.versions and operation.since else "",
        "reads": operation.reads,
        "becomes": operation.becomes,
        "also": operation.also,
        "where": operation.where,
        "reason": operation.reason,
    }
    return Table(f"{framework}.{operation.kind}", ("", ""), tuple((name, text) for name, text in properties.items() if text))
