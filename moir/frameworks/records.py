"""The frameworks: one record each, with all that the stages of a conversion depend on.

    Framework(
        dialect="onnx",
        title="ONNX",
        reader="moir.frontends.onnx:read_model",
        suffixes=(".onnx",),
        lowering="moir.lowering.onnx.table:onnx",
        view="moir.model_optimizer.frameworks.onnx.view:VIEW",
    )

A record names functions and tables as `module:name`, so that a conversion imports only those of its own framework.
"""

from __future__ import annotations

from moir.frameworks.record import VARINT, Framework, ReaderOption

SIGNATURE = ReaderOption(
    "signature",
    "--signature",
    "NAME",
    "signature of a SavedModel (default: serving_default, or the only one) or of a .tflite (default: that of its first subgraph)",
)
"""The option of the frameworks whose files may hold several functions with names."""

WEIGHTS = ReaderOption(
    "weights",
    "--weights",
    "PATH",
    "weights of a program of PyTorch without weights (*.safetensors, or a folder of them) or of the JSON of a Keras model (.h5)",
    is_path=True,
)
"""The option of the frameworks whose files may describe a model without its weights."""

ONNX_SUFFIX = ".onnx"
"""The suffix of the path of an ONNX model, as input and as output."""

ONNX = Framework(
    dialect="onnx",
    title="ONNX",
    reader="moir.frontends.onnx:read_model",
    suffixes=(ONNX_SUFFIX,),
    parts="moir.frontends.onnx.parts:names_of_data",
    # Field 1, the version of the IR, then a field that is a string or a number, or the graph. A SavedModel or Core ML
    # model begins with such a number too, but then follows a message, not a string.
    beginning=rb"\x08[\x01-\x1f](?:[\x1a\x22\x28\x32\x3a\x42\x72\xa2]|\x12(?:\x00|[\x01-\x7f][ -~\x80-\xff]))",
    lowering="moir.lowering.onnx.table:onnx",
    view="moir.model_optimizer.frameworks.onnx.view:VIEW",
    operations="moir.inspection.operations.onnx:operations",
    runner="moir.execution.onnx_runtime:OnnxRunner",
    expander="moir.frontends.onnx.expansion:expand",
    constant_kind="constant",
)

TENSORFLOW = Framework(
    dialect="tf",
    title="TensorFlow",
    reader="moir.frontends.tensorflow:read_model",
    suffixes=(".pb", ".pbtxt", ".meta"),
    # Of a graph: field 1, a node, whose first field is its name. Of a MetaGraph: field 1, which begins with a name, the
    # list of operations or a short string. Of a SavedModel: its version, then a MetaGraph.
    beginning=rb"\x0a%(size)b(?:\x0a%(size)b[ -~\x80-\xff]|\x12%(size)b\x0a|[\x22\x2a][\x01-\x1f])|\x08\x01\x12%(size)b\x0a"
    % {b"size": VARINT},
    text_beginning=rb"(?:\s|#[^\n]*\n)*"
    rb"(?:node|library|versions|meta_info_def|graph_def|saver_def|meta_graphs|saved_model_schema_version)\s*[{:]",
    json_keys=(frozenset(("node",)),),
    completions=(".meta",),
    folder_files=("saved_model.pb", "saved_model.pbtxt", "model.json"),
    parts="moir.frontends.tensorflow.parts:names_of_parts",
    options=(
        ReaderOption(
            "checkpoint",
            "--checkpoint",
            "PREFIX",
            "values of the variables of a graph that is not frozen: the checkpoint without .index",
            is_path=True,
            former=("--input_checkpoint",),
        ),
        ReaderOption(
            "tags",
            "--saved-model-tags",
            "TAG[,TAG]",
            "tags of the graph of a SavedModel (default: serve, or the only graph)",
            is_list=True,
        ),
        SIGNATURE,
    ),
    takes_outputs=True,
    lowering="moir.lowering.tensorflow.table:tf",
    view="moir.model_optimizer.frameworks.tensorflow.view:VIEW",
    operations="moir.inspection.operations.tensorflow:operations",
    runner="moir.execution.tensorflow_runtime:TensorFlowRunner",
    embedded=("stablehlo",),
    raising=("raise-while-frames", "raise-switch-merge", "raise-tensor-arrays", "raise-tensor-lists"),
    passes=frozenset(("fuse-recurrent-cells",)),
    channel_last=True,
)

CAFFE = Framework(
    dialect="caffe",
    title="Caffe",
    reader="moir.frontends.caffe:read_model",
    suffixes=(".caffemodel", ".prototxt"),
    beside=("{stem}.prototxt", "{stem}.caffemodel", "deploy.prototxt"),
    # Field 1, the name of the network, then field 2 or 100, a layer, or a field of inputs. A layer is not empty; the
    # library of an empty graph of TensorFlow is.
    beginning=rb"(?:\x0a.[ -~\x80-\xff]{0,127})?"
    rb"(?:\xa2\x06%(size)b\x0a|\x12(?!\x00)%(size)b[\x0a\x12\x1a\x22\x28]|\x1a[\x01-\x7f][ -~]+?[\x20\x42])" % {b"size": VARINT},
    text_beginning=rb"(?:\s|#[^\n]*\n)*(?:name\s*:\s*[\"'][^\n]*\s+(?:#[^\n]*\n\s*)*)?"
    rb"(?:input|layers?|input_dim|input_shape|force_backward|state)\s*[:{]",
    options=(
        ReaderOption(
            "input_proto",
            "--input-proto",
            "FILE",
            "text of the network of a .caffemodel (default: the .prototxt of its name, or deploy.prototxt)",
            is_path=True,
            former=("-d",),
        ),
        ReaderOption(
            "mean_file",
            "--mean-file",
            "FILE",
            "image (.binaryproto) that is subtracted from the first input of a Caffe model",
            is_path=True,
            former=("-mf",),
        ),
        ReaderOption(
            "mean_file_offsets",
            "--mean-file-offsets",
            "X,Y",
            "where the part of a larger mean image begins (default: its middle)",
            former=("-mo",),
        ),
        ReaderOption(
            "caffe_proto",
            "--caffe-proto",
            "FILE",
            "caffe.proto of a fork, to read its layers from a .caffemodel, which then needs no .prototxt",
            is_path=True,
        ),
        ReaderOption(
            "custom_layers",
            "--custom-layers",
            "FILE",
            "CustomLayersMapping.xml: types of layers that go into the IR as they are",
            is_path=True,
            former=("-k", "--k"),
        ),
    ),
    lowering="moir.lowering.caffe.table:caffe",
    view="moir.model_optimizer.frameworks.caffe.view:VIEW",
    operations="moir.inspection.operations.former_frameworks:operations_of_caffe",
)

MXNET = Framework(
    dialect="mxnet",
    title="MXNet",
    reader="moir.frontends.mxnet:read_model",
    suffixes=(".params",),
    beginning=rb"\x12\x01\0\0\0\0\0\0",
    text_beginning=rb"\s*\{\s*\"nodes\"\s*:",
    completions=("-symbol.json",),
    parts="moir.frontends.mxnet.parts:names_of_parts",
    options=(
        ReaderOption(
            "input_symbol",
            "--input-symbol",
            "FILE",
            "symbol of a file of parameters (default: the -symbol.json of its name)",
            is_path=True,
        ),
        ReaderOption(
            "nd_prefix_name",
            "--nd-prefix-name",
            "PREFIX",
            "values of an MXNet training, PREFIX_args.nd and PREFIX_auxs.nd",
            is_path=True,
        ),
    ),
    lowering="moir.lowering.mxnet.table:mxnet",
    view="moir.model_optimizer.frameworks.mxnet.view:VIEW",
    operations="moir.inspection.operations.former_frameworks:operations_of_mxnet",
    passes=frozenset(("fuse-recurrent-cells",)),
)

TENSORFLOW_LITE = Framework(
    dialect="tflite",
    title="TensorFlow Lite",
    reader="moir.frontends.tflite:read_model",
    suffixes=(".tflite", ".litertlm"),
    # The place of the model's table, then the identifier of the schema; or a container of such models.
    beginning=rb".{4}TFL3|LITERTLM",
    options=(SIGNATURE,),
    lowering="moir.lowering.tflite.table:tflite",
    view="moir.model_optimizer.frameworks.tflite.view:VIEW",
    operations="moir.inspection.operations.tflite:operations",
    runner="moir.execution.tflite_runtime:LiteRunner",
    channel_last=True,
    passes=frozenset(("fuse-recurrent-cells",)),
)

KERAS = Framework(
    dialect="keras",
    title="Keras",
    reader="moir.frontends.keras:read_model",
    suffixes=(".keras", ".h5", ".hdf5"),
    # A zip archive whose first member is one of Keras, or an HDF5 file.
    beginning=rb"PK\x03\x04.{26}(?:metadata\.json|config\.json|model\.weights\.(?:h5|npz)|assets/)|\x89HDF\r\n\x1a\n",
    json_keys=(frozenset(("class_name", "config")), frozenset(("model_config",))),
    options=(WEIGHTS,),
    folder_files=("model.json",),
    parts="moir.frontends.tensorflow_js.parts:names_of_shards",
    lowering="moir.lowering.keras.table:keras",
    view="moir.model_optimizer.frameworks.keras.view:VIEW",
    operations="moir.inspection.operations.keras_and_stablehlo:operations_of_keras",
    runner="moir.execution.keras_runtime:KerasRunner",
    passes=frozenset(("fuse-recurrent-cells",)),
    channel_last=True,
)

STABLEHLO = Framework(
    dialect="stablehlo",
    title="StableHLO",
    reader="moir.frontends.stablehlo:read_model",
    suffixes=(".mlirbc", ".jax"),
    # Bytecode of MLIR; or a file of jax.export, a FlatBuffer whose root table follows its table of 14 fields and more.
    beginning=rb"ML\xefR|[\x20-\x60]\0\0\0(?:\0\0)?[\x20-\x58]\0.\0",
    # MLIR prints locations before a module, and reads functions without a module; a module of moir's own has a
    # moir.model in it, which follows at once.
    text_beginning=rb"(?:\s|//[^\n]*\n)*(?:#loc\d* = loc\(|func\.func\b|\"?(?:builtin\.)?module\"?\b(?!\s*\{\s*moir\.)"
    rb"(?=.{0,400}?(?:\"?func\.func\"?|stablehlo\.|jax\.|mhlo\.)))",
    lowering="moir.lowering.stablehlo.table:stablehlo",
    view="moir.model_optimizer.frameworks.stablehlo.view:VIEW",
    operations="moir.inspection.operations.keras_and_stablehlo:operations_of_stablehlo",
    channel_last=True,
    has_fixed_sizes=True,
    passes=frozenset(("fuse-recurrent-cells", "fuse-sigmoid", "fuse-softmax")),
)

PYTORCH = Framework(
    dialect="aten",
    title="PyTorch",
    reader="moir.frontends.pytorch:read_model",
    suffixes=(".pt2",),
    # The header of a zip archive's first record, and its name.
    beginning=rb"PK\x03\x04.{26}(?:[^/\0]{1,80}/)?"
    rb"(?:archive_format|archive_version|data/(?:weights|constants|sample_inputs)/|models/|serialized_)",
    options=(
        ReaderOption("program", "--program", "NAME", "program of an archive of several exported programs"),
        WEIGHTS,
        ReaderOption("packing", "--packing", "NAME", "processor that packed the 4-bit weights: avx512, avx2, neon, scalar or cuda"),
    ),
    lowering="moir.lowering.pytorch.table:aten",
    view="moir.model_optimizer.frameworks.pytorch.view:VIEW",
    operations="moir.inspection.operations.pytorch:operations",
    has_fixed_sizes=True,
    runner="moir.execution.torch_runtime:TorchRunner",
    writes=("raise-writes",),
    raising=("raise-vmap",),
)

PADDLE = Framework(
    dialect="paddle",
    title="PaddlePaddle",
    reader="moir.frontends.paddle:read_model",
    suffixes=(".pdmodel",),
    # Field 1, a block, whose first fields are its number, 0, and that of its parent, -1.
    beginning=rb"\x0a%(size)b\x08\x00\x10\xff" % {b"size": VARINT},
    text_beginning=rb"\s*\{\s*\"base_code\"\s*:",
    folder_files=("inference.json", "inference.pdmodel", "__model__", "model.json", "model.pdmodel"),
    beside=("{stem}.pdiparams",),
    parts="moir.frontends.paddle.parts:names_of_parts",
    lowering="moir.lowering.paddle.table:paddle",
    view="moir.model_optimizer.frameworks.paddle.view:VIEW",
    operations="moir.inspection.operations.paddle:operations",
    raising=("raise-conditional-blocks",),
    passes=frozenset(("fuse-recurrent-cells",)),
)

TRANSFORMERS = Framework(
    dialect="transformers",
    title="Hugging Face Transformers",
    reader="moir.frontends.huggingface:read_model",
    folder_files=("model.safetensors.index.json", "model.safetensors"),
    folder_content=("*.safetensors", "*.json", "*.jinja", "*.model", "*.txt", "*.tiktoken"),
    lowering="moir.lowering.transformers.table:transformers",
    view="moir.model_optimizer.frameworks.transformers.view:VIEW",
    ir_name="openvino_model",
    companions="moir.language_models.huggingface:companions_of_folder",
)

GGUF = Framework(
    dialect="gguf",
    title="GGUF",
    reader="moir.frontends.gguf:read_model",
    suffixes=(".gguf",),
    parts="moir.frontends.gguf.parts:names_of_parts",
    beginning=rb"GGUF",
    shared_dialect=TRANSFORMERS.dialect,
    lowering=TRANSFORMERS.lowering,
    view=TRANSFORMERS.view,
    ir_name=TRANSFORMERS.ir_name,
    companions="moir.language_models.gguf:companions_of_file",
)

OPENVINO_IR = Framework(
    dialect="openvino_ir",
    title="OpenVINO IR",
    reader="moir.frontends.openvino_ir:read_model",
    suffixes=(".xml",),
    beside=("{stem}.bin",),
    text_beginning=rb"(?:\xef\xbb\xbf)?(?:\s|<!--.*?-->|<\?xml[^>]*>)*<net\b",
    is_lowered=True,
)
