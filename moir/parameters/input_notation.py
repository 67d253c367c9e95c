"""The notation of inputs: `port:name:port[shape]{type}->value`, items separated by commas, every part optional.

    x                       an input, a node or a tensor
    x[1,3,224,224]          with a shape; [] is that of a scalar
    x[?,3,1..10,width]      dimensions: unknown, of a size, bounded (also 1.. and ..10), unknown with a name; -1 is ?
    x{f16}                  with an element type
    x->[0 1 2]              frozen: a constant takes its place
    0:conv1, conv1:0        input port 0 of a node, output port 0 of a node
    [1,3],[10]              without names: the inputs of the model in their order
    'a,b[0]'[1,3]           a name in quotes is taken literally

The parts after the name come in any order. The same notation without shapes, types and values is that of outputs.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple, cast

from moir.errors import UsageError
from moir.support.suggestions import did_you_mean

ELEMENT_TYPES: dict[str, str] = {
    **{name: name for name in ("boolean", "f64", "f32", "f16", "bf16", "i64", "i32", "i16", "i8", "u64", "u32", "u16", "u8", "string")},
    **{"bool": "boolean", "float": "f32", "half": "f16", "double": "f64", "float64": "f64", "float32": "f32", "float16": "f16"},
    **{"bfloat16": "bf16", "str": "string", "fp64": "f64", "fp32": "f32", "fp16": "f16"},
    **{f"{kind}{bits}": f"{kind[0]}{bits}" for kind in ("int", "uint") for bits in (8, 16, 32, 64)},
}
"""The names of element types, those of the IR and those of numpy, with the names in the IR."""

_NAME_OF_DIMENSION = re.compile(r"[A-Za-z_][\w.]*")
_BOUNDED = re.compile(r"(\d*)\s*\.\.\s*(\d*)")
_QUOTED = re.compile(r"""(?:(\d+):)?(?:'([^']*)'|"([^"]*)")(?::(\d+))?""")
_LARGEST = 2**63 - 1


class Dimension(NamedTuple):
    """A dimension of an input: a number, or bounds (None: no upper bound), with a name or without."""

    low: int
    high: int | None
    name: str = ""

    @property
    def size(self) -> int:
        """The size of the dimension, -1 if it is not a single number."""
        return self.low if self.low == self.high else -1

    @property
    def is_bounded(self) -> bool:
        """Whether the dimension is a range with a bound, `1..8`, neither one number nor unknown."""
        return self.size < 0 and (self.low > 0 or self.high is not None)

    def __str__(self) -> str:
        if self.size >= 0:
            return str(self.size)
        if self.is_bounded:
            return f"{self.low or ''}..{'' if self.high is None else self.high}"
        return self.name or "?"


ANY = Dimension(0, None)
"""A dimension of any size."""


@dataclass(frozen=True)
class Place:
    """The designation of an input or an output in a model, as written in the notation.

    Args:
        text: the name, with the ports if it is not quoted; empty for the next input of the model in its order.
        is_exact: whether the text was in quotes: then it is a name only.
        input_port: the input port that stood before the quotes.
        output_port: the output port that stood after the quotes.
    """

    text: str
    is_exact: bool = False
    input_port: int | None = None
    output_port: int | None = None

    def readings(self) -> Iterator[tuple[str, int | None, int | None]]:
        """The possible meanings of the text as name, input port and output port; in the first of them, the whole text
        is the name.
        """
        yield self.text, self.input_port, self.output_port
        if self.is_exact:
            return
        if match := re.fullmatch(r"(.+):(\d{1,9})", self.text, re.DOTALL):
            yield match[1], None, int(match[2])
        if match := re.fullmatch(r"(\d{1,9}):(.+)", self.text, re.DOTALL):
            yield match[2], int(match[1]), None

    def __str__(self) -> str:
        if not self.is_exact:
            return self.text
        quote = '"' if "'" in self.text else "'"
        before = "" if self.input_port is None else f"{self.input_port}:"
        after = "" if self.output_port is None else f":{self.output_port}"
        return f"{before}{quote}{self.text}{quote}{after}"


@dataclass(frozen=True)
class InputItem:
    """One item of the notation.

    Args:
        place: which input it is.
        shape: its dimensions; None if they are not given.
        element: its element type as the IR names it; empty if it is not given.
        value: the value that takes its place, flat; None if it is not frozen.
        is_scalar: whether the value was written without brackets.
    """

    place: Place = field(default_factory=lambda: Place(""))
    shape: tuple[Dimension, ...] | None = None
    element: str = ""
    value: tuple[Any, ...] | None = None
    is_scalar: bool = False

    def __str__(self) -> str:
        parts = [str(self.place)]
        if self.shape is not None:
            parts.append(shape_text(self.shape))
        if self.element:
            parts.append(f"{{{self.element}}}")
        if self.value is not None:
            texts = list(map(_value_text, self.value))
            parts.append(f"->{texts[0] if self.is_scalar else '[' + ','.join(texts) + ']'}")
        return "".join(parts)


def _value_text(value: object) -> str:
    return repr(value) if isinstance(value, str) else str(value)


def shape_text(shape: Sequence[Dimension]) -> str:
    """A shape in the notation."""
    return f"[{','.join(map(str, shape))}]"


def split_items(text: str, brackets: str = "[]{}") -> list[str]:
    """The parts of a text between commas; commas in brackets and quotes do not separate.

    Raises ValueError for a bracket or quote that is not closed.
    """
    opening, closing = brackets[::2], brackets[1::2]
    items, depth, quote = [""], 0, ""
    for index, letter in enumerate(text):
        if quote:
            quote = "" if letter == quote else quote
        elif letter in "'\"" and (not items[-1].strip() or items[-1][-1] in ":[, >"):
            # A quote within a name is a letter of it.
            quote = letter
        elif letter in opening:
            depth += 1
        elif letter in closing:
            depth -= 1
        if letter == "," and depth <= 0 and not quote:
            items.append("")
            continue
        items[-1] += letter
        if depth < 0:
            raise ValueError(f"a bracket is closed that was not opened: {text[: index + 1]!r}")
    if quote or depth:
        raise ValueError(f"{'a quote' if quote else 'a bracket'} is not closed: {text!r}")
    return [item.strip() for item in items]


def input_items(text: str) -> tuple[InputItem, ...]:
    """The items that a text describes. Raises ValueError, with a reason that quotes the item, for an invalid text."""
    return tuple(map(input_item, split_items(text)))


def input_item(text: str) -> InputItem:
    """The only item that a text describes. Raises ValueError for an invalid text."""
    left, arrow, right = _frozen(text)
    value, is_scalar = _value(right.strip(), text) if arrow else (None, False)
    shape: tuple[Dimension, ...] | None = None
    element = ""
    while match := re.fullmatch(r"(.*?)\s*(?:\[([^\[\]]*)\]|\{([^{}]*)\})\s*", left, re.DOTALL):
        if (match[2] is not None and shape is not None) or (match[3] is not None and element):
            raise ValueError(f"{text!r} has two {'shapes' if match[3] is None else 'types'}")
        if match[3] is None:
            shape = parse_shape(match[2])
        else:
            element = element_type(match[3].strip())
        left = match[1]
    return InputItem(place(left.strip()), shape, element, value, is_scalar)


def _frozen(text: str) -> tuple[str, str, str]:
    """Split `text` at the first arrow after a quoted name. Returns the text before it, `->`, and the value after it.

    The last two are empty without an arrow.
    """
    quoted = _QUOTED.match(text)
    end = quoted.end() if quoted else 0
    left, arrow, right = text[end:].partition("->")
    return text[:end] + left, arrow, right


def place(text: str) -> Place:
    """The designation of an input or output that a text contains.

    Raises ValueError for quotes that are not around a name.
    """
    if match := _QUOTED.fullmatch(text):
        before, after = (int(each) if each else None for each in (match[1], match[4]))
        return Place(match[2] if match[3] is None else match[3], True, before, after)
    return Place(text)


def places(text: str) -> tuple[Place, ...]:
    """The designations that a text lists, as outputs are given. Raises ValueError for an empty one."""
    listed_places = tuple(map(place, split_items(text, "")))
    if not all(each.text for each in listed_places):
        raise ValueError(f"{text!r} has an empty item")
    return listed_places


def parse_shape(text: str) -> tuple[Dimension, ...]:
    """The dimensions between brackets, separated by commas or blanks.

    Raises ValueError for a text that is not a dimension.
    """
    parts = re.split(r"\s*,\s*|\s+(?!\.\.)(?<!\.\.\s)", text.strip()) if text.strip() else []
    return tuple(map(parse_dimension, parts))


def parse_dimension(text: str) -> Dimension:
    """The dimension that a text describes. Raises ValueError for an invalid text."""
    text = text.strip()
    if text in ("?", "-1"):
        return ANY
    if re.fullmatch(r"\d{1,19}", text) and int(text) <= _LARGEST:
        return Dimension(int(text), int(text))
    if match := _BOUNDED.fullmatch(text):
        low, high = int(match[1] or 0), int(match[2]) if match[2] else None
        if high is not None and low > high:
            raise ValueError(f"the dimension {text!r} has its bounds in the wrong order")
        return Dimension(low, high)
    if _NAME_OF_DIMENSION.fullmatch(text):
        return Dimension(0, None, text)
    raise ValueError(f"{text!r} is not a dimension: it is a number, ?, -1, bounds (1..10, 1.., ..10) or a name")


def shapes(text: str) -> tuple[tuple[Dimension, ...], ...]:
    """Shapes in brackets or parentheses, separated by commas: `[1,3],(10)`. Raises ValueError for anything else."""
    shapes: list[tuple[Dimension, ...]] = []
    for item in split_items(text, "[]()"):
        match = re.fullmatch(r"\[([^\[\]()]*)\]|\(([^\[\]()]*)\)", item)
        if match is None and not re.search(r"[\[\]()]", text):
            return (parse_shape(text),)
        if match is None:
            raise ValueError(f"{item!r} is not a shape: write [1,3,224,224], and several as [1,3],[10]")
        shapes.append(parse_shape(match[1] if match[2] is None else match[2]))
    return tuple(shapes)


def element_type(name: str) -> str:
    """The name in the IR of an element type. Raises ValueError for a name that no type has."""
    key = name.strip().lower()
    if key not in ELEMENT_TYPES:
        hint = did_you_mean(key, ELEMENT_TYPES) or f"it is one of {', '.join(dict.fromkeys(ELEMENT_TYPES.values()))}"
        raise ValueError(f"{name!r} is not an element type; {hint}")
    return ELEMENT_TYPES[key]


def _value(text: str, item: str) -> tuple[tuple[Any, ...], bool]:
    """The value after an arrow, as a flat tuple, and whether it is a scalar, that is, written without brackets.

    Raises ValueError for an invalid text, with a message that quotes `item`, the whole item.
    """
    if not text:
        raise ValueError(f"{item!r} has no value after ->")
    bracketed = re.fullmatch(r"[\[(](.*)[\])]", text, re.DOTALL)
    if bracketed is None:
        return (_literal(text),), True
    inner = bracketed[1].strip()
    parts = split_items(inner) if "," in inner else inner.split()
    return tuple(map(_literal, parts)), False


def _literal(text: str) -> Any:
    words = {"true": True, "false": False, "inf": float("inf"), "-inf": float("-inf"), "nan": float("nan")}
    if text.lower() in words:
        return words[text.lower()]
    try:
        value = cast("object", ast.literal_eval(text))
    except (ValueError, SyntaxError, MemoryError, RecursionError):
        value = text
    return value if isinstance(value, bool | int | float | str) else text


def merged(items: Sequence[InputItem], shapes: Sequence[tuple[Dimension, ...]]) -> tuple[InputItem, ...]:
    """The items of `--input` with the shapes of `--input-shape` (`shapes`), which belong to the items in order, or to
    the model's inputs if there are no items.

    Raises UsageError if an item has a shape already, or their numbers differ.
    """
    if not items:
        return tuple(InputItem(shape=shape) for shape in shapes)
    if len(items) != len(shapes):
        raise UsageError(f"there are {len(shapes)} shapes for {len(items)} inputs", hint="give each input of --input a shape")
    for item in items:
        if item.shape is not None:
            raise UsageError(f"the input {str(item)!r} has two shapes", hint="leave out --input-shape, or the shape in --input")
    return tuple(InputItem(item.place, shape, item.element, item.value, item.is_scalar) for item, shape in zip(items, shapes, strict=True))
