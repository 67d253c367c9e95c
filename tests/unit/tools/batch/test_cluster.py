"""`moir --cluster`: conversions on a scheduler and two workers of Dask, which the tests start."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Generator
from contextlib import contextmanager
from pathlib import Path

import numpy as np
import pytest

import moir
from moir.conversion_result import ConversionResult
from moir.errors import ConversionError, UsageError
from moir.options import ConversionOptions
from moir.tools.batch import cluster, fingerprint
from moir.tools.batch.cluster import converted_on_cluster
from moir.tools.batch.cluster_worker import WorkerLimits
from moir.tools.batch.work import Work
from moir.tools.convert import main
from tests.unit.small_models import loop_model, matmul_model, save

distributed = pytest.importorskip("distributed")

ROOT = Path(__file__).parents[4]
MEMORY_OF_A_WORKER = 1_000_000_000


@contextmanager
def running(folder: Path, *arguments: str) -> Generator[subprocess.Popen[str]]:
    environment = {**os.environ, "PYTHONPATH": str(ROOT), "DASK_DISTRIBUTED__SCHEDULER__ALLOWED_FAILURES": "1"}
    command = [sys.executable, "-m", *arguments, "--no-dashboard"]
    with subprocess.Popen(command, cwd=folder, env=environment, stderr=subprocess.DEVNULL, text=True) as process:
        try:
            yield process
        finally:
            process.terminate()


@contextmanager
def scheduler(folder: Path) -> Generator[tuple[subprocess.Popen[str], str]]:
    file = folder / "scheduler.json"
    arguments = ("distributed.cli.dask_scheduler", "--host", "127.0.0.1", "--port", "0", "--scheduler-file", str(file))
    with running(folder, *arguments) as process:
        for _ in range(300):
            if file.exists() and (text := file.read_text("utf-8")).rstrip().endswith("}"):
                yield process, text.partition('"address": "')[2].partition('"')[0]
                return
            time.sleep(0.05)
        pytest.fail("the scheduler has not started")


@contextmanager
def worker(folder: Path, address: str, *options: str) -> Generator[None]:
    resources = ("--resources", f"memory={MEMORY_OF_A_WORKER}")
    arguments = (address, "--nthreads", "1", "--local-directory", str(folder), *resources, *options)
    with running(folder, "distributed.cli.dask_worker", *arguments):
        yield


@pytest.fixture(scope="module")
def address(tmp_path_factory: pytest.TempPathFactory) -> Generator[str]:
    folder = tmp_path_factory.mktemp("cluster")
    with scheduler(folder) as (_, address), worker(folder, address), worker(folder, address):
        yield address


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    save(matmul_model(), Path("a.onnx"))
    save(loop_model(), Path("b.onnx"))
    save(matmul_model("Mystery", "com.acme"), Path("mystery.onnx"))
    return tmp_path


def works(*names: str) -> list[Work]:
    return [Work(name, f"{name}.xml", ConversionOptions()) for name in names]


def deadly(work: Work) -> ConversionResult:
    """A conversion that ends its worker, which has started its process: always, or the first two times."""
    times = len(list(Path(work.output).parent.glob(f"{Path(work.model).name}.begun*")))
    if Path(work.model).name == "always" or (Path(work.model).name == "twice" and times < 2):
        Path(f"{work.model}.begun{times}").touch()
        os.kill(os.getppid(), signal.SIGKILL)
        time.sleep(5)
    return ConversionResult(work.model, "converted")


def slow(work: Work) -> ConversionResult:
    """A conversion that takes long."""
    Path(f"{work.model}.begun").touch()
    time.sleep(5 if Path(work.model).name == "slow" else 0)
    return ConversionResult(work.model, "converted")


def test_a_cluster_converts_to_the_same_bytes(address: str, capsys: pytest.CaptureFixture[str]) -> None:
    models = ["a.onnx", "mystery.onnx", "b.onnx"]
    assert main([*models, "-o", "out", "--cluster", address, "--cache", "cache"]) == 1
    printed = capsys.readouterr()
    assert [line.split()[:2] for line in printed.out.splitlines()[2:]] == [
        ["a.onnx", "converted"],
        ["mystery.onnx", "failed"],
        ["b.onnx", "converted"],
    ]
    assert "moir: error: mystery.onnx: no lowering for 1 kind of operation" in printed.err
    assert main([*models, "-o", "alone", "--silent"]) == 1
    for name in ("a.xml", "a.bin", "b.xml", "b.bin"):
        assert Path("out", name).read_bytes() == Path("alone", name).read_bytes()
    assert main(["a.onnx", "b.onnx", "-o", "again", "--cluster", address, "--cache", "cache"]) == 0
    assert capsys.readouterr().out.count("from the cache") == 2


def test_what_a_cluster_has_done_is_skipped(address: str, capsys: pytest.CaptureFixture[str]) -> None:
    arguments = ["a.onnx", "b.onnx", "-o", "out", "--json", "--cluster", address]
    assert main(arguments) == 0
    Path("results.jsonl").write_text(capsys.readouterr().out, encoding="utf-8")
    assert main([*arguments, "--resume", "results.jsonl"]) == 0
    results = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    assert [(each["status"], each["files"][0]["path"]) for each in results] == [("unchanged", "out/a.xml"), ("unchanged", "out/b.xml")]


def test_the_executor_of_a_client_converts(address: str) -> None:
    with distributed.Client(address, set_as_default=False) as client:
        results = list(moir.convert_models([moir.Job("a.onnx", "out", compress_to_fp16=True)], executor=client.get_executor()))
    assert [(each.model, each.status, each.files) for each in results] == [("a.onnx", "converted", ("out/a.xml", "out/a.bin"))]


def test_a_model_whose_worker_ends_runs_again_twice_and_fails_alone(address: str) -> None:
    listed = works("always", "a", "b", "c", "d")
    results = {listed[each.number].model: each.outcome.result for each in converted_on_cluster(listed, deadly, address)}
    failure = results["always"].failure
    assert failure is not None
    assert (failure.error, failure.reason) == ("WorkersEnded", "3 workers have ended during the conversion")
    assert len(list(Path().glob("always.begun*"))) == 3
    assert [results[name].status for name in ("a", "b", "c", "d")] == ["converted"] * 4


def test_a_model_is_converted_after_its_workers_have_ended(address: str) -> None:
    listed = works("twice")
    (result,) = converted_on_cluster(listed, deadly, address)
    assert result.outcome.result.status == "converted"
    assert len(list(Path().glob("twice.begun*"))) == 2


def test_a_worker_with_another_version_is_refused(address: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(fingerprint, "VERSION", "99.1")
    with pytest.raises(UsageError, match=r"the worker tcp://.* cannot be used: moir .* instead of 99\.1; install the same"):
        next(converted_on_cluster(works("a"), slow, address))
    assert not Path("a.begun").exists()


def test_a_scheduler_that_is_lost(tmp_path: Path) -> None:
    with scheduler(tmp_path) as (process, address), worker(tmp_path, address, "--no-nanny"):
        results = converted_on_cluster(works("quick", "slow"), slow, address)
        assert next(results).outcome.result.model == "quick"
        wait_until(Path("slow.begun").exists)
        process.kill()
        with pytest.raises(ConversionError, match="the connection to the scheduler is lost; what is done stays done"):
            next(results)


def test_a_cluster_without_workers_or_scheduler(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cluster, "_PATIENCE_FOR_WORKERS", 1)
    with scheduler(tmp_path) as (_, address), pytest.raises(UsageError, match="the cluster has no workers; start some: dask worker"):
        next(converted_on_cluster(works("a"), slow, address))
    monkeypatch.setattr(cluster, "_PATIENCE", 1)
    with pytest.raises(UsageError, match="the scheduler cannot be reached"):
        next(converted_on_cluster(works("a"), slow, address))


def test_a_conversion_takes_the_memory_of_its_worker() -> None:
    offering = {"one": {"resources": {"memory": 100_000_000.0}}, "two": {"resources": {"memory": 50_000_000.0}}}
    (work,) = works("absent")
    assert cluster._resources(work, offering) == {"memory": 60_000_000}
    assert cluster._resources(work, {"two": offering["two"]}) == {"memory": 50_000_000}
    assert cluster._resources(work, {**offering, "three": {"resources": {}}}) == {}


def test_options_that_a_cluster_does_not_take(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["a.onnx", "b.onnx", "--cluster", "tcp://127.0.0.1:1", "--jobs", "3"]) == 2
    assert "--jobs is for processes on this machine" in capsys.readouterr().err


def endless(work: Work) -> ConversionResult:
    """A conversion that does not end, takes all memory, or is killed alone; it leaves a file unless it is interrupted."""
    temporary = Path(f"{work.model}.tmp")
    match Path(work.model).name:
        case "slow":
            temporary.touch()
            try:
                time.sleep(60)
            finally:
                temporary.unlink()
        case "greedy":
            np.ones(10**9, np.uint8).sum()
        case "killed":
            os.kill(os.getpid(), signal.SIGKILL)
        case _:
            pass
    return ConversionResult(work.model, "converted")


def test_limits_hold_on_workers(address: str) -> None:
    listed = works("slow", "greedy", "killed", "a", "b")
    limits = WorkerLimits(timeout=8, memory=500_000_000)
    results = {listed[each.number].model: each.outcome.result for each in converted_on_cluster(listed, endless, address, limits)}
    failures = {name: failure.message for name, result in results.items() if (failure := result.failure) is not None}
    assert failures == {
        "slow": "the conversion took longer than 8 s; raise the time limit",
        "greedy": "out of memory",
        "killed": "the process was ended by SIGKILL; it may have run out of memory: try --jobs 1",
    }
    assert not list(Path().glob("*.tmp"))


def test_what_runs_on_workers_is_ended_with_the_run(address: str) -> None:
    results = converted_on_cluster(works("a", "slow"), endless, address)
    assert next(results).outcome.result.status == "converted"
    wait_until(Path("slow.tmp").exists)
    results.close()
    wait_until(lambda: not Path("slow.tmp").exists())


def wait_until(condition: Callable[[], bool]) -> None:
    for _ in range(200):
        if condition():
            return
        time.sleep(0.05)
    pytest.fail("it has not come true")
