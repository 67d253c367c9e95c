"""The passes of a target, each built from a record of a rewritten form (`Form`)."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from importlib import import_module
from typing import ClassVar

from xdsl.dialects.builtin import ModuleOp

from moir.analysis.analyses import Analyses
from moir.rewriting.driver import Pattern, PatternPass
from moir.rewriting.reporting_pass import Elements, Needs, needs_of_roots
from moir.targets.record import Form


class FormPass(PatternPass):
    """Rewrites operations into a form that the target executes correctly."""

    FORM: ClassVar[Form]

    def patterns(self) -> Sequence[Pattern]:
        return [each() for each in self.FORM.patterns]

    def run(self, module: ModuleOp, analyses: Analyses) -> bool:
        return super().run(module, analyses) if self.FORM.run is None else self.FORM.run(module, analyses)

    @classmethod
    def needs(cls) -> Needs | None:
        return needs_of_roots(cls.FORM.roots) if cls.FORM.roots else super().needs()

    @classmethod
    def elements(cls) -> Elements | None:
        return super().elements() if cls.FORM.run is None else None


@cache
def form_pass(name: str, module: str) -> type[FormPass]:
    """The pass of a form, given its name and the module whose list `FORMS` contains it."""
    forms: Sequence[Form] = import_module(module).FORMS
    form = next(each for each in forms if each.name == name)
    title = "".join(word.capitalize() for word in name.split("-"))
    summary = form.summary or (form.patterns[0].__doc__ or "").partition("\n\n")[0]
    members = {"name": name, "FORM": form, "IN_PLACE": form.in_place, "__doc__": summary, "__module__": module}
    return type(f"{title}Pass", (FormPass,), members)
