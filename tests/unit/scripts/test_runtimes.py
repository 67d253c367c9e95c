"""The table of releases of the runtime: what a release does with a model, and the page."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import moir
from scripts.runtimes.__main__ import Release, converted, document, models_in
from scripts.runtimes.child import outcome
from tests.unit.small_models import matmul_model, save


def test_a_release_is_compared_with_the_installed_one(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("scripts.runtimes.__main__.BUILD", tmp_path / "build")
    save(matmul_model(), tmp_path / "model.onnx")
    (tmp_path / "notes.txt").write_text("no model")
    (path,) = models_in([tmp_path])
    sample = converted(path, "model")
    assert sample is not None
    assert outcome(sample.files) == ("right", "")
    results = dict(np.load(sample.files["outputs"]))
    np.savez(sample.files["outputs"], **{"0": results["0"] + 1})
    assert outcome(sample.files)[0] == "wrong"
    np.savez(sample.files["outputs"], **{"0": results["0"][:1]})
    assert outcome(sample.files) == ("wrong", "output 0 has the shape [2, 8], not [1, 8]")
    Path(sample.files["xml"]).write_text("<net/>")
    assert outcome(sample.files)[0] == "refused"


def test_a_model_that_is_not_converted_is_left_out(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("scripts.runtimes.__main__.BUILD", tmp_path / "build")
    save(matmul_model("Unknown", "com.example"), tmp_path / "model.onnx")
    assert converted(tmp_path / "model.onnx", "model") is None


def test_the_page_has_reasons_for_supported_releases_only() -> None:
    old, new = Release("2024.6.0"), Release("2026.0.0")
    for release in (old, new):
        release.verdicts["refused"] = 1
        release.reasons.append(("a.onnx", "refused", f"a | b of {release.version}"))
    text = document([old, new], 5)
    assert "| 2024.6.0 | 0 | 0 | 1 | 0 |" in text
    assert "| 2026.0.0 | a.onnx | refused | a   b of 2026.0.0 |" in text
    assert "of 2024.6.0" not in text
    assert moir.__version__ not in text
