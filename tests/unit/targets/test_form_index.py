"""The forms of the targets: each lists itself, and says which others run before it."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

from moir.targets.record import Form
from moir.targets.registry import form_modules
from moir.targets.stages import CORRECT
from scripts.form_index import FOLDERS, file, index, ordered, text

ROOT = Path(__file__).parents[3]
LIT = ROOT / "tests" / "filecheck" / "targets" / "openvino_cpu"


@pytest.mark.parametrize("folder", FOLDERS)
def test_the_index_has_all_forms_in_order(folder: str) -> None:
    assert file(folder).read_text(encoding="utf-8") == text(folder), "run python -m scripts.form_index"


def test_forms_keep_their_order_but_for_those_that_follow_others() -> None:
    assert ordered([Form("a"), Form("b", after=("d",)), Form("c"), Form("d")]) == ["a", "c", "d", "b"]


@pytest.mark.parametrize(
    ("forms", "message"),
    [
        ([Form("a", after=("b",))], "a has to follow b, which its stage does not have"),
        ([Form("a", after=("b",)), Form("b", after=("a",))], "these forms have to follow each other: a, b"),
    ],
)
def test_an_order_that_cannot_be(forms: list[Form], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        ordered(forms)


def test_stages_are_apart() -> None:
    actual = index([(Form("a", stage="states"), "x"), (Form("b"), "y")])
    assert actual[CORRECT] == {"b": "y"}
    assert actual["states"] == {"a": "x"}


def test_options_load_no_form() -> None:
    """The records of the targets are there at every start."""
    command = "import moir.parameters.runtime, sys; print(*(name for name in sys.modules if name.startswith('moir.targets')))"
    actual = subprocess.run([sys.executable, "-c", command], capture_output=True, text=True, check=True).stdout.split()
    assert set(actual) == {
        "moir.targets",
        "moir.targets.openvino_cpu",
        "moir.targets.openvino_cpu.form_index",
        "moir.targets.registry",
        "moir.targets.releases",
        "moir.targets.releases.registry",
        "moir.targets.releases.release",
        "moir.targets.stages",
    }


@pytest.mark.parametrize("name", sorted(form_modules()))
def test_every_form_has_a_lit_test_of_its_name(name: str) -> None:
    path = LIT / f"{name}.mlir"
    assert path.exists(), f"there is no {path.relative_to(ROOT)}"
    text = path.read_text(encoding="utf-8")
    assert re.search(rf"^// RUN: .*-p \S*\b{name}\b", text, re.MULTILINE)
    assert "// CHECK" in text


def test_every_lit_test_is_of_a_form() -> None:
    others = [path.stem for path in LIT.glob("*.mlir") if not any(path.stem.startswith(name) for name in form_modules())]
    assert others == []
