"""Operations of users that are derived from Model Optimizer's classes, or call the `infer` of one."""

from __future__ import annotations

import numpy as np
import pytest

from moir.errors import ConversionError
from tests.numerical.model_optimizer.conversion import Converted, convert
from tests.numerical.onnx.conversion import node
from tests.numerical.runtime import Array

IMAGE = np.zeros((1, 3, 8, 8), np.float32)
WEIGHTS = np.zeros((4, 3, 3, 3), np.float32)

WINDOW = {
    "stride": [1, 1, 2, 2],
    "window": [1, 1, 2, 2],
    "pad": [[0, 0]] * 4,
    "pad_spatial_shape": [[0, 0]] * 2,
    "pool_method": "max",
    "exclude_pad": "true",
    "spatial_dims": None,
    "channel_dims": [1],
    "batch_dims": [0],
    "layout": "NCHW",
}
CONVOLUTION = {
    "pad": [[0, 0], [0, 0], [1, 1], [1, 1]],
    "stride": [1, 1, 1, 1],
    "dilation": [1, 1, 1, 1],
    "group": 1,
    "output": None,
    "kernel_spatial": [3, 3],
    "input_feature_channel": 1,
    "output_feature_channel": 0,
    "kernel_spatial_idx": None,
    "spatial_dims": None,
    "channel_dims": [1],
    "batch_dims": [0],
    "layout": "NCHW",
}


def extension(operation: str, attributes: object = None) -> dict[str, str]:
    """The files of an extension with an operation Foo, whose extractor gives it attributes; lists become arrays."""
    return {
        "ops/foo.py": operation,
        "front/onnx/foo_ext.py": f"""
            import numpy as np
            from mo.front.extractor import FrontExtractorOp
            from my_extension.ops.foo import Foo

            ATTRIBUTES = {attributes or {}!r}

            class FooExtractor(FrontExtractorOp):
                op = "Foo"
                enabled = True

                @classmethod
                def extract(cls, node):
                    given = {{name: np.array(value) if isinstance(value, list) else value for name, value in ATTRIBUTES.items()}}
                    Foo.update_node_stat(node, given)
                    return cls.enabled
            """,
    }


def foo(tmp_path, operation: str, attributes: object = None, *constants: Array, data: Array = IMAGE) -> Converted:
    """The IR of a Foo of an image and constants, and a Relu after it."""
    names = [f"c{index}" for index in range(len(constants))]
    nodes = [node("Foo", ["x", *names], ["h"], "foo", domain="acme"), node("Relu", ["h"], ["y"], "relu")]
    return convert(tmp_path, extension(operation, attributes), nodes, {"x": data}, constants=dict(zip(names, constants, strict=True)))


def derived(base: str, version: str = "extension", further: str = "") -> str:
    module, _, name = base.rpartition(".")
    return f"""
        from {module} import {name}

        class Foo({name}):
            op = "Foo"

            def __init__(self, graph, attrs):
                super().__init__(graph, {{**attrs, "type": "Foo", "op": "Foo", "version": "{version}"}})
{further}
        """


POOLED = {
    "kernel": "2,2",
    "strides": "2,2",
    "pads_begin": "0,0",
    "pads_end": "0,0",
    "auto_pad": "explicit",
    "pool-method": "max",
    "exclude-pad": "true",
    "rounding_type": "floor",
}


def test_a_class_derived_from_pooling_has_its_attributes_and_shape(tmp_path):
    converted = foo(tmp_path, derived("mo.ops.pooling.Pooling"), WINDOW)
    assert converted.attributes("Foo") == POOLED
    assert converted.layer("Foo").get("version") == "extension"
    assert converted.shape("Foo") == [1, 3, 4, 4]


def test_records_of_the_base_class_can_be_added_to(tmp_path):
    further = """
            def backend_attrs(self):
                return super().backend_attrs() + ["extra"]
"""
    converted = foo(tmp_path, derived("mo.ops.pooling.Pooling", further=further), {**WINDOW, "extra": 5})
    assert converted.attributes("Foo") == {**POOLED, "extra": "5"}


def test_pads_follow_from_auto_pad(tmp_path):
    attributes = {**WINDOW, "auto_pad": "same_upper", "window": [1, 1, 3, 3], "pad": None}
    converted = foo(tmp_path, derived("mo.ops.pooling.Pooling"), attributes)
    assert converted.attributes("Foo") == {**POOLED, "kernel": "3,3", "auto_pad": "same_upper", "pads_end": "1,1"}
    assert converted.shape("Foo") == [1, 3, 4, 4]


def test_a_class_derived_from_convolution(tmp_path):
    converted = foo(tmp_path, derived("mo.ops.convolution.Convolution", "my"), CONVOLUTION, WEIGHTS)
    assert converted.attributes("Foo") == {
        "strides": "1,1",
        "pads_begin": "1,1",
        "pads_end": "1,1",
        "dilations": "1,1",
        "auto_pad": "explicit",
    }
    assert converted.layer("Foo").get("version") == "my"
    assert converted.shape("Foo") == [1, 4, 8, 8]


def test_pads_of_a_convolution_follow_from_its_filters(tmp_path):
    attributes = {**CONVOLUTION, "kernel_spatial": None, "auto_pad": "same_upper", "stride": [1, 1, 2, 2], "pad": None}
    converted = foo(tmp_path, derived("mo.ops.convolution.Convolution"), attributes, WEIGHTS)
    assert converted.attributes("Foo").items() >= {"pads_begin": "0,0", "pads_end": "1,1", "auto_pad": "same_upper"}.items()
    assert converted.shape("Foo") == [1, 4, 4, 4]


def test_the_order_of_weights_is_what_the_node_says(tmp_path):
    attributes = {**CONVOLUTION, "input_feature_channel": 2, "output_feature_channel": 3, "kernel_spatial_idx": [0, 1]}
    converted = foo(tmp_path, derived("mo.ops.convolution.Convolution"), attributes, np.zeros((3, 3, 3, 5), np.float32))
    assert converted.shape("Foo") == [1, 5, 8, 8]


CALLING = """
    from mo.ops.op import Op
    from {module} import {name}

    class Foo(Op):
        op = "Foo"

        def __init__(self, graph, attrs):
            own = {{"type": self.op, "op": self.op, "version": "extension", "infer": self.infer, "in_ports_count": 2, "out_ports_count": 1}}
            super().__init__(graph, own, attrs)

        @staticmethod
        def infer(node):
            {name}.infer(node)
    """


@pytest.mark.parametrize(
    ("base", "attributes", "constants", "shape"),
    [
        ("mo.ops.pooling.Pooling", WINDOW, [], [1, 3, 4, 4]),
        ("mo.ops.convolution.Convolution", CONVOLUTION, [WEIGHTS], [1, 4, 8, 8]),
        ("mo.ops.softmax.Softmax", {"axis": 1}, [], [1, 3, 8, 8]),
        ("mo.ops.concat.Concat", {"axis": 1}, [IMAGE], [1, 6, 8, 8]),
        ("mo.ops.reshape.Reshape", {}, [np.array([3, -1])], [3, 64]),
        ("mo.ops.unsqueeze.Unsqueeze", {}, [np.array([0])], [1, 1, 3, 8, 8]),
        ("extensions.ops.transpose.Transpose", {}, [np.array([0, 2, 3, 1])], [1, 8, 8, 3]),
        ("extensions.ops.ReduceOps.ReduceMean", {"keep_dims": False}, [np.array([2, 3])], [1, 3]),
        ("extensions.ops.elementwise.Mul", {}, [np.zeros((2, 1, 1, 1), np.float32)], [2, 3, 8, 8]),
        ("extensions.ops.depth_to_space.DepthToSpaceOp", {"block_size": 1}, [], [1, 3, 8, 8]),
        ("openvino.tools.mo.ops.tile.Tile", {}, [np.array([1, 2, 1, 1])], [1, 6, 8, 8]),
    ],
    ids=lambda value: value.rpartition(".")[2] if isinstance(value, str) else "",
)
def test_the_infer_of_a_class_can_be_called(tmp_path, base, attributes, constants, shape):
    module, _, name = base.rpartition(".")
    assert foo(tmp_path, CALLING.format(module=module, name=name), attributes, *constants).shape("Foo") == shape


@pytest.mark.parametrize(
    ("function", "attributes", "constants", "shape"),
    [
        ("mo.front.common.partial_infer.elemental.copy_shape_infer", {}, [], [1, 3, 8, 8]),
        ("mo.front.common.partial_infer.concat.concat_infer", {"axis": 1}, [IMAGE], [1, 6, 8, 8]),
        ("extensions.ops.ReduceOps.reduce_infer", {"keep_dims": True}, [np.array([2, 3])], [1, 3, 1, 1]),
        ("extensions.ops.argmax.arg_ops_infer", {"axis": 1, "top_k": 1, "out_max_val": 0}, [], [1, 1, 8, 8]),
    ],
    ids=lambda value: value.rpartition(".")[2] if isinstance(value, str) else "",
)
def test_a_function_that_infers_can_be_called(tmp_path, function, attributes, constants, shape):
    module, _, name = function.rpartition(".")
    operation = CALLING.replace("{name}.infer(node)", "{name}(node)").format(module=module, name=name)
    assert foo(tmp_path, operation, attributes, *constants).shape("Foo") == shape


def test_another_type_has_the_infer_of_the_class(tmp_path):
    operation = """
        from mo.ops.pooling import Pooling

        class Foo(Pooling):
            op = "Foo"

            def __init__(self, graph, attrs):
                super().__init__(graph, attrs)
                self.attrs.update(type="Foo", version="extension")
        """
    assert foo(tmp_path, operation, WINDOW).shape("Foo") == [1, 3, 4, 4]


@pytest.mark.parametrize(
    ("base", "attributes", "constants", "written", "shape"),
    [
        ("activation_ops.Activation", {}, [], {}, [1, 3, 8, 8]),
        ("activation_ops.Sigmoid", {}, [], {}, [1, 3, 8, 8]),
        ("elementwise.Elementwise", {}, [np.zeros((2, 3, 8, 8), np.float32)], {"auto_broadcast": "numpy"}, [2, 3, 8, 8]),
        ("elementwise.ArithmeticOp", {}, [np.zeros((3, 1, 1), np.float32)], {"auto_broadcast": "numpy"}, [1, 3, 8, 8]),
        ("elementwise.UnaryElementwise", {}, [], {}, [1, 3, 8, 8]),
        ("elementwise.Add", {}, [np.zeros((2, 3, 8, 8), np.float32)], {"auto_broadcast": "numpy"}, [2, 3, 8, 8]),
        ("ReduceOps.ReduceOp", {"keep_dims": 1}, [np.array([1])], {"keep_dims": "true"}, [1, 1, 8, 8]),
        ("dft.FFTBase", {}, [np.array([1])], {}, [1, 3, 8, 8]),
        ("split.SplitBase", {"num_splits": 3}, [np.array(1)], {"num_splits": "3"}, [1, 1, 8, 8]),
        ("split.VariadicSplitBase", {"size_splits": [1, 2]}, [np.array(1), np.array([1, 2])], {}, [1, 1, 8, 8]),
        ("scatter.Scatter", {}, [np.array([0]), IMAGE[:, :1], np.array(1)], {}, [1, 3, 8, 8]),
        ("embedding_bag.EmbeddingBagBase", {}, [np.array([0, 1]), np.array([0, 1])], {}, [2, 8]),
    ],
    ids=lambda value: value.rpartition(".")[2] if isinstance(value, str) else "",
)
def test_a_class_says_by_its_attributes_what_it_is(tmp_path, base, attributes, constants, written, shape):
    module, _, name = base.rpartition(".")
    operation = f"""
        from extensions.ops.{module} import {name}

        class Foo({name}):
            op = "Foo"
            op_type = "Foo"
            version = "my"
        """
    data = {"dft": np.zeros((1, 3, 8, 2), np.float32), "embedding_bag": np.zeros((5, 8), np.float32)}.get(module, IMAGE)
    converted = foo(tmp_path, operation, attributes, *constants, data=data)
    assert converted.layer("Foo").get("version") == "my"
    assert converted.attributes("Foo") == written
    assert converted.shape("Foo") == (shape if module != "dft" else [1, 3, 8, 2])


def test_logical_results_are_boolean(tmp_path):
    operation = """
        from extensions.ops.elementwise import LogicalElementwise

        class Foo(LogicalElementwise):
            op = op_type = "Foo"
            version = "my"
        """
    files = extension(operation)
    nodes = [node("Foo", ["x", "x"], ["h"], "foo", domain="acme"), node("Not", ["h"], ["y"], "not")]
    converted = convert(tmp_path, files, nodes, {"x": IMAGE})
    port = converted.layer("Foo").find("output/port")
    assert port is not None
    assert port.get("precision") == "BOOL"


def test_operation_computes_the_value_of_constants(tmp_path):
    operation = """
        import numpy as np
        from extensions.ops.elementwise import UnaryElementwise

        class Foo(UnaryElementwise):
            op = op_type = "Foo"
            version = "my"
            operation = staticmethod(lambda value: value * np.float32(2))
        """
    nodes = [node("Foo", ["c"], ["h"], "foo", domain="acme"), node("Add", ["x", "h"], ["y"], "add")]
    converted = convert(tmp_path, extension(operation), nodes, {"x": IMAGE}, constants={"c": np.float32([3.0])})
    assert not converted.all("Foo")
    np.testing.assert_array_equal(converted.run({"x": IMAGE})[0], IMAGE + 6)


def test_a_class_without_infer_is_an_error_that_names_it(tmp_path):
    operation = """
        from mo.ops.op import Op

        class Foo(Op):
            op = "Foo"

            def __init__(self, graph, attrs):
                super().__init__(graph, {"type": self.op, "op": self.op, "infer": None, "in_ports_count": 1, "out_ports_count": 1}, attrs)

            @staticmethod
            def infer(node):
                node.out_port(0).data.set_shape(node.in_port(0).data.get_shape())
        """
    with pytest.raises(ConversionError, match=r"Foo 'foo': its shapes cannot be inferred: it has no function infer.*class Foo"):
        foo(tmp_path, operation)


def test_a_class_without_type_is_an_error_that_names_it(tmp_path):
    operation = """
        from mo.ops.op import Op

        class Foo(Op):
            op = "Foo"

            def __init__(self, graph, attrs):
                own = {"type": None, "op": self.op, "infer": self.infer, "in_ports_count": 1, "out_ports_count": 1}
                super().__init__(graph, own, attrs)

            @staticmethod
            def infer(node):
                node.out_port(0).data.set_shape(node.in_port(0).data.get_shape())
        """
    with pytest.raises(ConversionError, match=r"without a type.*Foo \('foo'\)"):
        foo(tmp_path, operation)
