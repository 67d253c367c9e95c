"""The lists of operations in docs."""

from __future__ import annotations

import re

import pytest

from scripts import coverage, onnx_coverage, tensorflow_coverage


def test_the_documents_are_up_to_date() -> None:
    assert coverage.main(["--check"]) == 0


def test_every_tensorflow_operation_is_listed_once() -> None:
    names = re.findall(r"^\| ([\w>]+) \| \w", tensorflow_coverage.document(), re.MULTILINE)[1:]
    assert names == sorted(set(names))
    assert {"Conv2D", "While", "LeakyRelu", "NonMaxSuppressionV5", "StridedSlice", "TensorArrayV3", "Placeholder", "Switch"} <= set(names)


def test_every_onnx_operation_is_listed_once() -> None:
    default, _, machine_learning = onnx_coverage.document().partition("\n## ai.onnx.ml\n")
    names, others = (re.findall(r"^\| (\w+) \| \d", text, re.MULTILINE) for text in (default, machine_learning))
    assert names == sorted(set(names))
    assert others == sorted(set(others))
    assert {"TreeEnsemble", "ZipMap"} <= set(others)
    assert {"Conv", "Loop", "LSTM", "Resize", "StringSplit"} <= set(names)


@pytest.mark.parametrize(
    ("kind", "expected"),
    [
        (onnx_coverage.Kind("Relu", (1, 6, 13, 14), {}), (onnx_coverage.DIRECT, 1)),
        (onnx_coverage.Kind("Constant", (1, 9), {}), (onnx_coverage.IMPORTED, 1)),
        (onnx_coverage.Kind("Unheard", (7,), {7: frozenset(("Relu", "Constant"))}), (onnx_coverage.EXPANDED, 7)),
        (onnx_coverage.Kind("Unheard", (7,), {7: frozenset(("Relu", "Unknown"))}), (onnx_coverage.MISSING, None)),
        (onnx_coverage.Kind("Unheard", (7,), {}), (onnx_coverage.MISSING, None)),
        (onnx_coverage.Kind("SequenceMap", (17,), {17: frozenset()}), (onnx_coverage.DIRECT, 17)),
    ],
)
def test_state(kind: onnx_coverage.Kind, expected: tuple[str, int | None]) -> None:
    assert onnx_coverage.state(kind) == expected


def test_a_document_that_is_out_of_date_is_reported(monkeypatch: pytest.MonkeyPatch, tmp_path, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setattr(coverage, "FOLDER", tmp_path / "docs")
    assert coverage.main(["--check"]) == 1
    assert "not up to date" in capsys.readouterr().err
    assert coverage.main([]) == 0
    assert coverage.main(["--check"]) == 0
