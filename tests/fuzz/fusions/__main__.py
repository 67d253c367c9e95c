"""Searches for graphs that the runtime computes wrongly, refuses or crashes on, because it fuses their operations.

    python -m tests.fuzz.fusions combinations [--count N] [--seed SEED] [--only 'Conv,MaxPool,*'] [--without FORM]
    python -m tests.fuzz.fusions networks [--count N] [--seed SEED] [--only quantized]
    python -m tests.fuzz.fusions aims [--count N] [--seed SEED] [--only 'ConvolutionMultiplyFusion']
    python -m tests.fuzz.fusions architectures [--count N] [--seed SEED] [--only 'resnet*']
    python -m tests.fuzz.fusions networks --seed SEED --case NUMBER

The first search draws three or four kinds of operations in a row, the second networks of 4 to 12 operations, the third
graphs around what each transformation of the runtime looks for, the fourth networks of known architectures with other
operations between their blocks (`tf-architectures` and `tflite-architectures`: as graphs of TensorFlow and models of
TensorFlow Lite). ONNX Runtime, without optimizations, or the framework computes each; moir converts it, and a process
of its own runs the IR. Up to 16 graphs of ONNX stand beside each other in one model, which takes a fourth of the time;
what differs is judged again in a model of its own (`--alone` judges all so), reduced, and printed by the kinds of
operations that are left, each with the command that runs it again. `--without` leaves out a form of the target.
"""

from __future__ import annotations

import argparse
import json
import sys
import time
from collections import Counter
from collections.abc import Sequence
from pathlib import Path

from tests.fuzz.fusions.execution import INSTRUCTIONS
from tests.fuzz.fusions.search import SEARCHES, Finding, Item, run, searched
from tests.numerical.outcomes import DEFECTS, Outcome, counts

KEPT = Path("build") / "fusions"
EXAMPLES = 3


def print_summary(findings: Sequence[Finding]) -> None:
    """Print how often each outcome occurs, and the defects by the kinds of their reduced models."""
    groups: dict[tuple[str, Outcome], list[Finding]] = {}
    for each in findings:
        if each.judgement.outcome in DEFECTS:
            groups.setdefault((each.kinds or each.subject, each.judgement.outcome), []).append(each)
    for (kinds, outcome), members in sorted(groups.items(), key=lambda group: -len(group[1])):
        print(f"{kinds}: {outcome} ({len(members)})")
        for member in members[:EXAMPLES]:
            print(f"    {member.judgement.message}; {member.switches}\n    {member.model}\n    {member.item.command()}")
    for outcome in (Outcome.REFUSED, Outcome.FAULT, Outcome.INAPPLICABLE):
        texts = Counter(
            each.judgement.message.partition(": ")[0][:100] if outcome != Outcome.INAPPLICABLE else each.judgement.message[-200:]
            for each in findings
            if each.judgement.outcome == outcome
        )
        for text, number in texts.most_common(12):
            print(f"{outcome}: {text} ({number})")
    for outcome, number in counts(each.judgement.outcome for each in findings).items():
        print(f"{outcome:24}{number:7}{number / len(findings):8.1%}")


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command line."""
    parser = argparse.ArgumentParser(
        "python -m tests.fuzz.fusions", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("search", choices=list(SEARCHES))
    parser.add_argument("--count", type=int, default=2000, help="number of cases (default: 2000)")
    parser.add_argument("--first", type=int, default=0, help="number of the first case (default: 0)")
    parser.add_argument("--seed", type=int, default=0, help="which cases (default: 0)")
    parser.add_argument("--case", type=int, help="run this case alone")
    parser.add_argument("--only", metavar="GLOB", default="*", help="kinds, styles, transformations or architectures")
    parser.add_argument("--without", metavar="FORM", action="append", default=[], help="leave out a form of the target")
    parser.add_argument("--target", default="openvino-cpu", help="the target; none leaves out all forms")
    parser.add_argument("--instructions", metavar="LIMITS", help="values of ONEDNN_MAX_CPU_ISA, separated by commas; empty for no limit")
    parser.add_argument("--whole", action="store_true", help="do not reduce what is found")
    parser.add_argument("--alone", action="store_true", help="judge each case of ONNX in a model of its own")
    parser.add_argument("--json", metavar="FILE", type=Path, help="write what was found")
    parser.add_argument("--keep", metavar="DIR", type=Path, default=KEPT, help=f"where models of defects go (default: {KEPT})")
    parser.add_argument("--workers", type=int, default=1, help="number of processes (default: 1)")
    options = parser.parse_args(arguments)
    instructions = INSTRUCTIONS if options.instructions is None else tuple(options.instructions.split(","))
    folder = options.keep / f"{options.search}-{options.seed}"
    numbers = range(options.first, options.first + options.count) if options.case is None else [options.case]
    items = [
        Item(
            options.search,
            options.seed,
            number,
            options.only,
            tuple(options.without),
            options.target,
            instructions,
            folder,
            not options.whole,
        )
        for number in numbers
    ]
    findings: list[Finding] = []
    start = time.monotonic()
    together = not options.alone and not options.search.startswith("tf")
    alone = [searched(items[0], lambda _: None)] if options.case is not None else None
    for finding in alone or run(items, max(1, options.workers), together=together):
        findings.append(finding)
        if finding.judgement.outcome in DEFECTS:
            print(f"{finding.judgement.outcome}: {finding.kinds or finding.subject} ({finding.item.number})", file=sys.stderr, flush=True)
        if len(findings) % 200 == 0:
            print(f"{len(findings)} of {options.count}, {time.monotonic() - start:.0f} s", file=sys.stderr, flush=True)
    print_summary(findings)
    if options.json:
        options.json.parent.mkdir(parents=True, exist_ok=True)
        results = [
            {
                "number": each.item.number,
                "outcome": each.judgement.outcome.value,
                "message": each.judgement.message,
                "kinds": each.kinds,
                "subject": each.subject,
                "switches": each.switches,
                "model": each.model,
            }
            for each in findings
            if each.judgement.outcome != Outcome.EQUAL
        ]
        options.json.write_text(
            json.dumps({"seed": options.seed, "cases": len(findings), "seconds": time.monotonic() - start, "found": results}, indent=1)
        )
    return int(any(each.judgement.outcome in DEFECTS for each in findings))


if __name__ == "__main__":
    sys.exit(main())
