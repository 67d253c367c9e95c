"""Writes `moir/frontends/onnx/definition_table.py`: operands and attributes of ONNX's operations.

    python -m scripts.onnx_definitions

The table is made from the schemas of the installed `onnx`, of all versions: an attribute that only some versions have
is accepted in all. `tests/unit/frontends/onnx/test_definitions.py` compares the table with them.
"""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

from scripts.rows import grouped_rows

FILE = Path(__file__).parents[1] / "moir" / "frontends" / "onnx" / "definition_table.py"

HEADER = '''"""Operands and attributes of ONNX's operations; `python -m scripts.onnx_definitions` writes it.

The first word is the greatest number of operands, `*` stands for any number of operands.
"""

from moir.support.tables import by_member

DEFINITIONS = by_member(
    {
'''

MANY = 1000
"""What a variadic operand counts in a schema is more."""


def table() -> dict[str, str]:
    """The rows by kind, with the domain in front as in the dialect."""
    from onnx import defs

    operands: dict[str, int] = {}
    attributes: dict[str, set[str]] = {}
    for schema in defs.get_all_schemas_with_history():
        kind = f"{schema.domain}.{schema.name}".removeprefix(".")
        operands[kind] = max(operands.get(kind, 0), schema.max_input)
        attributes.setdefault(kind, set()).update(schema.attributes)
    counts = {kind: "*" if count > MANY else str(count) for kind, count in operands.items()}
    return {kind: " ".join([counts[kind], *sorted(attributes[kind])]) for kind in sorted(operands)}


def main() -> int:
    """Write the file."""
    FILE.write_text(HEADER + grouped_rows(table()) + "    }\n)\n", encoding="utf-8")
    return subprocess.call([sys.executable, "-m", "ruff", "format", "-q", FILE])


if __name__ == "__main__":
    sys.exit(main())
