"""`moir.bisect`: mistakes in passes and lowerings are found in a network of more than 500 operations, and made small."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import onnx
import pytest

import moir
from moir.dialects.interface import operations_of
from tests.numerical.bisection.faults import MISTAKES, Mistake
from tests.numerical.bisection.networks import network


@pytest.fixture(scope="module")
def path(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The network as a file."""
    path = tmp_path_factory.mktemp("network") / "network.onnx"
    onnx.save(network(), path)
    return path


def test_the_network_has_more_than_500_operations_and_is_right(path: Path) -> None:
    assert sum(1 for _ in operations_of(moir.read_model(path))) > 500
    verdict = moir.bisect(path)
    assert verdict.kind == "none"
    assert verdict.reference.startswith("ONNX Runtime")
    assert not verdict.notes
    assert verdict.sentence == "the converted model agrees with the reference"


@pytest.mark.parametrize("mistake", MISTAKES, ids=lambda mistake: mistake.put.__name__)
def test_a_mistake_is_found(mistake: Mistake, path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    mistake.put(monkeypatch)
    verdict = moir.bisect(path, **mistake.options)
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
    assert verdict.reduced.operations > 400
    if mistake.stage == "compress-to-fp16":
        assert verdict.not_finite is not None
        assert "infinite, which the reference is not" in verdict.not_finite
        assert np.isinf(dict(verdict.losses)["large"])
