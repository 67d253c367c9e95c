"""The notation of layouts, of one tensor and of several."""

from __future__ import annotations

from types import SimpleNamespace

import openvino
import pytest

from moir.errors import ArgumentError, UsageError
from moir.parameters.layouts import Layout
from moir.parameters.notation import NotationError
from moir.parameters.tensor_layouts import TensorLayout, notation_of, tensor_layouts


@pytest.mark.parametrize(
    "text", ["nchw", "NcHW", "nc?w", "n...c", "?", "...", "[n,c]", "[b,depth,width,height,channel]", "[batch,x_1,?,...]", "nhwc2", "c..."]
)
def test_the_runtime_reads_layouts_alike(text: str) -> None:
    assert openvino.Layout(text) == openvino.Layout(Layout.of_text(text).for_runtime)
    assert Layout.of_text(str(Layout.of_text(text))) == Layout.of_text(text)


@pytest.mark.parametrize("text", ["nhwc", "[nhwc]", "[N, H, W, C]", " n h w c "])
def test_forms_of_a_layout(text: str) -> None:
    assert Layout.of_text(text) == Layout(("N", "H", "W", "C"))


def test_a_name_of_one_dimension_is_no_short_form() -> None:
    assert Layout.of_text("[time]") == Layout(("TIME",))


def test_fused_dimensions_have_no_name_in_the_runtime() -> None:
    layout = Layout.of_text("[n*c,h,w]")
    assert layout.dimensions == ("N*C", "H", "W")
    assert str(layout) == "[n*c,h,w]"
    assert openvino.Layout(layout.for_runtime) == openvino.Layout("?hw")


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("", "a layout is missing at the end"),
        ("nchwn", "'n' is there twice at character 5"),
        ("[batch,n]", "'n' is there twice at character 8"),
        ("[n,c", "',' or ']' is missing at the end"),
        ("[n,,c]", "the name of a dimension is missing at character 4"),
        ("n..c", "'.' is unexpected at character 2"),
        ("n......", "'...' is there twice at character 5"),
        ("[n,?*c]", "only dimensions with names can be fused at character 4"),
        ("nc-hw", "'-' is unexpected at character 3"),
        ("[_]", "the name of a dimension is missing at character 2"),
        ("ñc", "a layout is missing at character 1"),
    ],
)
def test_mistakes_are_located(text: str, reason: str) -> None:
    with pytest.raises(NotationError) as caught:
        Layout.of_text(text)
    assert f"{text!r}: {reason}" in str(caught.value)


def test_ranks() -> None:
    assert Layout.of_text("n...c").of_rank(4) == Layout.of_text("n??c")
    assert Layout.of_text("n...c").of_rank(2) == Layout.of_text("nc")
    with pytest.raises(UsageError, match=r"the layout n...c has 2 or more dimensions, not 1"):
        Layout.of_text("n...c").of_rank(1)
    with pytest.raises(UsageError, match="the layout nchw has 4 dimensions, not 3"):
        Layout.of_text("nchw").of_rank(3)


def test_places_of_dimensions() -> None:
    assert Layout.of_text("nchw").index("C") == 1
    assert Layout.of_text("n...c").index("C") == -1
    assert Layout.of_text("nhw").index("C") is None


N_C, C_N = Layout(("N", "C")), Layout(("C", "N"))
BOTH = TensorLayout("a", N_C, C_N)


@pytest.mark.parametrize(
    "value",
    [
        "a(nc->cn)",
        "a( nc -> [c,n] )",
        "a[n,c]->[c,n]",
        "'a'(nc->cn)",
        {"a": "nc->cn"},
        {"a": ("nc", "cn")},
        {"a": [N_C, C_N]},
        {"a": SimpleNamespace(source_layout="nc", target_layout="cn")},
        {"a": (openvino.Layout("nc"), openvino.Layout("cn"))},
    ],
)
def test_forms_of_the_layouts_of_a_tensor(value: object) -> None:
    assert tensor_layouts(value) == (BOTH,)
    assert notation_of(tensor_layouts(value)) == "a(nc->cn)"


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        ("nc", (TensorLayout("", N_C),)),
        ("nc->", (TensorLayout("", N_C),)),
        ("->cn", (TensorLayout("", None, C_N),)),
        ("nc->[c,n]", (TensorLayout("", N_C, C_N),)),
        ("nc,cn->nc", (TensorLayout("", N_C), TensorLayout("", C_N, N_C))),
        (["nc", ("cn", None)], (TensorLayout("", N_C), TensorLayout("", C_N))),
        ("a(nc),b[c,n]", (TensorLayout("a", N_C), TensorLayout("b", C_N))),
        ("scope/x:0(nc)", (TensorLayout("scope/x:0", N_C),)),
        ("'a(b)'(nc),\"it's\"[nc]", (TensorLayout("a(b)", N_C), TensorLayout("it's", N_C))),
        (openvino.Layout("nc"), (TensorLayout("", N_C),)),
        ((), ()),
        ({}, ()),
    ],
)
def test_layouts_of_several_tensors(value: object, expected: tuple[TensorLayout, ...]) -> None:
    assert tensor_layouts(value) == expected
    assert not expected or tensor_layouts(notation_of(expected)) == expected


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("nhwc-", "'-' is not '->' at character 5; did you forget quotes?"),
        ("a(nc", "')' is missing at the end"),
        ("a(nc)b", "'b' is unexpected at character 6"),
        ("a(nc),nc", "some layouts have a name and some do not"),
        ("a(nc),a(nc)", "there are two layouts for 'a'"),
        ("a()", "a layout is missing at character 3"),
        ("a(->)", "a layout of 'a' is missing"),
    ],
)
def test_mistakes_in_lists(text: str, reason: str) -> None:
    with pytest.raises(NotationError) as caught:
        tensor_layouts(text)
    assert reason in str(caught.value)


@pytest.mark.parametrize("value", [3, [3], {"a": 3}, {"a": (None, None)}, {"a": ("nc", 3)}])
def test_objects_that_are_no_layouts(value: object) -> None:
    with pytest.raises(ArgumentError):
        tensor_layouts(value)
