"""The demo and the benchmarks run and say what they are to say."""

from __future__ import annotations

import importlib
import json
import re
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

ROOT = Path(__file__).parents[2]
DIGITS = ROOT / "examples" / "digits" / "digits.onnx"


def run(*command: str | Path) -> subprocess.CompletedProcess[str]:
    """Run a script of the project."""
    return subprocess.run([sys.executable, *map(str, command)], cwd=ROOT, capture_output=True, text=True, check=False)


def test_the_demo_agrees_with_the_source_model(tmp_path: Path) -> None:
    finished = run("examples/digits/run.py", "--output", tmp_path / "out")
    assert finished.returncode == 0, finished.stderr
    accuracies = [float(text) for text in re.findall(r"accuracy ([\d.]+)", finished.stdout)]
    assert len(accuracies) == 2
    assert min(accuracies) > 0.98
    assert "000-import.mlir" in finished.stdout
    assert (tmp_path / "out" / "digits.xml").exists()


def test_the_demo_fails_where_the_logits_differ(tmp_path: Path) -> None:
    program = (
        "import sys; sys.path.insert(0, 'examples/digits'); import run; ours = run.logits_of_openvino;"
        "run.logits_of_openvino = lambda *given: ours(*given) + 0.002; sys.exit(run.main())"
    )
    finished = run("-c", program, "--output", tmp_path)
    assert finished.returncode == 1
    assert "MORE THAN 0.001" in finished.stdout


def test_held_out_images_are_as_many_as_their_labels() -> None:
    with np.load(DIGITS.with_name("held_out.npz")) as held_out:
        assert held_out["images"].shape == (len(held_out["labels"]), 1, 8, 8)
        assert set(held_out["labels"].tolist()) == set(range(10))


def test_measure(tmp_path: Path) -> None:
    finished = run("benchmarks/measure.py", DIGITS, "--runs", "1", "--only-moir", "--stages")
    assert finished.returncode == 0, finished.stderr
    assert re.search(r"^digits +[\d.]+ +[\d.]+ +\d+ +\d+$", finished.stdout, re.MULTILINE)
    assert re.search(r"^lower-onnx +[\d.]+$", finished.stdout, re.MULTILINE)
    assert re.search(r"^emission +[\d.]+$", finished.stdout, re.MULTILINE)
    broken = tmp_path / "broken.onnx"
    broken.write_bytes(b"no model")
    failed = run("benchmarks/measure.py", broken, "--runs", "1", "--only-moir")
    assert failed.returncode == 1
    assert "broken: moir failed: moir: error:" in failed.stdout


@pytest.mark.parametrize(
    ("command", "row"),
    [
        (
            ["benchmarks/scaling.py", "--sizes", "100", "--families", "branches", "--only-moir"],
            r"^branches +100 +moir +[\d.]+ +-?\d+ +- +\d+$",
        ),
        (["benchmarks/operations.py", str(DIGITS), "--kinds"], r"^digits/digits.onnx +\d+ +\d+ +0 +0$"),
        (
            ["benchmarks/language_models.py", "--gigabytes", "0.02", "--width", "256", "--vocabulary", "512", "--only", "int4"],
            r"^int4 +[\d.]+ +[\d.]+ +[\d.]+ +\d+ +0.01$",
        ),
        (["benchmarks/weights.py", "--megabytes", "64", "--external", "--only-moir"], r"^moir +[\d.]+ +[\d.]+ +\d+ +\d+$"),
        (
            ["benchmarks/weights.py", "--megabytes", "64", "--scaled", "--compress-to-fp16", "--only-moir"],
            r"^moir +[\d.]+ +[\d.]+ +\d+ +\d+$",
        ),
    ],
)
def test_other_benchmarks(command: list[str], row: str) -> None:
    finished = run(*command)
    assert finished.returncode == 0, finished.stderr
    assert re.search(row, finished.stdout, re.MULTILINE)


def test_instructions_are_compared_with_the_committed_ones(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(ROOT / "benchmarks")
    instructions = importlib.import_module("instructions")
    assert instructions.reported("==7== \n==7== I   refs:      2,221,642,989\n") == 2221642989
    with pytest.raises(instructions.ConverterFailed, match="no instructions: killed"):
        instructions.reported("killed")
    assert instructions.each({200: 2_000_000, 1200: 5_000_000}) == 3000
    committed = {"start-up": 1000, "chain": 1000}
    rows, agree = instructions.compared({"start-up": 1030, "chain": 970}, committed)
    assert agree
    assert rows[1:] == [["start-up", "1,030", "1,000", "1.030", ""], ["chain", "970", "1,000", "0.970", ""]]
    for counts, verdicts in (
        ({"start-up": 1031, "chain": 1000}, ["BEYOND", ""]),
        ({"start-up": 1000, "chain": 969}, ["", "BEYOND"]),
        ({"start-up": 1000}, ["", "NOT COMPARED"]),
        ({"start-up": 1000, "chain": 1000, "branches": 1}, ["", "", "NOT COMPARED"]),
    ):
        rows, agree = instructions.compared(counts, committed)
        assert not agree
        assert [row[-1] for row in rows[1:]] == verdicts
    assert set(json.loads(instructions.TABLE.read_text())) == {"environment", "instructions"}


def test_instructions_need_valgrind(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    finished = run("benchmarks/instructions.py")
    assert finished.returncode == 1
    assert finished.stderr.startswith("valgrind, which counts the instructions, is not installed")


def test_the_backend_tests_of_onnx(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    """Outcomes are counted, written and compared."""
    monkeypatch.syspath_prepend(ROOT / "benchmarks")
    # In this process, which loads the suite once.
    main = importlib.import_module("onnx_backend").main
    before, after = tmp_path / "before.json", tmp_path / "after.json"
    assert main(["--only", "test_a[bd]*", "--workers", "1", "--json", str(before)]) == 0
    assert re.search(r"^equal +\d+\nnot applicable +4\n", capsys.readouterr().out, re.MULTILINE)
    content = json.loads(before.read_text())
    assert content["tests"]["test_abs"] == {"outcome": "equal", "message": ""}
    assert content["tests"]["test_adam"] == {"outcome": "not applicable", "message": "training"}
    content["tests"]["test_abs"] = {"outcome": "wrong", "message": "y: shape"}
    content["tests"]["test_adam"]["outcome"] = "equal"
    after.write_text(json.dumps(content))
    assert main(["--compare", str(before), str(after)]) == 1
    assert capsys.readouterr().out.startswith(
        "WORSE: test_abs: equal -> wrong y: shape\nbetter: test_adam: not applicable -> equal training\n"
    )
    assert main(["--compare", str(before), str(before)]) == 0
    with pytest.raises(SystemExit, match="2"):
        main(["--only", "test_nothing"])
    assert "no test of the suite is called test_nothing" in capsys.readouterr().err


def test_many_models_have_names_of_their_own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(ROOT / "benchmarks")
    listing = importlib.import_module("many_models_listing")
    samples = listing.samples_in(DIGITS.parent)
    assert samples == [DIGITS]
    models = listing.named_models(samples, 48, tmp_path, operations=4)
    assert len({each.model for each in models}) == len({each.output for each in models}) == 48
    bad = [number for number, each in enumerate(models) if each.sample is None]
    assert bad == list(range(3, 44, 4))
    assert all(each.model.read_bytes() == DIGITS.read_bytes() for each in models if each.sample is not None)
    broken = [models[number].model.read_bytes() for number in bad[:-1]]
    assert set(broken) == {DIGITS.read_bytes()[: len(DIGITS.read_bytes()) // 2]}
    manifest = listing.manifest_of(models, tmp_path / "models.toml")
    assert manifest.read_text(encoding="utf-8").count("[[model]]") == 48
