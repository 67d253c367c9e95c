"""Decoders with a cache, converted with --generation: prefill, further tokens, padding and reordered beams."""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import onnxruntime
import openvino
import pytest
from onnx import TensorProto, helper

import moir
from moir.conversion import notes_of
from moir.errors import ConversionError
from moir.tools.convert import main
from tests.numerical.onnx.conversion import node
from tests.numerical.runtime import Array, core

VOCABULARY, HEADS, SIZE = 11, 2, 8
WIDTH = HEADS * SIZE
RANDOM = np.random.default_rng(7)
SHAPES = {"embedding": (VOCABULARY, WIDTH), **dict.fromkeys(("wq", "wk", "wv"), (WIDTH, WIDTH)), "out": (WIDTH, VOCABULARY)}
WEIGHTS = {name: RANDOM.normal(size=shape).astype(np.float32) for name, shape in SHAPES.items()}
CONSTANTS: dict[str, Any] = {
    "zero": np.array(0), "one": np.array(1), "two": np.array(2), "heads": np.array([0, 0, HEADS, SIZE]), "flat": np.array([0, 0, WIDTH]),
    "seen": np.array(0, np.float32), "hidden": np.array(-3e38, np.float32), "scale": np.array(SIZE**-0.5, np.float32),
    "front": np.array([0, 1, 2]), "around": np.array([0, 1, 3]), "middle": np.array([1, 2]),
}  # fmt: skip


def mask(keys: str, window: int) -> list[onnx.NodeProto]:
    """The nodes of a mask: causal after the cached keys, padded, and with a window if that is not 0."""
    near = [
        node("Sub", ["queries", "window"], ["far"]),
        node("Greater", ["keys", "far"], ["near"]),
        node("And", ["near", "causal"], ["visible"]),
    ]
    return [
        node("Shape", [keys], ["sizes"]),
        node("Gather", ["sizes", "two"], ["past"]),
        node("Shape", ["input_ids"], ["new_sizes"]),
        node("Gather", ["new_sizes", "one"], ["count"]),
        node("Add", ["past", "count"], ["total"]),
        node("Range", ["zero", "total", "one"], ["all"]),
        node("Range", ["past", "total", "one"], ["last"]),
        node("Unsqueeze", ["all", "front"], ["keys"]),
        node("Unsqueeze", ["last", "around"], ["queries"]),
        node("LessOrEqual", ["keys", "queries"], ["causal"]),
        *(near if window else [node("Identity", ["causal"], ["visible"])]),
        node("Cast", ["attention_mask"], ["real"], to=TensorProto.BOOL),
        node("Unsqueeze", ["real", "middle"], ["padding"]),
        node("And", ["visible", "padding"], ["allowed"]),
        node("Where", ["allowed", "seen", "hidden"], ["mask"]),
    ]


@cache
def decoder(past: str = "past_key_values.0.{}", present: str = "present.0.{}", window: int = 0, further: str = "") -> onnx.ModelProto:
    """A decoder of one layer."""
    heads = [part for name in "qkv" for part in (
        node("MatMul", ["x", f"w{name}"], [name]), node("Reshape", [name, "heads"], [f"{name}h"]),
        node("Transpose", [f"{name}h"], [f"{name}t"], perm=[0, 2, 1, 3]))]  # fmt: skip
    names = [(past.format(kind), present.format(kind)) for kind in ("key", "value")]
    nodes = [
        *mask(names[0][0], window),
        node("Gather", ["embedding", "input_ids"], ["x"]),
        *heads,
        node("Concat", [names[0][0], "kt"], [names[0][1]], axis=2),
        node("Concat", [names[1][0], "vt"], [names[1][1]], axis=2),
        node("Transpose", [names[0][1]], ["turned"], perm=[0, 1, 3, 2]),
        node("MatMul", ["qt", "turned"], ["products"]),
        node("Mul", ["products", "scale"], ["scaled"]),
        node("Add", ["scaled", "mask"], ["scores"]),
        node("Softmax", ["scores"], ["weights"], axis=-1),
        node("MatMul", ["weights", names[1][1]], ["mixed"]),
        node("Transpose", ["mixed"], ["rows"], perm=[0, 2, 1, 3]),
        node("Reshape", ["rows", "flat"], ["joined"]),
        node("Add", ["joined", "x"], ["sum"]),
        node("MatMul", ["sum", "out"], ["logits"]),
    ]
    info = helper.make_tensor_value_info
    ids = [info("input_ids", TensorProto.INT64, ["b", "t"]), info("attention_mask", TensorProto.INT64, ["b", "s"])]
    caches = [info(name, TensorProto.FLOAT, ["b", HEADS, "p", SIZE]) for name, _ in names]
    inputs = [*ids, *caches, *([info(further, TensorProto.FLOAT, [1])] if further else [])]
    outputs = [info(name, TensorProto.FLOAT, None) for name in ("logits", *(each for _, each in names))]
    constants = {**WEIGHTS, **CONSTANTS, **({"window": np.array(window)} if window else {})}
    used = {name for each in nodes for name in each.input}
    weights = [onnx.numpy_helper.from_array(value, name) for name, value in constants.items() if name in used]
    graph = helper.make_graph(nodes, "decoder", inputs, outputs, weights)
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 20)], ir_version=10)


def converted(model: onnx.ModelProto, path: Path, *options: str) -> openvino.Model:
    """The IR in the folder that a command line writes."""
    onnx.save(model, path / "decoder.onnx")
    assert main([str(path / "decoder.onnx"), "--generation", "-o", str(path / "out"), "--silent", *options]) == 0
    return core().read_model(path / "out" / "openvino_model.xml")


def logits_of(request: openvino.InferRequest, ids: Array, attention_mask: Array, beams: list[int]) -> Array:
    """The logits of new tokens after those in the cache."""
    request.infer({"input_ids": ids, "attention_mask": attention_mask, "beam_idx": np.array(beams, np.int32)})
    return request.get_tensor("logits").data.copy()


def expected_logits(model: onnx.ModelProto, ids: Array, attention_mask: Array) -> Array:
    """The logits of all tokens at once, by ONNX Runtime."""
    session = onnxruntime.InferenceSession(model.SerializeToString())
    empty = np.zeros((len(ids), HEADS, 0, SIZE), np.float32)
    caches = {each.name: empty for each in session.get_inputs()[2:]}
    return np.asarray(session.run(["logits"], {"input_ids": ids, "attention_mask": attention_mask, **caches})[0])


@pytest.mark.parametrize("window", [0, 3])
def test_steps(tmp_path: Path, window: int) -> None:
    """The second text is padded on the left; the third step follows the rows of the second in another order."""
    source = decoder(window=window)
    model = converted(source, tmp_path)
    assert [each.get_any_name() for each in model.inputs] == ["input_ids", "attention_mask", "beam_idx"]
    assert [each.get_any_name() for each in model.outputs] == ["logits"]
    kinds = [each.get_type_name() for each in model.get_ops()]
    assert [kinds.count(kind) for kind in ("ReadValue", "Assign", "ScaledDotProductAttention")] == [2, 2, 1]
    assert ("BitwiseAnd" in kinds) == (window > 0)
    request = core().compile_model(model, "CPU", {"INFERENCE_PRECISION_HINT": "f32", "KV_CACHE_PRECISION": "f32"}).create_infer_request()
    ids = np.array([[1, 2, 3, 4, 5], [0, 0, 7, 8, 9]])
    attention_mask = np.array([[1, 1, 1, 1, 1], [0, 0, 1, 1, 1]])
    rows: list[Array] = []
    for begin, end, beams in ((0, 3, [0, 1]), (3, 4, [0, 1]), (4, 5, [1, 0])):
        # The rows of the cache are reordered before the last token, and so are the texts.
        rows.append(logits_of(request, ids[:, begin:end], attention_mask[beams, :end], beams))
    whole = expected_logits(source, ids, attention_mask)
    for row, first in ((0, 0), (1, 2)):
        np.testing.assert_allclose(np.concatenate([each[row] for each in rows[:2]])[first:], whole[row, first:4], rtol=1e-4, atol=1e-5)
    swapped = np.concatenate([ids[[1, 0], :4], ids[:, 4:]], axis=1)
    last = expected_logits(source, swapped, attention_mask[[1, 0]])[:, -1]
    np.testing.assert_allclose(rows[2][:, 0], last, rtol=1e-4, atol=1e-5)
    request.reset_state()
    again = logits_of(request, ids[:, :3], attention_mask[:, :3], [0, 1])
    np.testing.assert_array_equal(again, rows[0])


def grouped_decoder() -> onnx.ModelProto:
    """A decoder whose attention writes new keys into the cache, as those of onnxruntime-genai."""
    names = [f"{side}.0.{kind}" for side in ("past_key_values", "present") for kind in ("key", "value")]
    operands, results = ["q", "k", "v", *names[:2], "last_32", "total_32"], ["mixed", *names[2:]]
    settings = {"domain": "com.microsoft", "num_heads": HEADS, "kv_num_heads": HEADS}
    nodes = [
        node("Gather", ["embedding", "input_ids"], ["x"]),
        *[node("MatMul", ["x", f"w{name}"], [name]) for name in "qkv"],
        node("Shape", ["attention_mask"], ["sizes"]),
        node("Gather", ["sizes", "one"], ["total"]),
        node("Cast", ["total"], ["total_32"], to=TensorProto.INT32),
        node("ReduceSum", ["attention_mask", "ones"], ["lengths"], keepdims=1),
        node("Sub", ["lengths", "one"], ["last"]),
        node("Cast", ["last"], ["last_32"], to=TensorProto.INT32),
        node("GroupQueryAttention", operands, results, **settings),
        node("Add", ["mixed", "x"], ["sum"]),
        node("MatMul", ["sum", "out"], ["logits"]),
    ]
    info = helper.make_tensor_value_info
    ids = [info("input_ids", TensorProto.INT64, ["b", "t"]), info("attention_mask", TensorProto.INT64, ["b", "s"])]
    caches = [info(name, TensorProto.FLOAT, ["b", HEADS, name[:4], SIZE]) for name in names]
    constants = {**WEIGHTS, "one": np.array(1), "ones": np.array([1])}
    weights = [onnx.numpy_helper.from_array(value, name) for name, value in constants.items()]
    graph = helper.make_graph(nodes, "grouped", [*ids, *caches[:2]], [info("logits", TensorProto.FLOAT, None), *caches[2:]], weights)
    versions = [helper.make_opsetid("", 20), helper.make_opsetid("com.microsoft", 1)]
    return helper.make_model(graph, opset_imports=versions, ir_version=10)


def test_keys_that_are_written_into_the_cache(tmp_path: Path) -> None:
    """One text without padding, with a note that others are not possible."""
    source = grouped_decoder()
    model = converted(source, tmp_path)
    request = core().compile_model(model, "CPU", {"INFERENCE_PRECISION_HINT": "f32", "KV_CACHE_PRECISION": "f32"}).create_infer_request()
    ids = np.array([[1, 2, 3, 4, 5]])
    rows = [logits_of(request, ids[:, begin:end], np.ones((1, end), np.int64), [0]) for begin, end in ((0, 3), (3, 4), (4, 5))]
    np.testing.assert_allclose(np.concatenate(rows, axis=1), expected_logits(source, ids, np.ones_like(ids)), rtol=1e-4, atol=1e-4)
    [note] = notes_of(moir.convert_model(tmp_path / "decoder.onnx", generation=True))
    assert 'ATTENTION_BACKEND="SDPA", and give it one text at a time' in note


@pytest.mark.parametrize(
    ("past", "present", "options"),
    [
        ("past_key_values.layers.0.{}s", "cache.layers.0.{}s", []),
        ("old_{}", "new_{}", ["--stateful", "old_key=new_key,old_value=new_value"]),
    ],
)
def test_names_of_pairs(tmp_path: Path, past: str, present: str, options: list[str]) -> None:
    model = converted(decoder(past, present), tmp_path, *options)
    assert sum(each.get_type_name() == "ReadValue" for each in model.get_ops()) == 2


@pytest.mark.parametrize(
    ("past", "present", "further", "message"),
    [
        ("old_{}", "new_{}", "", r"no inputs and outputs of a cache, as past_key_values\.N\.key and present\.N\.key"),
        ("past_key_values.0.{}", "new_{}", "", r"the input 'past_key_values\.0\.key' of a cache has no output 'present\.0\.key'"),
        ("past_key_values.0.{}", "present.0.{}", "use_cache", "gives no value to the input 'use_cache'"),
    ],
)
def test_errors(tmp_path: Path, past: str, present: str, further: str, message: str) -> None:
    onnx.save(decoder(past, present, 0, further), tmp_path / "decoder.onnx")
    with pytest.raises(ConversionError, match=message):
        moir.convert_model(tmp_path / "decoder.onnx", generation=True)
