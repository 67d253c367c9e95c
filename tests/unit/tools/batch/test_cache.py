"""`moir --cache DIR`: what is taken from the cache is what a conversion writes, and only where nothing has changed."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import textwrap
from collections.abc import Callable
from pathlib import Path

import numpy as np
import onnx
import pytest
from onnx import numpy_helper

from moir.conversion import convert
from moir.options import ConversionOptions
from moir.tools.batch import cache_key
from moir.tools.batch.cache import CachedConversion
from moir.tools.convert import main
from moir.tools.new_extension import main as new_extension
from moir.tools.summary import Summary
from tests.unit.small_models import loop_model, matmul_model, save


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    save(matmul_model(), Path("m.onnx"))
    return tmp_path


@pytest.fixture
def is_cached(capsys: pytest.CaptureFixture[str]) -> Callable[..., bool]:
    """Converts with a cache, and says whether the result came from it; compares it with that of a conversion without."""

    def converted(*arguments: str, model: str = "m.onnx") -> bool:
        shutil.rmtree("out", ignore_errors=True)
        assert main([model, "-o", "out/net.xml", "--cache", "cache", *arguments]) == 0
        printed = capsys.readouterr().out
        assert main([model, "-o", "plain/net.xml", *arguments]) == 0
        plain = capsys.readouterr().out
        for name in ("net.xml", "net.bin"):
            assert Path("out", name).read_bytes() == Path("plain", name).read_bytes()
        assert [line for line in printed.splitlines() if not line.startswith(("files", "time"))] == [
            line for line in plain.splitlines() if not line.startswith(("files", "time"))
        ]
        return printed.rstrip().endswith(" cache")

    return converted


def changed_weights() -> onnx.ModelProto:
    model = matmul_model()
    values = numpy_helper.to_array(model.graph.initializer[0]) + np.float32(1)
    model.graph.initializer[0].CopyFrom(numpy_helper.from_array(values, model.graph.initializer[0].name))
    return model


def test_a_second_conversion_comes_from_the_cache(is_cached: Callable[..., bool]) -> None:
    assert not is_cached()
    assert is_cached()
    assert not is_cached("--compress-to-fp16")
    assert is_cached("--compress-to-fp16")
    assert is_cached()
    assert not is_cached("--passes", "default,fold-constants")
    assert not is_cached("--disable", "fuse-gelu")


def test_a_changed_model_is_converted(is_cached: Callable[..., bool]) -> None:
    assert not is_cached()
    save(changed_weights(), Path("m.onnx"))
    assert not is_cached()
    save(matmul_model(), Path("m.onnx"))
    assert is_cached()


def test_files_that_only_the_model_names_are_part_of_it(is_cached: Callable[..., bool]) -> None:
    def write(model: onnx.ModelProto) -> None:
        for name in ("e.onnx", "weights.bin"):
            Path(name).unlink(missing_ok=True)
        onnx.save(model, "e.onnx", save_as_external_data=True, location="weights.bin", size_threshold=0)

    write(matmul_model())
    assert not is_cached(model="e.onnx")
    assert is_cached(model="e.onnx")
    text = Path("e.onnx").read_bytes()
    write(changed_weights())
    assert Path("e.onnx").read_bytes() == text
    assert not is_cached(model="e.onnx")
    assert is_cached(model="e.onnx")
    # The whole may move.
    Path("there").mkdir()
    for name in ("e.onnx", "weights.bin"):
        shutil.move(name, "there")
    assert is_cached(model="there/e.onnx")


def test_an_output_over_a_part_of_the_model_is_refused(capsys: pytest.CaptureFixture[str]) -> None:
    onnx.save(matmul_model(), "e.onnx", save_as_external_data=True, location="weights.bin", size_threshold=0)
    content = Path("weights.bin").read_bytes()
    assert main(["e.onnx", "-o", "out", "--cache", "cache", "--silent"]) == 0
    assert main(["e.onnx", "-o", "weights.xml", "--cache", "cache", "--silent"]) == 1
    assert "weights.bin: " in capsys.readouterr().err
    assert Path("weights.bin").read_bytes() == content


def test_extensions_and_what_they_import_are_part_of_the_key(is_cached: Callable[..., bool], capsys: pytest.CaptureFixture[str]) -> None:
    assert new_extension(["ext"]) == 0
    capsys.readouterr()
    arguments = ("--extensions", "ext")
    assert not is_cached(*arguments)
    assert is_cached(*arguments)
    file = next(Path("ext/middle").glob("*.py"))
    file.write_text(file.read_text() + "\nimport beside_them\n")
    Path("beside_them.py").write_text("VALUE = 1\n")
    assert not is_cached(*arguments)
    assert is_cached(*arguments)
    Path("beside_them.py").write_text("VALUE = 2\n")
    assert not is_cached(*arguments)
    assert is_cached(*arguments)
    Path("ext/further.txt").write_text("data")
    assert not is_cached(*arguments)


def test_the_environment_and_the_version_are_part_of_the_key(is_cached: Callable[..., bool], monkeypatch: pytest.MonkeyPatch) -> None:
    assert not is_cached()
    monkeypatch.setattr(cache_key, "VERSION", "0.0.0")
    assert not is_cached()
    monkeypatch.undo()


def damages() -> dict[str, Callable[[Path], object]]:
    def cut(path: Path) -> None:
        path.write_bytes(path.read_bytes()[:-1])

    def change(path: Path) -> None:
        content = bytearray(path.read_bytes())
        content[len(content) // 2] ^= 1
        path.write_bytes(content)

    return {"cut": cut, "changed": change, "removed": Path.unlink, "empty": lambda path: path.write_bytes(b"")}


@pytest.mark.parametrize("damage", damages())
@pytest.mark.parametrize("kind", ["??/*.json", "files/*"])
def test_damaged_entries_are_written_anew(is_cached: Callable[..., bool], damage: str, kind: str) -> None:
    assert not is_cached()
    for path in Path("cache").glob(kind):
        damages()[damage](path)
    is_cached()
    # Whatever was wrong is right again.
    assert is_cached()


@pytest.mark.parametrize(
    "entry",
    [
        "[]",
        "{}",
        '{"read": []}',
        '{"read": {}, "summary": {}}',
        '{"read": {}, "summary": 1, "xml": "../../m", "bin": 1}',
        "1e999",
        "[" * 9999,
    ],
)
def test_entries_of_any_content_are_no_failure(is_cached: Callable[..., bool], entry: str) -> None:
    assert not is_cached()
    next(Path("cache").glob("??/*.json")).write_text(entry)
    assert not is_cached()
    assert is_cached()


def test_an_entry_names_no_file_outside_of_the_cache(is_cached: Callable[..., bool]) -> None:
    assert not is_cached()
    path = next(Path("cache").glob("??/*.json"))
    entry = json.loads(path.read_text())
    path.write_text(json.dumps({**entry, "xml": "../../m.onnx"}))
    assert not is_cached()


def test_a_cache_that_cannot_be_written_is_a_note(capsys: pytest.CaptureFixture[str]) -> None:
    Path("cache").write_text("a file")
    assert main(["m.onnx", "-o", "out", "--cache", "cache"]) == 0
    assert "note: the cache cannot be written: " in capsys.readouterr().out
    assert Path("out/m.bin").stat().st_size == 256


def test_no_cache_for_a_model_that_changes() -> None:
    """The content that was read is not that of the key."""
    cached = CachedConversion("cache", Path("m.onnx"), ConversionOptions(), None)
    save(changed_weights(), Path("m.onnx"))
    module = convert("m.onnx", ConversionOptions())
    cached.save(module, Path("out/m.xml"), lambda size: Summary([], (), (), "onnx", {}, {}, size, {}))
    assert Path("out/m.xml").exists()
    assert not Path("cache").exists()


def test_processes_share_a_cache() -> None:
    save(loop_model(), Path("l.onnx"))
    program = """
    import sys
    from moir.tools.convert import main
    for number in range(6):
        model = ("m", "l")[number % 2]
        assert main([f"{model}.onnx", "-o", f"out{sys.argv[1]}/{model}{number}.xml", "--cache", "cache", "--silent"]) == 0
    """
    command = [sys.executable, "-c", textwrap.dedent(program)]
    processes = [subprocess.Popen([*command, str(number)], env=os.environ) for number in range(3)]
    assert [each.wait(timeout=120) for each in processes] == [0, 0, 0]
    for model in ("m", "l"):
        for suffix in (".xml", ".bin"):
            assert len({path.read_bytes() for path in Path().glob(f"out*/{model}?{suffix}")}) == 1
    assert sorted(path.name for path in Path("cache").iterdir() if path.name.startswith("new-")) == []
