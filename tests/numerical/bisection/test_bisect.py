"""`moir.bisect`: mistakes in passes and lowerings are found in networks of hundreds of operations, and made small."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import onnx
import pytest

import moir
from moir.dialects.interface import operations_of
from tests.numerical.bisection.faults import MISTAKES, Mistake
from tests.numerical.bisection.networks import network

NEAR, FAR = 1, 5
"""The distances of the parts of a network: of more than 100 and of more than 500 operations."""

OF_THE_LARGE_NETWORK = ("overflow",)


@pytest.fixture(scope="module")
def paths(tmp_path_factory: pytest.TempPathFactory) -> dict[int, Path]:
    """The networks as files."""
    folder = tmp_path_factory.mktemp("networks")
    paths = {distance: folder / f"{distance}.onnx" for distance in (NEAR, FAR)}
    for distance, path in paths.items():
        onnx.save(network(distance), path)
    return paths


@pytest.mark.parametrize(("distance", "least"), [(NEAR, 100), (FAR, 500)])
def test_the_networks_are_right(distance: int, least: int, paths: dict[int, Path]) -> None:
    assert sum(1 for _ in operations_of(moir.read_model(paths[distance]))) > least
    verdict = moir.bisect(paths[distance])
    assert verdict.kind == "none"
    assert verdict.reference.startswith("ONNX Runtime")
    assert not verdict.notes
    assert verdict.sentence == "the converted model agrees with the reference"


@pytest.mark.parametrize("mistake", MISTAKES, ids=lambda mistake: mistake.put.__name__)
def test_a_mistake_is_found(mistake: Mistake, paths: dict[int, Path], monkeypatch: pytest.MonkeyPatch) -> None:
    is_large = mistake.put.__name__ in OF_THE_LARGE_NETWORK
    mistake.put(monkeypatch)
    verdict = moir.bisect(paths[FAR if is_large else NEAR], **mistake.options)
    assert verdict.kind == ("lowering" if mistake.node else "pass")
    assert verdict.stage is not None
    assert verdict.stage.lstrip("0123456789-") == mistake.stage
    assert verdict.rewrite is not None
    assert verdict.rewrite.pattern.endswith(mistake.rewrite)
    assert verdict.rewrite.before
    assert verdict.tensor is not None
    assert verdict.tensor.difference.exceeds
    assert mistake.tensor in (verdict.tensor.name, "")
    assert mistake.node in (verdict.node or "")
    assert verdict.reduced is not None
    assert verdict.reduced.candidate.operations < 15
    assert verdict.reduced.operations > (400 if is_large else 80)
    if mistake.stage == "compress-to-fp16":
        assert verdict.not_finite is not None
        assert "infinite, which the reference is not" in verdict.not_finite
        assert np.isinf(dict(verdict.losses)["large"])
