"""The forms that avoid faults of the CPU plugin compute what they should.

Whether a fault is still there depends on the processor, and on what memory held before:
`python -m tests.numerical.targets.faults` looks.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from moir.target_records import OPENVINO_CPU
from tests.numerical.targets.models import EVERY_PROOF, FAULTS, FOLDED, PROOFS_OF_FORMS, PROVEN_ELSEWHERE, converted, is_right

ATTEMPTS = 10
"""What is read from memory that nothing was written to is right sometimes."""


def test_every_fault_has_a_proof() -> None:
    assert set(FAULTS) == set(EVERY_PROOF) | set(PROVEN_ELSEWHERE)
    assert {name for name, each in FAULTS.items() if each.form} - set(PROVEN_ELSEWHERE) == set(PROOFS_OF_FORMS)


def test_every_form_avoids_a_fault() -> None:
    preferences = {*OPENVINO_CPU.preferred_forms, *OPENVINO_CPU.fused_forms}
    assert {each.form for each in FAULTS.values() if each.form} == set(OPENVINO_CPU.every_form) - preferences


@pytest.mark.parametrize("name", PROOFS_OF_FORMS)
def test_the_form_is_right(name: str, tmp_path: Path) -> None:
    path = converted(name, tmp_path)
    assert all(is_right(name, path) for _ in range(ATTEMPTS))


@pytest.mark.parametrize("name", sorted(set(PROOFS_OF_FORMS) - FOLDED))
def test_the_form_is_written(name: str, tmp_path: Path) -> None:
    """Nothing else in the pipeline works around the fault: the IR for no target is another one."""
    (tmp_path / "plain").mkdir()
    plain = converted(name, tmp_path / "plain", target="none")
    assert converted(name, tmp_path).read_text(encoding="utf-8") != plain.read_text(encoding="utf-8")
