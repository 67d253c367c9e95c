"""Tables on a terminal, drawn by `rich`; elsewhere they are plain text."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, TextIO

from moir.tools.streams import text_output

if TYPE_CHECKING:
    from moir.inspection.tables import Table


def print_tables(tables: Sequence[Table], stream: TextIO) -> None:
    """Print tables: in colours and frames if the stream is a terminal, as aligned text if not."""
    from moir.inspection.tables import one_line, text_of

    if not stream.isatty():
        text_output().write(text_of(tables) + "\n")
        return
    from rich.box import SIMPLE_HEAD
    from rich.console import Console
    from rich.table import Table as Drawing
    from rich.text import Text

    console = Console(file=stream)
    for table in tables:
        drawing = Drawing(
            title=Text(one_line(table.title), style="bold"), title_justify="left", box=SIMPLE_HEAD, show_header=any(table.columns)
        )
        for name in table.columns:
            drawing.add_column(Text(name), overflow="fold")
        for index, row in enumerate(table.rows):
            drawing.add_row(*(Text(one_line(cell)) for cell in row), style="red" if index in table.bad else "")
        console.print(drawing)
