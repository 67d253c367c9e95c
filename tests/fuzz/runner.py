"""Draws cases, asks references for the expected results, and judges what moir and the runtime make of them."""

from __future__ import annotations

import json
import shutil
import tempfile
import traceback
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import nullcontext
from dataclasses import dataclass, replace
from importlib import import_module
from pathlib import Path

import numpy as np
import openvino

from tests.fuzz.case import Case, Generator
from tests.fuzz.comparison import difference, values_differ
from tests.fuzz.draw import Array, Draw, NoCase
from tests.fuzz.plugin_faults import fault_of
from tests.numerical.outcomes import DEFECTS, Compare, Judgement, Outcome, died, judge
from tests.numerical.processors import has_wide_sums
from tests.numerical.runtime import IN_FLOATS, compute_in_floats, core, infer, prepared, use_one_thread
from tests.numerical.workers import Died, Say, Workers

GENERATORS: Mapping[str, tuple[str, int]] = {
    "nodes": ("tests.fuzz.nodes:single_node", 14),
    "ml": ("tests.fuzz.nodes:machine_learning_node", 1),
    "graphs": ("tests.fuzz.graphs:small_graph", 3),
    "control-flow": ("tests.fuzz.graphs:control_flow", 2),
}
"""Where each kind of case is drawn, and how often in comparison with the others."""

TENSORFLOW_GENERATORS: Mapping[str, tuple[str, int]] = {
    "tf-nodes": ("tests.fuzz.tensorflow.nodes:single_operation", 8),
    "tf-graphs": ("tests.fuzz.tensorflow.graphs:small_graph", 1),
    "tf-control-flow": ("tests.fuzz.tensorflow.graphs:control_flow", 1),
}
"""The same for TensorFlow, which is imported only if these are asked for."""

LITE_GENERATORS: Mapping[str, tuple[str, int]] = {
    "tflite-nodes": ("tests.fuzz.tflite.operations:single_operation", 1),
}
"""The same for TensorFlow Lite, whose models TensorFlow's converter writes."""

LAYER_GENERATORS: Mapping[str, tuple[str, int]] = {
    "mxnet": ("tests.fuzz.layers.mxnet:graph", 1),
    "caffe": ("tests.fuzz.layers.caffe:network", 1),
}
"""The same for frameworks that nothing runs any more: numpy says what their layers compute."""

PYTORCH_GENERATORS: Mapping[str, tuple[str, int]] = {
    "pt-operators": ("tests.fuzz.pytorch.operators:single_operator", 6),
    "pt-algebra": ("tests.fuzz.pytorch.algebra:algebra", 2),
    "pt-types": ("tests.fuzz.pytorch.promotion:mixed_types", 3),
    "pt-writes": ("tests.fuzz.pytorch.writes:writes", 1),
}
"""The same for PyTorch, in an environment that has it."""

KERAS_GENERATORS: Mapping[str, tuple[str, int]] = {
    "keras-layers": ("tests.fuzz.keras.layers:single_layer", 4),
    "keras-functions": ("tests.fuzz.keras.functions:single_function", 1),
}
"""The same for Keras, with any backend: `KERAS_BACKEND=jax` has the layers with channels first."""

STABLEHLO_GENERATORS: Mapping[str, tuple[str, int]] = {
    "stablehlo-nodes": ("tests.fuzz.stablehlo.operations:single_operation", 1),
}
"""The same for StableHLO, whose programs JAX exports, in an environment that has it."""

EVERY_GENERATOR = {
    **GENERATORS,
    **TENSORFLOW_GENERATORS,
    **LITE_GENERATORS,
    **LAYER_GENERATORS,
    **PYTORCH_GENERATORS,
    **KERAS_GENERATORS,
    **STABLEHLO_GENERATORS,
}
"""All of them."""

GENERATOR_FAILED = "the generator failed: "
"""Beginning of the message of a case that could not be drawn because of a mistake in a generator."""

ATTEMPTS = 40
LIMIT_SECONDS = 60.0


@dataclass(frozen=True)
class Ticket:
    """Which case it is: all that is needed to draw it again.

    Args:
        seed, number: of the draws.
        kinds: the generators to choose from.
        only: a glob for the operation or pattern.
        folder: where the models of defects are kept; None for nowhere.
    """

    seed: int
    number: int
    kinds: tuple[str, ...] = tuple(GENERATORS)
    only: str = "*"
    folder: Path | None = None

    def command(self) -> str:
        """The command that runs this case alone and keeps its model."""
        kinds = "" if self.kinds == tuple(GENERATORS) else f" --kinds {','.join(self.kinds)}"
        only = "" if self.only == "*" else f" --only '{self.only}'"
        return f"python -m tests.fuzz --seed {self.seed} --case {self.number}{kinds}{only}"


@dataclass(frozen=True)
class Report:
    """What became of a case.

    Args:
        subject: its operation or pattern.
        judgement: outcome and message.
        description: the model in one line; "" where nothing is wrong.
        reference: what computed the expected results.
    """

    ticket: Ticket
    subject: str
    judgement: Judgement
    description: str = ""
    reference: str = ""


def generator(kind: str) -> Generator:
    """What draws a kind of cases. Its file is imported when it is first used."""
    module, _, name = EVERY_GENERATOR[kind][0].partition(":")
    result: Generator = getattr(import_module(module), name)
    return result


def expected_results(case: Case) -> tuple[str, list[Array]]:
    """The results of the first reference that computes a case, with its name. Raises NoCase if none does."""
    for name, reference in case.source.references():
        try:
            results = reference(case.inputs)
        except Exception:
            continue
        return name, results
    raise NoCase("no reference computes it")


def drawn(ticket: Ticket, say: Say) -> tuple[Case, str, list[Array]]:
    """The case of a ticket, the name of its reference and the expected results. Raises NoCase after many attempts."""
    kinds = [kind for kind in ticket.kinds for _ in range(EVERY_GENERATOR[kind][1])]
    draws = generator(Draw(ticket.seed, ticket.number).one_of(kinds))
    for attempt in range(ATTEMPTS):
        try:
            case = draws(Draw(ticket.seed, ticket.number, attempt), ticket.only)
            say(f"{case.subject}\n{case.source.describe()}\nreference")
            return case, *expected_results(case)
        except NoCase:
            continue
    raise NoCase("too many attempts")


def agrees_elsewhere(case: Case, reference: str, results: Sequence[Array]) -> bool:
    """Whether another reference than the first computes the results: then the references differ, and nothing is proved."""
    names = [name for name, _ in case.source.references()]
    for _, compute in case.source.references()[names.index(reference) + 1 :]:
        try:
            expected = compute(case.inputs)
        except Exception:
            continue
        if not values_differ(case.outputs, results, tolerant(case, expected, results)):
            return True
    return False


def both_empty(result: Array, wanted: Array) -> bool:
    """Whether two arrays have no element because their first dimension is 0."""
    return result.shape[:1] == wanted.shape[:1] == (0,) and result.dtype == wanted.dtype


def tolerant(case: Case, expected: Sequence[Array], results: Sequence[Array]) -> Sequence[Array]:
    """Expected results, with the elements of the results instead that kernels of the reference may have computed as well."""
    wanted = within_steps(expected, results, case.steps)
    return with_infinities(wanted, results) if case.limits_infinities else wanted


def within_steps(expected: Sequence[Array], results: Sequence[Array], steps: Sequence[float]) -> Sequence[Array]:
    """Expected results, with the elements of the results instead that are not further off than a step."""
    if not len(steps) == len(expected) == len(results):
        return expected
    actual: list[Array] = []
    for wanted, result, step in zip(expected, results, steps, strict=True):
        if wanted.shape == result.shape and wanted.dtype == result.dtype and step:
            is_near = np.abs(wanted.astype(np.float64) - result.astype(np.float64)) <= 1.01 * step
            actual.append(np.where(is_near, result, wanted))
        else:
            actual.append(wanted)
    return actual


def with_infinities(expected: Sequence[Array], results: Sequence[Array]) -> Sequence[Array]:
    """Expected results, with infinities where results have them and the largest number with the same sign is expected."""
    return [
        np.where(np.isinf(result) & (wanted == np.copysign(np.finfo(wanted.dtype).max, result)), result, wanted)
        if wanted.shape == result.shape and wanted.dtype == result.dtype and wanted.dtype.kind == "f"
        else wanted
        for wanted, result in zip(expected, results, strict=False)
    ]


def run_case(ticket: Ticket, say: Say) -> Report:
    """Draw a case and judge it. The task of a worker."""
    use_one_thread()
    if not has_wide_sums():
        compute_in_floats()
    try:
        case, reference, expected = drawn(ticket, say)
    except NoCase as none:
        return Report(ticket, "", Judgement(Outcome.INAPPLICABLE, str(none)))
    except Exception:
        return Report(ticket, "", Judgement(Outcome.INAPPLICABLE, GENERATOR_FAILED + traceback.format_exc(limit=-3)))

    def compare(model: openvino.Model, results: Sequence[Array]) -> str:
        wanted = (
            [result if both_empty(result, each) else each for result, each in zip(results, expected, strict=False)] if loose else expected
        )
        wanted = tolerant(case, wanted, results)
        text = difference(model, list(case.inputs), case.outputs, results, wanted)
        if text and not difference(model, list(case.inputs), case.outputs, results, results) and agrees_elsewhere(case, reference, results):
            return ""
        if text and not difference(model, list(case.inputs), case.outputs, wanted, wanted):
            faults.append(fault_of(case.source, case.inputs, results, wanted))
        return text

    faults: list[str] = []
    description = case.source.describe()
    loose = case.source.guesses_empty_shapes
    kept = ticket.folder / str(ticket.number) if ticket.folder else None
    if kept:
        kept.mkdir(parents=True, exist_ok=True)
    with nullcontext(str(kept)) if kept else tempfile.TemporaryDirectory() as folder:
        path = case.source.save(Path(folder))
        if kept:
            save_inputs(kept, case, expected)
        judgement = judge(path, case.inputs, compare, lambda stage: say(f"{case.subject}\n{description}\n{stage}"))
        if judgement.outcome == Outcome.WRONG and any(case.steps) and is_right_in_floats(path, case, compare):
            faults = ["levels-of-sums"]
    if judgement.outcome == Outcome.WRONG and any(faults):
        judgement = Judgement(Outcome.FAULT, f"{faults[-1]}: {judgement.message}")
    if kept and judgement.outcome not in DEFECTS:
        shutil.rmtree(kept)
    return Report(ticket, case.subject, judgement, "" if judgement.outcome == Outcome.EQUAL else description, reference)


def is_right_in_floats(path: Path, case: Case, compare: Compare) -> bool:
    """Whether the IR beside a quantized model is right where the runtime computes in floats instead of integers of 8 bits."""
    model = core().read_model(path.with_suffix(".xml"))
    return not compare(model, infer(model, prepared(model, case.inputs, IN_FLOATS), case.inputs))


def save_inputs(folder: Path, case: Case, expected: Sequence[Array]) -> None:
    """Write inputs and expected results beside a model, as arrays and, for a reader, as text."""
    arrays = {f"input {name}": value for name, value in case.inputs.items()}
    arrays |= {f"output {name}": value for name, value in zip(case.outputs, expected, strict=True)}
    save: Callable[..., None] = np.savez
    save(folder / "values.npz", **arrays)
    lines = [
        case.subject,
        case.source.describe(),
        *(f"{name}: {value.dtype}{list(value.shape)}\n{value!r}" for name, value in arrays.items()),
    ]
    (folder / "case.txt").write_text("\n".join(lines), encoding="utf-8")


def run(tickets: Iterable[Ticket], workers: int = 2, limit: float = LIMIT_SECONDS) -> Iterator[Report]:
    """The report of each case, in the order in which they come; wrong ones are run again at the end."""
    pool: Workers[Ticket, Report] = Workers(run_case, workers, limit)
    wrong: list[Report] = []
    for ticket, answer in pool.run(tickets):
        if not isinstance(answer, Died):
            if answer.judgement.outcome == Outcome.WRONG:
                wrong.append(answer)
            else:
                yield answer
            continue
        subject, description, stage = answer.stage.split("\n") if answer.stage else ("", "", "")
        judgement = died(Died(stage, answer.hung, answer.reason))
        if stage in ("", "reference"):
            judgement = Judgement(Outcome.INAPPLICABLE, f"the reference: {judgement.message}")
        yield Report(ticket, subject, judgement, description)
    yield from (repeated(report, limit) for report in wrong)


def repeated(report: Report, limit: float) -> Report:
    """The report of a wrong case, judged by a fresh process: the plugin may have spoilt the memory in a case before."""
    pool: Workers[Ticket, Report] = Workers(run_case, 1, limit)
    [(_, answer)] = pool.run([report.ticket])
    if isinstance(answer, Died) or answer.judgement.outcome in DEFECTS:
        return report
    return replace(report, judgement=Judgement(Outcome.FAULT, f"right in a fresh process: {report.judgement.message}"))


def tickets(seed: int, count: int, kinds: Sequence[str] = tuple(GENERATORS), only: str = "*", folder: Path | None = None) -> list[Ticket]:
    """The first cases of a seed."""
    return [Ticket(seed, number, tuple(kinds), only, folder) for number in range(count)]


def as_json(seed: int, reports: Iterable[Report]) -> str:
    """Reports as JSON, in the order of the cases."""
    cases = {
        str(report.ticket.number): {
            "subject": report.subject,
            "outcome": report.judgement.outcome.value,
            "message": report.judgement.message,
            "reference": report.reference,
            "model": report.description,
            "command": report.ticket.command(),
        }
        for report in sorted(reports, key=lambda report: report.ticket.number)
    }
    return json.dumps({"seed": seed, "cases": cases}, indent=1)
