"""The dialects and passes of moir for xDSL's own driver.

`xdsl-opt` finds them through the entry point `xdsl.universe`. It supports closed dialects only: the dialect of a
framework consists of the operations with a lowering, and weights must be in the text. `xdsl-gui` does not ask for entry
points: `moir.tools.gui` runs its application.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

from xdsl.ir import Dialect
from xdsl.universe import Universe

from moir.dialects import opset
from moir.frameworks import lowered
from moir.frameworks.record import Framework
from moir.lowering.driver import table_of
from moir.pipeline import load_pass, pass_names
from moir.support.xdsl_passes import ModulePass, module_pass_class


def _moir() -> Dialect:
    from moir.dialects.moir import Moir

    return Moir


def _framework(framework: Framework) -> Dialect:
    from moir.dialects.framework import framework_dialect

    return framework_dialect(framework.dialect, table_of(framework).kinds())


def _dialects() -> dict[str, Callable[[], Dialect]]:
    opsets = {name: partial(opset.dialect, name) for name in opset.OPSETS}
    return {"moir": _moir, **opsets, **{framework.dialect: partial(_framework, framework) for framework in lowered()}}


def _pass(name: str) -> type[ModulePass]:
    return module_pass_class(load_pass(name))


def _passes() -> dict[str, Callable[[], type[ModulePass]]]:
    return {name: partial(_pass, name) for name in pass_names()}


MOIR_UNIVERSE = Universe(all_dialects=_dialects(), all_passes=_passes())
