"""`moir` with addresses: models, manifests, caches and results, one and many."""

from __future__ import annotations

import ast
import io
import json
import subprocess
import sys
from pathlib import Path

import pytest

import moir
from moir.tools.convert import main
from moir.tools.progress import ProgressBar
from tests.unit.files.remote.conftest import Bucket
from tests.unit.files.remote.servers import Web
from tests.unit.files.remote.test_models import external_model
from tests.unit.small_models import loop_model, matmul_model, save


def test_from_a_bucket_to_a_bucket(bucket: Bucket, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = external_model(tmp_path / "model")
    address = f"{bucket.put('model', path.parent)}/m.onnx"
    assert main([address, "-o", "s3://models/ir/"]) == 0
    assert "files       s3://models/ir/m.xml s3://models/ir/m.bin\n" in capsys.readouterr().out
    assert main([str(path), "-o", "here", "--silent"]) == 0
    assert [bucket.get(f"ir/m.{end}") for end in ("xml", "bin")] == [Path(f"here/m.{end}").read_bytes() for end in ("xml", "bin")]
    assert main(["s3://models/ir/m.xml", "-o", "s3://models/ir/m.xml"]) == 1
    assert "this file belongs to the model that is converted" in capsys.readouterr().err
    assert main(["s3://models/ir/m.xml", "-o", "s3://models/onnx/m.onnx", "--silent"]) == 0
    assert bucket.stored("onnx") == ["onnx/m.onnx"]
    assert main(["inspect", "s3://models/onnx/m.onnx"]) == 0


def test_a_manifest_in_a_bucket(bucket: Bucket, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    bucket.put("a.onnx", save(matmul_model(), tmp_path / "a.onnx"))
    save(loop_model(), tmp_path / "b.onnx")
    manifest = f'output_dir = "ir"\n[[model]]\ninput_model = "a.onnx"\n[[model]]\ninput_model = "{tmp_path}/b.onnx"\noutput_model = "x/c"\n'
    arguments = ["--manifest", bucket.put("m.toml", manifest.encode()), "--json", "--jobs", "1"]
    assert main(arguments) == 0
    results = {each["model"]: each for each in map(json.loads, capsys.readouterr().out.splitlines())}
    assert [each["path"] for each in results["s3://models/a.onnx"]["files"]] == ["s3://models/ir/a.xml", "s3://models/ir/a.bin"]
    (read,) = results["s3://models/a.onnx"]["read"]
    assert (read["path"], read["changed"], bool(read["tag"])) == ("s3://models/a.onnx", 0, True)
    assert bucket.stored("x") == ["x/c.bin", "x/c.xml"]

    Path("results.jsonl").write_text("".join(f"{json.dumps(each)}\n" for each in results.values()), encoding="utf-8")
    bucket.put("a.onnx", tmp_path / "b.onnx")
    bucket.delete("x/c.bin")
    assert main([*arguments, "--resume", "results.jsonl"]) == 0
    assert [json.loads(each)["status"] for each in capsys.readouterr().out.splitlines()] == ["converted", "converted"]


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ('extensions = "ext"', "model 1: extensions names a file beside a manifest that lies elsewhere; give an absolute path"),
        ('output_model = "../x"', "'../x' leads out of the folder; say the whole address"),
    ],
)
def test_paths_in_a_manifest_that_lies_elsewhere(web: Web, capsys: pytest.CaptureFixture[str], line: str, message: str) -> None:
    (Path("folder") / "ext").mkdir(parents=True)
    web.files["/m.toml"] = f'[[model]]\ninput_model = "a.onnx"\n{line}\n'.encode()
    assert main(["--manifest", f"{web.address}/m.toml?token=secret"]) == 2
    assert message in (error := capsys.readouterr().err)
    assert "secret" not in error


def test_a_cache_in_a_bucket(bucket: Bucket, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    path = save(matmul_model(), tmp_path / "a.onnx")
    arguments = [str(path), "--cache", "s3://models/cache", "--json", "-o"]
    assert main([*arguments, "one"]) == 0
    assert len(bucket.stored("cache/files/")) == 2
    # Another machine, and a copy of the cache that is damaged.
    monkeypatch.setenv("MOIR_DOWNLOADS", str(tmp_path / "other"))
    assert main([*arguments, "two"]) == 0
    for each in (tmp_path / "other").rglob("files/*"):
        each.write_bytes(b"damaged")
    assert main([*arguments, "three"]) == 0
    statuses = [json.loads(each)["status"] for each in capsys.readouterr().out.splitlines()]
    assert statuses == ["converted", "cached", "converted"]
    assert {Path(each, "a.xml").read_bytes() for each in ("one", "two", "three")} == {Path("one/a.xml").read_bytes()}
    bucket.cable.is_down = True
    assert main([str(path), "--cache", "s3://models/another", "-o", "four"]) == 0
    assert "the cache cannot be written" in capsys.readouterr().out
    assert Path("four/a.xml").read_bytes() == Path("one/a.xml").read_bytes()


def test_many_models_with_failures(bucket: Bucket, tmp_path: Path) -> None:
    bucket.put("a.onnx", save(matmul_model(), tmp_path / "a.onnx"))
    bucket.put("llm/model.safetensors", b"damaged")
    jobs = [moir.Job(f"s3://models/{name}", "s3://models/ir") for name in ("a.onnx", "absent.onnx", "llm")]
    results = {each.model: each for each in moir.convert_models(jobs, jobs_at_a_time=1)}
    assert results["s3://models/a.onnx"].files == ("s3://models/ir/a.xml", "s3://models/ir/a.bin")
    messages = [each.failure.message for each in results.values() if each.failure is not None]
    assert len(messages) == 2
    assert all(each.startswith("s3://models/") for each in messages)
    assert jobs[2].output == "s3://models/ir/llm/openvino_model.xml"
    assert bucket.stored("ir") == ["ir/a.bin", "ir/a.xml"]


def test_signatures_are_not_printed(web: Web, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    web.files["/a.onnx"] = save(matmul_model(), tmp_path / "a.onnx").read_bytes()
    web.files["/b.onnx"] = b"\x08\x07damaged"
    for name in ("a", "b", "c"):
        address = f"{web.address}/{name}.onnx?sig={'secret' * 100}"
        for arguments in ([address, "--json", "--debug"], [address, "--timeout", "60", "-o", "many", "--debug"]):
            main(arguments)
    printed = capsys.readouterr()
    assert f'"{web.address}/a.onnx"' in printed.out
    assert "secret" not in printed.out + printed.err


def test_paths_that_must_be_here(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["a.onnx", "--dump-ir", "s3://models/dumps"]) == 2
    assert "s3://models/dumps is not a folder of this machine" in capsys.readouterr().err


def test_a_bar_shows_what_is_transferred() -> None:
    stream = io.StringIO()
    bar = ProgressBar(stream)
    bar.transfer("https://host/a.onnx?sig=secret", 5_000_000, 10_000_000)
    assert "[############............] a.onnx 5.0 of 10.0 MB" in stream.getvalue()
    bar.transfer("s3://b/c.bin", 10**9, 0)
    bar._next = 0.0
    bar.transfer("s3://b/c.bin", 10**9, 0)
    assert "c.bin 1000.0 MB" in stream.getvalue()


def test_nothing_is_imported_for_paths(tmp_path: Path) -> None:
    path = save(matmul_model(), tmp_path / "a.onnx")
    program = (
        "import sys, moir; moir.save_model(moir.convert_model(sys.argv[1]), 'a.xml'); from moir.tools.convert import main; "
        "assert main([sys.argv[1], '-o', 'b', '--silent']) == 0; "
        "print([each for each in sys.modules if each in ('fsspec', 'aiohttp', 's3fs', 'asyncio') or each.startswith('moir.files.remote.')])"
    )
    printed = subprocess.run([sys.executable, "-c", program, path], capture_output=True, text=True, check=True).stdout
    assert sorted(ast.literal_eval(printed)) == [f"moir.files.remote.{name}" for name in ("addresses", "local", "local_files")]
