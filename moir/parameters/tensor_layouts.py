"""The layouts of inputs and outputs, as `--layout` has them: those of the model, and those that its callers use
instead.

nhwc                                the layout of the only input
nhwc->nchw                          of the only input: that of the model, and that of its callers
nhwc,nc                             the layouts of all inputs, in their order
image(nhwc->nchw),mask[n,h,w]       layouts of inputs and outputs by name
image[n,h,w,c]->[n,c,h,w]
image(->nchw)                       that of the callers alone
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, cast

from moir.errors import ArgumentError
from moir.parameters.layouts import Layout, read_layout, starts_layout
from moir.parameters.notation import Notation, NotationError, quoted_name

_ARROW = "->"


@dataclass(frozen=True)
class TensorLayout:
    """The layout of an input or output.

    Args:
        name: its name; empty if it is known by its position.
        source: the layout in the model; None if it is not given.
        target: the layout that its callers use; None if it is not given.
    """

    name: str = ""
    source: Layout | None = None
    target: Layout | None = None

    def __str__(self) -> str:
        source, target = "" if self.source is None else str(self.source), "" if self.target is None else f"->{self.target}"
        return f"{quoted_name(self.name)}({source}{target})" if self.name else f"{source}{target}"


def notation_of(layouts: Sequence[TensorLayout]) -> str:
    """The text that `tensor_layouts` reads as these layouts."""
    return ",".join(map(str, layouts))


def tensor_layouts(value: object) -> tuple[TensorLayout, ...]:
    """The layouts of inputs and outputs that a text or an object gives.

    Args:
        value: a text; a list of texts or pairs, one for each input; or a mapping from names of inputs and outputs to
            texts or pairs. A pair is the layout of the model and that of its callers, either may be None; it may also
            be an object with attributes `source_layout` and `target_layout`, and a layout one of OpenVINO Runtime.

    All of them have names, or none. Raises NotationError for a mistake in a text, ArgumentError for other objects.
    """
    if isinstance(value, str):
        layouts = _read(value)
    elif isinstance(value, Mapping):
        layouts = [replace(_of_object(layout), name=str(name)) for name, layout in cast("Mapping[object, object]", value).items()]
    elif isinstance(value, Sequence):
        layouts = [_of_object(each) for each in cast("Sequence[object]", value)]
    else:
        layouts = [_of_object(value)]
    names = [each.name for each in layouts if each.name]
    if names and len(names) < len(layouts):
        raise NotationError(f"{notation_of(layouts)}: some layouts have a name and some do not")
    for name in names:
        if names.count(name) > 1:
            raise NotationError(f"there are two layouts for {name!r}")
    return tuple(layouts)


def _read(text: str) -> list[TensorLayout]:
    notation = Notation(text)
    layouts = notation.items(_read_one)
    notation.end()
    return layouts


def _read_one(notation: Notation) -> TensorLayout:
    start, name = notation.position, notation.name()
    if name.endswith(_ARROW):
        # Not a name, but a layout before another one in brackets.
        name, notation.position = "", start
    in_parentheses = notation.matched(r"\(") is not None
    change = _read_change(notation)
    if in_parentheses:
        notation.expect(r"\)", "')'")
    if name and change.source is None and change.target is None:
        raise notation.fault(f"a layout of {name!r} is missing")
    return replace(change, name=name)


def _read_change(notation: Notation) -> TensorLayout:
    source = read_layout(notation) if starts_layout(notation) else None
    target = None
    if notation.matched(_ARROW) is not None:
        target = read_layout(notation) if starts_layout(notation) else None
    elif notation.rest.startswith("-"):
        raise notation.fault("'-' is not '->'", hint="did you forget quotes? A shell takes > as a redirection")
    elif source is None:
        raise notation.fault("a layout is missing", hint="such as nhwc, [n,h,w,c], nhwc->nchw or image(nhwc)")
    return TensorLayout(source=source, target=target)


def _of_object(value: object) -> TensorLayout:
    if isinstance(value, str):
        notation = Notation(value)
        layout = _read_change(notation)
        notation.end()
        return layout
    pair: tuple[object, ...] = tuple(cast("Sequence[object]", value)) if isinstance(value, Sequence) else ()
    if hasattr(cast(object, value), "source_layout") and hasattr(cast(object, value), "target_layout"):
        pair = (cast(Any, value).source_layout, cast(Any, value).target_layout)
    if len(pair) != 2:
        return TensorLayout(source=_of_layout(cast(object, value)))
    layout = TensorLayout(source=_of_layout(pair[0]), target=_of_layout(pair[1]))
    if layout.source is None and layout.target is None:
        raise ArgumentError(f"{cast(object, value)!r} says no layout", hint="write a text, such as 'nhwc'")
    return layout


def _of_layout(value: object) -> Layout | None:
    if value is None or value == "":
        return None
    if isinstance(value, str | Layout) or type(value).__name__ == "Layout":
        return Layout.of_text(str(value))
    raise ArgumentError(f"{value!r} is not a layout", hint="write a text, such as 'nhwc'")
