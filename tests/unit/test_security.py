"""What SECURITY.md promises of the source, and that the tests that it names are there."""

from __future__ import annotations

import ast
import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
TEXT = (ROOT / "SECURITY.md").read_text(encoding="utf-8")

UNSAFE_CALLS = {"eval", "exec", "compile", "__import__"}
UNSAFE_MODULES = {"pickle", "marshal", "shelve", "dill", "cloudpickle", "joblib"}
RUNS_EXTENSIONS = {"moir/extensions", "moir/testing", "moir/rewriting/rules.py"}
"""Where programs of the user are compiled or run."""

RUNS_CLASSES = {"moir/tools/dataclass_methods.py"}
"""Where Python's own module `dataclasses` has the methods compiled that it writes for the classes of a program."""

RESTRICTED = {"moir/frontends/pytorch/pickles.py": ["pickle"], "moir/frontends/keras/npz.py": ["pickle"]}
"""What reads pickles by an `Unpickler` that finds nothing but its own functions.

`tests/unit/frontends/pytorch` and `tests/numerical/keras/test_weights_in_other_files.py` try it.
"""


def unsafe(path: Path) -> list[str]:
    """Calls and imports of a file that run code, or read data that may hold code."""
    unsafe: list[str] = []
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id in UNSAFE_CALLS:
            unsafe.append(node.func.id)
        names = [each.name for each in node.names] if isinstance(node, ast.Import) else []
        names += [node.module or ""] if isinstance(node, ast.ImportFrom) else []
        unsafe += [name for name in names if name.partition(".")[0] in UNSAFE_MODULES]
        if (
            isinstance(node, ast.keyword)
            and node.arg == "allow_pickle"
            and not (isinstance(node.value, ast.Constant) and node.value.value is False)
        ):
            unsafe.append("allow_pickle")
    return unsafe


def test_no_file_runs_code() -> None:
    files = {str(path.relative_to(ROOT)): path for path in (ROOT / "moir").rglob("*.py")}
    actual = {name: calls for name, path in files.items() if (calls := unsafe(path))}
    assert {name: calls for name, calls in actual.items() if not name.startswith((*RUNS_EXTENSIONS, *RUNS_CLASSES))} == RESTRICTED


def test_unsafe_calls_are_seen(tmp_path: Path) -> None:
    path = tmp_path / "m.py"
    path.write_text("import pickle\nfrom marshal import loads\neval('1')\nnp.load(f, allow_pickle=True)\nnp.load(f, allow_pickle=False)\n")
    assert unsafe(path) == ["pickle", "marshal", "eval", "allow_pickle"]


@pytest.mark.parametrize("name", sorted(set(re.findall(r"`((?:tests|moir|benchmarks)/[\w/.]+)`", TEXT))))
def test_what_it_names_is_there(name: str) -> None:
    assert (ROOT / name).exists()


def test_it_is_found() -> None:
    for document in ("README.md", "docs/contributing.md"):
        assert "SECURITY.md" in (ROOT / document).read_text(encoding="utf-8")
