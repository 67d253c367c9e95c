"""The folder of downloads stays small: what was used longest ago is removed."""

from __future__ import annotations

import os
from pathlib import Path
from types import SimpleNamespace

import pytest

from moir.errors import UsageError
from moir.files.remote import download_folder
from moir.files.remote.download_folder import make_room
from moir.files.remote.local import local_file
from tests.unit.files.remote.servers import Web

MEGABYTE = 1_000_000


@pytest.fixture(autouse=True)
def unmeasured(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(download_folder._Measured, "folder", None)


def fetch(web: Web, *names: str) -> None:
    """Download files, each used a second after the one before it."""
    for number, name in enumerate(names):
        web.files[f"/{name}"] = name.encode() * MEGABYTE
        with local_file(f"{web.address}/{name}") as path:
            os.utime(path.parent.parent / "in-use", (number, number))


def kept(downloads: Path) -> list[str]:
    return sorted(each.name for each in downloads.glob("*/file/*"))


def test_nothing_is_removed_while_there_is_space(web: Web, downloads: Path) -> None:
    fetch(web, "a", "b", "c")
    assert kept(downloads) == ["a", "b", "c"]


def test_what_was_used_longest_ago_is_removed_first(web: Web, downloads: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MOIR_DOWNLOADS_SIZE", "4.5 MB")
    fetch(web, "a", "b", "c", "d")
    assert kept(downloads) == ["a", "b", "c", "d"]
    fetch(web, "e")
    # Four fifths of the size: three models and the new one.
    assert kept(downloads) == ["c", "d", "e"]


def test_what_is_in_use_stays(web: Web, downloads: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MOIR_DOWNLOADS_SIZE", "2.5MB")
    fetch(web, "a", "b")
    with local_file(f"{web.address}/a") as path:
        os.utime(path.parent.parent / "in-use", (0, 0))
        fetch(web, "c", "d")
        assert path.read_bytes() == b"a" * MEGABYTE
    assert kept(downloads) == ["a", "d"]


def test_a_disk_without_space_is_made_free(web: Web, downloads: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    fetch(web, "a", "b", "c")

    def disk_usage(_: Path) -> SimpleNamespace:
        return SimpleNamespace(free=5 * MEGABYTE - len(kept(downloads)) * MEGABYTE)

    monkeypatch.setattr(download_folder.shutil, "disk_usage", disk_usage)
    make_room(MEGABYTE, 2 * MEGABYTE)
    assert kept(downloads) == ["b", "c"]
    make_room(100 * MEGABYTE, 0)
    assert kept(downloads) == []


def test_copies_of_a_cache_are_removed_by_file(downloads: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    files = downloads / "cache-0" / "files"
    files.mkdir(parents=True)
    for number in range(3):
        (files / str(number)).write_bytes(bytes(MEGABYTE))
        os.utime(files / str(number), (number, number))
    monkeypatch.setenv("MOIR_DOWNLOADS_SIZE", "3MB")
    make_room(MEGABYTE, 0)
    assert [each.name for each in files.iterdir()] == ["2"]


def test_a_text_that_is_no_size(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MOIR_DOWNLOADS_SIZE", "much")
    with pytest.raises(UsageError, match="MOIR_DOWNLOADS_SIZE is 'much', which is not a size; such as 100GB"):
        make_room(1, 0)
