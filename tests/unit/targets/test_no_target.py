"""Without a target neither an IR nor a message names a runtime, a version of it or a plugin.

    python -m tests.unit.targets.test_no_target

converts all backend tests of the installed package `onnx`, of which the test takes one of `SAMPLED`, and the models
below the folders that are given, and prints the lines that name one.
"""

from __future__ import annotations

import re
import sys
import warnings
from collections.abc import Iterator, Sequence
from pathlib import Path

import onnx
import pytest

import moir
from moir.errors import MoirError
from tests.unit.test_structure_runtimes import NAMED

TESTS = Path(__file__).parents[2]
SAMPLED = 12
"""Which of the backend tests are converted: one of so many."""

SUFFIXES = (".onnx", ".pt2", ".tflite", ".pdmodel", ".caffemodel", ".keras", ".mlirbc", ".pb", "-symbol.json")


def models(folder: Path) -> list[Path]:
    """The model files in a folder; a SavedModel is its folder."""
    files = [each for each in sorted(folder.rglob("*")) if each.name.endswith(SUFFIXES) and "assets" not in each.parts]
    return [each.parent if each.name == "saved_model.pb" else each for each in files]


def texts_of(source: Path | onnx.ModelProto, folder: Path) -> list[str]:
    """The IR and the notes of a conversion without a target, or its error."""
    try:
        module = moir.convert_model(source, target="none")
        moir.save_model(module, folder / "model.xml")
    except MoirError as error:
        return [str(error)]
    ir = (folder / "model.xml").read_text(encoding="utf-8")
    # The options are written down; the paths in them are not ours.
    return [re.sub(r"<rt_info>.*?</rt_info>", "", ir, flags=re.DOTALL), str(module.attributes.get("notes", ""))]


def naming(texts: Sequence[str]) -> list[str]:
    """The lines of texts that name a runtime."""
    return [line.strip() for text in texts for line in text.splitlines() if NAMED.search(line)]


def backend_models() -> Iterator[onnx.ModelProto]:
    """The models of the backend tests of nodes."""
    from onnx.backend.test import loader

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        yield from (case.model for case in loader.load_model_tests(kind="node") if case.model is not None)


@pytest.mark.parametrize("path", [*models(TESTS / "fixtures"), *models(TESTS / "numerical")], ids=lambda path: path.name)
def test_files(path: Path, tmp_path: Path) -> None:
    assert naming(texts_of(path, tmp_path)) == []


def test_backend_tests(tmp_path: Path) -> None:
    actual = [line for model in [*backend_models()][::SAMPLED] for line in naming(texts_of(model, tmp_path))]
    assert actual == []


if __name__ == "__main__":
    import tempfile

    with tempfile.TemporaryDirectory() as folder:
        for each in (*backend_models(), *(model for name in sys.argv[1:] for model in models(Path(name)))):
            for line in naming(texts_of(each, Path(folder))):
                print(each if isinstance(each, Path) else each.graph.name, line, sep=": ")
