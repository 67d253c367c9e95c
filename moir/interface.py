"""The functions of the Python interface that read and convert models."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, Never

from moir.arguments import PASSES, PATH, checked
from moir.conversion import OBSERVERS, Observer, convert
from moir.files.model_objects import is_model_object, written
from moir.files.recognition import framework_of_file
from moir.files.source_files import recorded
from moir.frameworks import BUILT_IN
from moir.frameworks import read_model as read_framework_model
from moir.options import ConversionOptions
from moir.parameters import expected_keywords
from moir.parameters.reading import expected_of_readers

if TYPE_CHECKING:
    from typing import TypeAlias

    from xdsl.dialects.builtin import ModuleOp
    from xdsl.passes import ModulePass

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


@checked(expected_of_readers, path=PATH, **expected_of_readers(BUILT_IN))
def read_model(
    path: str | Path,
    *,
    checkpoint: str | Path | None = None,
    tags: Sequence[str] | None = None,
    signature: str | None = None,
    input_proto: str | Path | None = None,
    mean_file: str | Path | None = None,
    mean_file_offsets: str | None = None,
    caffe_proto: str | Path | None = None,
    custom_layers: str | Path | None = None,
    input_symbol: str | Path | None = None,
    nd_prefix_name: str | Path | None = None,
    **reader_options: Never,
) -> ModuleOp:
    """Read a model file into a module in the dialect of its framework.

    Args:
        path: the file, or the folder of a SavedModel. Weights are views of memory maps of the files.
        checkpoint: for TensorFlow graphs that are not frozen: path of the checkpoint without its suffixes.
        tags: for SavedModels: the tags of the graph.
        signature: for SavedModels: the name of the signature.
        input_proto: for a `.caffemodel`: the text of its network, by default the `.prototxt` of its name.
        mean_file: for Caffe models: an image (`.binaryproto`) that is subtracted from the first input.
        mean_file_offsets: `"x,y"`, where the part of a larger mean image begins; by default the part is its middle.
        caffe_proto: for Caffe models: the `caffe.proto` of a fork, which names what only the `.caffemodel` has.
        custom_layers: for Caffe models: a `CustomLayersMapping.xml`, types of layers that go into the IR as they are.
        input_symbol: for the `.params` of MXNet: the symbol, by default the `-symbol.json` of its name.
        nd_prefix_name: for MXNet models: the common beginning of the names of `_args.nd` and `_auxs.nd`, whose values
            replace those of the parameters.
        reader_options: options of the reader of a framework that was added, by their names.

    Raises ModelFileError for a file that is damaged or no model, ConversionError for an option that the framework does
    not have, ArgumentError for arguments that are no such things.
    """
    reading = ConversionOptions(
        checkpoint=checkpoint,
        tags=tags,
        signature=signature,
        input_proto=input_proto,
        mean_file=mean_file,
        mean_file_offsets=mean_file_offsets,
        caffe_proto=caffe_proto,
        custom_layers=custom_layers,
        input_symbol=input_symbol,
        nd_prefix_name=nd_prefix_name,
        **reader_options,
    ).reading
    with recorded() as record:
        record.module = module = read_framework_model(path, framework_of_file(path), reading)
    return module


@checked(
    expected_of_readers,
    input_model=MODEL,
    **expected_keywords(),
    passes=PASSES.or_none(),
    observers=OBSERVERS,
)
def convert_model(
    input_model: Any,
    *,
    input: Any = None,
    output: str | Sequence[str] | None = None,
    input_shape: Any = None,
    batch: int = 0,
    static_shape: bool = False,
    freeze_placeholder_with_value: Any = None,
    model_name: str = "",
    stateful: str | Sequence[str] | Mapping[str, str] = (),
    low_latency: bool = False,
    transform: str | Sequence[str] = (),
    compress_to_fp16: bool = False,
    compress_weights: str | WeightCodes | None = None,
    layout_change: bool | Literal["auto", "none"] = True,
    layout: Layouts | None = None,
    source_layout: Layouts | None = None,
    target_layout: Layouts | None = None,
    mean_values: Numbers | None = None,
    scale_values: Numbers | None = None,
    scale: float | None = None,
    reverse_input_channels: bool = False,
    tokenizers: bool = True,
    target: str = "openvino-cpu",
    checkpoint: str | Path | None = None,
    tags: Sequence[str] | None = None,
    signature: str | None = None,
    input_proto: str | Path | None = None,
    mean_file: str | Path | None = None,
    mean_file_offsets: str | None = None,
    caffe_proto: str | Path | None = None,
    custom_layers: str | Path | None = None,
    input_symbol: str | Path | None = None,
    nd_prefix_name: str | Path | None = None,
    extensions: str | Path | Sequence[str | Path] = (),
    transformations_config: str | Path | None = None,
    tensorflow_object_detection_api_pipeline_config: str | Path | None = None,
    detection: Literal["auto", "output", "plain"] = "auto",
    enable: Sequence[str] = (),
    disable: Sequence[str] = (),
    extension_layout: Literal["model-optimizer", "framework"] = "model-optimizer",
    passes: str | Iterable[str | ModulePass] | None = None,
    observers: Sequence[Observer] = (),
    **reader_options: Never,
) -> ModuleOp:
    """Read a model and convert it to opset dialects.

    Args:
        input_model: the path of a model file or of the folder of a SavedModel (str or pathlib.Path); or the bytes of
            such a file, a file object that is open for reading bytes, an `onnx.ModelProto`, a `GraphDef`, a graph, a
            Keras model, a `tf.Module` or a `tf.function`. Objects are written to a temporary folder, by their own
            framework, which has to be installed.
        input: the inputs of the converted model in their order, or where to cut the model: a text in the notation of
            the command line (`"x[1,3,?,?]{f32},0:conv1,training->False"`), an `Input`, a mapping of names to shapes (in
            elements, -1 where unknown), element types, tuples of both or values, or a list of such items. Shapes
            without names belong to the inputs of the model in their order. None: as in the model.
        output: the outputs in their order, or where to cut the model: names of outputs, tensors or nodes, `node:1` (an
            output port) or `0:node` (the tensor that enters an input port). None: as in the model.
        input_shape: the shapes of the inputs in their order, in elements: one shape, or a list of shapes.
        batch: the first dimension of each input, in elements; 0: as in the model.
        static_shape: compute shapes during the conversion; the model cannot be reshaped any more.
        freeze_placeholder_with_value: inputs that become constants: `{"training": False}`; the same as in `input`.
        model_name: the name of the model in the IR; empty: as in the file.
        stateful: pairs of inputs and outputs, "past=present" or {"past": "present"}, that become variables: the input
            takes the value that the output had in the inference before.
        low_latency: keep the states of recurrent operations from one inference to the next.
        transform: transformations of Model Optimizer, "LowLatency2[use_const_initializer=False]".
        compress_to_fp16: store weights in half precision.
        compress_weights: store weights of matrix products and embeddings as integers: "int8", "int4", both with "_sym"
            or "_asym", a size of groups and a share: "int4_sym:64:0.8".
        layout_change: True or "auto": move the transpositions around channel-last operations until they cancel; False
            or "none": each operation keeps its own transpositions.
        layout: layouts of inputs and outputs, by name, in the order of the inputs, or of the only input: `"nhwc"`,
            `"[n,h,w,c]"`, or `"nhwc->nchw"` for what the model has and what it is to have instead;
            `"image(nhwc->nchw)"`, `{"image": "nhwc->nchw"}` or `{"image": ("nhwc", "nchw")}`. The IR records them.
        source_layout, target_layout: what the model has, and what it is to have instead, one by one.
        mean_values: what is subtracted from an input: a number, or one for each of its channels, in the order of the
            model's channels; a list of those for all inputs in order, or a mapping from names. In units of the input.
        scale_values: what the difference is divided by, in the same form.
        scale: what all inputs of numbers are divided by, in place of `scale_values`.
        reverse_input_channels: whether the order of three channels is reversed before, which exchanges red and blue.
        tokenizers: use operations of OpenVINO Tokenizers, an extension of the runtime, for strings that the operation
            sets cannot express; False refuses a model that needs them.
        target: what the IR is written for: "openvino-cpu" writes what the CPU plugin of OpenVINO Runtime computes
            otherwise in forms that it computes right; "none" leaves operations as their definitions have them.
        checkpoint, tags, signature, input_proto, mean_file, mean_file_offsets: see `read_model`.
        caffe_proto, custom_layers, input_symbol, nd_prefix_name: see `read_model`.
        extensions: directories of extensions, or names of their entry points. They are loaded for this conversion only.
        transformations_config: a JSON file that configures transformations of extensions, or moir's own of detection
            networks.
        tensorflow_object_detection_api_pipeline_config: the pipeline.config of a model of the TensorFlow Object
            Detection API, for these.
        detection: the post-processing of detection networks: "auto", as `transformations_config` says; "output", a
            DetectionOutput, also without a configuration; "plain", plain operations, whatever the configuration says.
        enable: ids, names or full class names of transformations to run although they are not enabled.
        disable: ids, names or full class names of transformations, and names of passes, not to run.
        extension_layout: what operations of extensions for Model Optimizer get as data of channel-last models with
            convolutions: "model-optimizer": data of rank 4 and 5 as [N, C, spatial…]; "framework": as in the model.
        passes: a pipeline to run in place of the default one, as text (`"default,fold-constants{static-shape=true}"`),
            or as a list of such texts and of pass objects.
        observers: are notified of each stage, see `Observer`.
        reader_options: options of the reader of a framework that was added, by their names.

    Returns a module for `save_model` and `to_openvino`, unless `passes` lack some that these depend on.

    Raises UsageError for a mistake in the arguments (ArgumentError, which is also a TypeError, for one that is unknown
    or of a wrong type), and ConversionError for one in the model or an extension.
    """
    given = {name: value for name, value in locals().items() if name not in ("input_model", "passes", "observers", "reader_options")}
    with ExitStack() as stack:
        for observer in observers:
            stack.callback(observer.close)
        options = ConversionOptions(**given, **reader_options)
        if PATH.accepts(input_model):
            return convert(Path(input_model), options, passes=passes, observers=observers)
        with written(input_model) as source:
            source.module = module = convert(source.path, options, passes=passes, observers=observers)
        return module
