"""A random model of each family against what Transformers computes; without torch and Transformers there is no test."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.numerical.transformers.drawn_encoder_keys import ENCODERS
from tests.numerical.transformers.drawn_models import DECODERS, TOLERANCE, difference, write_model

pytest.importorskip("torch")
pytest.importorskip("transformers")


@pytest.mark.parametrize("model_type", [*DECODERS, *ENCODERS])
def test_a_drawn_model(tmp_path: Path, model_type: str) -> None:
    write_model(tmp_path, model_type, 0, seed=0)
    assert difference(tmp_path / f"{model_type}_0.npz") < TOLERANCE
