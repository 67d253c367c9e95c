"""The kinds that several files name."""

from __future__ import annotations

import ast

import pytest

from scripts import named_kinds

FRAMEWORKS = ("onnx", "tf", "caffe", "mxnet", "tflite", "keras", "stablehlo", "aten", "paddle", "transformers")
LARGEST = 60
"""A framework has fewer kinds than this that several files name."""


@pytest.fixture(scope="module")
def files_by_kind() -> dict[str, dict[str, list[str]]]:
    """The files that name each kind, by framework."""
    tables = {each.framework: each for each in named_kinds.packages().values()}
    return {name: dict(named_kinds.named(tables[name]).files) for name in FRAMEWORKS}


@pytest.mark.parametrize("framework", FRAMEWORKS)
def test_every_second_name_of_a_kind_has_a_reason(files_by_kind: dict[str, dict[str, list[str]]], framework: str) -> None:
    assert named_kinds.without_reason(files_by_kind[framework]) == {}


@pytest.mark.parametrize("framework", FRAMEWORKS)
def test_few_kinds_are_named_in_several_files(files_by_kind: dict[str, dict[str, list[str]]], framework: str) -> None:
    assert len(named_kinds.in_several(files_by_kind[framework])) < LARGEST


def test_every_reason_is_for_a_file_that_names_a_kind_of_another_one(files_by_kind: dict[str, dict[str, list[str]]]) -> None:
    several = {file for each in files_by_kind.values() for files in named_kinds.in_several(each).values() for file in files}
    assert [reason for reason in named_kinds.REASONS if not any(file.startswith(reason) for file in several)] == []


def test_generated_files_are_left_out() -> None:
    assert named_kinds.is_generated(ast.parse('"""Kinds; `python -m scripts.lowering_index` writes it."""'))
    assert not named_kinds.is_generated(ast.parse('"""Kinds that a handler writes."""'))
