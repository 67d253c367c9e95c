"""Random cases through moir and OpenVINO Runtime, against a reference.

    python -m tests.fuzz [--count N] [--seed SEED] [--only GLOB] [--kinds nodes,graphs] [--json FILE]
    python -m tests.fuzz --seed SEED --case NUMBER

The first form runs the cases 0 to N-1 of a seed and prints the defects, grouped by operation and outcome, each with the
command that runs it again; its exit status is 1 if there is one. Models, inputs and expected results of defects are
kept in build/fuzz/SEED. The second form runs one case, prints it and keeps it in any case.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections import Counter
from collections.abc import Sequence
from pathlib import Path

from tests.fuzz.runner import EVERY_GENERATOR, GENERATOR_FAILED, GENERATORS, LIMIT_SECONDS, Report, Ticket, as_json, run, tickets
from tests.numerical.outcomes import DEFECTS, Outcome, counts

KEPT = Path("build") / "fuzz"
EXAMPLES = 3
"""Defects of one operation and outcome that are printed."""


def print_summary(reports: Sequence[Report]) -> None:
    """Print how often each outcome occurs, and the defects by operation and outcome."""
    cases = [report for report in reports if report.judgement.outcome != Outcome.INAPPLICABLE]
    groups: dict[tuple[str, Outcome], list[Report]] = {}
    for report in cases:
        if report.judgement.outcome in DEFECTS:
            groups.setdefault((report.subject, report.judgement.outcome), []).append(report)
    for (subject, outcome), members in sorted(groups.items()):
        print(f"{subject}: {outcome} ({len(members)})")
        for member in members[:EXAMPLES]:
            print(f"    {member.judgement.message}\n    {member.ticket.command()}")
    refused = Counter(report.subject for report in cases if report.judgement.outcome == Outcome.REFUSED)
    if refused:
        print("refused: " + ", ".join(f"{subject} {number}" for subject, number in refused.most_common()))
    for outcome, number in counts(report.judgement.outcome for report in cases).items():
        print(f"{outcome:24}{number:7}{number / len(cases):8.1%}")
    print(f"{len(reports) - len(cases)} draws were no cases: no reference computes them")
    failed = [report for report in reports if report.judgement.message.startswith(GENERATOR_FAILED)]
    if failed:
        print(f"{len(failed)} of them failed, a mistake in a generator. {failed[0].ticket.command()}:\n{failed[0].judgement.message}")


def run_one(ticket: Ticket) -> int:
    """Run one case and print it."""
    (report,) = run([ticket], workers=1)
    judgement = report.judgement
    print(f"{report.subject}: {judgement.outcome}: {judgement.message}\n{report.description}\nreference: {report.reference}")
    if judgement.outcome in DEFECTS and ticket.folder:
        print(f"kept in {ticket.folder / str(ticket.number)}")
    return int(judgement.outcome in DEFECTS)


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command line."""
    parser = argparse.ArgumentParser("python -m tests.fuzz", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--count", type=int, default=2000, help="number of cases (default: 2000)")
    parser.add_argument("--seed", type=int, default=0, help="which cases (default: 0)")
    parser.add_argument("--case", type=int, help="run this case alone")
    parser.add_argument("--only", metavar="GLOB", default="*", help="operations or patterns")
    parser.add_argument("--kinds", default=",".join(GENERATORS), help=f"kinds of cases, of {', '.join(EVERY_GENERATOR)}")
    parser.add_argument("--json", metavar="FILE", type=Path, help="write outcome, message and model of each case")
    parser.add_argument("--keep", metavar="DIR", type=Path, default=KEPT, help=f"where models of defects go (default: {KEPT})")
    parser.add_argument("--workers", type=int, default=2, help="number of processes (default: 2)")
    parser.add_argument("--limit", type=float, default=LIMIT_SECONDS, help="seconds that a case may take")
    options = parser.parse_args(arguments)
    kinds = tuple(options.kinds.split(","))
    every = [*EVERY_GENERATOR]
    unknown = [kind for kind in kinds if kind not in every]
    if unknown:
        parser.error(f"no kind of cases is called {unknown[0]}; there are {', '.join(every)}")
    folder = options.keep / str(options.seed)
    if options.case is not None:
        return run_one(Ticket(options.seed, options.case, kinds, options.only, folder))
    reports: list[Report] = []
    start = time.monotonic()
    for report in run(tickets(options.seed, options.count, kinds, options.only, folder), max(1, options.workers), options.limit):
        reports.append(report)
        if len(reports) % 100 == 0:
            print(f"{len(reports)} of {options.count}, {time.monotonic() - start:.0f} s", file=sys.stderr, flush=True)
    print_summary(reports)
    if options.json:
        options.json.parent.mkdir(parents=True, exist_ok=True)
        options.json.write_text(as_json(options.seed, reports), encoding="utf-8")
    return int(any(report.judgement.outcome in DEFECTS for report in reports))


if __name__ == "__main__":
    sys.exit(main())
