"""The forms that avoid faults of the CPU plugin compute what they should.

Whether a fault is still there depends on the processor, and on what memory held before:
`python -m tests.numerical.targets.faults` looks.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest

from moir.errors import UnsupportedOperationError
from moir.targets.registry import OPENVINO_CPU
from tests.numerical.targets.models import (
    EVERY_PROOF,
    FAULTS,
    FOLDED,
    FORM_OF,
    PROOFS_OF_FORMS,
    PROOFS_OF_REFUSED,
    PROVEN_ELSEWHERE,
    REFUSAL_OF,
    converted,
    is_right,
)
from tests.numerical.workers import Died, Say, Workers

ATTEMPTS = 3
"""What is read from memory that nothing was written to is right sometimes."""


def test_every_fault_has_a_proof() -> None:
    assert set(FAULTS) == set(EVERY_PROOF) | set(PROVEN_ELSEWHERE)
    assert set(FORM_OF) - set(PROVEN_ELSEWHERE) == set(PROOFS_OF_FORMS)


def test_every_form_avoids_a_fault() -> None:
    preferences = {*OPENVINO_CPU.preferred_forms, *OPENVINO_CPU.fused_forms}
    assert set(FORM_OF.values()) == set(OPENVINO_CPU.every_form) - preferences


def test_every_refusal_is_of_a_fault() -> None:
    assert set(REFUSAL_OF.values()) == set(OPENVINO_CPU.refusals)
    assert set(REFUSAL_OF) - set(PROVEN_ELSEWHERE) == set(PROOFS_OF_REFUSED)


@pytest.mark.parametrize("name", PROOFS_OF_REFUSED)
def test_the_fault_is_refused(name: str, tmp_path: Path) -> None:
    with pytest.raises(UnsupportedOperationError, match="the CPU plugin"):
        converted(name, tmp_path)
    assert converted(name, tmp_path, target="none").exists()


def run_form(name: str, _: Say) -> int:
    """The task of a worker: how often the IR of a fault's smallest model is right, of `ATTEMPTS`."""
    with TemporaryDirectory() as folder:
        path = converted(name, Path(folder))
        return sum(is_right(name, path) for _ in range(ATTEMPTS))


@pytest.fixture(scope="module")
def right_attempts() -> Mapping[str, int | Died]:
    """The models run in another process: where a form is wrong, the plugin may write to memory of later tests."""
    workers: Workers[str, int] = Workers(run_form, count=1)
    return dict(workers.run(PROOFS_OF_FORMS))


@pytest.mark.parametrize("name", PROOFS_OF_FORMS)
def test_the_form_is_right(name: str, right_attempts: Mapping[str, int | Died]) -> None:
    assert right_attempts[name] == ATTEMPTS


@pytest.mark.parametrize("name", sorted(set(PROOFS_OF_FORMS) - FOLDED))
def test_the_form_is_written(name: str, tmp_path: Path) -> None:
    """Nothing else in the pipeline works around the fault: the IR for no target is another one."""
    (tmp_path / "plain").mkdir()
    plain = converted(name, tmp_path / "plain", target="none")
    assert converted(name, tmp_path).read_text(encoding="utf-8") != plain.read_text(encoding="utf-8")
