"""The searches: draws cases, converts them, and runs each in a process of its own."""

from __future__ import annotations

import shutil
import traceback
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path

import numpy as np

from tests.fuzz.case import Generator
from tests.fuzz.draw import Draw, NoCase
from tests.fuzz.fusions.bundles import alike, bundle
from tests.fuzz.fusions.execution import INSTRUCTIONS, Switches, drawn_switches
from tests.fuzz.fusions.judging import Conversion, Model, judged, model_of, results_of
from tests.fuzz.fusions.reducing import smallest
from tests.fuzz.onnx_model import OnnxModel
from tests.fuzz.runner import GENERATOR_FAILED
from tests.numerical.outcomes import DEFECTS, Judgement, Outcome
from tests.numerical.workers import Died, Say, Workers

SEARCHES: Mapping[str, str] = {
    "combinations": "tests.fuzz.fusions.combinations:combination",
    "networks": "tests.fuzz.fusions.networks:network",
    "aims": "tests.fuzz.fusions.aims:aimed",
    "architectures": "tests.fuzz.fusions.architectures.networks:onnx_network",
    "tf-architectures": "tests.fuzz.fusions.architectures.tensorflow_networks:tensorflow_network",
    "tflite-architectures": "tests.fuzz.fusions.architectures.tensorflow_networks:lite_network",
    "tflite-integers": "tests.fuzz.fusions.architectures.tensorflow_networks:integer_network",
}
"""Where the cases of each search are drawn."""

ATTEMPTS = 30

BLOCK = 256
"""Cases that are drawn before those of the same switches are judged together."""


@dataclass(frozen=True)
class Item:
    """Which case it is, and how it is judged.

    Args:
        search: the name of the search.
        seed, number: which case.
        only: a glob, see the generators.
        without: names of passes that are left out of the conversion.
        target: the target that is converted for.
        instructions: values of ONEDNN_MAX_CPU_ISA to choose from.
        folder: where the models of defects are kept.
        reduces: whether defects are reduced.
    """

    search: str
    seed: int
    number: int
    only: str = "*"
    without: tuple[str, ...] = ()
    target: str = "openvino-cpu"
    instructions: tuple[str, ...] = INSTRUCTIONS
    folder: Path | None = None
    reduces: bool = True

    def command(self) -> str:
        """The command that runs this case alone."""
        only = "" if self.only == "*" else f" --only '{self.only}'"
        without = "".join(f" --without {each}" for each in self.without)
        return f"python -m tests.fuzz.fusions {self.search} --seed {self.seed} --case {self.number}{only}{without}"


@dataclass(frozen=True)
class Finding:
    """What became of a case.

    Args:
        subject: its kinds or style.
        judgement: outcome and message.
        switches: how the runtime computed.
        kinds: the operations of the reduced model, in topological order; what findings are grouped by.
        model: the reduced model in one line.
    """

    item: Item
    subject: str
    judgement: Judgement
    switches: str = ""
    kinds: str = ""
    model: str = ""


Drawn = tuple[Item, str, Model, Switches]
"""An item with its subject, its model, and how the runtime computes it."""


def drawn(item: Item) -> tuple[str, Model, Switches]:
    """The subject and the model of an item, and its switches. Raises NoCase after many attempts."""
    module, _, name = SEARCHES[item.search].partition(":")
    generator: Generator = getattr(import_module(module), name)
    for attempt in range(ATTEMPTS):
        draw = Draw(item.seed, item.number, attempt)
        try:
            case = generator(draw, item.only)
            model = model_of(case)
        except NoCase:
            continue
        if all(np.isfinite(each.astype(np.float64)).all() for each in model.expected):
            return case.subject, model, drawn_switches(Draw(item.seed, item.number, 1000), item.instructions)
    raise NoCase("too many attempts")


def searched(item: Item, say: Say) -> Finding:
    """Draw a case and judge it. The task of a worker."""
    case = _drawn(item)
    return case if isinstance(case, Finding) else _alone(item, *case, say)


def _drawn(item: Item) -> tuple[str, Model, Switches] | Finding:
    """What `drawn` returns; a Finding that says why there is none."""
    try:
        return drawn(item)
    except NoCase as none:
        return Finding(item, "", Judgement(Outcome.INAPPLICABLE, str(none)))
    except Exception:
        return Finding(item, "", Judgement(Outcome.INAPPLICABLE, GENERATOR_FAILED + traceback.format_exc(limit=-3)))


def _alone(item: Item, subject: str, whole: Model, switches: Switches, say: Say) -> Finding:
    """Judge a model, and reduce what is a defect."""
    say(f"{subject}\n{whole.source.describe()}")
    conversion = Conversion(item.without, item.target)
    verdict = judged(whole, conversion, switches)
    judgement, model = verdict.judgement, whole
    if judgement.outcome not in DEFECTS:
        return Finding(item, subject, judgement, str(switches))
    is_onnx = isinstance(whole.source, OnnxModel)
    if item.reduces and is_onnx and judgement.outcome != Outcome.HANG:
        model = smallest(model, conversion, switches, verdict)
    if item.folder:
        folder = item.folder / str(item.number)
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir(parents=True)
        whole.source.save(folder)
        np.savez(folder / "inputs.npz", **dict(whole.inputs))
        if is_onnx:
            (folder / "reduced.onnx").write_bytes(model.proto.SerializeToString())
            np.savez(folder / "reduced.npz", **dict(model.inputs))
    kinds = " ".join(node.op_type for node in model.proto.graph.node) if is_onnx else subject
    return Finding(item, subject, judgement, str(switches), kinds, model.source.describe())


def searched_together(items: Sequence[Item], say: Say) -> list[Finding]:
    """Draw cases of ONNX and judge them, several in one model. The task of a worker."""
    findings: list[Finding] = []
    cases: list[Drawn] = []
    for item in items:
        case = _drawn(item)
        if isinstance(case, Finding):
            findings.append(case)
        else:
            cases.append((item, *case))
    for indices in alike((index, model, str(switches)) for index, (_, _, model, switches) in enumerate(cases)):
        findings.extend(judged_together([cases[index] for index in indices], say))
    return findings


def judged_together(cases: Sequence[Drawn], say: Say) -> list[Finding]:
    """Judge cases in one model.

    A case whose results differ there is judged again in a model of its own; of a model that does not run, both halves are.
    If none of the parts shows the defect, the model with all of them is what is judged and reduced.
    """
    if len(cases) == 1:
        return [_alone(*cases[0], say)]
    say(f"together: {', '.join(str(item.number) for item, *_ in cases)}")
    together = bundle([model for _, _, model, _ in cases])
    first, _, _, switches = cases[0]
    results = results_of(together.whole, Conversion(first.without, first.target), switches)
    if results is None:
        middle = len(cases) // 2
        findings = [*judged_together(cases[:middle], say), *judged_together(cases[middle:], say)]
        suspects = list(range(len(cases)))
    else:
        findings = [Finding(item, subject, Judgement(Outcome.EQUAL), str(switches)) for item, subject, *_ in cases]
        suspects = together.differing(results)
        for index in suspects:
            findings[index] = _alone(*cases[index], say)
    if suspects and all(findings[index].judgement.outcome == Outcome.EQUAL for index in suspects):
        subject = "+".join(subject for _, subject, *_ in cases)
        findings[suspects[0]] = _alone(cases[suspects[0]][0], f"together: {subject}", together.whole, switches, say)
    return findings


def run(items: Sequence[Item], workers: int = 1, limit: float = 400.0, together: bool = False) -> Iterator[Finding]:
    """The finding of each item, in the order in which they come.

    Args:
        workers: the number of processes.
        limit: seconds that an item may take.
        together: whether several cases are judged in one model, as `searched_together` does.
    """
    if not together:
        yield from _run_alone(items, workers, limit)
        return
    blocks = [tuple(items[start : start + BLOCK]) for start in range(0, len(items), BLOCK)]
    pool: Workers[tuple[Item, ...], list[Finding]] = Workers(searched_together, workers, limit * 4)
    for block, answer in pool.run(blocks):
        yield from _run_alone(block, 1, limit) if isinstance(answer, Died) else answer


def _run_alone(items: Iterable[Item], workers: int, limit: float) -> Iterator[Finding]:
    pool: Workers[Item, Finding] = Workers(searched, workers, limit)
    for item, answer in pool.run(items):
        if isinstance(answer, Died):
            subject = answer.stage.split("\n")[0]
            yield Finding(item, subject, Judgement(Outcome.HANG if answer.hung else Outcome.CRASH, f"the worker: {answer.reason}"))
        else:
            yield answer
