"""Whether IRs whose inputs the runtime reshapes along one dimension compute what a conversion for that size computes.

    python benchmarks/reshaping_dimensions.py PATH... [--only TEXT] [--json FILE]

Paths are model files of any framework, or folders, which are searched for such. For each dimension of each input, and
for the first dimension of all inputs together, the IR of a model is reshaped to one more and to twice as many entries,
and is run. It has to compute what an IR computes that was converted for these sizes (`--input 'name[sizes]'`), or has
to be refused by the runtime. Where no conversion for the sizes is possible, since the program of the framework has
other sizes, the result has to be that of the IR of `ovc`, if that can be reshaped; otherwise it cannot be judged.
Programs of PyTorch and StableHLO have their static sizes as constants: they compute nothing for other sizes, and are
left out.

The exit status is 1 if a result is wrong. Each model is looked at in a process of its own.
"""

from __future__ import annotations

import argparse
import json
import multiprocessing
import sys
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from ir_quality import ONE_THREAD, difference, inputs_of

SUFFIXES = (
    ".onnx",
    ".pb",
    ".pbtxt",
    ".meta",
    ".tflite",
    ".pdmodel",
    ".json",
    ".caffemodel",
    ".keras",
    ".h5",
    ".mlir",
    ".mlirbc",
    ".jax",
    ".pt2",
)
OF_OVC = (".onnx", ".pb", ".meta", ".tflite", ".pdmodel")
NO_MODELS = ("meta.json",)
TOLERANCE = 1e-3
LIMIT_SECONDS = 600
RIGHT, OF_OTHER, REFUSED, OPEN, FIXED = "as converted", "as ovc's", "refused", "cannot be judged", "fixed sizes"


class Change(NamedTuple):
    """Other sizes of the inputs of a model, and what was changed."""

    what: str
    shapes: list[tuple[int, ...]]


def model_files(path: Path) -> Iterator[Path]:
    """The models in a folder, whatever its depth: files, and folders of SavedModels."""
    if path.is_file() or (path / "saved_model.pb").exists():
        yield path
    elif path.is_dir():
        for each in sorted(path.iterdir()):
            if each.is_dir() or (each.suffix in SUFFIXES and each.name not in NO_MODELS):
                yield from model_files(each)


def changes(shapes: Sequence[tuple[int, ...]]) -> Iterator[Change]:
    """Each dimension of each input, and the first dimension of all inputs, one larger and twice as large."""
    for grow in (lambda size: size + 1, lambda size: 2 * size):
        for number, shape in enumerate(shapes):
            for axis, size in enumerate(shape):
                changed = [*shapes]
                changed[number] = (*shape[:axis], grow(size), *shape[axis + 1 :])
                yield Change(f"input {number} dimension {axis}: {size} -> {grow(size)}", changed)
        firsts = {shape[0] for shape in shapes if shape}
        if len(shapes) > 1 and len(firsts) == 1:
            yield Change(
                f"all first: {max(firsts)} -> {grow(max(firsts))}", [(grow(shape[0]), *shape[1:]) if shape else shape for shape in shapes]
            )


def enlarged(value: np.ndarray, shape: tuple[int, ...]) -> np.ndarray:
    """An array of another shape, with its entries repeated along the dimensions that are larger."""
    for axis, size in enumerate(shape):
        value = np.take(value, np.arange(size) % max(1, value.shape[axis]), axis)
    return np.ascontiguousarray(value)


def computed(model: Any, feeds: Sequence[np.ndarray], reshape: bool) -> list[np.ndarray] | None:
    """The results of a model; None if the runtime refuses the sizes."""
    import openvino

    try:
        model = model.clone()
        if reshape:
            model.reshape({port: openvino.PartialShape(list(value.shape)) for port, value in zip(model.inputs, feeds, strict=True)})
        request = openvino.Core().compile_model(model, "CPU", ONE_THREAD).create_infer_request()
        request.infer(list(feeds))
        return [np.array(tensor.data) for tensor in request.output_tensors]
    except RuntimeError:
        return None


def is_equal(a: Sequence[np.ndarray], b: Sequence[np.ndarray]) -> bool:
    """Whether results are the same within the tolerance."""
    return len(a) == len(b) and difference(a, b) <= TOLERANCE


def judged(path: Path) -> list[tuple[str, str]]:
    """What becomes of each change of a model."""
    import openvino

    import moir
    from moir.files.recognition import framework_of_file

    if framework_of_file(path).has_fixed_sizes:
        return [("program", FIXED)]

    def convert(**options: Any) -> Any:
        return moir.to_openvino(moir.convert_model(path, **options))

    ours = convert()
    names = [port.any_name if port.get_names() else port.get_node().get_friendly_name() for port in ours.inputs]
    feeds = inputs_of(ours, path)
    if feeds is None:
        return [("inputs", "no inputs")]
    theirs: Any = None
    if path.suffix in OF_OVC or path.is_dir():
        try:
            theirs = openvino.convert_model(path)
        except Exception:
            theirs = None
    faults: list[tuple[str, str]] = []
    for change in changes([value.shape for value in feeds]):
        data = [enlarged(value, shape) for value, shape in zip(feeds, change.shapes, strict=True)]
        result = computed(ours, data, reshape=True)
        if result is None:
            faults.append((change.what, REFUSED))
            continue
        try:
            notation = ",".join(f"{name}[{','.join(map(str, shape))}]" for name, shape in zip(names, change.shapes, strict=True))
            wanted = computed(convert(input=notation), data, reshape=False)
        except moir.errors.MoirError:
            wanted = None
        how = RIGHT
        if wanted is None and theirs is not None and len(theirs.inputs) == len(data):
            order = [next((i for i, own in enumerate(ours.inputs) if own.get_names() & port.get_names()), None) for port in theirs.inputs]
            if None not in order:
                wanted, how = computed(theirs, [data[index] for index in order], reshape=True), OF_OTHER
        if wanted is None:
            faults.append((change.what, OPEN))
        else:
            faults.append((change.what, how if is_equal(result, wanted) else f"WRONG, not {how}"))
    return faults


def in_a_process(path: Path) -> list[tuple[str, str]]:
    """`judged` in a process of its own; one that ends or takes too long is the only entry."""
    context = multiprocessing.get_context("fork")
    ours, theirs = context.Pipe(duplex=False)

    def run() -> None:
        try:
            theirs.send(judged(path))
        except Exception as error:
            theirs.send([("conversion", f"{type(error).__name__}: {str(error)[:120]}")])

    process = context.Process(target=run)
    process.start()
    theirs.close()
    try:
        return ours.recv() if ours.poll(LIMIT_SECONDS) else [("process", "takes too long")]
    except EOFError:
        return [("process", "WRONG: the process ends")]
    finally:
        process.kill()
        process.join()


def main(arguments: Sequence[str] | None = None) -> int:
    """Print what is wrong and the counts; returns the exit status."""
    parser = argparse.ArgumentParser(description="Reshape IRs of moir along each dimension in OpenVINO Runtime.")
    parser.add_argument("paths", nargs="+", type=Path, metavar="PATH")
    parser.add_argument("--only", default="", metavar="TEXT", help="models whose path contains this")
    parser.add_argument("--json", metavar="FILE", type=Path, help="write all outcomes")
    options = parser.parse_args(arguments)
    outcomes: dict[str, list[tuple[str, str]]] = {}
    for path in [file for given in options.paths for file in model_files(given) if options.only in str(file)]:
        outcomes[str(path)] = outcome = in_a_process(path)
        wrong = [(what, how) for what, how in outcome if how not in (RIGHT, OF_OTHER, REFUSED, OPEN, FIXED)]
        print(path, dict(Counter(how for _, how in outcome)), flush=True)
        for what, how in wrong:
            print(f"    {what}: {how}", flush=True)
    print(Counter(how for outcome in outcomes.values() for _, how in outcome))
    if options.json:
        options.json.write_text(json.dumps(outcomes, indent=1), encoding="utf-8")
    return int(any(how.startswith("WRONG") for outcome in outcomes.values() for _, how in outcome))


if __name__ == "__main__":
    sys.exit(main())
