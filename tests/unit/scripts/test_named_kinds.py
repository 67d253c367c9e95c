"""The kinds that several files name."""

from __future__ import annotations

import ast

import pytest

from scripts import named_kinds

FRAMEWORKS = ("onnx", "tf", "caffe", "mxnet", "tflite", "keras", "stablehlo", "aten", "paddle", "transformers")
LARGEST = 60
"""A framework has fewer kinds than this that several files of lowerings name."""


@pytest.fixture(scope="module")
def files_by_kind() -> dict[str, dict[str, list[str]]]:
    """The files that name each kind, by framework."""
    tables = {each.framework: each for each in named_kinds.packages().values()}
    return {name: named_kinds.named(tables[name]) for name in FRAMEWORKS}


@pytest.mark.parametrize("framework", FRAMEWORKS)
def test_every_second_name_of_a_kind_has_a_reason(files_by_kind: dict[str, dict[str, list[str]]], framework: str) -> None:
    assert named_kinds.without_reason(files_by_kind[framework]) == {}


@pytest.mark.parametrize("framework", FRAMEWORKS)
def test_few_kinds_are_named_in_several_lowerings(files_by_kind: dict[str, dict[str, list[str]]], framework: str) -> None:
    lowerings = {kind: [each for each in files if each.startswith("lowering/")] for kind, files in files_by_kind[framework].items()}
    assert len(named_kinds.in_several(lowerings)) < LARGEST


def test_literals_are_found_where_kinds_are_named() -> None:
    tree = ast.parse('@tf.lowers("Add", since=7)\ndef add(): "Abs"\nX = {"Sub": "Mul"}\nY = op.KIND == "Div"\nnode.integer("Max")')
    assert sorted(named_kinds.literals(tree)) == ["Add", "Div", "Sub"]


def test_texts_are_tables_if_most_words_are_kinds() -> None:
    tree = ast.parse('A = "Add Sub, Mul"\nB = "Add one to it"')
    assert list(named_kinds.tables(tree, {"Add", "Sub", "Mul"})) == ["Add", "Sub", "Mul"]


def test_generated_files_are_left_out() -> None:
    assert named_kinds.is_generated(ast.parse('"""Kinds; `python -m scripts.lowering_index` writes it."""'))
    assert not named_kinds.is_generated(ast.parse('"""Kinds that a handler writes."""'))
