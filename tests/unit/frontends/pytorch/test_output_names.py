"""The names of outputs: keys of dictionaries and fields of classes that the module returns."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import moir
from moir.dialects.moir import models_of
from moir.dialects.names import name_of, names_of
from moir.dialects.opset.infrastructure import Result
from moir.frontends.pytorch import read_model
from tests.numerical.pytorch.programs import Program, archive
from tests.numerical.runtime import core

LEAF: dict[str, Any] = {"type": None, "context": None, "children_spec": []}


def spec(type_: str, context: str | None, *children: Any) -> dict[str, Any]:
    """A structure as programs write it."""
    return {"type": type_, "context": context, "children_spec": list(children)}


def listed(*children: Any) -> dict[str, Any]:
    """The structure of a list."""
    return spec("builtins.list", "null", *children)


def program(structure: Any, count: int, fields: Any = None) -> bytes:
    """The archive of a program of some outputs that returns a structure; the first output is its input."""
    made = Program()
    x = made.input("x", "f32", [2])
    made.output(x)
    for number in range(count - 1):
        made.output(made.node("aten.add.Tensor", [("self", x), ("other", number)], "f32", [2]))
    content = made.json()
    text = structure if isinstance(structure, str) else json.dumps([1, structure])
    content["graph_module"]["module_call_graph"] = [{"fqn": "", "signature": {"out_spec": text}}]
    content["graph_module"]["treespec_namedtuple_fields"] = fields or {}
    return archive({**made.records(), "m/models/model.json": json.dumps(content).encode()})


def outputs(path: Path) -> list[str | None]:
    """The names of the outputs of the module that is read."""
    return [name_of(op) for op in models_of(read_model(path))[0].block.ops if isinstance(op, Result)]


@pytest.mark.parametrize(
    ("structure", "expected"),
    [
        (spec("builtins.dict", '["logits", "past"]', LEAF, listed(LEAF, LEAF)), ["logits", "past_0", "past_1"]),
        (spec("transformers.Output", '["a", "b"]', LEAF, spec("builtins.tuple", "null", LEAF, LEAF)), ["a", "b_0", "b_1"]),
        (spec("builtins.tuple", "null", spec("builtins.dict", '["a"]', LEAF), LEAF, LEAF), ["a", "v0_0", "v1_0"]),
        (spec("collections.namedtuple", "zoo.P", LEAF, LEAF, LEAF), ["first", "second", "third"]),
        (listed(LEAF, LEAF, LEAF), ["x", "v0_0", "v1_0"]),
        # Two outputs of one name, and one with the name of another tensor, have the names of their tensors.
        (listed(spec("builtins.dict", '["a"]', LEAF), spec("builtins.dict", '["a"]', LEAF), LEAF), ["x", "v0_0", "v1_0"]),
        (spec("builtins.dict", '["v1_0", "b", "c"]', LEAF, LEAF, LEAF), ["x", "b", "c"]),
        # What is no structure of these outputs names none.
        (listed(LEAF), ["x", "v0_0", "v1_0"]),
        (spec("builtins.dict", '["a"', LEAF, LEAF, LEAF), ["x", "v0_0", "v1_0"]),
        ("[" * 20000, ["x", "v0_0", "v1_0"]),
        ("", ["x", "v0_0", "v1_0"]),
        ("3", ["x", "v0_0", "v1_0"]),
    ],
)
def test_names(tmp_path: Path, structure: Any, expected: list[str]) -> None:
    (tmp_path / "m.pt2").write_bytes(program(structure, 3, {"zoo.P": {"field_names": ["first", "second", "third"]}}))
    assert outputs(tmp_path / "m.pt2") == expected


def test_the_runtime_has_these_names(tmp_path: Path) -> None:
    (tmp_path / "m.pt2").write_bytes(program(spec("builtins.dict", '["same", "out"]', LEAF, LEAF), 2))
    model = moir.to_openvino(moir.convert_model(tmp_path / "m.pt2"))
    compiled = core().compile_model(model, "CPU")
    actual = compiled({"x": np.array([1, 2], np.float32)})
    np.testing.assert_array_equal(actual["same"], [1, 2])
    np.testing.assert_array_equal(actual["out"], [1, 2])
    assert [port.get_any_name() for port in compiled.outputs] == ["same", "out"]
    parameter = next(iter(models_of(read_model(tmp_path / "m.pt2"))[0].block.ops))
    assert names_of(parameter.results[0]) == ["x", "same"]
