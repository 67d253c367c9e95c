"""`moir.convert_models`: many models from Python, in moir's own processes or on an executor."""

from __future__ import annotations

import subprocess
import sys
import threading
import time
from concurrent.futures import Executor, Future, ProcessPoolExecutor, ThreadPoolExecutor
from multiprocessing import get_context
from pathlib import Path
from typing import Any

import pytest

import moir
from moir.errors import ArgumentError, UsageError
from tests.unit.small_models import loop_model, matmul_model, save


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    save(matmul_model(), Path("a.onnx"))
    save(loop_model(), Path("b.onnx"))
    save(matmul_model("Mystery", "com.acme"), Path("mystery.onnx"))
    return tmp_path


def jobs() -> list[moir.Job]:
    return [
        moir.Job("a.onnx", "out/half.xml", compress_to_fp16=True),
        moir.Job(Path("b.onnx"), "out"),
        moir.Job("mystery.onnx", "out"),
        moir.Job("a.onnx", "out", input="x[5,8]"),
    ]


def check(results: list[moir.ConversionResult]) -> None:
    by_file = {each.files[0] if each.files else each.model: each for each in results}
    assert {name: each.status for name, each in by_file.items()} == {
        "out/half.xml": "converted",
        "out/b.xml": "converted",
        "out/a.xml": "converted",
        "mystery.onnx": "failed",
    }
    failure = by_file["mystery.onnx"].failure
    assert failure is not None
    assert failure.kind == "com.acme.Mystery"
    assert str(by_file["out/a.xml"].inputs[0]) == "x: f32[5,8]"
    assert by_file["out/half.xml"].read[0].path == str(Path("a.onnx").resolve())
    for name, options in (("half", {"compress_to_fp16": True}), ("a", {"input": "x[5,8]"})):
        moir.save_model(moir.convert_model("a.onnx", **options), f"alone/{name}.xml")
        for suffix in (".xml", ".bin"):
            assert Path("out", name + suffix).read_bytes() == Path("alone", name + suffix).read_bytes()


def test_models_are_converted_in_processes_of_their_own() -> None:
    check(list(moir.convert_models(jobs(), jobs_at_a_time=2)))


def test_the_duration_of_a_conversion_is_its_own() -> None:
    begun = time.perf_counter()
    results = list(moir.convert_models([moir.Job("a.onnx", "one.xml"), moir.Job("a.onnx", "two.xml")], jobs_at_a_time=1))
    assert sum(each.seconds["total"] for each in results) <= time.perf_counter() - begun


def test_models_are_converted_on_threads() -> None:
    with ThreadPoolExecutor(3) as executor:
        check(list(moir.convert_models(iter(jobs()), executor=executor)))


def test_models_are_converted_on_processes_of_the_user() -> None:
    with ProcessPoolExecutor(1, mp_context=get_context("spawn")) as executor:
        check(list(moir.convert_models(jobs(), executor=executor, jobs_at_a_time=1)))


MPI = """
import moir
from mpi4py.futures import MPIPoolExecutor

if __name__ == "__main__":
    jobs = [moir.Job("a.onnx", f"mpi/{size}.xml", input=f"x[{size},8]") for size in (1, 2, 3)]
    jobs.append(moir.Job("mystery.onnx", "mpi"))
    with MPIPoolExecutor() as executor:
        for result in moir.convert_models(jobs, executor=executor):
            print(result.status, result.failure.kind if result.failure else result.inputs[0])
"""


def test_models_are_converted_by_mpi(folder: Path) -> None:
    (folder / "by_mpi.py").write_text(MPI, encoding="utf-8")
    launcher = Path(sys.executable).with_name("mpiexec")
    if not launcher.exists():
        pytest.skip("mpich is not installed")
    # The first of the processes runs the program, the others convert.
    command = [str(launcher), "-n", "3", sys.executable, "-m", "mpi4py.futures", "by_mpi.py"]
    result = subprocess.run(command, capture_output=True, text=True, timeout=600, check=True, cwd=folder)
    assert sorted(result.stdout.splitlines()) == [
        "converted x: f32[1,8]",
        "converted x: f32[2,8]",
        "converted x: f32[3,8]",
        "failed com.acme.Mystery",
    ]
    moir.save_model(moir.convert_model("a.onnx", input="x[3,8]"), "alone/3.xml")
    for suffix in (".xml", ".bin"):
        assert Path("mpi", "3" + suffix).read_bytes() == Path("alone", "3" + suffix).read_bytes()


def test_a_cache_is_used() -> None:
    (first,) = moir.convert_models([moir.Job("a.onnx", "out")], cache="cache", executor=ThreadPoolExecutor(1))
    (second,) = moir.convert_models([moir.Job("a.onnx", "out")], cache=Path("cache"), executor=ThreadPoolExecutor(1))
    assert [first.status, second.status] == ["converted", "cached"]
    assert second.read == first.read


class Recording(Executor):
    """An executor that runs nothing by itself, and counts what is waiting."""

    def __init__(self) -> None:
        self.waiting: list[Future[Any]] = []

    def submit(self, function: Any, /, *arguments: Any, **named: Any) -> Future[Any]:
        future: Future[Any] = Future()
        self.waiting.append(future)
        if len(self.waiting) == 2:
            threading.Thread(target=lambda: future.set_exception(BrokenPipeError("gone"))).start()
        return future


def test_what_has_not_begun_is_cancelled_and_what_an_executor_loses_fails() -> None:
    executor = Recording()
    results = moir.convert_models(jobs(), executor=executor, jobs_at_a_time=3)
    failure = next(results).failure
    assert failure is not None
    assert failure.reason == "the executor could not run the conversion: BrokenPipeError: gone"
    assert len(executor.waiting) == 3
    results.close()
    assert [each.cancelled() for each in executor.waiting] == [True, False, True]


def test_an_executor_that_is_shut_down_fails_its_models() -> None:
    executor = ThreadPoolExecutor(1)
    executor.shutdown()
    failures = [each.failure for each in moir.convert_models(jobs(), executor=executor)]
    assert len(failures) == 4
    assert all(each is not None and each.error == "RuntimeError" and each.hint for each in failures)


@pytest.mark.parametrize(
    ("job", "expected"),
    [
        (lambda: moir.Job(3), "argument model of Job must be a path"),
        (lambda: moir.Job("a.onnx", compres_to_fp16=True), "Job has no argument 'compres_to_fp16'; did you mean compress_to_fp16?"),
        (lambda: moir.Job("a.onnx", batch="two"), "argument batch of Job must be"),
        (lambda: moir.Job("a.onnx", passes=3), "argument passes of Job must be a pipeline as text"),
        (lambda: moir.Job(), r"it is Job\(model, output, name=value, …\)"),
        (lambda: moir.convert_models("a.onnx"), "argument jobs of convert_models must be an iterable of moir.Job"),
        (lambda: moir.convert_models(["a.onnx"]), "must have moir.Job, not the str 'a.onnx'"),
        (lambda: moir.convert_models(jobs(), timeout=0), "argument timeout of convert_models must be a number of seconds above 0"),
        (lambda: moir.convert_models(jobs(), executor=ThreadPoolExecutor(1), timeout=1), "arguments timeout and memory are for processes"),
    ],
)
def test_mistakes_in_arguments(job: Any, expected: str) -> None:
    with pytest.raises(ArgumentError, match=expected):
        job()


def test_two_jobs_with_one_output() -> None:
    with pytest.raises(UsageError, match=r"a\.onnx and a\.onnx would both become a\.xml"):
        moir.convert_models([moir.Job("a.onnx"), moir.Job("a.onnx", "a.xml")])


@pytest.mark.parametrize("is_file", [True, False])
def test_a_program_is_not_run_again_by_the_processes(is_file: bool) -> None:
    """It needs no guard, and may come from standard input."""
    program = """import moir
print("begun")
for result in moir.convert_models([moir.Job("a.onnx", "out/1.xml"), moir.Job("b.onnx", "out/2.xml")], jobs_at_a_time=2):
    print(result.status)
"""
    Path("program.py").write_text(program)
    command = [sys.executable, *(["program.py"] if is_file else ["-"])]
    finished = subprocess.run(command, input=program, capture_output=True, text=True, check=True)
    assert (finished.stdout.split(), finished.stderr) == (["begun", "converted", "converted"], "")
