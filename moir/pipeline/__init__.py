"""The table of passes, and the default pipeline of a model.

The anchors `front-start` … `back-finish` do nothing; they mark the phases, for the positions of transformations.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence, Set
from importlib import import_module
from typing import TYPE_CHECKING, Protocol

from moir.errors import ConversionError, UsageError
from moir.frameworks import FRAMEWORKS, load, lowered
from moir.frameworks.record import Framework
from moir.frameworks.records import ONNX
from moir.options import ConversionOptions
from moir.parameters.layout import LAYOUT_CHANGE, layout_fields
from moir.parameters.parameter import FieldValue
from moir.parameters.runtime import TARGET
from moir.pipeline.pass_index import PASS_MODULES
from moir.support.module_pass import Pass
from moir.support.suggestions import did_you_mean
from moir.targets.registry import TARGETS, Target, form_modules

if TYPE_CHECKING:
    from xdsl.context import Context
    from xdsl.dialects.builtin import ModuleOp
    from xdsl.passes import ModulePass
    from xdsl.utils.arg_spec import ArgSpec


class AnchorPass(Pass):
    """A pass that does nothing: it marks the beginning or the end of a phase, for the positions of transformations."""

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        pass


def _anchor(name: str, description: str) -> type[AnchorPass]:
    return type("AnchorPass", (AnchorPass,), {"name": name, "__doc__": description})


ANCHORS: dict[str, type[AnchorPass]] = {
    name: _anchor(name, description)
    for name, description in (
        ("front-start", "The module is as the frontend read it."),
        ("front-finish", "Everything is lowered to opset dialects and typed."),
        ("middle-start", "Simplification and fusion begin."),
        ("middle-finish", "Nothing is left to simplify."),
        ("back-start", "Preparation of emission begins."),
        ("back-finish", "The module can be emitted."),
    )
}
"""The anchors by their names."""


def lowering_passes() -> dict[str, Framework]:
    """The framework of each lowering pass, by the name of the pass."""
    return {framework.lowering_pass: framework for framework in lowered()}


OUTPUT_PASSES: Mapping[str, str] = {"lower-to-onnx": "moir.lowering.to_onnx.driver:LowerToOnnxPass"}
"""`module:class` of the passes from opset dialects to the form of an output other than IR; no pipeline contains them.
"""


def is_pass(name: str) -> bool:
    """Whether a pass of this name is part of moir."""
    return name in OUTPUT_PASSES or name in ANCHORS or name in PASS_MODULES or name in form_modules() or name in lowering_passes()


def pass_names() -> list[str]:
    """The names of all passes."""
    return sorted((*ANCHORS, *OUTPUT_PASSES, *PASS_MODULES, *form_modules(), *lowering_passes()))


INTERFACE: tuple[str, ...] = (
    "set-model-name",
    "cut-outputs",
    "cut-inputs",
    "set-input-types",
    "set-input-shapes",
    "set-batch",
    "freeze-inputs",
    "check-states",
)
"""The passes that change inputs and outputs.

They run before anything is lowered: operations that are cut off need no lowering.
"""

MIDDLE: tuple[str, ...] = (
    "middle-start",
    # The interface that is asked for.
    "preprocess-inputs",
    "set-layouts",
    "eliminate-dead",
    "store-quantized-weights",
    "fold-constants",
    # Shape computations come first: simpler ones become more constants for later passes.
    "eliminate-identities",
    "simplify-shape-of",
    "simplify-broadcast",
    "simplify-reshape",
    "compute-sizes-1d",
    "deduplicate",
    "eliminate-dead",
    # Dead operations in one of two branches would make them different.
    "inline-branches",
    "eliminate-identities",
    "cancel-conversions",
    # Operations that some frameworks write as several others.
    "fuse-sigmoid",
    "fuse-softmax",
    "fuse-mean",
    "fuse-window-means",
    "fuse-mvn",
    "fuse-group-normalization",
    # Steps of sequences, in a loop or written out.
    "fuse-recurrent-cells",
    "fuse-unrolled-cells",
    # The layout change.
    "fuse-repeats",
    "fuse-dilated-convolution",
    "choose-layouts",
    "fold-constants",
    "reshape-unit-transposes",
    "simplify-shape-of",
    "fuse-pads",
    # Movement of data.
    "fuse-einsum-attention",
    "unfold-einsum",
    "fuse-concats",
    "cancel-transposes",
    "cancel-reshapes",
    "simplify-indices",
    "unflatten-matmul",
    "unflatten-batch",
    "reshape-biases",
    "fuse-shuffle-channels",
    "fuse-depth-to-space",
    "fuse-space-to-depth",
    "fuse-slices",
    "fuse-one-hot",
    # Activations and normalizations.
    "fuse-clamp",
    "fuse-hsigmoid",
    "fuse-hswish",
    "fuse-elu",
    "fuse-soft-plus",
    "fuse-soft-sign",
    "fuse-mish",
    "fuse-swish",
    "fuse-gelu",
    "fuse-prelu",
    "fuse-fake-quantize",
    "fuse-mean",
    "fuse-mvn",
    "fold-negations",
    "fuse-reduce",
    "fuse-normalize-l2",
    "fuse-grouped-convolution",
    # Weights, after the activations: constant factors of activations look like scales.
    "fold-batch-norm",
    "fold-scales",
    "fold-shifts",
    "fold-channel-order",
    "fold-constants",
    "deduplicate",
    "eliminate-dead",
    # Matrix products. The fusion of attention counts uses, so dead operations must be gone.
    "fuse-matmul-transpose",
    "eliminate-dead",
    "fuse-attention",
    "split-attention-batch",
    "drop-key-bias",
    "eliminate-dead",
    "cancel-transposes",
    "middle-finish",
)


def back(target: Target) -> tuple[str, ...]:
    """The names of the passes, in order, from simplified operations to those that are emitted for a target, in the
    forms that it executes.
    """
    return (
        "back-start",
        *target.preferred_forms,
        *target.forms,
        *target.fused_forms,
        "low-latency",
        "make-stateful",
        "ignore-padding-rows",
        "keep-caches",
        "recognize-windows",
        *target.state_forms,
        "lower-to-release",
        "deduplicate",
        "eliminate-dead",
        *target.refusals,
        "compress-weights",
        "compress-to-fp16",
        "name-ports",
        "keep-precision",
        *target.marked_forms,
        # Once more, for operations that ports with names of their own need.
        "lower-to-release",
        "check-loops",
        "check-types",
        "check-release",
        "back-finish",
    )


LAYOUT_PASSES = "moir.passes.layout."
"""Prefix of the modules of passes that only models of channel-last frameworks, or with other layouts, need."""


def front(frameworks: Iterable[Framework]) -> tuple[str, ...]:
    """The names of the passes from frameworks' dialects to opset dialects, in order, with the lowering of each
    framework.
    """
    open_ones = [each for each in frameworks if not each.is_lowered]
    writes = (name for each in open_ones for name in each.writes)
    lowering = (name for each in open_ones for name in (*each.raising, each.lowering_pass))
    return ("front-start", *writes, *INTERFACE, *lowering, "check-lowered", "front-finish")


def load_pass(name: str) -> type[Pass]:
    """Import the file of a pass and return its class. Raises UsageError if there is no such pass."""
    if name in ANCHORS:
        return ANCHORS[name]
    if name in PASS_MODULES:
        # The pass is the last definition of its file.
        defined = reversed(vars(import_module(PASS_MODULES[name])).values())
        return next(each for each in defined if isinstance(each, type) and getattr(each, "name", "") == name and issubclass(each, Pass))
    if name in OUTPUT_PASSES:
        return load(OUTPUT_PASSES[name])
    if name in form_modules():
        from moir.targets.form_pass import form_pass

        return form_pass(name, form_modules()[name])
    if name in lowering_passes():
        from moir.lowering.driver import lowering_pass

        return lowering_pass(lowering_passes()[name])
    raise unknown_pass(name, pass_names())


def unknown_pass(name: str, known: Iterable[str]) -> UsageError:
    """The error for a name that no pass has."""
    return UsageError(f"there is no pass {name!r}", hint=did_you_mean(name, known, "`moir passes` lists the passes"))


def build_pass(source: type[ModulePass], spec: ArgSpec) -> ModulePass:
    """An instance of the class `source` of a pass, with the options in `spec`, its entry in a pipeline.

    Raises UsageError for an unknown option.
    """
    from dataclasses import MISSING, fields

    from moir.support.xdsl_passes import module_pass_class

    made = module_pass_class(source)
    options = [field for field in fields(made) if field.init and field.name != "name"]
    if not spec.parameters and all(each.default is not MISSING for each in options):
        # xDSL evaluates the annotations of the class for each spec, which takes a millisecond.
        return made()
    refuse_unknown_options(spec, (each.name for each in options))
    try:
        return made.from_pass_spec(spec)
    except (ValueError, TypeError, KeyError) as error:
        raise UsageError(f"options of pass {spec.name!r}: {error}") from error


def spec_text(each: ModulePass) -> str:
    """A pass as it is written in a pipeline: its name, with its options if it has any."""
    from moir.support.xdsl_passes import module_pass

    try:
        return str(module_pass(loaded(each)).pipeline_pass_spec())
    except (TypeError, ValueError, AttributeError):
        # A transformation of an extension has fields that are not options.
        return each.name


def refuse_unknown_options(spec: ArgSpec, known: Iterable[str]) -> None:
    """Raises UsageError if a pipeline gives an option to a pass that has none of that name, spelled with - or _."""
    options = sorted(name.replace("_", "-") for name in known)
    for name in spec.parameters:
        if name.replace("_", "-") not in options:
            listed = f"its options are {', '.join(options)}" if options else "it has no options"
            raise UsageError(f"{spec.name!r} has no option {name!r}", hint=did_you_mean(name, options, listed))


class DeferredPass(Pass):
    """A pass of moir whose module is imported when the pass is first needed.

    Args:
        name: the name of the pass.
        values: fields of the pass that are not at their defaults.
    """

    def __init__(self, name: str, values: Mapping[str, FieldValue] | None = None) -> None:
        # A pass has the name of its class; a deferred pass has that of the pass which it loads.
        vars(self)["name"] = name
        vars(self)["values"] = values or {}

    def loaded(self) -> ModulePass:
        """The pass that this one stands for; its module is imported at the first call."""
        return load_pass(self.name)(**vars(self)["values"])

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        self.loaded().apply(ctx, op)


def loaded(each: ModulePass) -> ModulePass:
    """The pass that a deferred pass stands for; any other pass itself."""
    return each.loaded() if isinstance(each, DeferredPass) else each


def deferred(name: str, values: Mapping[str, FieldValue] | None = None) -> ModulePass:
    """A new instance of a pass with the given fields. Its module is not imported yet."""
    return ANCHORS[name]() if name in ANCHORS else DeferredPass(name, values)


def configured(name: str, options: ConversionOptions) -> ModulePass:
    """A new instance of a pass with the fields that the options of a conversion set. Its module is not imported yet."""
    return deferred(name, options.pass_options(name))


def every_pass() -> list[str]:
    """The passes that any conversion may run, in order; `pipeline_names` selects those of one conversion."""
    return [*front(lowered()), *MIDDLE, *dict.fromkeys(name for each in TARGETS.values() for name in back(each))]


def pipeline_names(framework: str = ONNX.dialect, options: ConversionOptions | None = None) -> list[str]:
    """The names of the passes that models of a framework go through, in order."""
    record, options = FRAMEWORKS[framework], options or ConversionOptions()
    own = frozenset[str]().union(*(each.passes for each in FRAMEWORKS.values()))
    return [name for name in (*front([record]), *MIDDLE, *back(options[TARGET])) if _is_needed(name, record, options, own)]


def _is_needed(name: str, framework: Framework, options: ConversionOptions, own: Set[str]) -> bool:
    """Whether models of a framework go through the pass `name`; `own` are the passes that only some frameworks have."""
    if options.pass_options(name) is None:
        return False
    if PASS_MODULES.get(name, "").startswith(LAYOUT_PASSES):
        return (framework.channel_last or bool(layout_fields(options))) and options[LAYOUT_CHANGE]
    return name in framework.passes or name not in own


class LoadedExtensions(Protocol):
    """The interface of the extensions of a conversion to its pipeline; `moir.extensions.loading` has the class."""

    def has(self, name: str) -> bool:
        """Whether a transformation has this pass name."""
        ...

    def names(self) -> list[str]:
        """The pass names of all transformations."""
        ...

    def build(self, spec: ArgSpec) -> ModulePass:
        """The pass of a transformation that a pipeline lists by name."""
        ...

    def passes(self, names: Sequence[str], framework: str, made: Callable[[str], ModulePass] = ...) -> list[ModulePass]:
        """The passes of a pipeline with the transformations inserted."""
        ...

    def failure(self, error: BaseException, where: str) -> ConversionError | None:
        """The error for an exception that passed through a file of an extension; None for any other exception."""
        ...

    def locate(self, error: ConversionError) -> None:
        """Set the location of an error to the line of an extension that caused it, if there is one."""
        ...

    def close(self) -> None:
        """Undo all registrations."""
        ...


def default_pipeline(
    framework: str = ONNX.dialect, options: ConversionOptions | None = None, extensions: LoadedExtensions | None = None
) -> list[ModulePass]:
    """New instances of the passes that models of a framework go through, in order, with the passes of extensions.

    Raises ConversionError if the positions of transformations form a cycle.
    """
    options = options or ConversionOptions()
    names = pipeline_names(framework, options)
    if extensions is None:
        return [configured(name, options) for name in names]
    return extensions.passes(names, framework, lambda name: configured(name, options))
