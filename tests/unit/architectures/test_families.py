"""The families that have a record."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from moir.architectures.families import FILES, family_of

DOCUMENT = Path(__file__).parents[3] / "docs" / "language-models.md"


@pytest.mark.parametrize("model_type", FILES)
def test_the_document_names_each_family(model_type: str) -> None:
    rows = [line for line in DOCUMENT.read_text().splitlines() if line.startswith("| `")]
    assert any(re.search(f"`{re.escape(model_type)}`", row) for row in rows)


@pytest.mark.parametrize("model_type", FILES)
def test_the_record_names_the_tensors_of_its_layers(model_type: str) -> None:
    family = family_of(model_type)
    assert family is not None
    assert "{}" in family.layer
    assert {"embedding", "attention_norm"} <= family.tensors.keys() or "attention_output_norm" in family.tensors


def test_factors_of_state_spaces_are_none_of_attentions() -> None:
    """Falcon-H1 has both in each layer; the values of each have their own factor."""
    family = family_of("falcon_h1")
    assert family is not None
    assert "values" not in family.factors
    assert family.factors["state space values"] == "ssm_multipliers 1"
