"""The reference of the operations: a page for each framework, with a row for each operation."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial

from moir.frameworks import lowered
from moir.frameworks.record import Framework
from moir.frontends.tensorflow.model_outputs import EFFECTS
from moir.inspection.operations import operations_of
from moir.inspection.tables import Table

LEFT_OUT = """
## Left out

| kinds (regular expression) | effect |
| --- | --- |
"""


def document(framework: Framework) -> str:
    """The text of the page of a framework."""
    operations, treatments = operations_of(framework).tables()
    text = f"# Operations of {framework.title}\n\n" + "".join(
        f"- **{name}** ({count}): {meaning}\n" for name, count, meaning in treatments.rows
    )
    text += f"\n{_markdown(operations)}"
    if framework.dialect == "tf":
        text += LEFT_OUT + "".join(f"| `{kinds}` | {effect or 'none on the results'} |\n" for kinds, effect in EFFECTS.items())
    return text


def _markdown(table: Table) -> str:
    """A table whose last column is code."""
    rows = [table.columns, ("---",) * len(table.columns)]
    rows += [(*cells[:-1], f"`{cells[-1]}`" if cells[-1] else "") for cells in table.rows]
    return "".join(f"| {' | '.join(cells)} |\n" for cells in rows)


PAGES: Mapping[str, Callable[[], str]] = {f"reference/operations-{each.dialect}.md": partial(document, each) for each in lowered()}
"""The functions that return the text of each page."""
