"""The parameters for the order of dimensions."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from moir.parameters.arguments import LAYOUT_CHANGE as EXPECTED_LAYOUT_CHANGE
from moir.parameters.kinds import choice, structured
from moir.parameters.parameter import FieldValue, Kind, Options, Parameter, PassRequest, Plain

if TYPE_CHECKING:
    from moir.parameters.tensor_layouts import TensorLayout


def _read(value: Any) -> tuple[TensorLayout, ...]:
    if value is None:
        return ()
    from moir.parameters.tensor_layouts import tensor_layouts

    return tensor_layouts(value)


def _read_one_side(value: Any) -> tuple[TensorLayout, ...]:
    layouts = _read(value)
    for each in layouts:
        if each.target is not None:
            raise ValueError(f"{str(each)!r} says two layouts, which only the option layout does")
    return layouts


def _plain(value: tuple[TensorLayout, ...]) -> Plain:
    if not value:
        return ""
    from moir.parameters.tensor_layouts import notation_of

    return notation_of(value)


_DESCRIPTION = "layouts: a text as of --layout, a mapping of names to layouts, or a list of layouts"
_LAYOUTS: Kind[tuple[TensorLayout, ...]] = structured(_DESCRIPTION, _read, _plain)
_LAYOUTS_OF_ONE_SIDE: Kind[tuple[TensorLayout, ...]] = structured(_DESCRIPTION, _read_one_side, _plain)


def layout_fields(options: Options) -> dict[str, FieldValue]:
    """The layout options that the user gives, as texts by their names, for the fields of passes."""
    return {each.name: str(_plain(options[each])) for each in (LAYOUT, SOURCE_LAYOUT, TARGET_LAYOUT) if options[each]}


_SET_LAYOUTS = (PassRequest("set-layouts", options=lambda options: layout_fields(options) or None),)
_METAVAR = "LAYOUT|NAME(LAYOUT),…"

LAYOUT_CHANGE = Parameter(
    "layout_change",
    choice({"auto": True, "none": False}, EXPECTED_LAYOUT_CHANGE),
    True,
    "auto (default): move transpositions around channel-last operations until they cancel; none: leave them there",
    in_python='True or "auto": move transpositions around channel-last operations until they cancel; False or "none": leave them there',
)
LAYOUT = Parameter(
    "layout",
    _LAYOUTS,
    (),
    "layouts of inputs and outputs, and those to change them to: nhwc, [n,h,w,c], nhwc->nchw, image(nhwc->nchw),mask(nhw); "
    "shapes of --input are those before the change",
    in_python='layouts of inputs and outputs, by name, in the order of the inputs, or of the only input: `"nhwc"`, '
    '`"[n,h,w,c]"`, or `"nhwc->nchw"` for what the model has and what it is to have instead; `{"image": '
    '"nhwc->nchw"}` or `{"image": ("nhwc", "nchw")}`',
    metavar=_METAVAR,
    excludes=("source_layout", "target_layout"),
    passes=_SET_LAYOUTS,
)
SOURCE_LAYOUT = Parameter(
    "source_layout",
    _LAYOUTS_OF_ONE_SIDE,
    (),
    "layouts of inputs and outputs in the model",
    metavar=_METAVAR,
    synonym_of=("layout",),
    passes=_SET_LAYOUTS,
)
TARGET_LAYOUT = Parameter(
    "target_layout",
    _LAYOUTS_OF_ONE_SIDE,
    (),
    "layouts of inputs and outputs to change them to",
    metavar=_METAVAR,
    synonym_of=("layout",),
    passes=_SET_LAYOUTS,
)

LAYOUT_PARAMETERS = (LAYOUT_CHANGE, LAYOUT, SOURCE_LAYOUT, TARGET_LAYOUT)
