"""The table of the `mo` dialect: operations that extensions made with Model Optimizer's API.

    @lowers("Power")
    def power(node: MoLoweringNode, op: OpBuilder) -> Replacement: ...

All kinds have one handler, `operation.lower_operation`. It looks up the built-in handler of a kind: there is one for
each of Model Optimizer's own operations, and for each operation that Model Optimizer wrote in another form than the
operation sets. A built-in handler returns NotImplemented for an operation that is to be written with its
`backend_attrs`.
"""

from __future__ import annotations

from argparse import Namespace
from collections.abc import Callable, Generator
from contextlib import contextmanager
from importlib import import_module
from typing import Any, TypeVar, cast

from moir.dialects.framework import MODEL_OPTIMIZER
from moir.lowering.table import Handler, LoweringTable

_OPERATION = "moir.model_optimizer.lowering.operation"


class OperationTable(LoweringTable):
    """The table of the `mo` dialect."""

    command_line: Namespace | None = None
    """The options of the conversion that loads extensions, for `graph.graph["cmd_params"]`; None without extensions.
    """

    def handler(self, kind: str, version: int) -> Handler:
        """The handler of the dialect, the same one for all kinds and versions.

        Like the built-in handlers, it is imported when it is first requested.
        """
        return import_module(_OPERATION).lower_operation

    def built_in(self, kind: str) -> Callable[..., Any] | None:
        """The handler of one of Model Optimizer's own kinds, None for any other kind."""
        return super().handler(kind, 1)

    @contextmanager
    def with_command_line(self, options: Namespace) -> Generator[None]:
        """A context in which functions of extensions find `options` in `graph.graph["cmd_params"]`."""
        outer = self.command_line
        self.command_line = options
        try:
            yield
        finally:
            self.command_line = outer


mo = OperationTable(MODEL_OPTIMIZER, "moir.model_optimizer.lowering")
"""The table."""

BuiltInHandler = TypeVar("BuiltInHandler", bound=Callable[..., Any])


def lowers(*kinds: str) -> Callable[[BuiltInHandler], BuiltInHandler]:
    """Register a built-in handler for kinds of the `mo` dialect."""
    return cast(Any, mo.lowers(*kinds))
