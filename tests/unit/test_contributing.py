"""What docs/contributing.md says is so: its programs run, its tasks exist, its excerpts are in the files they are from.

That adding something takes what it says is tested in test_additions.py; that the plan of the package, which is in
docs/architecture.md alone, is complete, in test_documentation.py.
"""

from __future__ import annotations

import re
import sys
from pathlib import Path

import pytest

from tests.unit.documents import ROOT, excerpts, place_models, programs, run, shell_commands

CONTRIBUTING = "docs/contributing.md"


def test_there_are_examples_of_each_sort() -> None:
    assert len(excerpts(CONTRIBUTING)) == 5
    assert len(programs(CONTRIBUTING)) == 1


def test_tasks_exist() -> None:
    tasks = [command[1] for command in shell_commands(CONTRIBUTING) if command[0] == "make"]
    assert len(tasks) == 19
    assert [task for task in tasks if not re.search(rf"^{task}:", (ROOT / "Makefile").read_text(), re.MULTILINE)] == []


@pytest.mark.parametrize("program", programs(CONTRIBUTING))
def test_programs(program: str, tmp_path: Path) -> None:
    place_models(tmp_path)
    run([sys.executable, "-c", program], tmp_path)


@pytest.mark.parametrize("excerpt", excerpts(CONTRIBUTING))
def test_excerpts_are_in_their_files(excerpt: str) -> None:
    path, _, code = excerpt.partition("\n")
    assert code in (ROOT / path.removeprefix("# ")).read_text(encoding="utf-8")
