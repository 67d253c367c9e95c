"""Thousands of models: on a cluster of which a worker is killed, in a pool, and with `xargs`.

    python benchmarks/many_models.py SAMPLES [--count 10000] [--beside 200] [--work FOLDER]

SAMPLES is a folder with models of all frameworks. They are converted one after the other, for the bytes that are
expected. Then `--count` models, the samples under other names, ten broken files and one that takes all memory, are
converted on a scheduler and two workers of Dask. When two fifths are done, one of the workers is killed. Every IR is
compared with the expected bytes. At last `moir --jobs 2`, `xargs -P2 moir` and `xargs -P2 ovc` convert the same
`--beside` models, of the frameworks that `ovc` reads without them.

*Idle* is the part of the workers' time in which they do not convert: two workers times the seconds of the run, less the
seconds that the conversions themselves say. *Overhead* is the CPU time of the scheduler, of the workers without the
processes that convert, and of `moir` itself, per CPU time of the conversions; unlike wall time it does not depend on
what else the machine does. The status is 1 if an IR differs, or other models fail than should.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Generator, Mapping, Sequence
from contextlib import contextmanager, suppress
from hashlib import sha256
from pathlib import Path
from typing import Any

import psutil
from many_models_listing import SUFFIXES_OF_OVC, Named, manifest_of, named_models, samples_in
from processes import executable, print_table, run

WORKERS = 2
MEMORY = "800MB"
"""What each conversion may allocate: four times what the largest sample takes."""

KILLED_AFTER = 0.4
"""The part of the models after which a worker is killed."""


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("samples", type=Path)
    parser.add_argument("--count", type=int, default=10_000)
    parser.add_argument("--beside", type=int, default=200)
    parser.add_argument("--work", type=Path, help="a new folder, which is kept; by default a temporary one")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as temporary:
        folder: Path = options.work or Path(temporary) / "work"
        folder.mkdir(parents=True)
        return measured(options.samples.resolve(), options.count, options.beside, folder.resolve())


def measured(source: Path, count: int, beside: int, folder: Path) -> int:
    """Convert all models in all ways, print the table, and return the status."""
    rows = [["", "models", "failed", "wall s", "models a second", "idle", "overhead", "CPU s a model"]]
    expected, seconds, cpu = one_after_the_other(samples_in(source), folder)
    rows.append(row("one after the other", len(expected), 0, seconds, cpu=cpu))
    print(f"{len(expected)} samples are converted one after the other", flush=True)
    models = named_models(sorted(expected), count, folder)
    results, seconds, own = on_cluster(models, folder)
    failed = sum(each["status"] == "failed" for each in results.values())
    rows.append(row("cluster, a worker killed", len(models), failed, seconds, results, overhead=own / (len(models) * cpu / len(expected))))
    wrong = [text for each in models if (text := mistake(each, results.get(str(each.model)), expected))]
    print(f"{len(models) - len(wrong)} of {len(models)} are as expected", *wrong[:20], sep="\n", flush=True)
    readable = [each for each in models if each.sample is not None and (each.sample.suffix in SUFFIXES_OF_OVC or each.sample.is_dir())]
    rows += ways_beside(readable[:beside], folder)
    print_table(rows)
    return 1 if wrong else 0


def one_after_the_other(samples: Sequence[Path], folder: Path) -> tuple[dict[Path, str], float, float]:
    """The digests of the samples' IRs, those left out that cannot be converted; wall seconds and CPU seconds."""
    models = [Named(each, folder / "expected" / f"{number}.xml", each) for number, each in enumerate(samples)]
    manifest = manifest_of(models, folder / "samples.toml")
    command = [str(executable("moir")), "--manifest", str(manifest), "--jobs", "1", "--json"]
    # The status says that some samples are refused, as they should be.
    with timed() as time_of:
        used = run(["sh", "-c", 'out=$1; shift; "$@" >"$out" 2>&1; true', "sh", str(folder / "samples.jsonl"), *command])
    return {each.model: digest(each.output) for each in models if each.output.exists()}, time_of(), used.cpu


def on_cluster(models: Sequence[Named], folder: Path) -> tuple[dict[str, Any], float, float]:
    """Convert on a cluster of which a worker is killed.

    Returns the results of all models by their paths, the seconds of the run, and the CPU seconds of the processes that
    do not convert.
    """
    manifest = manifest_of(models, folder / "models.toml")
    with scheduler(folder) as (scheduler_process, address):
        workers = [started(folder, "distributed.cli.dask_worker", address, "--nthreads", "1") for _ in range(WORKERS)]
        try:
            command = [str(executable("moir")), "--manifest", str(manifest), "--cluster", address, "--memory", MEMORY, "--json"]
            results = folder / "results.jsonl"
            with timed() as time_of, results.open("wb") as output, (folder / "errors.txt").open("wb") as errors:
                process = subprocess.Popen(command, stdout=output, stderr=errors)
                wait_for_lines(results, int(KILLED_AFTER * len(models)), process)
                own = 0.0
                # The process that serves the scheduler, which its guardian starts again.
                for child in psutil.Process(workers[0].pid).children():
                    own += cpu_of(child)
                    child.kill()
                print(f"a worker is killed after {lines_in(results)} models", flush=True)
                _, _, used = os.wait4(process.pid, 0)
                own += used.ru_utime + used.ru_stime + cpu_of(psutil.Process(scheduler_process.pid))
            for each in workers:
                guardian = psutil.Process(each.pid)
                own += cpu_of(guardian) + sum(cpu_of(child) for child in guardian.children())
            return results_in(results), time_of(), own
        finally:
            for each in workers:
                end(each)


def ways_beside(models: Sequence[Named], folder: Path) -> list[list[str]]:
    """The rows of the pool and of `xargs` for the same models, each of which writes to a folder of its name."""
    results = folder / "beside.jsonl"
    manifest = manifest_of([Named(each.model, folder / "pool" / each.output.name, None) for each in models], folder / "beside.toml")
    shell = {"pool": f"{executable('moir')} --manifest {manifest} --jobs {WORKERS} --json >{results}"}
    for name, option in (("moir", "--silent -o"), ("ovc", "--output_model")):
        if (converter := executable(name)) is None:
            continue
        (folder / name).mkdir()
        lines = folder / f"{name}.txt"
        lines.write_text("".join(f"{folder / name / each.output.name} {each.model}\n" for each in models), encoding="utf-8")
        shell[name] = f"xargs -P{WORKERS} -L1 {converter} {option} <{lines} >{folder / name}.log 2>&1"
    titles = {"pool": f"moir --jobs {WORKERS}"}
    rows: list[list[str]] = []
    for name, command in shell.items():
        # The status says that some models are not converted, which the row says, too.
        used = run(["sh", "-c", f"{command}; true"])
        conversions = results_in(results) if name == "pool" else {}
        failed = len(models) - len(list((folder / name).glob("*.xml")))
        rows.append(row(titles.get(name, f"xargs -P{WORKERS} {name}"), len(models), failed, used.wall, conversions, used.cpu))
    return rows


def cpu_of(process: psutil.Process) -> float:
    """The CPU seconds of a process without its children."""
    times = process.cpu_times()
    return times.user + times.system


def results_in(path: Path) -> dict[str, Any]:
    """The results of a file of `--json` by the paths of the models; a line that is not complete is left out."""
    lines = path.read_text(encoding="utf-8").splitlines(keepends=True)
    return {each["model"]: each for each in (json.loads(line) for line in lines if line.endswith("\n"))}


def mistake(named: Named, result: Mapping[str, Any] | None, expected: Mapping[Path, str]) -> str:
    """What is wrong with a model of the run; empty if it is as it should be."""
    if result is None:
        return f"{named.model}: no result"
    if named.sample is None:
        is_partial = named.output.exists() or named.output.with_suffix(".bin").exists()
        return f"{named.model}: files of a model that cannot be converted" if is_partial or result["status"] != "failed" else ""
    if result["status"] == "failed":
        return f"{named.model}: {result['error']['message']}"
    return "" if digest(named.output) == expected[named.sample] else f"{named.model}: the bytes differ"


def digest(output: Path) -> str:
    """A digest of both files of an IR."""
    return sha256(output.read_bytes() + output.with_suffix(".bin").read_bytes()).hexdigest()


def row(
    name: str,
    count: int,
    failed: int,
    wall: float,
    results: Mapping[str, Any] | None = None,
    cpu: float | None = None,
    overhead: float | None = None,
) -> list[str]:
    busy = sum(each["seconds"].get("total", 0.0) for each in (results or {}).values())
    idle = f"{1 - busy / (WORKERS * wall):.1%}" if busy else "-"
    parts = ["-" if overhead is None else f"{overhead:.1%}", "-" if cpu is None else f"{cpu / count:.3f}"]
    return [name, f"{count:,}", str(failed), f"{wall:.0f}", f"{count / wall:.2f}", idle, *parts]


@contextmanager
def scheduler(folder: Path) -> Generator[tuple[subprocess.Popen[bytes], str]]:
    """A scheduler that runs during the context, and its address."""
    file = folder / "scheduler.json"
    process = started(folder, "distributed.cli.dask_scheduler", "--host", "127.0.0.1", "--port", "0", "--scheduler-file", str(file))
    try:
        while not (file.exists() and file.read_text("utf-8").rstrip().endswith("}")):
            if process.poll() is not None:
                raise SystemExit("the scheduler has not started")
            time.sleep(0.05)
        yield process, json.loads(file.read_text("utf-8"))["address"]
    finally:
        end(process)


def started(folder: Path, *arguments: str) -> subprocess.Popen[bytes]:
    command = [sys.executable, "-m", *arguments, "--no-dashboard"]
    local = folder / f"process-{len(list(folder.glob('process-*')))}"
    local.mkdir()
    with (local / "log.txt").open("wb") as log:
        return subprocess.Popen(command, cwd=local, stderr=log, stdout=log)


def end(process: subprocess.Popen[bytes]) -> None:
    process.send_signal(signal.SIGTERM)
    with suppress(subprocess.TimeoutExpired):
        process.wait(20)
        return
    process.kill()


def wait_for_lines(path: Path, count: int, process: subprocess.Popen[bytes]) -> None:
    while process.poll() is None and lines_in(path) < count:
        time.sleep(0.5)


def lines_in(path: Path) -> int:
    return path.read_bytes().count(b"\n")


@contextmanager
def timed() -> Generator[Any]:
    begun = time.perf_counter()
    yield lambda: time.perf_counter() - begun


if __name__ == "__main__":
    if shutil.which("xargs") is None:
        raise SystemExit("xargs is not installed")
    raise SystemExit(main())
