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


def test_an_occurrence_of_a_pass_that_occurs_twice() -> None:
    assert order(transformation("mine", ("clean#1",))) == [*PIPELINE[:5], "mine", *PIPELINE[5:]]
    assert order(transformation("mine", ("clean#2",))) == order(transformation("mine", ("clean",)))
    assert order(transformation("mine", ("fuse",), ("clean#2",))) == [*PIPELINE[:6], "mine", *PIPELINE[6:]]
    assert order(transformation("mine", ("fuse#1",))) == order(transformation("mine", ("fuse",)))
    assert order(transformation("mine", ("elsewhere#2",)), optional=("elsewhere",)).count("mine") == 1


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("clean#3", "mine refers to 'clean#3', but the pass clean runs 2 times; say clean#1 or clean#2"),
        ("clean#0", "runs 2 times; say clean#1 or clean#2"),
        ("clean#x", "runs 2 times; say clean#1 or clean#2"),
        ("fuse#2", "the pass fuse runs once; say fuse"),
        ("claen#1", "refers to 'claen#1', which is not a pass; did you mean clean?"),
    ],
)
def test_an_occurrence_that_does_not_exist(name: str, message: str) -> None:
    with pytest.raises(ConversionError) as raised:
        order(transformation("mine", (name,)))
    assert message in str(raised.value)


def test_a_cycle_because_a_pass_occurs_twice() -> None:
    with pytest.raises(ConversionError) as raised:
        order(transformation("mine", ("clean",), ("fuse",)))
    assert str(raised.value).endswith(
        "; the pass clean runs 2 times, where run_after means after the last and run_before before the first; "
        "say clean#1 or clean#2 to mean one of them"
    )
    assert order(transformation("mine", ("clean#1",), ("fuse",)))[5] == "mine"


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
    with pytest.raises(ConversionError, match=r"refers to 'fusee'.*did you mean fuse"):
        order(transformation("mine", ("fusee",)))
    assert order(transformation("mine", ("middle-start", "elsewhere")), optional=("elsewhere",))[4] == "mine"
