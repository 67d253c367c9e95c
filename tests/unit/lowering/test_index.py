"""The indexes of the tables of lowerings: what they list is what handlers register."""

from __future__ import annotations

import json
import subprocess
import sys
from importlib import import_module
from pathlib import Path

import pytest

from scripts import lowering_index

TABLES = lowering_index.packages()


@pytest.fixture(scope="module")
def written() -> dict[str, str]:
    """The texts of the indexes, of a fresh process in which no file of lowerings is imported yet."""
    code = "import json; from scripts import lowering_index; print(json.dumps({str(p): t for p, t in lowering_index.texts().items()}))"
    return json.loads(subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout)


def test_the_indexes_are_what_is_registered(written: dict[str, str]) -> None:
    stale = [path for path, text in written.items() if Path(path).read_text(encoding="utf-8") != text]
    assert not stale, "`python -m scripts.lowering_index` writes them anew"


def test_every_framework_with_lowerings_has_an_index(written: dict[str, str]) -> None:
    assert {"onnx", "tf", "caffe", "mxnet", "paddle", "mo", "detection"} <= {each.framework for each in TABLES.values()}
    assert len(written) == len(TABLES) + 1


@pytest.mark.parametrize("package", TABLES)
def test_a_kind_has_one_file(package: str) -> None:
    index: dict[str, str] = import_module(f"{package}.index").INDEX
    kinds = [word for names in index.values() for word in names.split()]
    assert len(kinds) == len(set(kinds))


@pytest.mark.parametrize("package", TABLES)
def test_a_fresh_process_finds_what_a_later_one_finds(package: str) -> None:
    """The handler of a kind does not depend on which kinds were looked up before."""
    code = (
        "import json, sys; from scripts.lowering_index import packages; from moir.lowering.table import LoweringTable\n"
        f"table = packages()[{package!r}]; look = LoweringTable.handler\n"
        "kinds = sorted(table.kinds()); kinds = kinds if sys.argv[1] == 'forth' else kinds[::-1]\n"
        "handlers = {kind: look(table, kind, 1 << 16) for kind in kinds}\n"
        "print(json.dumps({k: h and [h.__module__, h.__qualname__] for k, h in sorted(handlers.items())}))"
    )
    forth, back = (
        json.loads(subprocess.run([sys.executable, "-c", code, order], capture_output=True, text=True, check=True).stdout)
        for order in ("forth", "back")
    )
    assert forth == back
    assert all(forth.values()), [kind for kind, handler in forth.items() if handler is None]
    assert set(forth) == set(TABLES[package].kinds())
