"""`--resume`: what an earlier run has done is skipped, and only that; and `--shard`."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import pytest

from moir.conversion_result import ConversionResult
from moir.tools.batch.resumption import earlier_results
from moir.tools.convert import main
from tests.unit.small_models import matmul_model, save

RESULTS = Path("results.jsonl")


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    for name in ("a", "b"):
        save(matmul_model(), Path(f"{name}.onnx"))
    save(matmul_model("Mystery", "com.acme"), Path("mystery.onnx"))
    return tmp_path


def run(capsys: pytest.CaptureFixture[str], *arguments: str) -> dict[str, str]:
    """Run with `--json`, add what is printed to the results, and return the status of each model."""
    main(["a.onnx", "b.onnx", "mystery.onnx", "-o", "ir", "-j1", "--json", *arguments])
    printed = capsys.readouterr().out
    with RESULTS.open("a", encoding="utf-8") as file:
        file.write(printed)
    return {result["model"].removesuffix(".onnx"): result["status"] for result in map(json.loads, printed.splitlines())}


def test_what_is_done_and_unchanged_is_skipped(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(capsys) == {"a": "converted", "b": "converted", "mystery": "failed"}
    assert run(capsys, "--resume", "results.jsonl") == {"a": "unchanged", "b": "unchanged", "mystery": "failed"}
    # Other content, the same size.
    status = os.stat("a.onnx")
    os.utime("a.onnx", ns=(status.st_atime_ns, status.st_mtime_ns + 1))
    assert run(capsys, "--resume", "results.jsonl") == {"a": "converted", "b": "unchanged", "mystery": "failed"}
    Path("ir/b.bin").unlink()
    assert run(capsys, "--resume", "results.jsonl") == {"a": "unchanged", "b": "converted", "mystery": "failed"}
    assert run(capsys, "--resume", "results.jsonl", "--compress-to-fp16")["a"] == "converted"


def test_a_result_of_a_single_model_and_from_a_cache_is_used(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["a.onnx", "-o", "ir", "--json", "--cache", "cache"]) == 0
    assert main(["b.onnx", "-o", "ir", "--json", "--cache", "cache"]) == 0
    assert main(["b.onnx", "-o", "ir", "--json", "--cache", "cache"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert json.loads(lines[2])["status"] == "cached"
    # The outputs of a single model and of several ones are named alike.
    RESULTS.write_text("\n".join([lines[0], lines[2]]), encoding="utf-8")
    assert run(capsys, "--resume", "results.jsonl") == {"a": "unchanged", "b": "unchanged", "mystery": "failed"}


def test_lines_that_are_no_results_count_as_missing(capsys: pytest.CaptureFixture[str]) -> None:
    run(capsys)
    first, *_ = lines = RESULTS.read_text(encoding="utf-8").splitlines()
    RESULTS.write_text("\n".join([*lines[:1], lines[1][:100], "[1]", '"text"', "{}", '{"status": "converted", "request": "x"}', "nul"]))
    (only,) = earlier_results("results.jsonl").values()
    assert only == ConversionResult.of_json(json.loads(first))


def test_a_result_is_the_same_after_json(capsys: pytest.CaptureFixture[str]) -> None:
    run(capsys)
    fields: dict[str, Any] = json.loads(RESULTS.read_text(encoding="utf-8").splitlines()[0])
    assert json.loads(json.dumps(ConversionResult.of_json(fields).to_json())) == fields


def test_results_that_do_not_exist(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["a.onnx", "b.onnx", "-o", "ir", "--resume", "absent.jsonl"]) == 2
    assert "absent.jsonl: the results cannot be read: No such file or directory" in capsys.readouterr().err
    assert not Path("ir").exists()


def test_shards_convert_all_models_once(capsys: pytest.CaptureFixture[str]) -> None:
    parts = [run(capsys, "--shard", f"{number}/4") for number in (1, 2, 3, 4)]
    assert parts == [{"a": "converted"}, {"b": "converted"}, {"mystery": "failed"}, {}]
