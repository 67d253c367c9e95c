"""Types of one instance of an operation against OpenVINO Runtime, with all, less or contradicting things known of its operands.

Each case is one instance of an operation with static operands. It is asked as it is and in variations: the rank of one operand or of all
unknown, one dimension or all dimensions of one operand or of all unknown, one dimension off by one. Moir and the runtime must infer the
same types or both refuse; where moir refuses more, or less, a test gives the reason.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pytest
from xdsl.utils.exceptions import VerifyException

from moir.analysis.known_values import KnownValues
from moir.dialects.shapes import shape_of
from moir.errors import InferenceError
from tests.unit.dialects.opset.runtime_reference import infer_with_moir, infer_with_runtime, moir_operation

Operands = tuple[Any, ...]
REFUSED = "refused"


@dataclass(frozen=True)
class Case:
    """One instance of an operation."""

    operation: str
    operands: Operands
    properties: dict[str, Any] = field(default_factory=dict)
    results: int = 1

    def __str__(self) -> str:
        return f"{self.operation}{list(map(operand_text, self.operands))}{self.properties}"


def operand_text(operand: Any) -> str:
    """An operand as part of a test's name."""
    return f"={operand.tolist()}" if isinstance(operand, np.ndarray) else "-" if operand is None else str(operand)


def integers(*values: int) -> np.ndarray:
    """A constant list of integers."""
    return np.array(values, dtype=np.int64)


def reals(*values: float) -> np.ndarray:
    """A constant list of f32."""
    return np.array(values, dtype=np.float32)


def random(*shape: int, low: float = -2.0, high: float = 2.0) -> np.ndarray:
    """Reproducible f32 values."""
    return np.random.default_rng(sum(shape)).uniform(low, high, shape).astype(np.float32)


def typed(*shapes: Any, element: str = "f32") -> Operands:
    """Operands of one element type for the given shapes; arguments that are not shapes are unchanged."""
    return tuple((element, shape) if isinstance(shape, tuple) and not (shape and isinstance(shape[0], str)) else shape for shape in shapes)


def variations(operands: Operands) -> Iterator[Operands]:
    """The operands with less known of their types, or with a dimension changed."""
    yield operands
    free = [index for index, operand in enumerate(operands) if isinstance(operand, tuple)]
    yield tuple((item[0], None) if isinstance(item, tuple) else item for item in operands)
    yield tuple((item[0], (-1,) * len(item[1])) if isinstance(item, tuple) else item for item in operands)
    for index in free:
        element, shape = operands[index]
        changed = [None, (-1,) * len(shape)]
        changed += [(*shape[:axis], size, *shape[axis + 1 :]) for axis, old in enumerate(shape) for size in (-1, old + 1)]
        changed += [(*shape, 1), shape[1:]]
        for new in changed:
            yield (*operands[:index], (element, new), *operands[index + 1 :])
        yield tuple((item[0], None) if isinstance(item, tuple) and other != index else item for other, item in enumerate(operands))


def outcome(infer: Any, case: Case, operands: Operands) -> Any:
    """The inferred types, or REFUSED."""
    try:
        return infer(case.operation, list(operands), case.properties, case.results)
    except (InferenceError, VerifyException, RuntimeError):
        return REFUSED


def check_types(case: Case, stricter: Mapping[str, str] | None = None, laxer: Mapping[str, str] | None = None) -> None:
    """Assert that moir and the runtime infer the same types for a case and its variations.

    Args:
        case: the case.
        stricter: the kinds for which moir refuses variations that the runtime accepts, and why.
        laxer: the kinds for which the runtime refuses variations that moir accepts, and why.
    """
    kind = case.operation.partition(".")[2]
    wrong: list[str] = []
    for index, operands in enumerate(variations(case.operands)):
        ours, theirs = outcome(infer_with_moir, case, operands), outcome(infer_with_runtime, case, operands)
        excused = index > 0 and ((ours == REFUSED and kind in (stricter or {})) or (theirs == REFUSED and kind in (laxer or {})))
        if ours != theirs and not excused:
            wrong.append(f"{list(map(operand_text, operands))}: {ours}, the runtime says {theirs}")
    assert not wrong, "\n".join(wrong)


Impossible = tuple[str, Operands, dict[str, Any], str]
"""Operation, operands, properties, and a part of the message."""


def check_refused(name: str, operands: Operands, properties: dict[str, Any], reason: str) -> None:
    """Assert that moir refuses an operation for a reason."""
    op = moir_operation(name, list(operands), properties)
    with pytest.raises(InferenceError, match=reason):
        op.infer(KnownValues())


def check_partly_known_shape(name: str, operands: Operands, index: int, properties: dict[str, Any], expected: tuple[int, ...]) -> None:
    """Assert the shape of the result of an operation whose operand at an index, absent so far, is the shape `(?, 7)` of another value."""
    op, shape = moir_operation(name, list(operands), properties), moir_operation("opset3.ShapeOf", [("f32", (-1, 7))], {})
    shape = type(shape).create(operands=shape.operands, properties=shape.properties, result_types=shape.infer(KnownValues()))
    op.operands[index] = shape.results[0]
    assert [shape_of(type_) for type_ in op.infer(KnownValues())] == [expected]
