"""Names of tensors that are passed on."""

from __future__ import annotations

import pytest

from moir.dialects.element_types import f32
from moir.dialects.names import MAXIMUM_NAMES, add_tensor_names, inherit_names, names_of, tensor_names, tensor_names_of
from moir.dialects.opset import operation
from moir.dialects.shapes import tensor


def split(*names: str):
    """An operation of two results with tensor names."""
    return operation("opset1.Split").create(result_types=[tensor((1,), f32)] * 2, attributes={"tensor_names": tensor_names(*names)})


@pytest.mark.parametrize(
    ("present", "added", "expected"),
    [
        ("a", "b", "a,b"),
        ("ab", "a", "ab,a"),
        ("a,b", "a", "a,b"),
        ("a,b", "b,c", "a,b,c"),
        ("", "b", "b"),
        ("a\\,b", "b", "a\\,b,b"),
        ("x,a\\,b", "a\\,b", "x,a\\,b"),
    ],
)
def test_names_are_added_once(present: str, added: str, expected: str) -> None:
    op = split("", "other")
    if present:
        add_tensor_names(op.results[0], present)
    add_tensor_names(op.results[0], added)
    assert tensor_names_of(op) == [expected, "other"]


def test_names_that_no_output_needs_are_limited() -> None:
    op = split("a", "")
    for number in range(2 * MAXIMUM_NAMES):
        add_tensor_names(op.results[0], f"n{number}")
    assert len(names_of(op.results[0])) == MAXIMUM_NAMES
    add_tensor_names(op.results[0], "output", required=True)
    assert names_of(op.results[0])[-1] == "output"


def test_names_of_several_results_are_passed_on_to_their_replacements() -> None:
    old, new = split("a", "b"), split("c", "")
    inherit_names(old, [new.results[1], new.results[1]])
    assert tensor_names_of(new) == ["c", "a,b"]
