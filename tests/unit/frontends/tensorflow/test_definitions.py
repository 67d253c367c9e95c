"""Nodes that are not as TensorFlow defines their kind are refused at the import, and the table is that of the installed one."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from moir.errors import ModelFileError
from moir.frontends.tensorflow.definition_table import DEFINITIONS
from moir.lowering.tensorflow.index import INDEX
from moir.support.tables import by_member
from tests.unit.frontends.tensorflow.samples import FLOAT, INT32, constant, graph, node, placeholder, read

AXIS = constant("axis", 0)


@pytest.mark.parametrize(
    ("nodes", "reason"),
    [
        ([node("y", "Reshape", "x")], "tf.Reshape 'y': it has 1 operands, where 2 are needed"),
        ([node("y", "Relu", "x x")], "tf.Relu 'y': it has 2 operands, where 1 are needed"),
        ([node("y", "ConcatV2", "axis", N=0)], "attribute N stands for 0 operands, where at least 2 are needed"),
        ([node("y", "ConcatV2", "axis")], "it has 1 operands, where at least 3 are needed"),
        ([node("y", "ConcatV2", "x x axis", N=3)], "it has 3 operands, where 4 are needed"),
        ([node("y", "Pack", "")], "it has 0 operands, where at least 1 are needed"),
        ([node("y", "Merge", "", N=0)], "attribute N stands for 0 operands"),
        ([node("y", "Enter", "x")], "attribute frame_name is missing"),
        ([node("y", "Enter", "x", frame_name=3)], "attribute frame_name is of another type"),
        ([node("y", "MaxPool", "x", ksize=[1, 1, 1, 1], padding="SAME")], "attribute strides is missing"),
        ([node("m", "Enter", "x", frame_name="f"), node("y", "Relu", "m:7")], "tf.Enter 'm': m:7 is used, but it has 1 outputs"),
        ([node("m", "Split", "axis x", num_split=2), node("y", "AddV2", "m:1 m:2")], "m:2 is used, but it has 2 outputs"),
    ],
)
def test_contradictions(nodes: list[Any], reason: str, tmp_path: Path) -> None:
    with pytest.raises(ModelFileError, match=reason) as failure:
        read(graph(placeholder("x"), AXIS, *nodes), tmp_path)
    assert failure.value.node in ("y", "m")
    assert failure.value.hint == "the graph was cut or damaged"


def test_what_may_be_missing(tmp_path: Path) -> None:
    """Lengths that follow from the operands, types, and all of a kind that TensorFlow does not define."""
    for each in (
        [node("y", "ConcatV2", "x x axis")],
        [node("y", "Pack", "x x x", T=FLOAT)],
        [node("y", "Strange", "x x x", whatever=INT32)],
        [node("y", "_FusedConv2D", "x x")],
    ):
        read(graph(placeholder("x"), AXIS, *each), tmp_path)


def test_every_lowered_kind_has_a_definition() -> None:
    kinds = by_member(INDEX).keys()
    undefined = {kind for kind in kinds - DEFINITIONS.keys() if not kind.startswith("_")}
    # Those of libraries, and of releases of TensorFlow that nothing has any more.
    assert len(undefined) < len(kinds) / 20


def test_the_table_is_that_of_tensorflow() -> None:
    from scripts.tensorflow_definitions import table

    assert table() == DEFINITIONS
