"""Records of a device: the precision in which it computes, and what is documented that it refuses or restricts."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING

from moir.support.records import Record

if TYPE_CHECKING:
    from moir.dialects.moir import ModelOp


class Limit(Record):
    """A documented limit of a device.

    Args:
        name: its name.
        violations: what of a model is beyond the limit, a text for each input, output or operation.
        says: what the source says, in moir's words.
        source: the page of the documentation, with its version.
        refuses: whether the device refuses such models; if not, it may execute them slowly, or some of them not.
    """

    name: str
    violations: Callable[[ModelOp], Iterable[str]]
    says: str
    source: str
    refuses: bool = True


class Device(Record):
    """A device.

    Args:
        name: its name in OpenVINO Runtime.
        precision: the precision in which it computes models in f32 by default.
        precision_source: the page of the documentation that says so, with its version.
        limits: its documented limits.
    """

    name: str
    precision: str
    precision_source: str
    limits: tuple[Limit, ...] = ()
