"""The targets: a record for each runtime and device that an IR is written for.

A lowering expresses the meaning of an operation. If a target does not execute it with this meaning, that is a fault of
the target, and a pass of the target writes a form that it executes correctly, for models of all frameworks alike. A
new target is a folder of `moir/targets` and a record here; its forms are listed by `python -m scripts.form_index`.

This module imports no forms, so that the command line can list the targets without loading them.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from types import MappingProxyType

from moir.support.records import Record
from moir.targets.openvino_cpu.form_index import FORMS as OPENVINO_CPU_FORMS
from moir.targets.stages import CORRECT, FUSED, MARKED, PREFERRED, REFUSED, STATES, TYPES

INSTRUCTION_LIMIT = "ONEDNN_MAX_CPU_ISA"
"""The environment variable that limits the instruction set of the CPU plugin."""

_NONE: Mapping[str, str] = MappingProxyType({})


class Target(Record):
    """A runtime and device that an IR is written for.

    Args:
        name: the name, which `--target` takes.
        title: the name in prose.
        preferred_forms: the passes that replace operations by one that the target executes or loads faster; they run
            before all others.
        forms: the passes that write forms which the target executes correctly, in the order in which they run, each
            with the module that has its `Form`.
        fused_forms: the passes that write operations, as the other forms leave them, so that the target executes them
            as one; they run after `forms`.
        state_forms: those that run after values were made states of the model.
        marked_forms: the passes that run after operations were marked to be kept in their precision;
            only if there are marks.
        refusals: the passes that refuse what the target does not execute in any form; they run after all forms, and
            have a `Refusal`.
        unavoided_faults: `module:table` of the faults that no form avoids, since that would cost every model with the
            operation; None if there are none.
        environment: the environment variables that the forms depend on.
    """

    name: str
    title: str
    preferred_forms: Mapping[str, str] = _NONE
    forms: Mapping[str, str] = _NONE
    fused_forms: Mapping[str, str] = _NONE
    state_forms: Mapping[str, str] = _NONE
    marked_forms: Mapping[str, str] = _NONE
    refusals: Mapping[str, str] = _NONE
    unavoided_faults: str | None = None
    environment: tuple[str, ...] = ()

    @property
    def every_form(self) -> dict[str, str]:
        """All forms and refusals of the target by pass name, each with the module that defines its record."""
        return {**self.preferred_forms, **self.forms, **self.fused_forms, **self.state_forms, **self.marked_forms}


OPENVINO_CPU = Target(
    name="openvino-cpu",
    title="OpenVINO Runtime on a CPU",
    preferred_forms=OPENVINO_CPU_FORMS[PREFERRED],
    forms=OPENVINO_CPU_FORMS[CORRECT] | OPENVINO_CPU_FORMS[TYPES],
    fused_forms=OPENVINO_CPU_FORMS[FUSED],
    state_forms=OPENVINO_CPU_FORMS[STATES],
    marked_forms=OPENVINO_CPU_FORMS[MARKED],
    refusals=OPENVINO_CPU_FORMS[REFUSED],
    unavoided_faults="moir.targets.openvino_cpu.unavoided:FAULTS",
    environment=(INSTRUCTION_LIMIT,),
)

NO_TARGET = Target(name="none", title="no runtime in particular: operations as their definitions have them")

TARGETS: Mapping[str, Target] = MappingProxyType({each.name: each for each in (OPENVINO_CPU, NO_TARGET)})
"""The targets by name. The first one is the default."""


@cache
def form_modules() -> Mapping[str, str]:
    """The passes of all targets, each with the module that has its `Form` or `Refusal`."""
    return {name: module for each in TARGETS.values() for name, module in {**each.every_form, **each.refusals}.items()}


ENVIRONMENT: tuple[str, ...] = tuple(sorted({name for each in TARGETS.values() for name in each.environment}))
"""The environment variables that the forms of any target depend on."""
