"""One-line descriptions of lowerings for lists of operations: from the handler's docstring or its formula."""

from __future__ import annotations

import inspect
import re

from moir.lowering.table import Handler


def handler_text(handler: Handler) -> str:
    """The first paragraph of a handler's docstring; without one, the comment above its formula, or the formula."""
    text = inspect.getdoc(handler) or _comment(handler) or formula(handler)
    return " ".join(text.partition("\n\n")[0].split())


def becomes_text(operation: str, handler: Handler) -> str:
    """What an operation becomes, from the text of its handler. If the text is about another kind that the handler
    lowers, it says so: "like onnx.Ceil(x) -> opset1.Ceiling(x)" for onnx.Abs.

    Args:
        operation: the name of the operation in the framework's dialect, such as `onnx.Abs`.
        handler: its handler.
    """
    # The other kinds that the handler lowers do not concern this operation.
    text = handler_text(handler).partition("; likewise ")[0]
    dialect = operation.partition(".")[0]
    about = re.findall(rf"{dialect}\.([\w.>]+)", text.partition(" -> ")[0])
    return f"like {text}" if about and operation.partition(".")[2] not in about and text.startswith(f"{dialect}.") else text


def formula(handler: Handler) -> str:
    """The source of the expression for which an entry in a table of formulas stands; empty for a handler with a
    docstring or a comment.
    """
    if inspect.getdoc(handler) or _comment(handler):
        return ""
    lines, number = inspect.findsource(inspect.unwrap(handler))
    return re.sub(r"^.*?lambda [^:]*: ", "", lines[number].strip()).rstrip(",")


def _comment(handler: Handler) -> str:
    lines, number = inspect.findsource(inspect.unwrap(handler))
    first = number
    while lines[first - 1].lstrip().startswith("#"):
        first -= 1
    return " ".join(line.strip().lstrip("# ") for line in lines[first:number])
