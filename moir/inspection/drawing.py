"""The graph of a module as a small SVG for notebooks: boxes from top to bottom, in rows by their distance from inputs.

Constants are left out, and so are the bodies of operations. The drawing is for models that fit into a notebook.
"""

from __future__ import annotations

from html import escape
from typing import TYPE_CHECKING

from xdsl.ir import Operation, OpResult

from moir.analysis.constants import is_decompression
from moir.dialects.moir import PARAMETER, RESULT, models_of
from moir.dialects.names import name_of
from moir.inspection.tables import one_line

if TYPE_CHECKING:
    from xdsl.dialects.builtin import ModuleOp

    from moir.dialects.moir import ModelOp

MAXIMUM_OPERATIONS = 150
"""The most operations that are drawn."""

_WIDTH, _HEIGHT, _GAP, _ROW = 150, 34, 16, 62
_LONGEST = 22
_COLOURS = {PARAMETER: "#d5e8d4", RESULT: "#f8cecc"}
_PLAIN = "#dae8fc"


def drawing(module: ModuleOp) -> str:
    """The graphs of the models of a module as SVG; a sentence instead of a graph that is too large."""
    return "".join(map(_model, models_of(module)))


def _model(model: ModelOp) -> str:
    drawn = [op for op in model.block.ops if (op.operands and not is_decompression(op)) or op.name == PARAMETER]
    if len(drawn) > MAXIMUM_OPERATIONS:
        return f"<p>A graph of {len(drawn)} operations is not drawn here.</p>"
    rows = _rows(drawn)
    coordinates = {op: (_left(row, index, rows), 8.0 + number * _ROW) for number, row in enumerate(rows) for index, op in enumerate(row)}
    lines = "".join(_edge(coordinates[source], coordinates[op]) for op in drawn for source in _producers(op) if source in coordinates)
    boxes = "".join(_box(op, *position) for op, position in coordinates.items())
    width, height = _total(rows), len(rows) * _ROW
    return f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{height}" font-family="sans-serif">{lines}{boxes}</svg>'


def _producers(op: Operation) -> list[Operation]:
    return [operand.op for operand in op.operands if isinstance(operand, OpResult)]


def _rows(operations: list[Operation]) -> list[list[Operation]]:
    """The operations in rows: row i has those to which the longest path from an input has i edges, ordered as their
    operands.
    """
    depth: dict[Operation, int] = {}
    for op in operations:
        depth[op] = max((depth[source] + 1 for source in _producers(op) if source in depth), default=0)
    rows: list[list[Operation]] = [[] for _ in range(max(depth.values(), default=-1) + 1)]
    for op in operations:
        rows[depth[op]].append(op)
    position: dict[Operation, float] = {}
    for row in rows:
        row.sort(key=lambda op: _mean([position[source] for source in _producers(op) if source in position]))
        position.update((op, (index + 0.5) / len(row)) for index, op in enumerate(row))
    return rows


def _mean(values: list[float]) -> float:
    return sum(values) / len(values) if values else 0.5


def _total(rows: list[list[Operation]]) -> int:
    return max((len(row) for row in rows), default=0) * (_WIDTH + _GAP) + _GAP


def _left(row: list[Operation], index: int, rows: list[list[Operation]]) -> float:
    """The horizontal position of the left side of the box at `index` of a row; the boxes of a row are centred."""
    own = len(row) * (_WIDTH + _GAP) - _GAP
    return (_total(rows) - own) / 2 + index * (_WIDTH + _GAP)


def _edge(source: tuple[float, float], target: tuple[float, float]) -> str:
    x, y = source[0] + _WIDTH / 2, source[1] + _HEIGHT
    u, v = target[0] + _WIDTH / 2, target[1]
    # An edge that skips rows goes around the boxes in them.
    aside = _WIDTH * 0.8 if v - y > _ROW else 0
    curve = f"C{x + aside:.0f} {y + 14:.0f} {u + aside:.0f} {v - 14:.0f} {u:.0f} {v:.0f}"
    return f'<path d="M{x:.0f} {y:.0f}{curve}" fill="none" stroke="#888"/>'


def _box(op: Operation, x: float, y: float) -> str:
    name, kind = name_of(op) or "", op.name.partition(".")[2]
    texts = (
        f'<text x="{x + _WIDTH / 2:.0f}" y="{y + offset}" font-size="{size}" text-anchor="middle">{escape(_short(text))}</text>'
        for text, offset, size in ((kind, 14, 12), (name, 28, 10))
    )
    colour = _COLOURS.get(op.name, _PLAIN)
    box = f'<rect x="{x:.0f}" y="{y:.0f}" width="{_WIDTH}" height="{_HEIGHT}" rx="4" fill="{colour}" stroke="#666"/>'
    return f"<g><title>{escape(one_line(f'{op.name} {name}'))}</title>{box}{''.join(texts)}</g>"


def _short(text: str) -> str:
    """A text shortened to fit into a box: the end of a long name is kept, since it distinguishes nodes."""
    text = one_line(text)
    return text if len(text) <= _LONGEST else f"…{text[-_LONGEST + 1 :]}"


def module_html(module: ModuleOp) -> str:
    """A module in a notebook: its inputs, outputs and operations on a line, and its graph."""
    return f"<p>{escape(one_line(repr(module)))}</p>{drawing(module)}"
