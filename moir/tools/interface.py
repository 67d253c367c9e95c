"""The functions of the Python interface that do what commands do: `moir.run`, `moir.reduce`, `moir.report`."""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterable, Mapping
from contextlib import contextmanager, nullcontext
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

from xdsl.dialects.builtin import ModuleOp
from xdsl.passes import ModulePass

from moir.arguments import PATH
from moir.conversion import Observer
from moir.dialects.memory_map import Array
from moir.errors import ArgumentError, UsageError
from moir.execution.inputs import explained_sizes
from moir.files.model_objects import is_model_object, written
from moir.options import ConversionOptions
from moir.reduction.reduce import SECONDS
from moir.suggestions import did_you_mean
from moir.tools.commands.candidates import write_candidate
from moir.tools.commands.reduce import reduced_model
from moir.tools.commands.report import PAGE, write_comparison, write_conversion
from moir.tools.commands.run import inputs_of, runner_of
from moir.tools.model_reading import opened_model

if TYPE_CHECKING:
    from moir.reduction.reduced import Candidate

Runtime: TypeAlias = Literal["framework", "openvino", "definitions"]
"""The runtime: the framework's own one or, after a conversion, OpenVINO Runtime or the operations' definitions."""


def run(
    model: Any,
    inputs: Mapping[str, Array] | None = None,
    *,
    tensors: Iterable[str] = (),
    seed: int = 0,
    runtime: Runtime | None = None,
    **options: Any,
) -> dict[str, Array]:
    """Run a model once.

    Args:
        model: a path of any format that moir reads, texts of modules included; a module; or a model in memory, as
            `convert_model` takes it.
        inputs: arrays by the names of inputs; None for random ones.
        tensors: names of inner tensors to return besides the outputs.
        seed: the seed of random inputs.
        runtime: the runtime; None for the framework's own runtime if it is installed, else OpenVINO Runtime, else
            the definitions.
        options: the options of `convert_model` for readers and extensions, and `input` for shapes of random inputs.

    Returns the outputs and the inner tensors by their names.

    Raises UsageError for a mistake in the arguments, such as a tensor that does not exist, ConversionError for a model
    that cannot be converted, and ExecutionError for one that cannot be run.
    """
    given, wanted = ConversionOptions(**options), list(tensors)
    with _opened(model) as opened:
        runner = runner_of(opened, given, runtime, inputs)
        arrays = inputs_of(runner, given, inputs, seed)
        with explained_sizes(runner.interface.inputs, arrays) if inputs is None else nullcontext():
            found = runner.run(arrays, wanted)
    missing = next((name for name in wanted if name not in found), None)
    if missing is not None:
        hint = did_you_mean(missing, runner.tensors, "moir.inspect lists the nodes of a model")
        raise UsageError(f"there is no tensor {missing!r} that {runner.title} could give back", hint=hint)
    return found


def reduce(
    model: Any,
    fails: Callable[[Path], bool],
    output: str | Path = "reduced",
    *,
    inputs: Mapping[str, Array] | None = None,
    seed: int = 0,
    near: Iterable[str] = (),
    seconds: float = SECONDS,
    keep_weights: bool = False,
    **options: Any,
) -> Path:
    """Make a failing model smaller, while it still fails.

    Args:
        model: a path, a module, or a model in memory, as for `run`.
        fails: whether a candidate still fails, given its path: an ONNX model if `model` is one and ONNX Runtime is
            installed, else a text of moir. Its inputs and the outputs that it had in the whole model are beside it, in
            files of the same name with `-inputs.npz` and `-reference.npz`.
        output: where to write the small model; its suffix is that of the candidates.
        inputs: arrays by the names of inputs; None for random ones.
        seed: the seed of random inputs.
        near: names of tensors that the failure is about, where the search begins.
        seconds: the time after which the smallest model so far is the result.
        keep_weights: whether the weights are kept instead of being replaced by random ones.
        options: the options of `convert_model` for readers and extensions, and `input` for shapes of random inputs.

    Returns the path of the small model.

    Raises UsageError for a mistake in the arguments, or if the model itself does not fail, and ExecutionError if it
    cannot be run.
    """
    with _opened(model) as opened, TemporaryDirectory(prefix="moir-") as folder:

        def still_fails(candidate: Candidate) -> bool:
            return fails(write_candidate(candidate, Path(folder) / "candidate"))

        found = reduced_model(
            opened,
            ConversionOptions(**options),
            still_fails,
            arrays=inputs,
            seed=seed,
            near=near,
            seconds=seconds,
            keeps_weights=keep_weights,
        )
        return write_candidate(found.candidate, Path(output).with_suffix(""))


def report(
    model: str | Path,
    page: str | Path = PAGE,
    *,
    other: str | Path | None = None,
    passes: str | Iterable[str | ModulePass] | None = None,
    verdict: str | None = None,
    observers: Iterable[Observer] = (),
    **options: Any,
) -> Path:
    """Write an HTML page that shows a conversion step by step, or two models with their differences.

    Args:
        model: a path of any format that moir reads.
        page: the page to write.
        other: a model to compare it with; then both are shown before any conversion.
        passes: a pipeline in place of the default one.
        verdict: a text for the top of the page, such as that of a verdict of `bisect`.
        observers: are notified of the stages of the conversion.
        options: the options of `convert_model`.

    Returns the path of the page, which is also written where the conversion fails: it then shows the operations at
    fault.

    Raises UsageError for a mistake in the arguments, and ConversionError for a model that cannot be converted.
    """
    given = ConversionOptions(**options)
    if other is None:
        failure = write_conversion(str(model), given, Path(page), passes=passes, verdict=verdict, observers=list(observers))
        if failure is not None:
            raise failure
        return Path(page)
    if passes is not None:
        raise UsageError("two models are compared as they are: leave out passes")
    write_comparison(str(model), str(other), given, Path(page), verdict=verdict)
    return Path(page)


@contextmanager
def _opened(model: Any) -> Generator[Path | ModuleOp]:
    """A model given as a path, as a module, or as an object of its framework. Raises ArgumentError for others."""
    if isinstance(model, ModuleOp):
        yield model
    elif PATH.accepts(model):
        with opened_model(str(model)) as opened:
            yield opened
    elif is_model_object(model):
        with written(model) as source:
            yield source.path
    else:
        raise ArgumentError(f"{model!r} is neither a path, nor a module, nor a model in memory", hint=PATH.advice(model))
