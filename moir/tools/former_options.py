"""Options of Model Optimizer and of `ovc` that have another form here, so that their command lines work with `moir`.

    mo --input_model frozen.pb --model_name net --output_dir out --data_type FP16 --disable_fusing

An option either is translated, or has become unnecessary; in the second case it is accepted with a note. An option
that would change the result and that moir does not have is an error.

Source: the command lines of Model Optimizer 2019 to 2024, and of ovc 2026.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence

from moir.errors import UsageError
from moir.frameworks import FRAMEWORKS
from moir.support.records import Record
from moir.support.suggestions import did_you_mean

SPELLINGS: Mapping[str, str] = {
    "--input-model": "--input-model",
    "--input_model": "--input-model",
    "-m": "--input-model",
    "-w": "--input-model",
    "--saved_model_dir": "--input-model",
    "--pretrained_model_name": "--input-model",
    "--saved-model-dir": "--input-model",
    "--input_meta_graph": "--input-model",
    "--input-meta-graph": "--input-model",
    "--output_dir": "--output-dir",
    "--output_model": "--output-model",
    "--extension": "--extensions",
    "--dump_ir": "--dump-ir",
    "--layout_change": "--layout-change",
    "--print_config": "--print-config",
}
"""Further spellings of options that are not parameters of the conversion."""


class Unnecessary(Record):
    """An option that has become unnecessary.

    Args:
        reason: why, a clause.
        has_value: whether a value follows it.
    """

    reason: str
    has_value: bool = False


_FUSIONS = "fusions are switched off by name, with --disable"
_ALWAYS = "moir does that always"
_RECOGNIZED = "it is recognized from the content of the file"

UNNECESSARY: Mapping[str, Unnecessary] = {
    "--framework": Unnecessary("the framework is recognized from the content of the file", has_value=True),
    "--input_model_is_text": Unnecessary(_RECOGNIZED),
    "--use_legacy_frontend": Unnecessary("there is one frontend for each framework"),
    "--use_new_frontend": Unnecessary("there is one frontend for each framework"),
    "--share_weights": Unnecessary(_ALWAYS),
    "--progress": Unnecessary("the progress is shown on a terminal"),
    "--stream_output": Unnecessary("the progress is shown on a terminal, --verbose prints lines"),
    "--disable_fusing": Unnecessary(_FUSIONS),
    "--disable_gfusing": Unnecessary(_FUSIONS),
    "--disable_resnet_optimization": Unnecessary("there is no such optimization"),
    "--enable_concat_optimization": Unnecessary("there is no such optimization"),
    "--disable_weights_compression": Unnecessary("weights are compressed on request only"),
    "--finegrain_fusing": Unnecessary("fusions go by pattern, not by the name of a node", has_value=True),
    "--keep_shape_ops": Unnecessary("computations of shapes stay, unless --static-shape is given"),
    "--move_to_preprocess": Unnecessary("there is no such section in the IR any more"),
    "--generate_deprecated_IR_V7": Unnecessary("the IR is of version 11"),
    "--legacy_ir_generation": Unnecessary("the IR is of version 11"),
    "--blobs_as_inputs": Unnecessary("weights are constants in the IR"),
    "--tensorboard_logdir": Unnecessary("`moir report` writes a page with the graph, --dump-ir its text", has_value=True),
    "--tensorflow_custom_layer_libraries": Unnecessary("an extension says what an operation is", has_value=True),
    "--keep_quantize_ops_in_IR": Unnecessary("FakeQuantize operations stay in the IR always"),
    "--plugin": Unnecessary("the IR is the same for all plugins", has_value=True),
    "--dynamo": Unnecessary("it is an option for models of PyTorch"),
    "--caffe_parser_path": Unnecessary("the text of a network is read without a description of its messages", has_value=True),
    "--disable_omitting_optional": Unnecessary("layers keep all their parameters"),
    "--enable_flattening_nested_params": Unnecessary("layers keep all their parameters"),
    "--legacy_mxnet_model": Unnecessary("symbols of all versions are read"),
    "--save_params_from_nd": Unnecessary("the values of a training go into the IR at once"),
    "--enable_ssd_gluoncv": Unnecessary("detection networks are converted from their operations"),
}
"""The options that have become unnecessary, by their names."""

_TRUTHS = ("True", "true", "False", "false")

_KALDI = "it is for Kaldi models, which moir does not read"

_OFFLOADED = "no runtime runs parts of a model by TensorFlow any more; an extension says what an operation is, see moir new-extension"

REFUSED: Mapping[str, str] = {
    **dict.fromkeys(
        ("--tensorflow_subgraph_patterns", "--tensorflow_operation_patterns", "--offload_unsupported_operations_to_tf"), _OFFLOADED
    ),
    **dict.fromkeys(("--counts", "--remove_output_softmax", "--remove_memory"), _KALDI),
}
"""The options that would change the result and that moir does not have, with the alternative."""

REFUSED_VALUES: Mapping[tuple[str, str], str] = {("--framework", "kaldi"): "moir does not read Kaldi models"}
"""(option, value) -> why the value is refused, for options all of whose other values are unnecessary."""

VALUES: Mapping[str, Collection[str]] = {"--framework": sorted({*FRAMEWORKS, *(each.title.lower() for each in FRAMEWORKS.values())})}
"""Unnecessary option -> its possible values in lower case, for options that have few."""

_PRECISIONS = {"FP16": ["--compress-to-fp16"], "half": ["--compress-to-fp16"], "FP32": [], "float": []}
_QUIET: list[str] = []
_LEVELS = {
    **{level: ["--verbose"] for level in ("DEBUG", "INFO")},
    **dict.fromkeys(("CRITICAL", "ERROR", "WARN", "WARNING", "NOTSET"), _QUIET),
}


def check_value(option: str, value: str, values: Collection[str]) -> None:
    """Raises UsageError if the value of an option is not among `values`."""
    if value not in values:
        raise UsageError(f"{option} cannot be {value!r}", hint=did_you_mean(value, values) or f"it is one of {', '.join(values)}")


def _words(option: str, values: Mapping[str, list[str]], value: str) -> list[str]:
    check_value(option, value, values)
    return values[value]


TRANSLATED: Mapping[str, Callable[[str], list[str]]] = {
    "--data_type": lambda value: _words("--data_type", _PRECISIONS, value),
    "--log_level": lambda value: _words("--log_level", _LEVELS, value),
}
"""Option -> a function from its value to the options that replace it."""

FLAGS: Mapping[str, list[str]] = {"--disable_nhwc_to_nchw": ["--layout-change=none"]}
"""Switches of Model Optimizer -> the options of moir that replace them."""


def translated(arguments: Sequence[str]) -> tuple[list[str], list[str]]:
    """A command line in moir's options, and notes on the options that have become unnecessary.

    Raises UsageError for an option that would change the result and that moir does not have, and for one that lacks its
    value.
    """
    options: list[str] = []
    notes: list[str] = []
    pending = list(arguments)

    def value_of(name: str, sign: str, value: str) -> str:
        if not sign and not pending:
            raise UsageError(f"argument {name}: expected one argument; see moir --help")
        return value if sign else pending.pop(0)

    while pending:
        each = pending.pop(0)
        if each == "--":
            return [*options, each, *pending], notes
        name, sign, value = each.partition("=")
        if name in REFUSED:
            raise UsageError(f"there is no option {name}; {REFUSED[name]}")
        if name in UNNECESSARY:
            if UNNECESSARY[name].has_value:
                given = value_of(name, sign, value)
                if (name, given.lower()) in REFUSED_VALUES:
                    raise UsageError(f"{name} cannot be {given!r}; {REFUSED_VALUES[name, given.lower()]}")
                if name in VALUES:
                    check_value(name, given.lower(), VALUES[name])
            elif pending and pending[0] in _TRUTHS:
                pending.pop(0)
            notes.append(f"{name} is not needed: {UNNECESSARY[name].reason}")
        elif name in TRANSLATED:
            options += TRANSLATED[name](value_of(name, sign, value))
        elif name in FLAGS:
            options += FLAGS[name]
        else:
            options.append(each)
    if {"--use_legacy_frontend", "--use_new_frontend"} <= {note.partition(" ")[0] for note in notes}:
        raise UsageError("--use_legacy_frontend and --use_new_frontend exclude each other")
    return options, list(dict.fromkeys(notes))
