"""Models, results and caches in the stores of Google and Azure: what test_models.py and test_uploads.py say of S3."""

from __future__ import annotations

import json
from collections.abc import Generator
from pathlib import Path

import pytest

from moir.errors import EmissionError, ModelFileError
from moir.files.remote import download, store
from moir.files.remote.local import local_file, local_output
from moir.tools.convert import main
from tests.unit.files.remote.clouds import Cloud, azure, google
from tests.unit.files.remote.test_models import external_model

CONTENT = bytes(range(250)) * 4000
"""A megabyte."""

LARGE = bytes(17 << 20)


@pytest.fixture(scope="module", params=[google, azure], ids=["gs", "az"])
def server(request: pytest.FixtureRequest) -> Generator[Cloud]:
    with pytest.MonkeyPatch.context() as patch, request.param(patch) as cloud:
        yield cloud


@pytest.fixture
def cloud(server: Cloud, monkeypatch: pytest.MonkeyPatch) -> Generator[Cloud]:
    """An empty store."""
    monkeypatch.setattr(store, "PIECE", 100_000)
    monkeypatch.setattr(download, "_PAUSES", (0.01, 0.01))
    yield server
    server.clear()


def write(output: str, content: bytes, text: str = "<net>") -> None:
    with local_output(output) as local:
        local.path.write_text(text, encoding="utf-8")
        local.path.with_suffix(".bin").write_bytes(content)


def content_of(address: str) -> bytes:
    with local_file(address) as path:
        return path.read_bytes()


def test_from_a_store_to_a_store(cloud: Cloud, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = external_model(tmp_path / "model")
    folder = cloud.put("model", path.parent)
    base = folder.removesuffix("/model")
    manifest = cloud.put("m.toml", b'output_dir = "ir"\n[[model]]\ninput_model = "model/m.onnx"\n')
    arguments = ["--manifest", manifest, "--cache", f"{base}/cache", "--jobs", "1", "--json"]
    assert main(arguments) == 0
    first = capsys.readouterr().out
    assert [each["path"] for each in json.loads(first)["files"]] == [f"{base}/ir/m.xml", f"{base}/ir/m.bin"]
    assert main([str(path), "-o", "here", "--silent"]) == 0
    assert [cloud.get(f"ir/m.{end}") for end in ("xml", "bin")] == [Path(f"here/m.{end}").read_bytes() for end in ("xml", "bin")]
    Path("results.jsonl").write_text(first, encoding="utf-8")
    assert main([*arguments, "--resume", "results.jsonl"]) == 0
    assert main(arguments) == 0
    assert [json.loads(each)["status"] for each in capsys.readouterr().out.splitlines()] == ["unchanged", "cached"]
    assert main([f"{base}/model/none.onnx", "-o", "here"]) == 1
    assert "there is no such file or folder" in capsys.readouterr().err


def test_a_download_that_is_cut_goes_on(cloud: Cloud) -> None:
    address = cloud.put("a", CONTENT)
    cloud.cable.left, cuts = 350_000, cloud.cable.cuts
    assert content_of(address) == CONTENT
    assert cloud.cable.cuts == cuts + 1
    cloud.put("a", CONTENT[::-1])
    assert content_of(address) == CONTENT[::-1]


@pytest.mark.parametrize("sent", [1_000, 5 << 20, (17 << 20) - 1_000])
def test_a_server_that_stops_has_the_older_model_or_none(cloud: Cloud, sent: int) -> None:
    address = f"{cloud.scheme}://models/ir/m.xml"
    write(address, b"old", "<net old>")
    cloud.cable.sent = sent
    with pytest.raises((EmissionError, ModelFileError), match=rf"^{cloud.scheme}://models/ir/m\.(xml|bin): "):
        write(address, LARGE)
    if "ir/m.xml" in cloud.stored():
        assert (cloud.get("ir/m.xml"), cloud.get("ir/m.bin")) == (b"<net old>", b"old")
    cloud.cable.is_down, cloud.cable.sent = False, None
    write(address, LARGE)
    assert (cloud.get("ir/m.xml"), cloud.get("ir/m.bin")) == (b"<net>", LARGE)
