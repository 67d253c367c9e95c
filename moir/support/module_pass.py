"""The base class of moir's passes.

xDSL's class of passes can read and print options; importing it takes 45 million instructions, as many as all passes of
a small model. So moir's passes do not derive from it. `moir.support.xdsl_passes` makes them known to xDSL as passes,
where its class is needed: for options in a text, and for passes of users.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import TYPE_CHECKING, ClassVar

if TYPE_CHECKING:
    from xdsl.context import Context
    from xdsl.dialects.builtin import ModuleOp
    from xdsl.passes import ModulePass
else:
    ModulePass = ABC


class Pass(ModulePass):
    """A pass of moir. A pass with options is a frozen dataclass; its fields are the options."""

    name: ClassVar[str]

    @abstractmethod
    def apply(self, ctx: Context, op: ModuleOp) -> None:
        """Change a module in place.

        Args:
            ctx: the context with the dialects.
            op: the module.
        """
