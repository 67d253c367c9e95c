"""The functions of the Python interface that do what commands do: `moir.run`, `moir.compare`, `moir.reduce`, …"""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterable, Mapping, Sequence
from contextlib import contextmanager, nullcontext
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

from xdsl.dialects.builtin import ModuleOp
from xdsl.passes import ModulePass

from moir.conversion import Observer
from moir.dialects.memory_map import Array
from moir.errors import ArgumentError, UsageError
from moir.execution.inputs import explained_sizes
from moir.files.model_objects import is_model_object, written
from moir.options import ConversionOptions
from moir.parameters.arguments import PATH
from moir.reduction.reduce import SECONDS
from moir.support.suggestions import did_you_mean
from moir.support.turns import in_turn
from moir.tools.agreement.comparison import Agreement
from moir.tools.agreement.images import Preparation
from moir.tools.commands.candidates import write_candidate
from moir.tools.commands.check import checked_model
from moir.tools.commands.compare import compared
from moir.tools.commands.reduce import reduced_model
from moir.tools.commands.report import PAGE, write_comparison, write_conversion
from moir.tools.commands.run import inputs_of, runner_of
from moir.tools.model_reading import opened_model

if TYPE_CHECKING:
    from moir.checking.check import Check
    from moir.execution.integer_ranges import Ranges
    from moir.reduction.reduced import Candidate

Runtime: TypeAlias = Literal["framework", "openvino", "definitions"]
"""The runtime: the framework's own one or, after a conversion, OpenVINO Runtime or the operations' definitions."""


@in_turn
def run(
    model: Any,
    inputs: Mapping[str, Array] | None = None,
    *,
    tensors: Iterable[str] = (),
    seed: int = 0,
    ranges: Ranges | None = None,
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
        ranges: the least and the greatest number of random inputs, by name; None for those that follow from use.
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
        arrays = inputs_of(runner, given, inputs, seed, ranges or {})
        with explained_sizes(runner.interface.inputs, arrays) if inputs is None else nullcontext():
            outputs = runner.run(arrays, wanted)
    missing = next((name for name in wanted if name not in outputs), None)
    if missing is not None:
        hint = did_you_mean(missing, runner.tensors, "moir.inspect lists the nodes of a model")
        raise UsageError(f"there is no tensor {missing!r} that {runner.title} could give back", hint=hint)
    return outputs


@in_turn
def check(
    model: Any,
    data: str | Path | Iterable[Mapping[str, Array]] | None = None,
    *,
    device: Literal["NPU", "GPU", "CPU"] | None = None,
    precision: Literal["f16", "bf16"] | None = None,
    samples: int | None = None,
    seed: int = 0,
    ranges: Ranges | None = None,
    tolerance: float | None = None,
    image_mean: float | Sequence[float] = 0.0,
    image_scale: float | Sequence[float] = 1.0,
    **options: Any,
) -> Check:
    """What a device will refuse or lose of a model, see docs/checking.md.

    Args:
        model: a path, a module, or a model in memory, as for `run`.
        data: a file or folder of samples, or samples, as for `compare`; None for random numbers.
        device: the device whose documented limits are checked; None for none.
        precision: what the device computes in; None for what is documented of it, and f16 without a device.
        samples: the largest number of samples; None for all, and for one of random numbers.
        seed: the seed of random numbers.
        ranges: the least and the greatest number of random inputs, by name; None for those that follow from use.
        tolerance: the largest relative difference of an output that counts as agreement; None for 0.01 in f16, 0.1 in
            bf16 and of quantized models.
        image_mean: what is subtracted from images, a number or one for each channel.
        image_scale: what they are divided by afterwards.
        options: the options of `convert_model` for readers and extensions, and `input` for shapes.

    Returns a record that shows itself as tables. Raises UsageError for data that do not fit the inputs, ConversionError
    for a model that cannot be converted, and ExecutionError for one that cannot be run.
    """
    with _opened(model) as opened:
        return checked_model(
            opened,
            ConversionOptions(**options),
            device=device,
            precision=precision,
            data=Path(data) if isinstance(data, str | Path) else data,
            samples=samples,
            preparation=Preparation(_per_channel(image_mean), _per_channel(image_scale)),
            seed=seed,
            ranges=ranges or {},
            tolerance=tolerance,
        )


@in_turn
def compare(
    model: Any,
    converted: Any,
    data: str | Path | Iterable[Mapping[str, Array]],
    *,
    samples: int | None = None,
    tensors: bool = False,
    definitions: bool = False,
    image_mean: float | Sequence[float] = 0.0,
    image_scale: float | Sequence[float] = 1.0,
    **options: Any,
) -> Agreement:
    """How far the outputs of an IR are from those of the model it was made from, on data.

    Args:
        model: a path, a module, or a model in memory, as for `run`.
        converted: the IR, likewise; another model is converted.
        data: a file or folder of samples (docs/compression.md), or samples: arrays by the names of inputs.
        samples: the largest number of samples; None for all.
        tensors: whether to compare the inner tensors of equal names, too.
        definitions: whether to run the model by the definitions of its operations, although its framework's runtime is
            installed.
        image_mean: what is subtracted from images, a number or one for each channel.
        image_scale: what they are divided by afterwards.
        options: the options of `convert_model` for readers and extensions.

    Returns a record that shows itself as tables. Raises UsageError for data that do not fit the inputs, ConversionError
    for a model that cannot be converted, and ExecutionError for one that cannot be run.
    """
    preparation = Preparation(_per_channel(image_mean), _per_channel(image_scale))
    with _opened(model) as first, _opened(converted) as second:
        return compared(
            first,
            second,
            Path(data) if isinstance(data, str | Path) else data,
            ConversionOptions(**options),
            preparation=preparation,
            samples=samples,
            tensors=tensors,
            definitions=definitions,
        )


def _per_channel(value: float | Sequence[float]) -> tuple[float, ...]:
    return tuple(value) if isinstance(value, Sequence) else (float(value),)


@in_turn
def reduce(
    model: Any,
    fails: Callable[[Path], bool],
    output: str | Path = "reduced",
    *,
    inputs: Mapping[str, Array] | None = None,
    seed: int = 0,
    ranges: Ranges | None = None,
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
        ranges: the least and the greatest number of random inputs, by name; None for those that follow from use.
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

        smaller = reduced_model(
            opened,
            ConversionOptions(**options),
            still_fails,
            arrays=inputs,
            seed=seed,
            ranges=ranges or {},
            near=near,
            seconds=seconds,
            keeps_weights=keep_weights,
        )
        return write_candidate(smaller.candidate, Path(output).with_suffix(""))


@in_turn
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
        verdict: a text for the top of the page, such as the verdict of `bisect`.
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
    """A context with a model that is given as a path, as a module, or as an object of its framework: its path, or the
    module.

    Raises ArgumentError for other values.
    """
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
