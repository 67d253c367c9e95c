"""Our dialects and passes for xDSL's own tools: `xdsl-opt` and `xdsl-gui` find them through the entry point `xdsl.universe`.

These tools know closed dialects only, so of a framework's dialect they have the operations somebody lowers, and of weights only those that
are in the text.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from importlib import import_module
from typing import cast

from xdsl.ir import Dialect
from xdsl.passes import ModulePass
from xdsl.universe import Universe

from moir.dialects import opset
from moir.frameworks import FRONTENDS, Frontend
from moir.lowering.driver import LoweringTable
from moir.pipeline import load_pass, pass_names


def _moir() -> Dialect:
    from moir.dialects.moir import Moir

    return Moir


def _framework(frontend: Frontend) -> Dialect:
    from moir.dialects.framework import framework_dialect

    module, _, name = frontend.lowering.partition(":")
    return framework_dialect(frontend.framework, cast(LoweringTable, getattr(import_module(module), name)).kinds())


def _dialects() -> dict[str, Callable[[], Dialect]]:
    opsets = {name: partial(opset.dialect, name) for name in opset.OPSETS}
    return {"moir": _moir, **opsets, **{frontend.framework: partial(_framework, frontend) for frontend in FRONTENDS}}


def _passes() -> dict[str, Callable[[], type[ModulePass]]]:
    return {name: partial(load_pass, name) for name in pass_names()}


MOIR_UNIVERSE = Universe(all_dialects=_dialects(), all_passes=_passes())
