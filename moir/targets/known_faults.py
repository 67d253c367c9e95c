"""All faults of a target: those of the records of its forms and refusals, and those that it has without a form."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from importlib import import_module

from moir.frameworks import load
from moir.targets.record import Fault, Form, Refusal
from moir.targets.registry import Target


def record_of(name: str, module: str) -> Form | Refusal:
    """The record of a form or refusal, given its name and the module whose list `FORMS` or `REFUSALS` contains it."""
    loaded = vars(import_module(module))
    records: Sequence[Form | Refusal] = (*loaded.get("FORMS", ()), *loaded.get("REFUSALS", ()))
    return next(each for each in records if each.name == name)


def faults_of(target: Target) -> Iterator[tuple[Fault, Form | Refusal | None]]:
    """The faults of a target, each with the record of what avoids or refuses it, if there is one. Imports all forms."""
    for name, module in {**target.every_form, **target.refusals}.items():
        record = record_of(name, module)
        yield from ((fault, record) for fault in record.faults)
    if target.unavoided_faults is not None:
        unavoided: tuple[Fault, ...] = load(target.unavoided_faults)
        yield from ((fault, None) for fault in unavoided)
