"""The families that have a record."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from moir.architectures.families import FILES, family_of
from moir.frontends.gguf.spellings import SPELLINGS

DOCUMENT = Path(__file__).parents[3] / "docs" / "language-models.md"


@pytest.mark.parametrize("model_type", FILES)
def test_the_document_names_each_family(model_type: str) -> None:
    rows = [line for line in DOCUMENT.read_text().splitlines() if line.startswith("| `")]
    assert any(re.search(f"`{re.escape(model_type)}`", row) for row in rows)


def test_the_document_names_no_other_family() -> None:
    table = DOCUMENT.read_text().partition("| Families |")[2].partition("\n\n")[0]
    named = {name for row in table.splitlines()[2:] for name in re.findall(r"`([^`]+)`", row.split("|")[1])}
    assert named == {*FILES, "alibi"}  # a key of `falcon`


def test_the_document_names_the_architectures_of_gguf() -> None:
    paragraph = DOCUMENT.read_text().partition("by `general.architecture`: ")[2].partition(". Another one")[0]
    assert set(re.findall(r"`([^`]+)`", paragraph)) == SPELLINGS.keys()


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
