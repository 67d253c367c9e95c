"""The searches: draws cases, converts them, and runs each in a process of its own."""

from __future__ import annotations

import shutil
import traceback
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
import onnx
import onnxruntime

import moir
from moir.errors import ConversionError
from moir.reduction.onnx_graph import OnnxGraph
from moir.reduction.reduce import reduced
from moir.reduction.reduced import Candidate
from tests.fuzz.case import Case, Generator
from tests.fuzz.comparison import values_differ
from tests.fuzz.draw import Array, Draw, NoCase
from tests.fuzz.fusions.execution import INSTRUCTIONS, WITHOUT_WIDE_SUMS, Run, Switches, drawn_switches, executed
from tests.fuzz.fusions.rounding import REPETITIONS, changed, is_rounding
from tests.fuzz.onnx_model import OnnxModel
from tests.fuzz.plugin_faults import fault_of
from tests.fuzz.runner import GENERATOR_FAILED
from tests.numerical.outcomes import DEFECTS, Judgement, Outcome, innermost
from tests.numerical.workers import Died, Say, Workers

SEARCHES: Mapping[str, str] = {
    "combinations": "tests.fuzz.fusions.combinations:combination",
    "networks": "tests.fuzz.fusions.networks:network",
    "aims": "tests.fuzz.fusions.aims:aimed",
}
"""Where the cases of each search are drawn."""

ATTEMPTS = 30
REDUCTION_SECONDS = 40.0
TEMPORARY = Path("/dev/shm")


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


def drawn(item: Item) -> tuple[Case, Switches, list[Array]]:
    """The case of an item, its switches and the expected results. Raises NoCase after many attempts."""
    module, _, name = SEARCHES[item.search].partition(":")
    generator: Generator = getattr(import_module(module), name)
    for attempt in range(ATTEMPTS):
        draw = Draw(item.seed, item.number, attempt)
        try:
            case = generator(draw, item.only)
            assert isinstance(case.source, OnnxModel)
            expected = reference(case.source.proto, case.inputs)
        except NoCase:
            continue
        if all(np.isfinite(each.astype(np.float64)).all() for each in expected):
            return case, drawn_switches(Draw(item.seed, item.number, 1000), item.instructions), expected
    raise NoCase("too many attempts")


def reference(proto: onnx.ModelProto, inputs: Mapping[str, Array]) -> list[Array]:
    """What ONNX Runtime computes, one operation after the other. Raises NoCase if it does not."""
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = options.inter_op_num_threads = 1
    options.log_severity_level = 4
    options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL
    try:
        session = onnxruntime.InferenceSession(proto.SerializeToString(), options, providers=["CPUExecutionProvider"])
        return [np.asarray(each) for each in session.run(None, dict(inputs))]
    except Exception as error:
        raise NoCase(f"the reference: {error}") from error


def judged(item: Item, proto: onnx.ModelProto, inputs: Mapping[str, Array], expected: Sequence[Array], switches: Switches) -> Judgement:
    """Convert a model, run it in a process of its own and compare."""
    outputs = [each.name for each in proto.graph.output]
    with TemporaryDirectory(dir=TEMPORARY if TEMPORARY.is_dir() else None) as folder:
        path = Path(folder, "model.onnx")
        path.write_bytes(proto.SerializeToString())
        xml = path.with_suffix(".xml")
        try:
            moir.save_model(moir.convert_model(path, disable=list(item.without), target=item.target), xml)
        except ConversionError as error:
            return Judgement(Outcome.REFUSED, str(error)[:400])
        except Exception as error:
            return Judgement(Outcome.INTERNAL, innermost(error))
        run = executed(xml, inputs, outputs, expected, switches)
        if excuse := excused(run, xml, inputs, outputs, expected, switches):
            return Judgement(Outcome.FAULT, f"{excuse}: {run.message}")
        text = run.message if run.outcome != Outcome.EQUAL else values_differ(outputs, run.results, expected)
        if run.outcome != Outcome.EQUAL:
            return Judgement(run.outcome, text)
        if not text or is_rounded(proto, inputs, expected, run.results):
            return Judgement(Outcome.EQUAL)
        if fault := fault_of(OnnxModel(proto, {}), inputs, run.results, expected):
            return Judgement(Outcome.FAULT, f"{fault}: {text}")
        if switches.instructions in WITHOUT_WIDE_SUMS and quantizes(proto):
            floats = executed(xml, inputs, outputs, expected, Switches(switches.instructions, switches.snippets, floats=True))
            if floats.outcome == Outcome.EQUAL and not values_differ(outputs, floats.results, expected):
                return Judgement(Outcome.FAULT, f"sums of products in 16 bits: {text}")
        return Judgement(Outcome.WRONG, text)


def excused(run: Run, xml: Path, inputs: Mapping[str, Array], outputs: Sequence[str], expected: Sequence[Array], switches: Switches) -> str:
    """Why a crash or a refusal is none of a processor that exists, or of the plugin as it comes; empty if it may be one."""
    if run.outcome == Outcome.CRASH and switches.instructions == "AVX2":
        # The code for AVX2 asks the processor itself, not the limit, which instructions there are for parts of vectors.
        if executed(xml, inputs, outputs, expected, Switches("AVX512_CORE", switches.snippets)).outcome == Outcome.EQUAL:
            return "instructions beyond the limit"
    if run.outcome == Outcome.UNCOMPILED and switches.snippets != "ENABLE":
        if executed(xml, inputs, outputs, expected, Switches(switches.instructions)).outcome == Outcome.EQUAL:
            return "without snippets"
    return ""


def quantizes(proto: onnx.ModelProto) -> bool:
    """Whether a model has quantized values."""
    return any(node.op_type in ("QuantizeLinear", "DequantizeLinear") for node in proto.graph.node)


def with_all_values(proto: onnx.ModelProto) -> onnx.ModelProto:
    """A model whose outputs are the results of all its nodes."""
    found = onnx.ModelProto()
    found.CopyFrom(proto)
    del found.graph.output[:]
    names = [name for node in proto.graph.node for name in node.output if name]
    found.graph.output.extend(onnx.ValueInfoProto(name=name) for name in names)
    return found


def recorded(proto: onnx.ModelProto, inputs: Mapping[str, Array]) -> dict[str, Array]:
    """The values of a model by their names, those of its inputs included."""
    every = with_all_values(proto)
    names = [each.name for each in every.graph.output]
    return {**inputs, **dict(zip(names, reference(every, inputs), strict=True))}


def is_rounded(proto: onnx.ModelProto, inputs: Mapping[str, Array], expected: Sequence[Array], results: Sequence[Array]) -> bool:
    """Whether results differ from the expected ones no more than the reference under small changes of its values."""
    arrays = recorded(proto, inputs)
    others: list[list[Array]] = []
    for seed in range(REPETITIONS):
        try:
            others.append(reference(changed(proto, arrays, seed), inputs))
        except NoCase:
            return False
    return is_rounding(results, expected, others)


def reduction(item: Item, case: Case, switches: Switches, outcome: Outcome) -> tuple[onnx.ModelProto, Mapping[str, Array]]:
    """The smallest part of a model that has the same outcome, and its inputs."""
    assert isinstance(case.source, OnnxModel)
    proto = case.source.proto

    def fails(candidate: Candidate) -> bool:
        assert isinstance(candidate.model, bytes)
        part = onnx.load_from_string(candidate.model)
        try:
            expected = reference(part, candidate.inputs)
        except NoCase:
            return False
        return judged(item, part, candidate.inputs, expected, switches).outcome == outcome

    with TemporaryDirectory() as folder:
        path = Path(folder, "model.onnx")
        path.write_bytes(proto.SerializeToString())
        graph = OnnxGraph(path, recorded(proto, case.inputs))
        try:
            found = reduced(graph, fails, seconds=REDUCTION_SECONDS, keeps_weights=True)
        except Exception:
            return proto, case.inputs
    assert isinstance(found.candidate.model, bytes)
    return onnx.load_from_string(found.candidate.model), found.candidate.inputs


def searched(item: Item, say: Say) -> Finding:
    """Draw a case and judge it. The task of a worker."""
    try:
        case, switches, expected = drawn(item)
    except NoCase as none:
        return Finding(item, "", Judgement(Outcome.INAPPLICABLE, str(none)))
    except Exception:
        return Finding(item, "", Judgement(Outcome.INAPPLICABLE, GENERATOR_FAILED + traceback.format_exc(limit=-3)))
    assert isinstance(case.source, OnnxModel)
    say(f"{case.subject}\n{case.source.describe()}")
    judgement = judged(item, case.source.proto, case.inputs, expected, switches)
    if judgement.outcome not in DEFECTS:
        return Finding(item, case.subject, judgement, str(switches))
    proto, inputs = case.source.proto, case.inputs
    if item.reduces and judgement.outcome != Outcome.HANG:
        proto, inputs = reduction(item, case, switches, judgement.outcome)
    if item.folder:
        folder = item.folder / str(item.number)
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir(parents=True)
        case.source.save(folder)
        np.savez(folder / "inputs.npz", **case.inputs)
        (folder / "reduced.onnx").write_bytes(proto.SerializeToString())
        np.savez(folder / "reduced.npz", **dict(inputs))
    kinds = " ".join(node.op_type for node in proto.graph.node)
    return Finding(item, case.subject, judgement, str(switches), kinds, OnnxModel(proto, {}).describe())


def run(items: Iterable[Item], workers: int = 1, limit: float = 400.0) -> Iterator[Finding]:
    """The finding of each item, in the order in which they come."""
    pool: Workers[Item, Finding] = Workers(searched, workers, limit)
    for item, answer in pool.run(items):
        if isinstance(answer, Died):
            subject = answer.stage.split("\n")[0]
            yield Finding(item, subject, Judgement(Outcome.HANG if answer.hung else Outcome.CRASH, f"the worker: {answer.reason}"))
        else:
            yield answer
