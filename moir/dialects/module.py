"""The class of the modules that frontends and the parser make, with a short description as its `repr`.

    <module digits(x: f32[?,784]) -> (y: f32[?,10]); 7 operations: 3 Add, 2 MatMul, 2 Relu>

It is a `builtin.module` for passes, and its `str` is its text.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from xdsl.dialects.builtin import ModuleOp

from moir.frameworks import load

if TYPE_CHECKING:
    from xdsl.parser import Parser


HTML = "moir.inspection.drawing:module_html"
"""Where the function is, as `module:function`, that shows a module in a notebook.

Its layer is above this one, so it is loaded by name.
"""


class Module(ModuleOp):
    """A `builtin.module` whose `repr` lists inputs, outputs, and operations by kind."""

    @classmethod
    def parse(cls, parser: Parser) -> Module:
        parsed = super().parse(parser)
        return cls(parsed.detach_region(0), parsed.attributes, parsed.sym_name)

    def __repr__(self) -> str:
        from moir.dialects.interface import describe_module

        return f"<module {describe_module(self)}>"

    def _repr_html_(self) -> str:
        """HTML for a notebook: the text of `repr`, and the graph of the model."""
        return load(HTML)(self)
