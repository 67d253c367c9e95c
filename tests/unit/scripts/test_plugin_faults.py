"""The page of the faults of the plugin."""

from __future__ import annotations

from pathlib import Path

import pytest

from scripts import plugin_faults


def test_the_page_is_up_to_date() -> None:
    assert plugin_faults.main(["--check"]) == 0


def test_a_page_that_is_out_of_date_is_reported(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(plugin_faults, "FILE", tmp_path / "docs" / "plugin-faults.md")
    assert plugin_faults.main(["--check"]) == 1
    assert "not up to date" in capsys.readouterr().err
    assert plugin_faults.main([]) == 0
    assert plugin_faults.main(["--check"]) == 0
