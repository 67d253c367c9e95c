"""Transformations slotted into a pipeline."""

from __future__ import annotations

import pytest

from moir.errors import ConversionError
from moir.extensions.ordering import Transformation, slotted_in
from moir.pipeline import ANCHORS

PIPELINE = ["front-start", "lower-onnx", "front-finish", "middle-start", "clean", "fuse", "clean", "middle-finish"]


def transformation(
    name: str, run_after: tuple[str, ...] = ("middle-start",), run_before: tuple[str, ...] = ("middle-finish",)
) -> Transformation:
    return Transformation(name, ANCHORS["front-start"], run_after, run_before)


def order(*transformations: Transformation, optional: tuple[str, ...] = ()) -> list[str]:
    return [each if isinstance(each, str) else each.name for each in slotted_in(PIPELINE, transformations, optional)]


def test_without_transformations() -> None:
    assert order() == PIPELINE


def test_as_early_as_allowed() -> None:
    assert order(transformation("mine")) == [*PIPELINE[:4], "mine", *PIPELINE[4:]]
    assert order(transformation("mine", ("fuse",))) == [*PIPELINE[:6], "mine", *PIPELINE[6:]]


def test_a_pass_that_occurs_twice() -> None:
    assert order(transformation("mine", ("clean",))) == [*PIPELINE[:7], "mine", *PIPELINE[7:]]
    assert order(transformation("mine", ("middle-start",), ("clean",))) == [*PIPELINE[:4], "mine", *PIPELINE[4:]]


def test_transformations_among_each_other() -> None:
    first, second, third = transformation("b"), transformation("a", ("b",)), transformation("c", run_before=("b",))
    assert order(first, second, third)[4:7] == ["c", "b", "a"]


def test_order_of_names_where_nothing_else_is_said() -> None:
    assert order(transformation("z"), transformation("a"), transformation("m"))[4:7] == ["a", "m", "z"]


def test_a_cycle_is_named() -> None:
    with pytest.raises(ConversionError, match=r"a -> b -> a|b -> a -> b"):
        order(transformation("a", ("b",)), transformation("b", ("a",)))
    with pytest.raises(ConversionError, match="mine") as raised:
        order(transformation("mine", ("fuse",), ("front-finish",)))
    assert "front-finish" in str(raised.value)
    assert "fuse" in str(raised.value)
    assert "middle-start" not in str(raised.value)


def test_a_name_nothing_has() -> None:
    with pytest.raises(ConversionError, match=r"refers to 'fusee'.*nearest names are fuse"):
        order(transformation("mine", ("fusee",)))
    assert order(transformation("mine", ("middle-start", "elsewhere")), optional=("elsewhere",))[4] == "mine"
