"""Results at addresses appear whole, or not at all."""

from __future__ import annotations

from pathlib import Path

import pytest

from moir.errors import EmissionError, UsageError
from moir.files.remote import upload
from moir.files.remote.local import local_output
from moir.files.remote.local_files import Progress
from tests.unit.files.remote.conftest import Bucket

LARGE = bytes(17 << 20)
"""More than one part."""


def write(output: str, content: bytes, text: str = "<net>", progress: Progress | None = None) -> None:
    with local_output(output, (), progress) as local:
        local.path.write_text(text, encoding="utf-8")
        local.path.with_suffix(".bin").write_bytes(content)


def test_files_appear_with_their_content(bucket: Bucket, downloads: Path) -> None:
    told: list[tuple[str, int, int]] = []
    parts = [("bin", 16 << 20, 17 << 20), ("bin", 17 << 20, 17 << 20)]
    with local_output("s3://models/ir/m.xml", (), lambda *each: told.append(each)) as local:
        local.path.write_text("<net>", encoding="utf-8")
        local.path.with_suffix(".bin").write_bytes(LARGE)
        assert local.names([local.path, local.path.with_suffix(".bin")]) == ("s3://models/ir/m.xml", "s3://models/ir/m.bin")
        assert bucket.stored() == []
    assert bucket.stored() == ["ir/m.bin", "ir/m.xml"]
    assert bucket.get("ir/m.bin") == LARGE
    assert told == [(f"s3://models/ir/m.{end}", done, size) for end, done, size in (*parts, ("xml", 5, 5))]
    write("s3://models/ir/m.xml", b"")
    assert bucket.get("ir/m.bin") == b""
    assert not list(downloads.iterdir())


def test_after_an_error_of_the_conversion_nothing_is_sent(bucket: Bucket) -> None:
    with pytest.raises(TypeError):
        write("s3://models/ir/m.xml", None)  # type: ignore[arg-type]
    assert bucket.stored() == []


@pytest.mark.parametrize("sent", [1_000, 5 << 20, 16 << 20, (17 << 20) + 4_000])
def test_a_server_that_stops_has_the_older_model_or_none(bucket: Bucket, sent: int) -> None:
    write("s3://models/ir/m.xml", b"old", "<net old>")
    bucket.cable.sent = sent
    with pytest.raises(EmissionError, match=r"^s3://models/ir/m\.(xml|bin): the (model|file in its place) cannot be"):
        write("s3://models/ir/m.xml", LARGE)
    if "ir/m.xml" in bucket.stored():
        assert (bucket.get("ir/m.xml"), bucket.get("ir/m.bin")) == (b"<net old>", b"old")


def test_a_store_may_take_long_to_put_the_parts_together(bucket: Bucket, monkeypatch: pytest.MonkeyPatch) -> None:
    import s3fs

    # A library that repeats the request while the store is at work gets an error, and the model appears later.
    monkeypatch.setattr(s3fs.S3FileSystem, "read_timeout", 0.1)
    monkeypatch.setattr(s3fs.S3FileSystem, "_cache", {})
    bucket.cable.pause = 0.3
    write("s3://models/ir/m.xml", b"content")
    assert bucket.stored() == ["ir/m.bin", "ir/m.xml"]


def test_a_failure_aborts_the_parts(bucket: Bucket, monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupt(*_: object) -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        write("s3://models/ir/m.xml", LARGE, progress=interrupt)
    assert bucket.unfinished_uploads() == 0
    write("s3://models/ir/m.xml", b"old", "<net old>")
    monkeypatch.setattr(upload.Store, "remove", interrupt)
    with pytest.raises(KeyboardInterrupt):
        write("s3://models/ir/m.xml", LARGE)
    assert bucket.unfinished_uploads() == 0
    assert (bucket.get("ir/m.xml"), bucket.get("ir/m.bin")) == (b"<net old>", b"old")


def test_only_a_model_is_replaced(bucket: Bucket) -> None:
    bucket.put("ir/m.xml", b"<html>")
    with pytest.raises(EmissionError, match="the file would be overwritten, but it is not an OpenVINO IR"):
        write("s3://models/ir/m.xml", b"")
    bucket.put("ir/m.onnx", b"text")
    with (
        pytest.raises(EmissionError, match="the file would be overwritten, but it is not an ONNX model"),
        local_output("s3://models/ir/m.onnx"),
    ):
        pass


def test_nothing_is_written_to_the_web_or_beside_buckets() -> None:
    with pytest.raises(UsageError, match="a server of the web is only read"), local_output("https://host/m.xml"):
        pass
    with pytest.raises(UsageError, match="this is no place for a model"), local_output("s3://m.xml"):
        pass


def test_stores_that_show_files_at_once_get_the_xml_last(monkeypatch: pytest.MonkeyPatch) -> None:
    fsspec = pytest.importorskip("fsspec")
    monkeypatch.setitem(__import__("moir.files.remote.addresses", fromlist=["PACKAGES"]).PACKAGES, "memory", "fsspec")
    memory = fsspec.filesystem("memory")
    write("memory://bucket/ir/m.xml", b"old")
    put: list[tuple[str, bool]] = []
    monkeypatch.setattr(type(memory), "put_file", lambda *each: put.append((each[2], memory.exists("/bucket/ir/m.xml"))))
    write("memory://bucket/ir/m.xml", b"new")
    assert put == [("/bucket/ir/m.bin", False), ("/bucket/ir/m.xml", False)]
