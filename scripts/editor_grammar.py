"""Writes the grammar with which editors colour texts of modules, from the dialects.

    python -m scripts.editor_grammar

`editors/vscode/syntaxes/moir.tmLanguage.json` is a TextMate grammar, which VS Code, Sublime Text and the editors of
JetBrains read. Operations of opset dialects are known by name, so that a mistake in one is seen; those of frameworks
and of extensions are whatever their dialect's name begins. `tests/unit/scripts/test_editor_grammar.py` compares the
file.
"""

from __future__ import annotations

import json
import sys
from itertools import groupby
from pathlib import Path
from typing import Any

from xdsl.dialects.builtin import i64

from moir.dialects.element_types import INTEGER_TYPES, REAL_TYPES, boolean
from moir.dialects.opset import FAMILIES
from moir.frameworks import FRAMEWORKS, is_open_dialect

FILE = Path(__file__).parents[1] / "editors" / "vscode" / "syntaxes" / "moir.tmLanguage.json"

_WORD_END = r"(?![\w.])"


def opset_operations() -> dict[str, list[str]]:
    """The kinds of operations by opset dialect, both in order."""
    names = sorted({name for family in FAMILIES.values() for name in family.split()}, key=lambda name: (int(name[5:].split(".")[0]), name))
    split = [name.split(".", 1) for name in names]
    return {dialect: [kind for _, kind in group] for dialect, group in groupby(split, lambda each: each[0])}


def _operations() -> list[dict[str, Any]]:
    """The rules for names of operations: the known ones first, then what an opset does not have."""
    rules = [
        {
            "name": f"meta.operation.{dialect}.moir",
            "match": rf"\b({dialect})(\.)({'|'.join(kinds)}){_WORD_END}",
            "captures": _PARTS,
        }
        for dialect, kinds in opset_operations().items()
    ]
    rules.append({"name": "invalid.illegal.unknown-operation.moir", "match": r"\bopset\d+\.\w+"})
    frameworks = "|".join(name for name in FRAMEWORKS if is_open_dialect(name))
    rules.append(
        {
            "name": "meta.operation.framework.moir",
            "match": rf"\b({frameworks})(\.)([A-Za-z_][\w.]*)(?=\()",
            "captures": _PARTS,
        }
    )
    rules.append(
        {
            "name": "meta.operation.other.moir",
            "match": r"\b(moir|builtin|extension|mo)(\.)([A-Za-z_][\w.]*)(?=[\s(])",
            "captures": _PARTS,
        }
    )
    return rules


_PARTS = {
    "1": {"name": "entity.name.namespace.moir"},
    "2": {"name": "punctuation.separator.moir"},
    "3": {"name": "entity.name.function.moir"},
}


def grammar() -> dict[str, Any]:
    """The grammar as values of JSON."""
    types = sorted({str(each) for each in (boolean, i64, *REAL_TYPES, *INTEGER_TYPES)} - {"!moir.nf4"}, key=lambda name: (-len(name), name))
    rules = {
        "comment": [{"name": "comment.line.double-slash.moir", "match": "//.*$"}],
        "string": [
            {
                "name": "string.quoted.double.moir",
                "begin": '"',
                "end": '"',
                "patterns": [{"name": "constant.character.escape.moir", "match": r"\\(?:[\\\"nt]|[0-9A-Fa-f]{2}|u[0-9A-Fa-f]{4})"}],
            }
        ],
        "operation": _operations(),
        "value": [{"name": "variable.other.moir", "match": r"%[\w$.-]+(?::\d+)?(?:#\d+)?"}],
        "symbol": [{"name": "entity.name.type.module.moir", "match": r'@(?:[\w$.-]+|"[^"]*")'}],
        "block": [{"name": "entity.name.label.moir", "match": r"\^[\w$.-]+"}],
        "attribute": [
            {"name": "support.type.attribute.moir", "match": r"#moir\.\w+"},
            {"name": "variable.parameter.moir", "match": r"[A-Za-z_][\w.]*(?=\s*=\s)"},
        ],
        "shape": [{"name": "constant.numeric.shape.moir", "match": r"(?<=[<x])(?:(?:\d+|\?)x)+|(?<=<)\*x"}],
        "type": [
            {"name": "storage.type.moir", "match": rf"\b(?:tensor|vector|none){_WORD_END}"},
            {"name": "storage.type.element.moir", "match": rf"(?:(?<=[<x:\s])|\b)(?:{'|'.join(types)})(?!\w)"},
            {"name": "storage.type.moir", "match": r"!moir\.\w+"},
        ],
        "keyword": [
            {
                "name": "keyword.other.moir",
                "match": rf"\b(?:attributes|elided|external|loc|fused|unit|iteration|back|axis|from|to|stride|part){_WORD_END}",
            }
        ],
        "number": [
            {"name": "constant.language.moir", "match": rf"\b(?:true|false|nan|inf){_WORD_END}"},
            {"name": "constant.numeric.moir", "match": r"(?<![\w%#])-?(?:0x[0-9A-Fa-f]+|\d+(?:\.\d*)?(?:[eE][-+]?\d+)?)"},
        ],
    }
    return {
        "information_for_contributors": ["Written by `python -m scripts.editor_grammar` from moir's dialects."],
        "name": "MLIR of moir",
        "scopeName": "source.moir",
        "fileTypes": ["mlir"],
        "patterns": [{"include": f"#{name}"} for name in rules],
        "repository": {name: {"patterns": each} for name, each in rules.items()},
    }


def text() -> str:
    """The content of the file."""
    return json.dumps(grammar(), indent=2, ensure_ascii=False) + "\n"


def main(arguments: list[str]) -> int:
    """Write the file; with `--check`, only compare it."""
    if "--check" in arguments:
        return int(FILE.read_text(encoding="utf-8") != text())
    FILE.write_text(text(), encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
