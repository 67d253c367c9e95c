"""Finds the operations that moir cannot convert in a model.

The passes up to the lowering run on a copy of the module, and each node is lowered there, but an error of one does not
stop the others. The obstacles found are those that a conversion would report: kinds without a lowering of moir or of an
extension, which the framework does not define by other kinds either, and nodes in a form that the lowering of their
kind refuses. A node after such a node is not reported if it cannot be lowered without the types of its operands.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from xdsl.dialects.builtin import UnregisteredOp

from moir.analysis.backward_slice import backward_slice
from moir.conversion import run, stage
from moir.dialects.framework import FrameworkOp, decode_kind
from moir.dialects.moir import all_blocks, models_of
from moir.dialects.names import name_of
from moir.errors import ConversionError
from moir.frameworks import FRAMEWORKS
from moir.inspection.records import Obstacle
from moir.pipeline import default_pipeline

if TYPE_CHECKING:
    from xdsl.dialects.builtin import ModuleOp
    from xdsl.ir import Block, Operation

    from moir.lowering.driver import Lowering
    from moir.options import ConversionOptions
    from moir.pipeline import LoadedExtensions


def obstacles(
    module: ModuleOp, framework: str, options: ConversionOptions, extensions: LoadedExtensions | None = None
) -> tuple[tuple[Obstacle, ...], str | None]:
    """The obstacles to a conversion of a module, and the error of a pass before the lowering (None if there is none).

    Args:
        module: the module, which is not changed.
        framework: the name of the framework's dialect.
        options: the options of the conversion.
        extensions: the extensions that are loaded.
    """
    copy, reason = module.clone(), None
    refused: dict[Operation, str] = {}
    record = FRAMEWORKS[framework]
    if record.lowering is not None:
        from moir.lowering.driver import Lowering, check, opset_versions

        passes = default_pipeline(framework, options, extensions)
        names = [each.name for each in passes]
        try:
            run(copy, passes[: names.index(record.lowering_pass)], extensions=extensions)
            check(copy, record)
        except ConversionError as error:
            reason = str(error)
        with stage(f"pass {record.lowering_pass}", extensions):
            for model in models_of(copy):
                lowering = Lowering(record, opset_versions(model))
                _lower(model.block, lowering, refused)
    return tuple(_left(copy, refused)), reason


def _lower(block: Block, lowering: Lowering, refused: dict[Operation, str]) -> None:
    """Lower the operations of a block that can be lowered; `refused` gets the errors of the others."""
    op = block.first_op
    while op is not None:
        before, following = op.prev_op, op.next_op
        try:
            if isinstance(op, FrameworkOp) and lowering.lowers(op) and lowering.operation(op):
                # The operation was replaced by its definition in the framework, which is lowered next.
                following = block.first_op if before is None or before.parent is not block else before.next_op
        except ConversionError as error:
            refused[op] = error.reason
        op = following


def _left(module: ModuleOp, refused: dict[Operation, str]) -> list[Obstacle]:
    """Operations that are left after the lowering, as obstacles, except those that only depend on the unknown types of
    others.

    `refused` has the error of each operation that its lowering refused.
    """
    from moir.analysis.unlowered_operations import must_go

    obstacles: dict[tuple[str, str | None], list[str]] = {}
    left = {op for block in all_blocks(module) for op in block.ops if must_go(op) or isinstance(op, UnregisteredOp)}
    for op in (op for block in all_blocks(module) for op in block.ops if op in left):
        name = op.op_name.data if isinstance(op, UnregisteredOp) else decode_kind(op.name)
        reason = refused.get(op)
        if reason is None or left.isdisjoint(backward_slice(op)):
            obstacles.setdefault((name, reason), []).append(name_of(op) or "")
    return [Obstacle(name, tuple(nodes), reason) for (name, reason), nodes in sorted(obstacles.items(), key=lambda each: str(each[0]))]
