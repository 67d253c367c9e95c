"""Operations of PaddlePaddle, in PIR and in programs, against the results of the framework.

An archive has a model with an output for each case of a family, once with static and once with dynamic dimensions.
`tests/fixtures/paddle/generate.py` says what they are and computed the results.
"""

from __future__ import annotations

import io
import zipfile
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

import moir
from moir.conversion import import_model
from moir.lowering.paddle.index import INDEX
from moir.lowering.paddle.refusals import REASONS
from moir.options import ConversionOptions
from moir.support.tables import by_member
from tests.numerical.runtime import Array, run

ARCHIVES = sorted((Path(__file__).parents[2] / "fixtures/paddle").glob("*.zip"))


def models() -> Iterator[tuple[Path, str]]:
    """The archives, and the models in each."""
    for path in ARCHIVES:
        with zipfile.ZipFile(path) as archive:
            yield from ((path, name) for name in archive.namelist() if name.endswith((".json", ".pdmodel")))


MODELS = {f"{path.stem}/{name}": (path, name) for path, name in models()}


def read(path: Path, name: str, folder: Path) -> tuple[dict[str, Array], dict[str, Array]]:
    """Unpack an archive; returns the inputs, and the results of each case, of a model in it."""
    with zipfile.ZipFile(path) as archive:
        archive.extractall(folder)
    with np.load(io.BytesIO((folder / "values.npz").read_bytes())) as file:
        inputs = {key.removeprefix("in/"): file[key] for key in file.files if key.startswith("in/")}
        results = {key.split("/")[3]: file[key] for key in file.files if key.startswith(f"out/{Path(name).stem}/")}
    return inputs, results


def difference(result: Array, expected: Array) -> str:
    """What differs in a result; empty if nothing does."""
    if result.shape != expected.shape:
        return f"shape {result.shape}, not {expected.shape}"
    if (result.dtype.kind == "f") != (expected.dtype.kind == "f"):
        return f"{result.dtype}, not {expected.dtype}"
    if expected.dtype.kind != "f":
        return "" if np.array_equal(result, expected) else f"{np.sum(result != expected)} other elements"
    if np.allclose(result, expected, 1e-3, 1e-4, equal_nan=True):
        return ""
    return f"by {np.nanmax(np.abs(result - expected))}"


@pytest.mark.parametrize("key", MODELS)
def test_results(key: str, tmp_path: Path) -> None:
    path, name = MODELS[key]
    inputs, expected = read(path, name, tmp_path)
    model = moir.to_openvino(moir.convert_model(tmp_path / name))
    operands = {each.any_name: inputs[each.any_name] for each in model.inputs}
    results = run(model, operands)
    assert len(results) == len(expected)
    differences = {case: difference(result, wanted) for (case, wanted), result in zip(expected.items(), results, strict=True)}
    assert {case: text for case, text in differences.items() if text} == {}


NEVER_UNKNOWN = {
    "psroi_pool": "the runtime does not compile its operation for dynamic sizes",
    "spectral_norm": "its weights are constants of the model",
}
"""The kinds whose operands have static sizes in all archives, and why."""


def kinds(key: str, folder: Path) -> set[str]:
    """The kinds of operations in a model of an archive."""
    path, name = MODELS[key]
    read(path, name, folder)
    return {each.name.removeprefix("paddle.") for each in import_model(folder / name, ConversionOptions()).walk()}


def test_each_lowered_kind_has_a_case(tmp_path: Path) -> None:
    """With static and with dynamic dimensions."""
    lowered = by_member(INDEX).keys() - set(REASONS)
    kinds_by_form: dict[bool, set[str]] = {False: set(), True: set()}
    for number, key in enumerate(MODELS):
        kinds_by_form["dynamic" in MODELS[key][1]] |= kinds(key, tmp_path / str(number))
    assert lowered - kinds_by_form[False] == set()
    assert lowered - kinds_by_form[True] == set(NEVER_UNKNOWN)
