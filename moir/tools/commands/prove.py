"""`moir prove`: proves that the rules of passes keep the meaning of a model.

    moir prove fuse-clamp cancel-transposes
    moir prove my-pass --graphs patterns.mlir -o counterexample.mlir

A rule that is refuted is shown by a model with the results `before` and `after`, which `moir run` runs. A rule whose
conditions admit no model is an error, too: its proof would say nothing.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterable, Iterator, Sequence
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING

from moir.errors import ConversionError, UsageError
from moir.files.output import TEXT_FILE, check_replaceable
from moir.support.suggestions import did_you_mean
from moir.tools.argument_parser import ArgumentParser
from moir.tools.failures import report_failures

if TYPE_CHECKING:
    from xdsl.dialects.builtin import ModuleOp

    from moir.proofs.outcomes import Outcome
    from moir.proofs.proving import RuleProof


def argument_parser() -> ArgumentParser:
    """The argument parser of `moir prove`."""
    parser = ArgumentParser(prog="moir prove", description="Prove that the rules of passes keep the meaning of a model.")
    parser.add_argument("passes", metavar="PASS", nargs="*", help="the passes (default: all of canonicalize, fold, fuse and layout)")
    parser.add_argument(
        "--graphs", metavar="FILE", action="append", default=[], help="text of moir with graphs on which the passes are proved, too"
    )
    parser.add_argument("-o", "--output-file", dest="place", metavar="FILE", help="where to write the first counterexample (.mlir)")
    parser.add_debug_argument()
    return parser


def main(arguments: Sequence[str]) -> int:
    """Run `moir prove`; returns the exit status: 1 if a rule is refuted, or its conditions admit no model."""
    return report_failures("moir prove", lambda: _prove(argument_parser().parsed(arguments)), debug="--debug" in arguments)


def _prove(options: argparse.Namespace) -> int:
    if find_spec("z3") is None:
        raise UsageError("the solver z3 is not installed", hint="install moir[prove]")
    from moir.pipeline.pass_index import PASS_MODULES
    from moir.proofs.outcomes import Status
    from moir.proofs.proving import passes_to_prove

    names = options.passes or passes_to_prove()
    for name in names:
        if name not in PASS_MODULES:
            raise UsageError(f"there is no pass {name!r}", hint=did_you_mean(name, list(PASS_MODULES), "`moir passes` lists them"))
    place = None if options.place is None else Path(options.place)
    if place is not None:
        check_replaceable(place, TEXT_FILE)
    graphs = [module for each in options.graphs for module in read_graphs(Path(each))]
    is_wrong = False
    for name in names:
        for proof in _proofs(name, graphs):
            model = _shown(proof)
            is_wrong = is_wrong or model is not None or proof.outcome.status is Status.VACUOUS
            if model is not None:
                # Formatting a module by {} is not its text.
                if place is not None:
                    place.write_text(f"{model!s}\n", encoding="utf-8")
                    place = None
                else:
                    print(model)
    return 1 if is_wrong else 0


def _proofs(name: str, graphs: Sequence[ModuleOp]) -> Iterator[RuleProof]:
    """The proofs of a pass, also on graphs that a user has; prints a note if the pass changes none of these."""
    from moir.proofs.graph_proofs import apply_pass, models_of
    from moir.proofs.proving import prove_on_graphs, prove_pass

    yield from prove_pass(name, graphs)
    yield from prove_on_graphs(name, graphs)
    if graphs and not any(apply_pass(name, model)[0] for each in graphs for model in models_of(each)):
        print(f"{name}: note: the pass changes none of the graphs of --graphs")


def _shown(proof: RuleProof) -> ModuleOp | None:
    """Print a line for a rule; returns the counterexample if it is refuted, else None."""
    from moir.proofs.counterexamples import counterexample
    from moir.proofs.outcomes import Status

    model = next((model for each in proof.outcome.failures if (model := counterexample(each)) is not None), None)
    status = Status.REFUTED if model is not None else proof.outcome.status
    if model is None and status is Status.REFUTED:
        status = Status.OPEN  # A counterexample counts only if it was run.
    print(f"{proof.name}: {status.value}: {shortened(proof.rule)} ({proof.outcome.obligations} equations, {proof.seconds:.1f} s)")
    if explanation := explained(proof.outcome):
        print(f"    {explanation}")
    return model


NO_GRAPHS = (
    "no graph of this pattern is known that a proof can use: --graphs FILE checks it for all inputs on graphs in text,"
    " such as the pass's test in tests/filecheck/passes"
)


def explained(outcome: Outcome) -> str:
    """The reason why a rule is not proved for all models, and how it could be proved; empty if it is."""
    from moir.proofs.outcomes import Status

    if outcome.failures:
        return shortened(" ".join(outcome.failures[0].reason.split()))
    return NO_GRAPHS if outcome.status is Status.TESTED else ""


LONGEST_RULE = 96


def shortened(rule: str) -> str:
    """The name of a rule, cut to at most LONGEST_RULE characters."""
    return rule if len(rule) <= LONGEST_RULE else f"{rule[: LONGEST_RULE - 2]} …"


def read_graphs(path: Path) -> Iterable[ModuleOp]:
    """The modules of a text, which `// -----` separates as in `moir-opt --split-input-file`."""
    from xdsl.utils.exceptions import ParseError

    from moir.dialects.context import MoirContext
    from moir.errors import ModelFileError
    from moir.tools.optimizer.text import TextParser

    try:
        text = path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise ModelFileError(str(error), location=str(path)) from error
    modules: list[ModuleOp] = []
    for part in text.split("\n// -----"):
        try:
            modules.append(TextParser(MoirContext(), part, str(path)).parse_module())
        except (ParseError, ConversionError) as error:
            raise ModelFileError(str(error), location=str(path)) from error
    return modules
