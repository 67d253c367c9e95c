"""The parameters that make values persist between inferences."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, cast

from moir.parameters.kinds import SWITCH, structured
from moir.parameters.parameter import FieldValue, Options, Parameter, PassRequest

if TYPE_CHECKING:
    from moir.parameters.transform_notation import Transform


def _pairs(value: Any) -> tuple[str, ...]:
    """Pairs `INPUT=OUTPUT` of names, from one text with commas, a list of texts, or a mapping from inputs to outputs.

    Raises ValueError for an element without `=`.
    """
    if isinstance(value, Mapping):
        value = [f"{source}={target}" for source, target in cast("Mapping[object, object]", value).items()]
    elif isinstance(value, str):
        value = [part.strip() for part in value.split(",") if part.strip()]
    texts = tuple(value)
    if not all(isinstance(each, str) and "=" in each for each in texts):
        raise ValueError("a pair is the name of an input and that of an output, NAME=NAME")
    return texts


def _transforms(value: Any) -> tuple[Transform, ...]:
    from moir.parameters.transform_notation import transforms_of

    return () if value is None else transforms_of(value)


def _texts(value: tuple[object, ...]) -> list[str]:
    return list(map(str, value))


def _keep_caches(options: Options) -> Mapping[str, FieldValue] | None:
    return {"pairs": tuple(options[STATEFUL])} if options[GENERATION] else None


def _make_stateful(options: Options) -> Mapping[str, FieldValue] | None:
    if options[GENERATION]:
        return None
    pairs = [*options[STATEFUL]]
    for each in options[TRANSFORM]:
        pairs += [f"{source}={target}" for source, target in each.options.get("param_res_names", {}).items()]
    return {"pairs": tuple(pairs)} if pairs else None


def _low_latency(options: Options) -> Mapping[str, FieldValue] | None:
    named = [each for each in options[TRANSFORM] if each.name == "LowLatency2"]
    if named:
        return {"use_const_initializer": named[-1].options.get("use_const_initializer", True)}
    return {"use_const_initializer": True} if options[LOW_LATENCY] else None


def _notes(transforms: tuple[Transform, ...]) -> list[str]:
    pruned = any(each.name == "Pruning" for each in transforms)
    return ["--transform: Pruning is left out, channels whose weights are all zero stay"] if pruned else []


_CHECK_STATES = PassRequest("check-states", options=_make_stateful)
_MAKE_STATEFUL = PassRequest("make-stateful", options=_make_stateful)
_KEEP_CACHES = PassRequest("keep-caches", options=_keep_caches)
_IGNORE_PADDING_ROWS = PassRequest("ignore-padding-rows")
_RECOGNIZE_WINDOWS = PassRequest("recognize-windows")
_LOW_LATENCY = PassRequest("low-latency", options=_low_latency)

STATEFUL: Parameter[tuple[str, ...]] = Parameter(
    "stateful",
    structured("pairs of inputs and outputs: a text as of --stateful, a list of such, or a mapping of names", _pairs, list),
    (),
    "pairs of an input and an output that become a variable: the model reads in it what the output was in the inference before",
    in_python='pairs of inputs and outputs, "past=present" or {"past": "present"}, that become variables: the input takes '
    "the value that the output had in the inference before",
    metavar="INPUT=OUTPUT[,...]",
    passes=(_CHECK_STATES, _MAKE_STATEFUL, _KEEP_CACHES),
)
GENERATION = Parameter(
    "generation",
    SWITCH,
    False,
    "write an exported program that takes and returns the keys and values of its cache as a folder for OpenVINO GenAI: the "
    "cache becomes variables, and tokenizer and configurations beside the program are written, too",
    passes=(_CHECK_STATES, _MAKE_STATEFUL, _IGNORE_PADDING_ROWS, _KEEP_CACHES, _RECOGNIZE_WINDOWS),
)
LOW_LATENCY = Parameter(
    "low_latency",
    SWITCH,
    False,
    "keep the states of recurrent operations from one inference to the next, so that sequences can be given in pieces",
    passes=(_LOW_LATENCY,),
)
TRANSFORM: Parameter[tuple[Transform, ...]] = Parameter(
    "transform",
    structured("transformations: a text as of --transform, or a list of such", _transforms, _texts),
    (),
    "transformations of Model Optimizer: LowLatency2[use_const_initializer=False], MakeStateful[param_res_names={'in':'out'}], Pruning",
    metavar="NAME[OPTIONS][,...]",
    synonym_of=("stateful", "low_latency"),
    passes=(_CHECK_STATES, _MAKE_STATEFUL, _LOW_LATENCY),
    notes=_notes,
)

STATE_PARAMETERS: tuple[Parameter[Any], ...] = (STATEFUL, GENERATION, LOW_LATENCY, TRANSFORM)
