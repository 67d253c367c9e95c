"""RNN, GRU and LSTM against ONNX Runtime."""

from __future__ import annotations

from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
import onnx
import pytest

import moir
from moir.errors import ConversionError
from tests.numerical.onnx.conversion import build, check, convert, expected_results, node
from tests.numerical.onnx.node_case import COMPLETE, DYNAMIC, WITHOUT_RANK, NodeCase, normal_numbers
from tests.numerical.runtime import compare, run

RANDOM = np.random.default_rng(5)
TIME, BATCH, INPUT, HIDDEN = 4, 3, 5, 2
GATES = {"RNN": 1, "GRU": 3, "LSTM": 4}


def values(*shape):
    """Random f32 values."""
    return RANDOM.standard_normal(shape).astype(np.float32)


def network(kind, outputs=None, directions=1, operands="xwrb", **attributes):
    """A node and its inputs; `operands` has a letter for each operand that is there: b bias, s lengths, h and c states, p peepholes."""
    rows = GATES[kind] * HIDDEN
    present = {
        "x": values(TIME, BATCH, INPUT),
        "w": values(directions, rows, INPUT),
        "r": values(directions, rows, HIDDEN),
        "b": values(directions, 2 * rows),
        "s": np.array([4, 2, 3], dtype=np.int32),
        "h": values(directions, BATCH, HIDDEN),
        "c": values(directions, BATCH, HIDDEN),
        "p": values(directions, 3 * HIDDEN),
    }
    names = [name if name in operands else "" for name in ("xwrbsh" if kind != "LSTM" else "xwrbshcp")]
    if outputs is None:
        outputs = ["y", "yh", "yc"] if kind == "LSTM" else ["y", "yh"]
    while not names[-1]:
        names.pop()
    given = node(kind, names, outputs, hidden_size=HIDDEN, **attributes)
    return [given], {name: present[name] for name in operands}


def split(given, constants="wrb"):
    """The inputs of a model and its constants."""
    nodes, inputs = given
    return (
        nodes,
        {name: value for name, value in inputs.items() if name not in constants},
        {name: value for name, value in inputs.items() if name in constants},
    )


def check_network(given, constants="wrb", **options):
    """Compare a network with weights as constants."""
    nodes, inputs, fixed = split(given, constants)
    check(nodes, inputs, constants=fixed, **{"opset": 14} | options)


OF_SIZES = 12
"""Operations that compute the lengths of sequences and initial states from the sizes of the data, since these may be reshaped."""


@pytest.mark.parametrize("direction", ["forward", "reverse", "bidirectional"])
@pytest.mark.parametrize("kind", GATES)
def test_defaults(kind, direction):
    directions = 2 if direction == "bidirectional" else 1
    # x, each result, the network, and what computes lengths and states from the sizes: no more operations than these.
    operations = 2 + (3 if kind == "LSTM" else 2) + OF_SIZES
    check_network(network(kind, directions=directions, direction=direction), operations=operations)
    check_network(network(kind, directions=directions, direction=direction, operands="xwr"), forms=["static"])


@pytest.mark.parametrize("direction", ["forward", "reverse", "bidirectional"])
@pytest.mark.parametrize("kind", GATES)
def test_states_and_lengths(kind, direction):
    directions = 2 if direction == "bidirectional" else 1
    operands = "xwrbshc" if kind == "LSTM" else "xwrbsh"
    check_network(network(kind, directions=directions, direction=direction, operands=operands), fixed="sx")
    check_network(network(kind, directions=directions, direction=direction, operands=operands.replace("s", "")))
    constants = "wrbsh"
    check_network(network(kind, directions=directions, direction=direction, operands=operands), constants, forms=["static"])


@pytest.mark.parametrize("kind", GATES)
def test_computed_weights(kind):
    for options in ({}, {"linear_before_reset": 1}) if kind == "GRU" else ({},):
        nodes, inputs = network(kind, directions=2, direction="bidirectional", **options)
        check(nodes, inputs, opset=14, fixed=["w", "r", "b"])


@pytest.mark.parametrize("kind", ["RNN", "GRU", "LSTM"])
@pytest.mark.parametrize("operands", ["xwrb", "xwrbs"])
def test_hard_sigmoid_in_both_directions(kind, operands):
    names = {"RNN": ["HardSigmoid"], "GRU": ["HardSigmoid", "Tanh"], "LSTM": ["HardSigmoid", "Tanh", "HardSigmoid"]}[kind]
    check_network(
        network(kind, directions=2, direction="bidirectional", operands=operands, activations=names * 2, clip=0.7), forms=["dynamic"]
    )


def test_hard_sigmoid_for_no_runtime(tmp_path):
    nodes, inputs, fixed = split(network("LSTM", activations=["HardSigmoid", "Tanh", "Tanh"]))
    onnx.save(build(nodes, inputs, constants=fixed, opset=14), tmp_path / "model.onnx")
    kinds = [{op.name for op in moir.convert_model(tmp_path / "model.onnx", target=each).walk()} for each in ("none", "openvino-cpu")]
    assert "opset5.LSTMSequence" in kinds[0] - kinds[1]
    assert "opset1.TensorIterator" in kinds[1] - kinds[0]


@pytest.mark.parametrize("outputs", [["y"], ["", "yh"], ["", "", "yc"], ["y", "", "yc"]])
def test_some_outputs_of_lstm(outputs):
    check_network(network("LSTM", outputs=outputs), operations=2 + sum(map(bool, outputs)) + OF_SIZES)


@pytest.mark.parametrize("operands", ["xwr", "xwrb"])
@pytest.mark.parametrize("direction", ["forward", "bidirectional"])
def test_linear_before_reset(direction, operands):
    directions = 2 if direction == "bidirectional" else 1
    check_network(network("GRU", directions=directions, direction=direction, linear_before_reset=1, operands=operands))


@pytest.mark.parametrize("kind", GATES)
def test_clip(kind):
    check_network(network(kind, clip=0.3))


@pytest.mark.parametrize(
    ("kind", "activations"),
    [("RNN", ["Relu"]), ("GRU", ["Relu", "Sigmoid"]), ("LSTM", ["Tanh", "Relu", "Sigmoid"])],
)
def test_activations(kind, activations):
    check_network(network(kind, activations=activations), forms=["static", "dynamic"])


@pytest.mark.parametrize(
    ("kind", "activations"),
    [
        ("RNN", ["Tanh", "Relu"]),
        ("GRU", ["Sigmoid", "Tanh", "Relu", "Sigmoid"]),
        ("LSTM", ["Sigmoid", "Tanh", "Tanh"] + ["Sigmoid"] * 3),
    ],
)
def test_each_direction_has_its_activations(kind, activations):
    operands = "xwrbshc" if kind == "LSTM" else "xwrbsh"
    given = network(kind, directions=2, direction="bidirectional", activations=activations, operands=operands)
    check_network(given, forms=["static", "dynamic"], fixed="sx")


def layout_reference(given, outputs):
    """Results for `layout = 1`, which ONNX Runtime does not have: those for `layout = 0`, transposed."""
    from tests.numerical.onnx.conversion import expected_results

    (made,), inputs = given
    swapped = {name: value.swapaxes(0, 1) if name in "xhc" else value for name, value in inputs.items()}
    plain = node(made.op_type, made.input, made.output, hidden_size=HIDDEN)
    results = expected_results(build([plain], swapped, opset=14), swapped, "onnxruntime")
    return [result.transpose(2, 0, 1, 3) if result.ndim == 4 else result.swapaxes(0, 1) for result in results[:outputs]]


@pytest.mark.parametrize("kind", GATES)
def test_batch_first(kind):
    (made,), inputs = network(kind, operands="xwrbhc" if kind == "LSTM" else "xwrbh", layout=1)
    inputs = {name: np.ascontiguousarray(value.swapaxes(0, 1)) if name in "xhc" else value for name, value in inputs.items()}
    expected = layout_reference(([made], inputs), len(made.output))
    constants = {name: inputs.pop(name) for name in "wrb"}
    check([made], inputs, constants=constants, expected=expected, opset=14, operations=2 + OF_SIZES)


def test_lstm_of_older_operator_sets():
    check_network(network("LSTM"), opset=7)


def test_peepholes_of_zeros():
    nodes, inputs = network("LSTM", operands="xwrbp")
    inputs["p"] *= 0
    check_network((nodes, inputs), "wrbp")


PARAMETERS = {
    "Affine": {"activation_alpha": [0.7], "activation_beta": [0.1]},
    "Elu": {"activation_alpha": [0.6]},
    "HardSigmoid": {"activation_alpha": [0.3], "activation_beta": [0.4]},
    "LeakyRelu": {"activation_alpha": [0.2]},
    "Relu": {},
    "ScaledTanh": {"activation_alpha": [0.8], "activation_beta": [0.5]},
    "Sigmoid": {},
    "Softplus": {},
    "Softsign": {},
    "Tanh": {},
    "ThresholdedRelu": {"activation_alpha": [0.3]},
}


@pytest.mark.parametrize("name", PARAMETERS)
@pytest.mark.parametrize("kind", GATES)
def test_every_activation(kind, name):
    activations = {"RNN": [name], "GRU": [name, "Tanh"], "LSTM": ["Sigmoid", name, "Softsign"]}[kind]
    check_network(network(kind, activations=activations, **PARAMETERS[name]), forms=["static", "dynamic"])


@pytest.mark.parametrize("name", ["HardSigmoid", "LeakyRelu", "Elu"])
def test_default_parameters_of_activations(name):
    check_network(network("LSTM", activations=["Sigmoid", name, "Softsign"]), forms=["static"])


@pytest.mark.parametrize("kind", ["GRU", "LSTM"])
def test_parameters_belong_to_the_activations_that_have_them(kind):
    names = {"GRU": ["Sigmoid", "LeakyRelu", "HardSigmoid", "Elu"], "LSTM": ["Sigmoid", "Elu", "LeakyRelu", "HardSigmoid", "Tanh", "Elu"]}[
        kind
    ]
    lists = {"activation_alpha": [0.1, 0.3, 0.4, 0.5][: 3 if kind == "GRU" else 4], "activation_beta": [0.6]}
    check_network(network(kind, directions=2, direction="bidirectional", activations=names, **lists))


@pytest.mark.parametrize("direction", ["forward", "reverse", "bidirectional"])
@pytest.mark.parametrize("attributes", [{}, {"input_forget": 1}, {"clip": 0.4}])
def test_peepholes(direction, attributes):
    directions = 2 if direction == "bidirectional" else 1
    given = network("LSTM", directions=directions, direction=direction, operands="xwrbshcp", **attributes)
    check_network(given, "wrbp")
    check_network(given, "")


@pytest.mark.parametrize("operands", ["xwr", "xwrb", "xwrbshc"])
def test_coupled_gates(operands):
    check_network(network("LSTM", input_forget=1, operands=operands))


@pytest.mark.parametrize("direction", ["forward", "reverse", "bidirectional"])
@pytest.mark.parametrize("kind", GATES)
def test_lengths_of_unknown_numbers_of_steps(kind, direction):
    directions = 2 if direction == "bidirectional" else 1
    operands = "xwrbshc" if kind == "LSTM" else "xwrbsh"
    for options in ({}, {"linear_before_reset": 1}) if kind == "GRU" else ({},):
        given = network(kind, directions=directions, direction=direction, operands=operands, **options)
        check_network(given, forms=["dynamic", "rank"])
        check_network(given, "", forms=["dynamic"], fixed="wrb")


@pytest.mark.parametrize("direction", ["forward", "reverse"])
@pytest.mark.parametrize("kind", GATES)
def test_sequences_without_steps(kind, direction):
    nodes, inputs = network(kind, direction=direction, operands="xwrbshc" if kind == "LSTM" else "xwrbsh")
    inputs["s"] = np.array([0, 4, 1], dtype=np.int32)
    check_network((nodes, inputs))


@pytest.mark.parametrize("operands", ["xwr", "xwrb", "xwrbs"])
@pytest.mark.parametrize("linear", [0, 1])
def test_gates_of_other_activations(operands, linear):
    check_network(network("GRU", activations=["HardSigmoid", "Softsign"], linear_before_reset=linear, clip=0.6, operands=operands))


@pytest.mark.parametrize("outputs", [["y"], ["", "yh"], ["", "", "yc"], ["y", "", "yc"]])
def test_some_outputs_of_a_loop(outputs):
    check_network(network("LSTM", outputs=outputs, input_forget=1), forms=["dynamic"])


@pytest.mark.parametrize("kind", GATES)
@pytest.mark.parametrize("direction", ["forward", "bidirectional"])
def test_batch_first_in_a_loop(kind, direction):
    """ONNX Runtime does not have `layout = 1`."""
    directions = 2 if direction == "bidirectional" else 1
    names = {"RNN": ["Softsign"], "GRU": ["HardSigmoid", "Tanh"], "LSTM": ["HardSigmoid", "Tanh", "Elu"]}[kind] * directions
    (made,), inputs = network(
        *(kind,), directions=directions, direction=direction, operands="xwrbshc" if kind == "LSTM" else "xwrbsh", activations=names
    )
    from tests.numerical.onnx.conversion import expected_results

    results = expected_results(build([made], inputs, opset=14), inputs, "onnxruntime")
    expected = [result.transpose(2, 0, 1, 3) if result.ndim == 4 else result.swapaxes(0, 1) for result in results]
    swapped = {name: np.ascontiguousarray(value.swapaxes(0, 1)) if name in "xhc" else value for name, value in inputs.items()}
    first = node(kind, made.input, made.output, hidden_size=HIDDEN, direction=direction, activations=names, layout=1)
    check_network(([first], swapped), expected=expected)


@pytest.mark.parametrize(
    ("kind", "attributes", "reason"),
    [
        ("RNN", {"activations": ["Sine"]}, "sine"),
        ("RNN", {"activations": ["ScaledTanh"]}, "no default"),
        ("GRU", {"activations": ["Tanh"]}, "1 activations where 2 are needed"),
        ("GRU", {"direction": "sideways"}, "'sideways' does not exist"),
    ],
)
def test_what_is_no_network(kind, attributes, reason, tmp_path):
    nodes, inputs = network(kind, **attributes)
    with pytest.raises(ConversionError, match=reason):
        convert(build(nodes, inputs, opset=14), tmp_path)


real = normal_numbers(np.random.default_rng(16))

STATES = {
    "LSTM": NodeCase(
        "LSTM",
        {"x": real(3, 2, 4), "h": real(2, 2, 3)},
        {"w": real(2, 12, 4), "r": real(2, 12, 3), "c": real(2, 2, 3)},
        operands="x w r - - h c",
        attributes={"hidden_size": 3, "direction": "bidirectional"},
        options=DYNAMIC | {"opset": 7},
    ),
    "GRU": NodeCase(
        "GRU",
        {"x": real(4, 3, 2)},
        {"w": real(1, 6, 2), "r": real(1, 6, 2), "h": real(1, 3, 2)},
        operands="x w r - - h",
        attributes={"hidden_size": 2},
        options=DYNAMIC,
    ),
}

NODES: dict[str, NodeCase] = {
    "LSTM with weights of dynamic sizes": NodeCase(
        "LSTM", {"x": real(2, 1, 4), "w": real(1, 12, 4), "r": real(1, 12, 3)}, attributes={"hidden_size": 3}
    ),
    **{f"{name} whose state says the batch": case for name, case in STATES.items()},
    "LSTM whose lengths say the batch": NodeCase(
        "LSTM",
        {"x": real(4, 2, 3), "lengths": np.array([4, 2], np.int32)},
        {"w": real(2, 8, 3), "r": real(2, 8, 2)},
        operands="x w r - lengths",
        attributes={"hidden_size": 2, "direction": "bidirectional"},
        options=DYNAMIC | {"opset": 14, "fixed": ["lengths"]},
    ),
    "LSTM with weights of dynamic rank": NodeCase(
        "LSTM",
        {"w": real(1, 12, 2), "r": real(1, 12, 3), "p": real(1, 9)},
        {"x": real(4, 2, 2), "b": real(1, 24)},
        operands="x w r b - - - p",
        attributes={"hidden_size": 3},
        options=COMPLETE | WITHOUT_RANK,
    ),
    "LSTM of unknown input size": NodeCase(
        "LSTM",
        {"x": real(4, 3, 1), "n": np.array([1, 1, 1], np.int32)},
        {"w": real(1, 16, 1), "r": real(1, 16, 4)},
        operands="x w r - n",
        attributes={"hidden_size": 4, "direction": "reverse"},
        options=COMPLETE | DYNAMIC,
    ),
}


@pytest.mark.parametrize("case", NODES.values(), ids=NODES)
def test_node(case: NodeCase) -> None:
    case.check()


@pytest.mark.parametrize(("kind", "gates"), [("LSTM", 4), ("GRU", 3)])
def test_lengths_of_a_batch_of_unknown_size(kind: str, gates: int) -> None:
    """The number of steps is known."""
    inputs = {"x": real(4, 2, 3), "lengths": np.array([4, 2], np.int32)}
    constants = {"w": real(2, gates * 2, 3), "r": real(2, gates * 2, 2)}
    nodes = [node(kind, ["x", "w", "r", "", "lengths"], ["y", "h"], hidden_size=2, direction="bidirectional")]
    expected = expected_results(build(nodes, inputs, constants=constants, opset=14), inputs, "onnxruntime")
    model = build(nodes, inputs, constants=constants, opset=14, form="dynamic")
    model.graph.input[0].type.tensor_type.shape.dim[0].dim_value = 4
    with TemporaryDirectory() as folder:
        compare(run(convert(model, Path(folder)), inputs), expected)
