"""The list of ONNX operations in docs."""

from __future__ import annotations

import re

import pytest

from moir.tools import coverage


def test_the_document_is_up_to_date() -> None:
    assert coverage.main(["--check"]) == 0


def test_every_operation_is_listed_once() -> None:
    names = re.findall(r"^\| (\w+) \| \d", coverage.document(), re.MULTILINE)
    assert names == sorted(set(names))
    assert {"Conv", "Loop", "LSTM", "Resize", "StringSplit"} <= set(names)


@pytest.mark.parametrize(
    ("kind", "expected"),
    [
        (coverage.Kind("Relu", (1, 6, 13, 14), {}), (coverage.DIRECT, 1)),
        (coverage.Kind("Constant", (1, 9), {}), (coverage.IMPORTED, 1)),
        (coverage.Kind("Unheard", (7,), {7: frozenset(("Relu", "Constant"))}), (coverage.EXPANDED, 7)),
        (coverage.Kind("Unheard", (7,), {7: frozenset(("Relu", "Unknown"))}), (coverage.MISSING, None)),
        (coverage.Kind("Unheard", (7,), {}), (coverage.MISSING, None)),
        (coverage.Kind("SequenceMap", (17,), {17: frozenset()}), (coverage.MISSING, None)),
    ],
)
def test_state(kind: coverage.Kind, expected: tuple[str, int | None]) -> None:
    assert coverage.state(kind) == expected


def test_a_document_that_is_out_of_date_is_reported(monkeypatch: pytest.MonkeyPatch, tmp_path, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setattr(coverage, "DOCUMENT", tmp_path / "docs" / "list.md")
    assert coverage.main(["--check"]) == 1
    assert "not up to date" in capsys.readouterr().err
    assert coverage.main([]) == 0
    assert coverage.main(["--check"]) == 0
