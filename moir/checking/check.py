"""The check of a model for a device: its documented limits, and what the precision loses."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from xdsl.dialects.builtin import ModuleOp

from moir.checking.findings import PrecisionCheck
from moir.checking.precision import check_precision
from moir.dialects.memory_map import Array
from moir.dialects.shapes import is_static
from moir.execution.inputs import chosen_shapes
from moir.execution.ports import TensorPort, interface_of, only_model
from moir.inspection.tables import Shown, Table
from moir.support.records import Record
from moir.targets.devices.device import Device


class Violation(Record):
    """An input or operation of a model that exceeds a limit of a device.

    Args:
        limit: the name of the limit.
        subject: the input or operation.
        says: what the documentation says.
        source: the document that says so.
        refused: whether the device refuses the model for it.
    """

    limit: str
    subject: str
    says: str
    source: str
    refused: bool


class Check(Shown):
    """What a device refuses or loses of a model.

    Args:
        device: the name of the device; None if no one was named.
        violations: what is beyond its limits.
        static_shapes: the value of `--input` that makes all shapes static; None if they are static, or need not be.
        precision: what is lost in the precision of the device.
    """

    device: str | None
    violations: tuple[Violation, ...]
    static_shapes: str | None
    precision: PrecisionCheck

    @property
    def is_clean(self) -> bool:
        """Whether the check has neither violations nor losses."""
        return not self.violations and self.precision.agrees

    def tables(self) -> list[Table]:
        tables: list[Table] = []
        if self.violations:
            rows = tuple(("refused" if each.refused else "restricted", each.subject, each.says, each.source) for each in self.violations)
            tables.append(Table(f"limits of {self.device}", ("", "what", "documented", "source"), rows))
        if self.static_shapes is not None:
            tables.append(Table("static shapes, with sizes of your own", ("", ""), (("--input", self.static_shapes),)))
        return tables + self.precision.tables()

    def to_dict(self) -> dict[str, object]:
        return {**super().to_dict(), "precision": self.precision.to_dict(), "clean": self.is_clean}


def check_module(
    module: ModuleOp, samples: Iterable[Mapping[str, Array]], precision: str, device: Device | None, tolerance: float | None = None
) -> Check:
    """The check of a module.

    Args:
        module: a module in opset dialects.
        samples: arrays by the names of inputs; they are read one after the other.
        precision: the name of a format of `moir.checking.formats`.
        device: the device; None for no device in particular.
        tolerance: the largest relative difference of an output that counts as agreement; None for that of the format.

    Raises ExecutionError for a model that cannot be run.
    """
    violations: list[Violation] = []
    for limit in () if device is None else device.limits:
        subjects = limit.violations(only_model(module))
        violations += [Violation(limit.name, each, limit.says, limit.source, limit.refuses) for each in subjects]
    shapes = _static_shapes(interface_of(module).inputs) if violations else None
    return Check(None if device is None else device.name, tuple(violations), shapes, check_precision(module, samples, precision, tolerance))


def _static_shapes(ports: Sequence[TensorPort]) -> str | None:
    """A static shape for each input, as `--input` takes them; None if all shapes are static, or a rank is dynamic."""
    if any(port.shape is None for port in ports) or all(is_static(port.shape) for port in ports):
        return None
    shapes = chosen_shapes(ports, {})
    return ",".join(f"{port.name}[{','.join(map(str, shape))}]" for port, shape in zip(ports, shapes, strict=True))
