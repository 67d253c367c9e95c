"""Models at addresses come with the files that belong to them, once, and with nothing else."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import onnx
import pytest
from onnx import numpy_helper

import moir
from moir.errors import ModelFileError, UsageError
from moir.files.remote.local import local_file, local_model
from tests.unit.files.remote.conftest import Bucket
from tests.unit.files.remote.servers import Web
from tests.unit.small_models import matmul_model, save

MANIFEST = [{"paths": ["s1", "../s2"]}]


def names(address: str) -> list[str]:
    """The names of the local files of a model, relative to its folder."""
    with local_model(address) as model:
        folder = model.path if model.path.is_dir() else model.path.parent
        assert {each.relative_to(folder.resolve()).as_posix() for each in model.files} == set(_files(folder))
        return _files(folder)


def _files(folder: Path) -> list[str]:
    return sorted(each.relative_to(folder).as_posix() for each in folder.rglob("*") if each.is_file())


def external_model(folder: Path, location: str = "weights/a b.data") -> Path:
    """An ONNX model with external data."""
    model = matmul_model()
    for tensor in model.graph.initializer:
        (folder / location).parent.mkdir(parents=True, exist_ok=True)
        (folder / location).write_bytes(numpy_helper.to_array(tensor).tobytes())
        tensor.ClearField("raw_data")
        tensor.data_location = onnx.TensorProto.EXTERNAL
        tensor.external_data.add(key="location", value=location)
    return save(model, folder / "m.onnx")


def test_external_data_comes_along_and_is_downloaded_once(bucket: Bucket, tmp_path: Path) -> None:
    path = external_model(tmp_path / "model")
    address = f"{bucket.put('a/model', path.parent)}/m.onnx"
    bucket.put("a/model/other.onnx", b"other")
    assert names(address) == ["m.onnx", "weights/a b.data"]
    told: list[str] = []
    with local_model(address, lambda *each: told.append(each[0])):
        assert told == []
    moir.save_model(moir.convert_model(address), "there.xml")
    moir.save_model(moir.convert_model(path), "here.xml")
    assert Path("there.xml").read_bytes() == Path("here.xml").read_bytes()
    assert Path("there.bin").read_bytes() == Path("here.bin").read_bytes()


def test_a_new_version_is_downloaded_and_what_was_left_out_is_removed(bucket: Bucket, tmp_path: Path) -> None:
    address = f"{bucket.put('model', external_model(tmp_path / 'model').parent)}/m.onnx"
    assert len(names(address)) == 2
    bucket.put("model/m.onnx", save(matmul_model(), tmp_path / "new.onnx"))
    assert names(address) == ["m.onnx"]
    with local_model(address) as model:
        assert model.path.read_bytes() == (tmp_path / "new.onnx").read_bytes()
        # Somebody changes the local copy.
        model.path.write_bytes(b"damaged")
    with local_model(address) as model:
        assert model.path.read_bytes() == (tmp_path / "new.onnx").read_bytes()


@pytest.mark.parametrize(
    ("stored", "model", "expected"),
    [
        ({"m.caffemodel": b"\x0a\x01a", "m.prototxt": b"name: 'a'"}, "m.prototxt", ["m.caffemodel", "m.prototxt"]),
        ({"m-0001.params": b"\x12\x01" + bytes(6), "m-symbol.json": b'{"nodes":'}, "m-0001.params", ["m-0001.params", "m-symbol.json"]),
        (
            {"m-symbol.json": b'{"nodes": []}', "m-0001.params": b"1", "m-0009.params": b"9", "n-0010.params": b"10"},
            "m-symbol.json",
            ["m-0009.params", "m-symbol.json"],
        ),
        ({"m-symbol.json": b'{"nodes": []}', "m-0000.params": b"0"}, "m", ["m-0000.params", "m-symbol.json"]),
        ({"m.xml": b"<net>", "m.bin": b"1", "n.bin": b"2"}, "m.xml", ["m.bin", "m.xml"]),
        ({"inference.pdmodel": b"", "inference.json": b'{"base_code":', "inference.pdiparams": b"1"}, "inference.json", None),
        (
            {f"m-0000{k}-of-00003.gguf": b"GGUF" for k in (1, 2, 3)},
            "m-00001-of-00003.gguf",
            [f"m-0000{k}-of-00003.gguf" for k in (1, 2, 3)],
        ),
        (
            {"model.json": json.dumps({"modelTopology": {"node": []}, "weightsManifest": MANIFEST}).encode(), "s1": b"1"},
            "model.json",
            ["model.json", "s1"],
        ),
        (
            {"saved_model.pb": b"1", "variables/variables.index": b"2", "assets/words.txt": b"3"},
            "",
            ["assets/words.txt", "saved_model.pb", "variables/variables.index"],
        ),
        (
            {"model.safetensors": b"1", "config.json": b"2", "m.bin": b"3", "onnx/model.safetensors": b"4", ".gitattributes": b"5"},
            "",
            ["config.json", "model.safetensors"],
        ),
    ],
)  # fmt: skip
def test_what_lies_beside_a_model(bucket: Bucket, stored: dict[str, bytes], model: str, expected: list[str] | None) -> None:
    for name, content in stored.items():
        bucket.put(f"folder/{name}", content)
    assert names(f"s3://models/folder/{model}".rstrip("/")) == (expected or ["inference.json", "inference.pdiparams"])


def test_a_checkpoint_comes_with_its_graph(bucket: Bucket, monkeypatch: pytest.MonkeyPatch) -> None:
    class Bundle:
        shard_count = 2

        def __init__(self, prefix: Path, model: Path) -> None:
            assert (prefix.name, model.name) == ("m.ckpt", "m.ckpt.meta")

    monkeypatch.setattr("moir.frontends.tensorflow.checkpoint.bundle.Bundle", Bundle)
    expected = ["m.ckpt.data-00000-of-00002", "m.ckpt.data-00001-of-00002", "m.ckpt.index", "m.ckpt.meta"]
    for name in (*expected, "n.ckpt.index"):
        bucket.put(f"saved/{name}", b"\x0a\x02\x22\x02")
    assert names("s3://models/saved/m.ckpt.meta") == names("s3://models/saved/m.ckpt") == expected


@pytest.mark.parametrize("location", ["../secret", "/etc/passwd", "a/../../secret"])
def test_a_model_names_no_file_outside_of_its_folder(bucket: Bucket, tmp_path: Path, location: str) -> None:
    bucket.put("secret", b"1" * 256)
    model = onnx.load(external_model(tmp_path / "model", "data"), load_external_data=False)
    for tensor in model.graph.initializer:
        tensor.external_data[0].value = location
    address = bucket.put("deep/model/m.onnx", save(model, tmp_path / "m.onnx"))
    with pytest.raises(ModelFileError, match=r"^s3://models/deep/model/m.onnx: external data .* is outside the folder of the model"):
        moir.convert_model(address)


def test_what_is_not_a_model(bucket: Bucket) -> None:
    bucket.put("texts/readme.md", b"# Read me")
    for address in ("s3://models", "s3://models/"):
        with pytest.raises(UsageError, match="this is all that somebody has stored, which is not listed"):
            moir.convert_model(address)
    with pytest.raises(ModelFileError, match=r"^s3://models/texts: the folder is not a model"):
        moir.convert_model("s3://models/texts")
    with pytest.raises(ModelFileError, match=r"^s3://models/texts/readme.md: this is a text, and no model"):
        moir.convert_model("s3://models/texts/readme.md")
    with pytest.raises(ModelFileError, match=r"^s3://models/absent.onnx: there is no such file or folder"):
        moir.convert_model("s3://models/absent.onnx")


def test_a_scheme_whose_package_is_missing(monkeypatch: pytest.MonkeyPatch) -> None:
    registry = pytest.importorskip("fsspec.registry")
    # Another test may have loaded it.
    monkeypatch.delitem(registry._registry, "az", raising=False)
    monkeypatch.setitem(sys.modules, "adlfs", None)
    with pytest.raises(UsageError, match=r"^az://a/b: az:// needs the package adlfs; install it: pip install 'moir\[remote\]' adlfs$"):
        moir.convert_model("az://a/b")


def test_a_server_of_the_web(web: Web, tmp_path: Path) -> None:
    path = external_model(tmp_path / "model")
    web.files = {"/m.onnx": path.read_bytes(), "/weights/a b.data": b""}
    web.files["/weights/a%20b.data"] = (path.parent / "weights/a b.data").read_bytes()
    address = f"{web.address}/m.onnx?X-Amz-Signature=secret"
    assert names(address) == ["m.onnx", "weights/a b.data"]
    assert {path for method, path, _ in web.requests if method == "GET"} == {
        "/m.onnx?X-Amz-Signature=secret",
        "/weights/a%20b.data?X-Amz-Signature=secret",
    }
    web.requests.clear()
    assert len(names(address.replace("secret", "other"))) == 2
    assert {method for method, _, _ in web.requests} == {"HEAD"}
    module = moir.convert_model(address)
    moir.save_model(module, "there.xml")
    assert Path("there.bin").stat().st_size == 256


def test_a_hub(web: Web, downloads: Path) -> None:
    pytest.importorskip("huggingface_hub")
    files = {"config.json": b"{}", "model.safetensors": b"12345", "m.bin": b"6", "README.md": b"7"}
    entries = [{"type": "file", "oid": name, "size": len(content), "path": name} for name, content in files.items()]
    web.files = {f"/org/m/resolve/main/{name}": content for name, content in files.items()}
    web.files["/api/models/org/m"] = json.dumps({"id": "org/m", "sha": "a" * 40, "siblings": []}).encode()
    web.files["/api/models/org/m/tree/main"] = json.dumps(entries).encode()
    program = (
        "from moir.files.remote.local import local_model\n"
        "with local_model('hf://org/m') as model:\n    print(model.path, *sorted(each.name for each in model.path.iterdir()))\n"
    )
    for _ in range(2):
        # The library reads the variable when it is imported.
        environment = {**os.environ, "HF_ENDPOINT": web.address, "PYTHONPATH": str(Path(moir.__file__).parents[1])}
        command = [sys.executable, "-c", program]
        printed = subprocess.run(command, env=environment, capture_output=True, text=True, check=True).stdout.split()
        assert (Path(printed[0]).name, printed[1:]) == ("m", ["config.json", "model.safetensors"])
    assert sorted(path for _, path, _ in web.requests if "/resolve/" in path) == [f"/org/m/resolve/main/{name}" for name in printed[1:]]
    assert next(downloads.rglob("model.safetensors")).read_bytes() == b"12345"


def test_a_file_is_downloaded_for_other_readers(web: Web) -> None:
    web.files["/models.toml"] = b"[[model]]"
    with local_file(f"{web.address}/models.toml") as path:
        assert path.read_bytes() == b"[[model]]"
    with local_file("here.toml") as path:
        assert path == Path("here.toml")


def test_files_without_tags_are_downloaded_each_time(web: Web, tmp_path: Path) -> None:
    web.has_tags = False
    web.files["/m.onnx"] = save(matmul_model(), tmp_path / "m.onnx").read_bytes()
    for count in (1, 2):
        with local_model(f"{web.address}/m.onnx"):
            assert sum(method == "GET" for method, _, _ in web.requests) == count


def test_only_the_user_reads_what_is_downloaded(web: Web, downloads: Path, tmp_path: Path) -> None:
    web.files["/m.onnx"] = save(matmul_model(), tmp_path / "m.onnx").read_bytes()
    with local_model(f"{web.address}/m.onnx"):
        assert os.stat(downloads).st_mode & 0o777 == 0o700
