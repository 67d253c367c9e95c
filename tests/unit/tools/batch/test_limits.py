"""The limits of a pool: the seconds of a conversion, and the memory of those at a time."""

from __future__ import annotations

import argparse
import os
import signal
import sys
import time
from pathlib import Path

import numpy as np
import pytest

from moir.conversion_result import ConversionResult
from moir.options import ConversionOptions
from moir.tools.argument_types import Shard, seconds, shard, size
from moir.tools.batch.memory import need_of
from moir.tools.batch.pool import Limits, converted
from moir.tools.batch.queue import Queue
from moir.tools.batch.work import Work


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


def works(*names: str) -> list[Work]:
    return [Work(name, f"{name}.xml", ConversionOptions()) for name in names]


def slow(work: Work) -> ConversionResult:
    """A conversion that takes long, in one case without heeding a signal, and leaves a file if it is not interrupted."""
    if work.model != "quick":
        temporary = Path(f"{work.model}.tmp")
        temporary.touch()
        try:
            time.sleep(60)
        finally:
            temporary.unlink()
    return ConversionResult(work.model, "converted")


def greedy(work: Work) -> ConversionResult:
    """A conversion that takes a gigabyte of memory."""
    count = np.ones(10**9 if work.model == "large" else 10**6, np.uint8).sum()
    return ConversionResult(work.model, "converted", weights_bytes=int(count))


def test_a_conversion_that_takes_too_long_fails_alone_and_leaves_no_file() -> None:
    listed = works("slow", "quick")
    results = {listed[each.number].model: each for each in converted(listed, slow, Limits(1, timeout=2))}
    assert results["quick"].outcome.result.status == "converted"
    failure = results["slow"].outcome.result.failure
    assert failure is not None
    assert (failure.error, failure.message) == ("TimeLimitExceeded", "the conversion took longer than 2 s; raise the time limit")
    assert results["slow"].seconds < 6
    assert not list(Path().iterdir())


@pytest.mark.skipif(sys.platform != "linux", reason="the limit of allocations is of Linux")
def test_a_conversion_that_takes_more_than_all_memory_fails_alone() -> None:
    listed = works("large", "small")
    results = {listed[each.number].model: each.outcome.result for each in converted(listed, greedy, Limits(1, memory=500_000_000))}
    assert results["small"].weights_bytes == 10**6
    failure = results["large"].failure
    assert failure is not None
    assert "MemoryError" in failure.error
    assert failure.message == "out of memory"


def aborted(work: Work) -> ConversionResult:
    """What Python does if there is no memory to describe that there is no memory."""
    os.kill(os.getpid(), signal.SIGABRT)
    return ConversionResult(work.model, "converted")


def test_a_process_that_ends_itself_under_a_limit_of_memory() -> None:
    (limited,) = converted(works("a"), aborted, Limits(1, memory=500_000_000))
    (unlimited,) = converted(works("a"), aborted, Limits(1))
    failures = [each.outcome.result.failure for each in (limited, unlimited)]
    assert [each.message for each in failures if each is not None] == [
        "the process was ended by SIGABRT; it may have run out of memory: raise the limit",
        "the process was ended by SIGABRT",
    ]


def test_conversions_wait_for_memory() -> None:
    for name, count in (("large", 3_000_000), ("middle", 1_000_000), ("small", 10)):
        Path(name).write_bytes(bytes(count))
    listed = works("small", "large", "middle", "small")
    needs = [need_of(each) for each in listed]
    assert needs == [60_001_000, 360_000_000, 160_000_000, 60_001_000]
    queue = Queue(listed, 490_000_000)
    # The large one, then what fits beside it.
    assert [queue.begin() for _ in range(3)] == [1, 0, 3]
    assert queue.begin() is None
    queue.end(0)
    assert queue.begin() is None
    queue.end(1)
    assert queue.begin() == 2
    assert not queue


def test_a_model_that_needs_more_than_the_memory_runs_alone() -> None:
    Path("large").write_bytes(bytes(3_000_000))
    queue = Queue(works("none", "large"), 100_000_000)
    assert (queue.begin(), queue.begin()) == (1, None)
    queue.end(1)
    assert queue.begin() == 0


def test_without_a_limit_models_begin_in_their_order() -> None:
    queue = Queue(works("a", "b", "c"), None)
    assert [queue.begin() for _ in range(4)] == [0, 1, 2, None]


def test_a_folder_needs_what_its_files_do_and_compression_needs_more() -> None:
    Path("saved/variables").mkdir(parents=True)
    Path("saved/variables/data").write_bytes(bytes(1_000_000))
    assert need_of(Work("saved", "", ConversionOptions())) == 160_000_000
    assert need_of(Work("saved", "", ConversionOptions(compress_weights="int8"))) == 220_000_000


def test_parts_are_disjoint_and_complete() -> None:
    items = list(range(10))
    parts = [shard(f"{number}/3").of(items) for number in (1, 2, 3)]
    assert parts == [[0, 3, 6, 9], [1, 4, 7], [2, 5, 8]]
    assert shard("2/2") == Shard(2, 2)


@pytest.mark.parametrize(("text", "expected"), [("8GB", 8 * 10**9), ("512 MiB", 512 * 2**20), ("1.5kb", 1500), ("7", 7)])
def test_sizes(text: str, expected: int) -> None:
    assert size(text) == expected


@pytest.mark.parametrize(
    ("read", "text"),
    [(size, "8XB"), (size, "-1GB"), (size, "0"), (seconds, "0"), (seconds, "inf"), (shard, "0/3"), (shard, "4/3"), (shard, "3")],
)
def test_mistakes_in_values(read: object, text: str) -> None:
    assert callable(read)
    with pytest.raises(argparse.ArgumentTypeError, match=r"is not a (size|part|number)"):
        read(text)
