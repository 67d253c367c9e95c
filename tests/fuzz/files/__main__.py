"""Damaged files through moir, in processes with limits of time and memory.

    python -m tests.fuzz.files [--count N] [--seed SEED] [--formats onnx,tf,…]
    python -m tests.fuzz.files --seed SEED --case NUMBER

The first form damages the files 0 to N-1 of a seed and prints the defects, grouped by what is wrong, each with the
command that makes it again; its exit status is 1 if there is one. Files of defects are kept in build/fuzz-files/SEED.
The second form makes one damaged file, keeps it, and prints what becomes of it.
"""

from __future__ import annotations

import argparse
import re
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path

from tests.fuzz.files.runner import DEFAULT_FORMATS, DEFECTS, LIMIT_SECONDS, Report, Ticket, counts, damaged, judged, keep, run
from tests.fuzz.files.samples import DRAWN, FORMATS

KEPT = Path("build") / "fuzz-files"
EXAMPLES = 3


def print_summary(reports: Sequence[Report]) -> None:
    """Print the defects by fate and message, and how often each fate occurs."""
    groups: dict[str, list[Report]] = {}
    for report in reports:
        if report.fate in DEFECTS:
            groups.setdefault(f"{report.fate}: {re.sub('[0-9]+', '#', report.message)[-160:]}", []).append(report)
    for members in sorted(groups.values(), key=len, reverse=True):
        print(f"{len(members)} x {members[0].fate}: {members[0].message}")
        for member in members[:EXAMPLES]:
            print(f"    {member.sample}: {member.ticket.command()}")
    for fate, number in counts(reports).items():
        print(f"{fate:28}{number:7}{number / len(reports):8.1%}")


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command line."""
    parser = argparse.ArgumentParser(
        "python -m tests.fuzz.files", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--count", type=int, default=2000, help="number of files (default: 2000)")
    parser.add_argument("--first", type=int, default=0, help="number of the first one (default: 0)")
    parser.add_argument("--seed", type=int, default=0, help="which files (default: 0)")
    parser.add_argument("--case", type=int, help="make this file alone")
    parser.add_argument("--formats", default=",".join(DEFAULT_FORMATS), help=f"of {', '.join([*FORMATS, *DRAWN])}")
    parser.add_argument("--keep", metavar="DIR", type=Path, default=KEPT, help=f"where files of defects go (default: {KEPT})")
    parser.add_argument("--workers", type=int, default=2, help="number of processes (default: 2)")
    parser.add_argument("--limit", type=float, default=LIMIT_SECONDS, help="seconds that a file may take")
    options = parser.parse_args(arguments)
    formats = tuple(options.formats.split(","))
    if unknown := [each for each in formats if each not in (*FORMATS, *DRAWN)]:
        parser.error(f"there is no format {unknown[0]}; there are {', '.join([*FORMATS, *DRAWN])}")
    folder = options.keep / str(options.seed)
    if options.case is not None:
        ticket = Ticket(options.seed, options.case, formats, folder)
        sample = damaged(ticket)
        keep(ticket, sample)
        with tempfile.TemporaryDirectory() as text:
            fate, message = judged(sample, Path(text))
        print(f"{sample.name}: {fate}: {message}\nkept in {folder / str(options.case)}")
        return int(fate in DEFECTS)
    tickets = [Ticket(options.seed, number, formats, folder) for number in range(options.first, options.first + options.count)]
    reports: list[Report] = []
    start = time.monotonic()
    for report in run(tickets, max(1, options.workers), options.limit):
        reports.append(report)
        if report.fate in DEFECTS:
            print(f"{report.ticket.number}: {report.sample}: {report.fate}: {report.message}", file=sys.stderr, flush=True)
        if len(reports) % 500 == 0:
            print(f"{len(reports)} of {len(tickets)}, {time.monotonic() - start:.0f} s", file=sys.stderr, flush=True)
    print_summary(reports)
    return int(any(report.fate in DEFECTS for report in reports))


if __name__ == "__main__":
    sys.exit(main())
