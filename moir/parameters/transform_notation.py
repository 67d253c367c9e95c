"""The notation of `--transform`, Model Optimizer's: `LowLatency2[use_const_initializer=False],Pruning`.

transforms := transform ("," transform)*
transform  := name [ "[" option (";" option)* "]" ]
option     := name "=" value                  a Python literal
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, cast

from moir.support.suggestions import did_you_mean


def _is_truth(value: object) -> bool:
    return isinstance(value, bool)


def _is_mapping_of_names(value: object) -> bool:
    if not isinstance(value, dict):
        return False
    return all(isinstance(each, str) for pair in cast("dict[object, object]", value).items() for each in pair)


KNOWN: Mapping[str, Mapping[str, tuple[str, Callable[[object], bool]]]] = {
    "LowLatency2": {"use_const_initializer": ("True or False", _is_truth)},
    "MakeStateful": {"param_res_names": ("a mapping of names of inputs to names of outputs, {'in':'out'}", _is_mapping_of_names)},
    "Pruning": {},
}
"""Name of a transformation -> name of an option -> a description of the option's values, and a predicate for them."""


@dataclass(frozen=True)
class Transform:
    """A transformation with its options."""

    name: str
    options: Mapping[str, Any] = field(default_factory=dict[str, Any])

    def __str__(self) -> str:
        return f"{self.name}[{';'.join(f'{name}={value!r}' for name, value in self.options.items())}]" if self.options else self.name


def transforms_of(value: Any) -> tuple[Transform, ...]:
    """The transformations of a text, or of a list of texts and transformations. Raises ValueError for a mistake."""
    items = [value] if isinstance(value, str | Transform) else list(value)
    return tuple(
        transforms for item in items for transforms in ([item] if isinstance(item, Transform) else map(_transform, _split(str(item), ",")))
    )


def _split(text: str, separator: str) -> Iterator[str]:
    """The parts of a text between separators that are not in brackets or quotes."""
    part, depth, quote = "", 0, ""
    for letter in text:
        if quote:
            quote = "" if letter == quote else quote
        elif letter in "'\"":
            quote = letter
        elif letter in "[{(":
            depth += 1
        elif letter in "]})":
            depth -= 1
        elif letter == separator and depth == 0:
            yield part.strip()
            part = ""
            continue
        part += letter
    if depth or quote:
        raise ValueError(f"a bracket or a quotation mark in {text!r} has no counterpart")
    if part.strip():
        yield part.strip()


def _transform(text: str) -> Transform:
    name, bracket, rest = text.partition("[")
    name = name.strip()
    if name not in KNOWN:
        listed = f"there are {', '.join(KNOWN)}"
        raise ValueError(f"there is no transformation {name!r}; {did_you_mean(name, KNOWN, listed)}")
    if bracket and not rest.endswith("]"):
        raise ValueError(f"{text!r} does not end with its bracket")
    options = dict(_option(name, each) for each in _split(rest[:-1], ";") if each)
    if name == "MakeStateful" and not options:
        raise ValueError("MakeStateful needs param_res_names, MakeStateful[param_res_names={'in':'out'}]")
    return Transform(name, options)


def _option(transform: str, text: str) -> tuple[str, Any]:
    name, _, value = text.partition("=")
    name, known = name.strip(), KNOWN[transform]
    if name not in known:
        listed = f"its options are {', '.join(known)}" if known else "it has no options"
        raise ValueError(f"{transform} has no option {name!r}; {did_you_mean(name, known, listed)}")
    description, accepts = known[name]
    try:
        literal = ast.literal_eval(value.strip().capitalize() if value.strip().lower() in ("true", "false") else value.strip())
    except (ValueError, SyntaxError, TypeError, MemoryError, RecursionError):
        literal = None
    if not accepts(literal):
        raise ValueError(f"{name} of {transform} is {description}, not {value.strip()!r}")
    return name, literal
