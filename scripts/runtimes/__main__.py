"""The IR of many models on several releases of OpenVINO Runtime, as a table.

    python -m scripts.runtimes                                   the models of the repository
    python -m scripts.runtimes FOLDER… --versions 2026.0.0 2026.4.1 --write
    python -m scripts.runtimes FOLDER… --versions 2022.3.2 --lowered    with --runtime 2022.3
    python -m scripts.runtimes --operations                              which operations each release accepts

Each model is converted once, and runs with random inputs on the installed release; every other release gets a virtual
environment in build/runtimes, and has to give the same outputs. Models whose inputs have dynamic ranks, strings or
elements that numpy does not have are left out. With `--write`, the tables go to docs/runtimes.md. Releases up to 2023
need an older Python on the PATH (`python3.8`, `python3.10`).
"""

from __future__ import annotations

import argparse
import json
import shutil
import subprocess
import sys
import venv
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import cast

import numpy as np
import openvino
from xdsl.utils.exceptions import DiagnosticException

import moir
from moir.errors import MoirError
from moir.execution.inputs import random_inputs
from moir.execution.ports import interface_of
from moir.files.recognition import framework_of_file
from moir.targets.releases.registry import release_named

ROOT = Path(__file__).parents[2]
BUILD = ROOT / "build" / "runtimes"
PAGE = ROOT / "docs" / "runtimes.md"
PYTHONS = {"2021": "python3.8", "2022": "python3.10", "2023": "python3.10"}
"""The interpreter for releases of a year, if they have no packages for that of moir."""

VERSIONS = ("2024.6.0", "2025.4.1", "2026.0.0", "2026.1.0", "2026.2.1", "2026.3.1")
LOWERED = ("2021.4.2", "2022.3.2", "2023.3.0", "2024.6.0", "2025.4.1")
"""The releases that `--write` tries with `--runtime`."""

SUPPORTED = "2026"
"""The oldest release that moir supports: the beginning of its version."""

DEFAULT = (ROOT / "tests" / "fixtures", ROOT / "examples")

HEAD = """# Releases of OpenVINO Runtime

The IR that moir writes, on the releases of OpenVINO Runtime that it supports (2026.0 and newer), and on older ones.
Written by `python -m scripts.runtimes --write`; do not edit. Each model is converted once, without options, and runs
with random inputs on the CPU in f32; its outputs are compared with those of release {newest}.
"""


LOWERED_HEAD = """
## With `--runtime`

The same models, converted for [the release](older-runtimes.md) that runs them. What is not right needs operations or
dynamic dimensions that the release does not have, or is a fault of its CPU plugin.
"""


@dataclass
class Sample:
    """A model that was converted and run: its name, and the files for other releases."""

    name: str
    files: dict[str, str]
    path: Path = Path()

    def lowered(self, version: str) -> Sample:
        """The model converted for a release, with the same inputs and outputs. Raises MoirError if it cannot be."""
        release = release_named(version).name
        xml = Path(self.files["xml"]).with_name(f"{release}.xml")
        moir.save_model(moir.convert_model(self.path, runtime=release), xml)
        return Sample(self.name, {**self.files, "xml": str(xml)})


@dataclass
class Release:
    """The results of a release: the verdict on each model, and the reasons of those that are not right."""

    version: str
    verdicts: dict[str, int] = field(default_factory=lambda: {"right": 0, "wrong": 0, "refused": 0, "died": 0})
    reasons: list[tuple[str, str, str]] = field(default_factory=list[tuple[str, str, str]])


def models_in(folders: Sequence[Path]) -> Iterator[Path]:
    """The model files below folders, and the models that are folders."""
    for folder in folders:
        if folder.is_file():
            yield folder
            continue
        for path in sorted(folder.rglob("*")):
            if path.name.startswith(".") or "__pycache__" in path.parts or path.suffix in (".py", ".npz", ".json", ".txt", ".md"):
                continue
            try:
                framework = framework_of_file(path)
            except (MoirError, OSError):
                continue
            if framework.reader is not None and framework.companions is None and (path.is_file() or path.name == "saved_model"):
                yield path


def converted(path: Path, name: str) -> Sample | None:
    """Convert a model and run it on the installed release; None if it is not converted, or cannot be run here."""
    target = BUILD / "models" / name
    target.mkdir(parents=True, exist_ok=True)
    files = {"xml": str(target / "model.xml"), "inputs": str(target / "inputs.npz"), "outputs": str(target / "outputs.npz")}
    try:
        module = moir.convert_model(path)
        moir.save_model(module, files["xml"])
        arrays = list(random_inputs(interface_of(module).inputs, 0).values())
        core = openvino.Core()
        core.set_property("CPU", {"INFERENCE_PRECISION_HINT": "f32"})
        compiled = core.compile_model(files["xml"], "CPU")
        request = compiled.create_infer_request()
        for index, array in enumerate(arrays):
            request.set_input_tensor(index, openvino.Tensor(np.array(array, order="C")))
        request.infer()
        results = [np.array(request.get_output_tensor(index).data) for index in range(len(compiled.outputs))]
    except (MoirError, DiagnosticException, RuntimeError, TypeError, ValueError):
        return None
    np.savez(files["inputs"], allow_pickle=False, **{str(index): array for index, array in enumerate(arrays)})
    np.savez(files["outputs"], allow_pickle=False, **{str(index): array for index, array in enumerate(results)})
    return Sample(name, files, path)


def interpreter(version: str) -> Path:
    """The interpreter of the environment of a release, made if need be. Raises CalledProcessError if pip fails."""
    environment = BUILD / version
    python = environment / "bin" / "python"
    if not (environment / "installed").exists():
        older = shutil.which(PYTHONS.get(version[:4], ""))
        if older is None:
            venv.create(environment, with_pip=True, clear=True)
        else:
            subprocess.run([older, "-I", "-m", "venv", "--clear", environment], check=True)
        # Isolated: moir and its dependencies are not for other releases.
        subprocess.run([python, "-I", "-m", "pip", "install", "-q", f"openvino=={version}"], check=True)
        (environment / "installed").touch()
    return python


def tried_lowered(version: str, samples: Sequence[Sample]) -> Release:
    """Convert the models for a release, and run them on it."""
    lowered: list[Sample] = []
    declined: list[tuple[str, str, str]] = []
    for sample in samples:
        try:
            lowered.append(sample.lowered(version))
        except MoirError as error:
            declined.append((sample.name, "declined", str(error)))
    release = tried(version, lowered)
    release.verdicts["declined"] = len(declined)
    release.reasons += declined
    return release


def tried(version: str, samples: Sequence[Sample]) -> Release:
    """Run the models on a release. Raises CalledProcessError if it cannot be installed."""
    python = interpreter(version)
    listed = BUILD / "models.json"
    listed.write_text(json.dumps([each.files for each in samples]), encoding="utf-8")
    child = Path(__file__).with_name("child.py")
    finished = subprocess.run([python, "-I", child, listed], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True, check=True)
    release = Release(version)
    for line in finished.stdout.splitlines():
        index, verdict, reason = cast("tuple[int, str, str]", json.loads(line))
        release.verdicts[verdict] += 1
        if verdict != "right":
            release.reasons.append((samples[index].name, verdict, reason))
    return release


def document(releases: Sequence[Release], count: int, lowered: Sequence[Release] = ()) -> str:
    """The text of the page: releases with what is converted without options, and those with `--runtime`."""
    lines = [HEAD.format(newest=openvino.__version__.partition("-")[0]), f"{count} models:\n"]
    lines += ["| release | right | wrong | refused | ends the process |", "| --- | --- | --- | --- | --- |"]
    lines += [f"| {each.version} | {' | '.join(map(str, each.verdicts.values()))} |" for each in releases]
    reasons = [(each.version, *reason) for each in releases if each.version >= SUPPORTED for reason in each.reasons]
    if reasons:
        lines += ["\n## What is not right on supported releases\n", "| release | model | | reason |", "| --- | --- | --- | --- |"]
        lines += [f"| {version} | {name} | {verdict} | {reason.replace('|', ' ')} |" for version, name, verdict, reason in reasons]
    if lowered:
        lines += [
            LOWERED_HEAD,
            "| release | right | wrong | refused | ends the process | not converted |",
            "| --- | --- | --- | --- | --- | --- |",
        ]
        lines += [f"| {each.version} | {' | '.join(map(str, each.verdicts.values()))} |" for each in lowered]
    return "\n".join(lines) + "\n"


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the models on all releases; returns the exit status: 1 if a supported release is not right."""
    parser = argparse.ArgumentParser(prog="python -m scripts.runtimes", description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument(
        "folders", metavar="FOLDER", nargs="*", type=Path, default=DEFAULT, help="models (default: those of the repository)"
    )
    parser.add_argument("--versions", nargs="+", default=VERSIONS, help="releases")
    parser.add_argument("--lowered", action="store_true", help="convert the models for each release (--runtime)")
    parser.add_argument("--operations", action="store_true", help="compare the records of releases with what they accept")
    parser.add_argument("--write", action="store_true", help="write docs/runtimes.md")
    options = parser.parse_args(arguments)
    if options.operations:
        from scripts.runtimes.operations import differences

        return differences(options.versions, BUILD, interpreter)
    paths = list(models_in(options.folders))
    named = {str(path.relative_to(next(f for f in options.folders if path.is_relative_to(f)).parent)): path for path in paths}
    samples = [each for name, path in named.items() if (each := converted(path, name.replace("/", "-"))) is not None]
    print(f"{len(samples)} of {len(paths)} models are converted and run on {openvino.__version__}", flush=True)
    releases: list[Release] = []
    for version in options.versions:
        release = (tried_lowered if options.lowered else tried)(version, samples)
        releases.append(release)
        print(version, release.verdicts, flush=True)
        for name, verdict, reason in release.reasons:
            print(f"  {name}: {verdict}: {reason}", flush=True)
    if options.write:
        lowered = [tried_lowered(version, samples) for version in LOWERED]
        PAGE.write_text(document(releases, len(samples), lowered), encoding="utf-8")
    return int(any(each.reasons for each in releases if each.version >= SUPPORTED))


if __name__ == "__main__":
    sys.exit(main())
