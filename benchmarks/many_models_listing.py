"""The models of `many_models.py`: samples under many names, broken files, and a model that takes all memory."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from scaling_graphs import chain

SUFFIXES = (".onnx", ".tflite", ".pb", ".pdmodel", ".pt2", ".mlir", ".mlirbc", ".jax", ".keras", ".h5")
"""The suffixes of the files that are samples; a folder with a `saved_model.pb` is one, too."""

SUFFIXES_OF_OVC = (".onnx", ".tflite", ".pb", ".pdmodel")
"""The suffixes of the samples that `ovc` reads without the framework."""

OPERATIONS_OF_THE_LARGE = 250_000
"""More operations than fit into the memory that `many_models.py` allows."""

BROKEN = 10


@dataclass(frozen=True)
class Named:
    """A model under one of its names.

    Args:
        model: the path, under a folder of this name.
        output: the `.xml` that it becomes.
        sample: the sample that it is; None for a model that cannot be converted.
    """

    model: Path
    output: Path
    sample: Path | None


def samples_in(folder: Path) -> list[Path]:
    """The models in a folder, in an order that does not depend on the machine."""
    found = [each for each in folder.rglob("*") if each.suffix in SUFFIXES and each.is_file() and each.name != "saved_model.pb"]
    return sorted([*found, *(each.parent for each in folder.rglob("saved_model.pb"))])


def named_models(samples: Sequence[Path], count: int, folder: Path, operations: int = OPERATIONS_OF_THE_LARGE) -> list[Named]:
    """Give samples `count` names in turn; to ten names broken files, and to one a model that takes all memory.

    What cannot be converted lies between the others, at equal distances. A name is a link to the folder of the sample,
    so that the files beside it are beside every name.

    Args:
        samples: the samples, of which some are `.onnx`.
        count: the number of names.
        folder: the folder for all that is written.
        operations: the number of operations of the model that takes all memory.
    """
    (folder / "names").mkdir(parents=True)
    bad = [_broken(samples, number, folder) for number in range(BROKEN)] + [_large(folder, operations)]
    distance = max(1, count // (len(bad) + 1))
    models: list[Named] = []
    for number in range(count):
        position, rest = divmod(number + 1, distance)
        is_bad = rest == 0 and 0 < position <= len(bad)
        source = bad[position - 1] if is_bad else samples[number % len(samples)]
        link = folder / "names" / f"{number:05}"
        os.symlink(source.parent, link)
        models.append(Named(link / source.name, folder / "ir" / f"{number:05}.xml", None if is_bad else source))
    return models


def manifest_of(models: Sequence[Named], path: Path) -> Path:
    """Write the manifest of models, and return its path."""
    entries = (f'[[model]]\ninput_model = "{each.model}"\noutput_model = "{each.output}"\n' for each in models)
    path.write_text("".join(entries), encoding="utf-8")
    return path


def _broken(samples: Sequence[Path], number: int, folder: Path) -> Path:
    """The first half of a sample."""
    files = [each for each in samples if each.suffix == ".onnx"]
    content = files[number % len(files)].read_bytes()
    broken = folder / "broken" / str(number) / "model.onnx"
    broken.parent.mkdir(parents=True)
    broken.write_bytes(content[: len(content) // 2])
    return broken


def _large(folder: Path, operations: int) -> Path:
    (folder / "large").mkdir()
    return chain(operations, folder / "large")
