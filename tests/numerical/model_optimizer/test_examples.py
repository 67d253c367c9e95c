"""The code examples of Model Optimizer's documents, unmodified, from directories as a user has them: see tests/fixtures/model_optimizer."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path

import numpy as np
import pytest
from onnx import numpy_helper

from moir.errors import ConversionError
from moir.model_optimizer.graph.operation import Op
from moir.tools.convert import main
from tests.numerical.model_optimizer.conversion import EXAMPLES, Converted, convert, saved
from tests.numerical.model_optimizer.models import detector, inception, normalized, yolo
from tests.numerical.onnx.conversion import build, expected_results, node
from tests.numerical.runtime import Array, compare
from tests.numerical.tensorflow import conversion as tensorflow_conversion

RNG = np.random.default_rng(4)
X = RNG.normal(size=(2, 3, 4)).astype(np.float32)
A, B = RNG.normal(size=(2, 2, 3)).astype(np.float32)


def check_onnx(name: str, directory: Path, nodes, inputs: dict[str, Array], opset: int = 21, **constants: Array) -> Converted:
    """Convert an ONNX model with an example; the results must be those of ONNX Runtime."""
    model = build(nodes, inputs, constants=constants, opset=opset)
    converted = Converted.of(model, directory, extensions=[EXAMPLES / name])
    compare(converted.run(inputs), expected_results(model, inputs, "onnxruntime"))
    return converted


def check_tensorflow(name: str, directory: Path, graph, inputs: dict[str, Array], output: str = "out", **options) -> Converted:
    """Convert a TensorFlow graph with an example; the results must be those of TensorFlow."""
    converted = Converted.of(graph, directory, extensions=[EXAMPLES / name], **options)
    compare(converted.run(inputs), tensorflow_conversion.expected_results(graph, [output], inputs))
    return converted


@pytest.fixture
def updates(monkeypatch) -> list[tuple[str, str]]:
    """`op` of the class and name of the node of each call of `update_node_stat`."""
    calls: list[tuple[str, str]] = []
    update = Op.update_node

    def recorded(self, node, attrs=None):
        calls.append((self.attrs["op"], node.name))
        update(self, node, attrs)

    monkeypatch.setattr(Op, "update_node", recorded)
    return calls


@pytest.mark.parametrize(("target", "shape"), [([0, -1], [2, 12]), ([3, 8], [3, 8]), ([-1], [24])])
def test_reshape_infer(tmp_path, updates, target, shape):
    converted = check_onnx("reshape_infer", tmp_path, [node("Reshape", ["x", "s"], ["y"], "r")], {"x": X}, s=np.array(target))
    assert updates == [("Reshape", "r")]
    assert (converted.types, converted.attributes("Reshape")) == (["Reshape"], {"special_zero": "true"})
    assert converted.shape("Reshape") == shape


def test_reshape_infer_of_a_known_value_is_a_constant(tmp_path, updates):
    nodes = [node("Reshape", ["c", "s"], ["r"], "r"), node("Add", ["x", "r"], ["y"])]
    assert check_onnx("reshape_infer", tmp_path, nodes, {"x": X}, c=X.ravel(), s=np.array([2, 3, -1])).types == ["Add"]
    assert updates == [("Reshape", "r")]


def test_softmax_operation(tmp_path, updates):
    """`infer` of the document is a string: the shape follows from the operation set."""
    converted = check_onnx("softmax_operation", tmp_path, [node("Softmax", ["x"], ["y"], "probabilities", axis=2)], {"x": X})
    assert updates == [("SoftMax", "probabilities")]
    assert converted.attributes("SoftMax") == {"axis": "2"}
    assert converted.names("SoftMax") == ["probabilities"]
    assert converted.layer("SoftMax").get("version") == "opset1"
    assert converted.shape("SoftMax") == [2, 3, 4]


def test_pooling_backend_attrs(tmp_path, updates):
    pool = node("AveragePool", ["x"], ["y"], "pool", kernel_shape=[3, 2], strides=[2, 1], pads=[1, 0, 1, 1])
    converted = check_onnx("pooling_backend_attrs", tmp_path, [pool], {"x": X[None]})
    assert updates == [("Pooling", "pool")]
    expected = {"kernel": "3,2", "strides": "2,1", "pads_begin": "1,0", "pads_end": "1,1", "exclude-pad": "true", "rounding_type": "floor"}
    assert expected.items() <= converted.attributes("AvgPool").items()
    assert converted.shape("AvgPool") == [1, 2, 2, 4]


def test_pooling_of_the_type_it_had(tmp_path):
    """The type was Pooling until the end of the conversion, which replaced it by AvgPool or MaxPool."""
    extractor = (EXAMPLES / "pooling_backend_attrs/front/onnx/pooling_ext.py").read_text()
    files = {
        "ops/pooling.py": (EXAMPLES / "pooling_backend_attrs/ops/pooling.py").read_text(),
        "front/onnx/pooling_ext.py": extractor.replace("'type': 'AvgPool',", "").replace("'avg'", "'max'"),
    }
    pool = node("AveragePool", ["x"], ["y"], "pool", kernel_shape=[1, 2])
    converted = convert(tmp_path, files, [pool], {"x": X[None]})
    assert converted.types == ["MaxPool"]
    compare(converted.run({"x": X[None]}), [np.maximum(X[None, ..., 1:], X[None, ..., :-1])])


def test_const_extractor_of_tensorflow(tmp_path, updates):
    def function(x):
        import tensorflow as tf

        return x * tf.constant(B, name="factor") + tf.constant(2.0, name="offset")

    graph, _ = tensorflow_conversion.build(function, {"x": A})
    converted = check_tensorflow("const_extractor_tensorflow", tmp_path, graph, {"x": A}, "out_0")
    assert updates == [("Const", "factor"), ("Const", "offset")]
    assert converted.types == ["Add", "Multiply"]


def test_const_extractor_of_tensorflow_for_all_types(tmp_path):
    types = (np.float16, np.float64, np.int64, np.int32, np.int8, np.uint8, np.bool_)

    def function(x):
        import tensorflow as tf

        total = sum((tf.cast(tf.constant(np.array([1, 0, 1], type_)), tf.float32) for type_ in types), x)
        lengths = tf.strings.length(tf.constant(["ab", "c", "def"]))
        return total + tf.cast(lengths, tf.float32), tf.zeros([0, 3])

    graph, names = tensorflow_conversion.build(function, {"x": A})
    converted = Converted.of(graph, tmp_path, extensions=[EXAMPLES / "const_extractor_tensorflow"])
    compare(converted.run({"x": A}, [f"{name}:0" for name in names]), tensorflow_conversion.expected_results(graph, names, {"x": A}))


def test_const_extractor_of_onnx(tmp_path, updates):
    constant = node("Constant", [], ["c"], "factor", value=numpy_helper.from_array(X))
    converted = check_onnx("const_extractor_onnx", tmp_path, [constant, node("Mul", ["x", "c"], ["y"])], {"x": X})
    assert [op for op, _ in updates] == ["Const"]
    assert converted.types == ["Multiply"]


MISH = [node("Softplus", ["x"], ["s"]), node("Tanh", ["s"], ["t"])]


@pytest.mark.parametrize("operands", [("x", "t"), ("t", "x")])
def test_mish_fusion(tmp_path, operands):
    converted = check_onnx("mish_fusion", tmp_path, [*MISH, node("Mul", operands, ["y"], "mish")], {"x": X})
    assert converted.types == ["Mish"]
    assert converted.names("Mish") == ["mish"]


def test_mish_fusion_of_another_tensor_is_none(tmp_path):
    converted = check_onnx("mish_fusion", tmp_path, [*MISH, node("Mul", ["z", "t"], ["y"], "product")], {"x": X, "z": X + 1})
    assert converted.types == ["Multiply", "SoftPlus", "Tanh"]


def test_pack(tmp_path):
    def function(a, b):
        import tensorflow as tf

        return tf.stack([a, b], axis=1, name="packed")

    graph, _ = tensorflow_conversion.build(function, {"a": A, "b": B})
    converted = check_tensorflow("pack", tmp_path, graph, {"a": A, "b": B}, "out_0")
    assert converted.types == ["Concat", "Unsqueeze", "Unsqueeze"]
    assert converted.names("Concat") == ["packed"]
    assert converted.names("Unsqueeze")[0] == "packed/Unsqueeze"
    assert converted.attributes("Concat") == {"axis": "1"}


@pytest.mark.parametrize(("opset", "attributes", "constants"), [(11, {"axes": [0, 2]}, {}), (13, {}, {"axes": np.array([0, 2])})])
def test_squeeze_normalize(tmp_path, opset, attributes, constants):
    squeeze = node("Squeeze", ["x", *constants], ["y"], "squeeze", **attributes)
    converted = check_onnx("squeeze_normalize", tmp_path, [squeeze], {"x": X.reshape(1, 24, 1, 1)}, opset, **constants)
    assert converted.names("Squeeze") == ["squeeze"]
    assert len(converted.layer("Squeeze").findall("input/port")) == 2


def test_squeeze_normalize_of_tensorflow(tmp_path):
    def function(x):
        import tensorflow as tf

        return tf.squeeze(x, [0, 2], name="squeezed")

    inputs = {"x": X.reshape(1, 24, 1, 1)}
    graph, _ = tensorflow_conversion.build(function, inputs)
    converted = check_tensorflow("squeeze_normalize", tmp_path, graph, inputs, "out_0")
    assert converted.names("Squeeze") == ["squeezed"]
    assert len(converted.layer("Squeeze").findall("input/port")) == 2


def test_squeeze_normalize_without_axes_is_its_error(tmp_path):
    model = build([node("Squeeze", ["x"], ["y"], "squeeze")], {"x": X})
    with pytest.raises(ConversionError) as error:
        Converted.of(model, tmp_path, extensions=[EXAMPLES / "squeeze_normalize"])
    assert 'The Squeeze layer "squeeze" should either have 2 inputs or one input and an "squeeze_dims" attribute' in str(error.value)
    assert "squeeze-normalize" in str(error.value)
    assert "SqueezeNormalize.py:31" in str(error.value)


def test_squared_difference(tmp_path):
    def function(a, b):
        import tensorflow as tf

        return tf.raw_ops.SquaredDifference(x=a, y=b, name="squares")

    graph, _ = tensorflow_conversion.build(function, {"a": A, "b": B})
    converted = check_tensorflow("squared_difference", tmp_path, graph, {"a": A, "b": B}, "out_0")
    assert converted.types == ["Add", "Multiply", "Power"]
    names = [layer.get("name") for layer in converted.layers]
    assert {"squares/negate_", "squares/add_", "squares/squared_"} <= set(names)


def test_mvn(tmp_path):
    x = RNG.normal(2, 3, (1, 4, 5, 3)).astype(np.float32)
    converted = check_tensorflow("mvn", tmp_path, normalized(), {"x": x})
    assert converted.types == ["Add", "MVN", "Multiply"]
    assert converted.names("MVN") == ["fbn/MVN_"]
    assert (converted.names("Multiply"), converted.names("Add")) == (["fbn/Mul_"], ["fbn/Add_"])
    assert float(converted.attributes("MVN")["eps"]) == pytest.approx(1e-3)
    assert converted.attributes("MVN")["normalize_variance"] == "true"


def test_mvn_over_other_axes_is_refused(tmp_path, caplog):
    """`infer` of the document warns and returns without a shape: that is an error, no MVN over the wrong axes."""
    with pytest.raises(ConversionError, match="MVN 'fbn/MVN_': its function infer left the shape of output 0 undefined"):
        Converted.of(normalized((2, 4, 1, 3), (0, 1)), tmp_path, extensions=[EXAMPLES / "mvn"])
    assert "Reduction indices for mean [0 1] and variance [0 1] do not match" in caplog.text


INCEPTION = EXAMPLES / "inception_block"
TRANSFORMATION = EXAMPLES / "inception_block_transformation"
BRANCHES = {"Branch_0/Conv2d_0a_1x1/Conv2D$", "Branch_1/Conv2d_0a_1x1/Conv2D$", "Branch_2/Conv2d_0a_1x1/Conv2D$"}


@pytest.mark.parametrize("is_updated", [False, True])
def test_inception_block(tmp_path, capsys, caplog, is_updated):
    configuration = INCEPTION / "inception_block.json"
    if is_updated:
        assert main(["describe-subgraphs", str(configuration), str(saved(inception(), tmp_path))]) == 0
        configuration = tmp_path / "updated.json"
        configuration.write_text(capsys.readouterr().out)
    converted = Converted.of(inception(), tmp_path, extensions=[INCEPTION], transformations_config=configuration)
    assert Counter(converted.types)["InceptionBlock"] == 3
    assert "layout" not in caplog.text
    assert not {"Convolution", "AvgPool"} & set(converted.types)
    for layer in converted.all("InceptionBlock"):
        data = layer.find("data")
        assert data is not None
        assert data.attrib == {"attr1_key": "attr1_value", "attr2_key": "123456"}
        assert layer.get("version") == "extension"
        for place in ("input/port", "output/port"):
            assert [dim.text for port in layer.findall(place) for dim in port] == ["1", "8", "6", "6"]


def test_update_of_the_template(tmp_path, capsys):
    """What is found is what the document shows, for the blocks of Inception V4 as far as our model has their branches."""
    model, template = str(saved(inception(), tmp_path)), TRANSFORMATION / "inception_block_template.json"
    assert main(["describe-subgraphs", str(template), model]) == 0
    (actual,), (documented,) = (
        json.loads(capsys.readouterr().out),
        json.loads((TRANSFORMATION / "inception_block_updated.json").read_text()),
    )
    for entry in (actual, documented):
        entry["inputs"] = [sorted(group, key=lambda each: each["node"]) for group in entry["inputs"]]
    assert actual == documented


def test_options_of_the_document(tmp_path, capsys):
    """The two commands of 2019."""
    model, configuration = str(saved(inception(), tmp_path)), tmp_path / "inception_block.json"
    configuration.write_text((INCEPTION / "inception_block.json").read_text())
    assert main([model, "--tensorflow_custom_operations_config_update", str(configuration)]) == 0
    assert json.loads(configuration.read_text())[0]["outputs"] == [{"node": "concat$", "port": 0}]
    options = ["--tensorflow_use_custom_operations_config", str(configuration), "--extensions", str(INCEPTION)]
    assert main([model, *options, "-o", str(tmp_path / "out.xml")]) == 0
    assert "3 InceptionBlock" in capsys.readouterr().out


def test_inception_block_transformation(tmp_path):
    configuration = TRANSFORMATION / "inception_block_updated.json"
    converted = Converted.of(inception(), tmp_path, extensions=[TRANSFORMATION], transformations_config=configuration)
    assert set(converted.types) <= {"Concat", "ReLU", "Slice", "StridedSlice"}
    assert [name for name in converted.names("Concat") if name and name.endswith("/twice")] == [
        f"InceptionV4/InceptionV4/{block}/concat/twice" for block in ("Mixed_5b", "Mixed_5c", "Mixed_5d")
    ]
    x = RNG.normal(size=(1, 6, 6, 8)).astype(np.float32)
    compare(converted.run({"x": x}), [np.concatenate([np.maximum(x, 0)] * 8, axis=3)])


def test_inception_template_of_another_model(tmp_path):
    with pytest.raises(
        ConversionError, match=r"inception_block.json:10:13: .*no node of the model is in the scope '\.\*InceptionV4/Mixed_5b'"
    ):
        Converted.of(yolo(), tmp_path, extensions=[INCEPTION], transformations_config=INCEPTION / "inception_block.json")


def test_ssd_points(tmp_path, caplog):
    configuration = EXAMPLES / "ssd_points" / "ssd_support_api_v1.15.json"
    converted = Converted.of(detector(), tmp_path, extensions=[EXAMPLES / "ssd_points"], transformations_config=configuration)
    assert converted.types == ["DetectionOutput"]
    expected = {"code_type": "caffe.PriorBoxParameter.CENTER_SIZE", "clip_before_nms": "false", "clip_after_nms": "true"}
    assert expected.items() <= converted.attributes("DetectionOutput").items()
    assert converted.names("Result") == ["detection_boxes"]
    assert "no output detection_scores any more" in caplog.text
    scores = np.full((4, 3), 0.05, np.float32)
    scores[[1, 2], [2, 1]] = 0.9, 0.8
    (actual,) = converted.run({"boxes": np.zeros((1, 16), np.float32), "scores": scores.reshape(1, 12)})
    # Without offsets the boxes are the priors: image, label, confidence, corners.
    expected_rows = [[0, 1, 0.8, 0.5, 0.5, 0.6, 0.9], [0, 2, 0.9, 0.3, 0.2, 0.9, 0.7]]
    assert actual.shape == (1, 1, 10, 7)
    np.testing.assert_allclose(sorted(actual[0, 0, :2].tolist()), expected_rows, rtol=1e-4)
    assert actual[0, 0, 2, 0] == -1


def test_yolo(tmp_path):
    graph = yolo()
    configuration = EXAMPLES / "yolo" / "yolo_v1_tiny.json"
    converted = Converted.of(graph, tmp_path, extensions=[EXAMPLES / "yolo"], transformations_config=configuration)
    assert set(converted.types) == {"Convolution", "RegionYolo", "Transpose"}
    expected = {"axis": "1", "end_axis": "-1", "classes": "20", "coords": "4", "num": "2", "do_softmax": "false"}
    assert expected.items() <= converted.attributes("RegionYolo").items()
    x = RNG.normal(size=(1, 4, 4, 3)).astype(np.float32)
    (boxes,) = tensorflow_conversion.expected_results(graph, ["detections"], {"x": x})
    wanted = boxes.reshape(1, 4, 4, 2, 25).copy()
    logistic = 1 / (1 + np.exp(-wanted))
    for entries in (slice(0, 2), slice(4, 25)):
        wanted[..., entries] = logistic[..., entries]
    (actual,) = converted.run({"x": x})
    compare([actual], [wanted.reshape(1, 4, 4, 50).transpose(0, 3, 1, 2)])


def ports_model():
    """The graph of the documents: output 1 of Op1 goes to Op2 and to port 1 of Op4, Op3 goes to port 0 of Op4 and to an output."""
    return build(
        [
            node("Split", ["x", "parts"], ["t0", "t1"], "Op1", axis=0),
            node("Relu", ["t1"], ["a"], "Op2"),
            node("Sigmoid", ["t0"], ["b"], "Op3"),
            node("Sub", ["b", "t1"], ["c"], "Op4"),
        ],
        {"x": X},
        constants={"parts": np.array([1, 1])},
        outputs=["a", "c"],
    )


@pytest.mark.parametrize("phase", ["front", "middle", "back"])
def test_ports_and_connections(tmp_path, phase):
    logistic, relu = 1 / (1 + np.exp(-X[:1])), np.maximum(X[1:], 0)
    wanted = {f"{phase}_ports": [relu, logistic - logistic], f"{phase}_connection": [relu, X[:1] - X[1:]], "none": [relu, logistic - X[1:]]}
    for name, results in wanted.items():
        enable = [] if name == "none" else [name]
        options = {"extensions": [EXAMPLES / "ports_and_connections"], "enable": enable}
        compare(Converted.of(ports_model(), tmp_path, **options).run({"x": X}, ["a", "c"]), results)
