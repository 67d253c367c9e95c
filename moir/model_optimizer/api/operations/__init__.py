"""The operations of Model Optimizer that extensions build nodes of: `Concat(graph, {"axis": 1}).create_node([a, b])`.

Each class is made from its row in the tables of this package when it is first asked for. The nodes it makes are
operations of the `mo` dialect, which `lower-mo` turns into operations of the operation sets.
"""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING

from moir.model_optimizer.api.operations.description import Description, StandardOp, class_of
from moir.model_optimizer.graph.operation import Op

if TYPE_CHECKING:
    from collections.abc import Mapping

__all__ = ["Description", "StandardOp", "class_named", "descriptions", "register_all"]


@cache
def descriptions() -> Mapping[str, Description]:
    """The descriptions of Model Optimizer's operations, by the names of their classes."""
    # By their full names: a submodule that is not loaded yet would be looked up by the function below.
    from moir.model_optimizer.api.operations.bases import OPERATIONS as BASES
    from moir.model_optimizer.api.operations.computation import OPERATIONS as COMPUTATION
    from moir.model_optimizer.api.operations.framework_forms import OPERATIONS as FRAMEWORK_FORMS
    from moir.model_optimizer.api.operations.internal import OPERATIONS as INTERNAL
    from moir.model_optimizer.api.operations.layers import OPERATIONS as LAYERS
    from moir.model_optimizer.api.operations.structure import OPERATIONS as STRUCTURE

    return {**COMPUTATION, **LAYERS, **STRUCTURE, **INTERNAL, **FRAMEWORK_FORMS, **BASES}


@cache
def class_named(name: str) -> type[Op]:
    """The class of the given name, which has to be a key of `descriptions`."""
    before = dict(Op.registered_ops)
    made = class_of(name, descriptions()[name])
    # A class that a user defined under this `op` keeps precedence.
    Op.registered_ops.update(before)
    return made


def register_all() -> None:
    """Register all operation classes of this package for `Op.get_op_class_by_name`. A user's class of the same `op`
    goes first.
    """
    for name, description in descriptions().items():
        if not description.is_base:
            Op.registered_ops.setdefault(description.op or name, class_named(name))


def __getattr__(name: str) -> type[Op]:
    if name.startswith("__") or name not in descriptions():
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return class_named(name)
