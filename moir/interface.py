"""The functions of the Python interface that read and convert models."""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Mapping, Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from moir.conversion import OBSERVERS, Observer, convert, notes_of
from moir.errors import ArgumentError, ConversionWarning
from moir.files.model_objects import is_model_object, written
from moir.files.recognition import framework_of_file
from moir.files.remote.local import local_model
from moir.files.source_files import recorded
from moir.frameworks import read_model as read_framework_model
from moir.options import ConversionOptions
from moir.parameters import expected_keywords, expected_of_further_keywords
from moir.parameters.arguments import PASSES, PATH, Expected, checked
from moir.parameters.reading import expected_of_readers
from moir.support.turns import in_turn

if TYPE_CHECKING:
    from typing import TypeAlias, Unpack

    from xdsl.dialects.builtin import ModuleOp
    from xdsl.passes import ModulePass

    from moir.parameters.reader_options import ReaderOptions
    from moir.parameters.weight_codes import WeightCodes

    Layouts: TypeAlias = str | Mapping[str, Any] | Sequence[Any]
    """Layouts of inputs and outputs."""

    Numbers: TypeAlias = str | float | Mapping[str, Any] | Sequence[Any]
    """Numbers for the channels of inputs."""


def _is_model(value: object) -> bool:
    return PATH.accepts(value) or is_model_object(value)


MODEL = PATH.with_fields(
    description="a path (str or pathlib.Path) or a model in memory",
    accepts=_is_model,
)


_NO_OPTIONS = frozenset(("input_model", "passes", "observers", "example_inputs", "further"))
"""The arguments of `convert_model` that are not options of a conversion."""

EXAMPLE_INPUTS = Expected("the arguments of a torch.nn.Module", lambda _: True)

EXAMPLE_INPUT = "example_input"
"""The name that `openvino.convert_model` has for `example_inputs`; it is accepted as a synonym."""


def _further_keywords() -> dict[str, Expected]:
    return {**expected_of_further_keywords(), EXAMPLE_INPUT: EXAMPLE_INPUTS.or_none()}


@in_turn
@checked(expected_of_readers, path=PATH)
def read_model(path: str | Path, **reader_options: Unpack[ReaderOptions]) -> ModuleOp:
    """Read a model file into a module in the dialect of its framework.

    Args:
        path: the path or the address of the file, or of the folder of a SavedModel. Weights are views of memory maps of
            the files.
        checkpoint: of TensorFlow: values of the variables of a graph that is not frozen: the checkpoint without .index.
        tags: of TensorFlow: tags of the graph of a SavedModel (default: serve, or the only graph).
        signature: of TensorFlow and TensorFlow Lite: signature of a SavedModel (default: serving_default, or the only
            one) or of a .tflite (default: that of its first subgraph).
        input_proto: of Caffe: text of the network of a .caffemodel (default: the .prototxt of its name, or
            deploy.prototxt).
        mean_file: of Caffe: image (.binaryproto) that is subtracted from the first input of a Caffe model.
        mean_file_offsets: of Caffe: where the part of a larger mean image begins (default: its middle).
        caffe_proto: of Caffe: caffe.proto of a fork, to read its layers from a .caffemodel, which then needs no
            .prototxt.
        custom_layers: of Caffe: CustomLayersMapping.xml: types of layers that go into the IR as they are.
        input_symbol: of MXNet: symbol of a file of parameters (default: the -symbol.json of its name).
        nd_prefix_name: of MXNet: values of an MXNet training, PREFIX_args.nd and PREFIX_auxs.nd.
        weights: of Keras and PyTorch: weights of a program of PyTorch without weights (*.safetensors, or a folder of
            them) or of the JSON of a Keras model (.h5).
        program: of PyTorch: program of an archive of several exported programs.
        packing: of PyTorch: processor that packed the 4-bit weights: avx512, avx2, neon, scalar or cuda.
        reader_options: options of the reader of a framework that was added, by their names.

    Raises ModelFileError for a file that is damaged or not a model, ConversionError for an option that the framework
    does not have, ArgumentError for arguments of other types.
    """
    reading = ConversionOptions(**reader_options).reading
    with local_model(str(path)) as local, recorded() as record:
        record.module = module = read_framework_model(local.path, framework_of_file(local.path), reading)
    return module


@in_turn
@checked(
    _further_keywords,
    input_model=MODEL,
    **expected_keywords(),
    passes=PASSES.or_none(),
    observers=OBSERVERS,
    example_inputs=EXAMPLE_INPUTS.or_none(),
)
def convert_model(
    input_model: Any,
    *,
    input: Any = None,
    output: str | Sequence[str] | None = None,
    batch: int = 0,
    static_shape: bool = False,
    model_name: str = "",
    stateful: str | Sequence[str] | Mapping[str, str] = (),
    generation: bool = False,
    low_latency: bool = False,
    compress_to_fp16: bool = False,
    compress_weights: str | WeightCodes | None = None,
    group_size: int | str | None = None,
    ratio: float | None = None,
    keep_precision: str | Sequence[str] = (),
    layout_change: bool | Literal["auto", "none"] = True,
    layout: Layouts | None = None,
    mean_values: Numbers | None = None,
    scale_values: Numbers | None = None,
    reverse_input_channels: bool = False,
    tokenizers: bool = True,
    target: str = "openvino-cpu",
    runtime: str | None = None,
    extensions: str | Path | Sequence[str | Path] = (),
    transformations_config: str | Path | None = None,
    tensorflow_object_detection_api_pipeline_config: str | Path | None = None,
    detection: Literal["auto", "output", "plain"] = "auto",
    enable: Sequence[str] = (),
    disable: Sequence[str] = (),
    extension_layout: Literal["model-optimizer", "framework"] = "model-optimizer",
    passes: str | Iterable[str | ModulePass] | None = None,
    observers: Sequence[Observer] = (),
    example_inputs: Any = None,
    **further: Unpack[ReaderOptions],
) -> ModuleOp:
    """Read a model and convert it to opset dialects.

    Args:
        input_model: the path of a model file or of the folder of a SavedModel (str or pathlib.Path), or its address
            (`"s3://bucket/model.onnx"`); or the bytes of such a file, a file object that is open for reading bytes, an
            `onnx.ModelProto`, a `GraphDef`, a graph, a Keras model, a `tf.Module`, a `tf.function`, an
            `ExportedProgram`, a `torch.nn.Module` with `example_inputs`, an `Exported` or `Lowered` program of JAX.
            Objects are written to a temporary folder, by their own framework, which has to be installed.
        input: the inputs of the converted model in their order, or where to cut the model: a text in the notation of
            the command line (`"x[1,3,?,?]{f32},0:conv1,training->False"`), an `Input`, a mapping of names to shapes (in
            elements, -1 where dynamic), element types, tuples of both or values, or a list of such items; shapes
            without names belong to the inputs of the model in their order.
        output: the outputs in their order, or where to cut the model: names of outputs, tensors or nodes, `node:1` (an
            output port) or `0:node` (the tensor that enters an input port).
        batch: the first dimension of each input, or n of its layout.
        static_shape: compute shapes during the conversion; the model cannot be reshaped any more.
        model_name: name of the model, and of its files.
        stateful: pairs of inputs and outputs, "past=present" or {"past": "present"}, that become variables: the input
            takes the value that the output had in the inference before.
        generation: write an exported program that takes and returns the keys and values of its cache as a folder for
            OpenVINO GenAI: the cache becomes variables, and tokenizer and configurations beside the program are
            written, too.
        low_latency: keep the states of recurrent operations from one inference to the next, so that sequences can be
            given in pieces.
        compress_to_fp16: store weights in half precision.
        compress_weights: store weights of matrix products and embeddings as integers: "int8", "int4", both with "_sym"
            or "_asym", a size of groups and a share: "int4_sym:64:0.8".
        group_size: how many weights share a scale with `compress_weights`: a multiple of 16, or channel for all of a
            row; 128 with 4 bits in language models, 16 in others.
        ratio: the share of the weights of matrix products that `compress_weights` int4 gives 4 bits, the others get 8:
            from 0 to 1; 1 in language models, 0.4 in others.
        keep_precision: nodes that are computed in f32 where the runtime computes in f16 or bf16; auto: those that lose
            too much in f16, see docs/checking.md.
        layout_change: True or "auto": move transpositions around channel-last operations until they cancel; False or
            "none": leave them there.
        layout: layouts of inputs and outputs, by name, in the order of the inputs, or of the only input: `"nhwc"`,
            `"[n,h,w,c]"`, or `"nhwc->nchw"` for what the model has and what it is to have instead; `{"image":
            "nhwc->nchw"}` or `{"image": ("nhwc", "nchw")}`.
        mean_values: what is subtracted from an input: a number, or one for each of its channels, in the order of the
            channels of the model; a list of those for all inputs in order, or a mapping from names; in units of the
            input.
        scale_values: numbers to divide the channels of inputs by, after the subtraction.
        reverse_input_channels: exchange red and blue of the inputs with three channels, before the subtraction.
        tokenizers: use operations of OpenVINO Tokenizers, an extension of the runtime, for strings that the operation
            sets cannot express; False refuses a model that needs them.
        target: openvino-cpu (default): write operations that the CPU plugin computes wrongly in other forms, which are
            right on all devices; none: write them as they are.
        runtime: write IR that this release of OpenVINO Runtime reads, 2020.4 to 2026.4: newer operations are replaced
            by older ones; one that has none is an error.
        extensions: directories of extensions, or names of installed ones (entry points moir.extensions).
        transformations_config: JSON file that says which sub-graphs transformations replace.
        tensorflow_object_detection_api_pipeline_config: pipeline.config of a model of the TensorFlow Object Detection
            API, for the detection passes of `transformations_config`.
        detection: the post-processing of detection networks; auto (default): as `transformations_config` says; output:
            a DetectionOutput, also without a configuration; plain: plain operations, whatever the configuration says.
        enable: transformations to run that are not enabled by themselves.
        disable: transformations and passes not to run.
        extension_layout: layout in which operations of Model Optimizer extensions get data of channel-last models:
            channels first, or as in the model.
        passes: a pipeline to run in place of the default one, as text (`"default,fold-constants{static-shape=true}"`),
            or as a list of such texts and of pass objects.
        observers: are notified of each stage, see `Observer`.
        example_inputs: the arguments of `forward` with which torch exports a `torch.nn.Module`: a tensor, a tuple or a
            list of arguments, or a mapping from names. All sizes are those of the example; for dynamic ones export the
            module by `torch.export.export`, and convert the program.
        further: options of the reader of a framework, by their names: see `read_model`; and the synonyms that ovc and
            Model Optimizer have: see docs/options.md.

    Returns a module for `save_model` and `to_openvino`, unless `passes` lack some that these depend on. What the user
    should know of the conversion is a `moir.errors.ConversionWarning`, and a message of the logger `moir` (level INFO).

    Raises UsageError for a mistake in the arguments (ArgumentError, which is also a TypeError, for one that is unknown
    or of a wrong type), and ConversionError for one in the model or an extension.
    """
    given = {name: value for name, value in locals().items() if name not in _NO_OPTIONS}
    with ExitStack() as stack:
        for observer in observers:
            stack.callback(observer.close)
        keywords: dict[str, Any] = dict(further)
        if (example_input := keywords.pop(EXAMPLE_INPUT, None)) is not None:
            if example_inputs is not None:
                raise ArgumentError("arguments 'example_inputs' and 'example_input' are the same", hint="give one of them")
            example_inputs = example_input
        options = ConversionOptions(**given, **keywords)
        if PATH.accepts(input_model):
            if example_inputs is not None:
                raise ArgumentError("argument 'example_inputs' is for a torch.nn.Module; a file has its inputs", hint="leave it out")
            with local_model(str(input_model)) as local:
                module = convert(local.path, options, passes=passes, observers=observers)
        else:
            with written(input_model, example_inputs) as source:
                source.module = module = convert(source.path, options, passes=passes, observers=observers)
    _warn([*options.notes, *notes_of(module)])
    return module


def _warn(notes: Iterable[str]) -> None:
    """Issue notes as warnings at the line that called the function of the interface."""
    for note in notes:
        from logging import getLogger

        getLogger("moir").info(note)
        # Above this are the function, its two wrappers, and the caller.
        warnings.warn(note, ConversionWarning, stacklevel=5)
