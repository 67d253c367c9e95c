"""Downloads that are cut, changed, without end, or led elsewhere."""

from __future__ import annotations

import gc
import resource
from pathlib import Path

import pytest

import moir
from moir.errors import ModelFileError
from moir.files.remote import download, store
from moir.files.remote.local import local_file
from moir.files.remote.mirror import Mirror
from tests.unit.files.remote.conftest import Bucket
from tests.unit.files.remote.servers import Web


@pytest.fixture(autouse=True)
def small_pieces(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(store, "PIECE", 100_000)
    monkeypatch.setattr(download, "_PAUSES", (0.01, 0.01))


CONTENT = bytes(range(250)) * 4000
"""A megabyte."""


def content_of(address: str) -> bytes:
    with local_file(address) as path:
        return path.read_bytes()


@pytest.mark.parametrize("has_ranges", [True, False])
def test_a_connection_to_the_web_that_is_cut(web: Web, has_ranges: bool) -> None:
    web.files["/a"], web.has_ranges, web.cut_after = CONTENT, has_ranges, 350_000
    assert content_of(f"{web.address}/a") == CONTENT
    ranges = [each for method, _, each in web.requests if method == "GET"]
    assert ranges[0] == ""
    begun = int(ranges[1].removeprefix("bytes=").removesuffix("-"))
    assert 0 < begun <= 350_000


def test_a_connection_to_a_bucket_that_is_cut(bucket: Bucket) -> None:
    address = bucket.put("a", CONTENT)
    told: list[int] = []
    bucket.cable.left, cuts = 350_000, bucket.cable.cuts
    opened = store.Store(address)
    mirror = Mirror(opened, address, "file")
    version = opened.file(address)
    assert version is not None
    with mirror.locked():
        assert mirror.fetch("a", version, lambda *each: told.append(each[1])).read_bytes() == CONTENT
    assert bucket.cable.cuts == cuts + 1
    # No byte was told of twice.
    assert told == sorted(set(told))


def test_what_an_earlier_process_has_downloaded_is_kept(web: Web, downloads: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupt(_: float) -> None:
        raise KeyboardInterrupt

    web.files["/a"], web.cut_after = CONTENT, 350_000
    with monkeypatch.context() as patch:
        patch.setattr(download.time, "sleep", interrupt)
        with pytest.raises(KeyboardInterrupt):
            content_of(f"{web.address}/a")
    (partial,) = downloads.rglob("partial/*")
    size = partial.stat().st_size
    assert size > 0
    web.requests.clear()
    assert content_of(f"{web.address}/a") == CONTENT
    assert [each for method, _, each in web.requests if method == "GET"] == [f"bytes={size}-"]


def test_a_file_that_changes_meanwhile(web: Web, monkeypatch: pytest.MonkeyPatch) -> None:
    web.files["/a"] = CONTENT
    complete = download._complete

    def changing(*arguments: object) -> None:
        complete(*arguments)  # type: ignore[arg-type]
        web.files["/a"] = CONTENT[:600_000]

    monkeypatch.setattr(download, "_complete", changing)
    assert content_of(f"{web.address}/a") == CONTENT[:600_000]


def test_a_server_that_claims_more_than_the_disk_has(web: Web) -> None:
    web.files["/a"], web.claimed = b"abc", 10**18
    with pytest.raises(ModelFileError, match=r"/a: the rest of it takes 1000000000268435456 bytes, and the disk of .* has \d+; free space"):
        content_of(f"{web.address}/a")


def test_a_server_that_claims_more_than_it_sends(web: Web) -> None:
    web.files["/a"], web.claimed = b"abc", 10**6
    with pytest.raises(ModelFileError, match="/a: cannot be downloaded: ClientPayloadError"):
        content_of(f"{web.address}/a")


@pytest.mark.parametrize("target", ["file:///etc/passwd", "ftp://127.0.0.1/a", "s3://models/a"])
def test_redirects_lead_to_the_web_only(web: Web, target: str) -> None:
    web.redirects["/a"] = target
    with pytest.raises(ModelFileError, match=r"^http://127.0.0.1:\d+/a: cannot be read: "):
        content_of(f"{web.address}/a?secret")


def test_redirects_that_do_not_end(web: Web) -> None:
    web.redirects["/a"] = "/a"
    with pytest.raises(ModelFileError, match=r"^http://127.0.0.1:\d+/a: cannot be read: TooManyRedirects"):
        content_of(f"{web.address}/a?secret")


def test_messages_have_no_query(web: Web) -> None:
    for address in (f"{web.address}/absent?X-Amz-Signature=secret", "http://user:secret@127.0.0.1:1/a?signature=secret"):
        with pytest.raises(ModelFileError) as caught:
            moir.convert_model(address)
        assert "secret" not in str(caught.value)
        assert caught.value.__cause__ is None


@pytest.mark.usefixtures("frozen_objects")
def test_memory_does_not_grow_with_the_file(web: Web) -> None:
    web.files["/a"] = bytes(150_000_000)
    gc.collect()
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    with local_file(f"{web.address}/a") as path:
        assert path.stat().st_size == 150_000_000
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < 70_000
