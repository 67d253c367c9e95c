"""The types of tensors at which a model is cut, where the file of the model does not declare them.

The operations before the cut are lowered in a copy of the module, which infers their types. If they are not supported,
the types stay unknown, and the user has to give the shape.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import SSAValue
from xdsl.passes import ModulePass

from moir.analysis.model_names import InputPort, ModelNames
from moir.dialects.element_types import dynamic
from moir.dialects.inference import set_type
from moir.dialects.moir import models_of
from moir.dialects.names import name_of, names_of
from moir.dialects.opset.infrastructure import Parameter, Result
from moir.dialects.shapes import element_of, shape_of
from moir.errors import ConversionError, InternalError, MoirError
from moir.frameworks.record import Framework
from moir.parameters.input_notation import InputItem, Place
from moir.pipeline import deferred

Run = Callable[[ModuleOp, Sequence[ModulePass]], None]


def infer_cut_types(module: ModuleOp, items: Sequence[InputItem], framework: Framework, run: Run) -> None:
    """Set the types of the tensors that become inputs without a given shape, as far as they can be inferred.

    Args:
        module: a module in the dialect of the framework; only types in it change.
        items: the inputs.
        framework: the framework.
        run: runs passes.
    """
    for index, model in enumerate(models_of(module)):
        wanted = _unknown(ModelNames(model.block), items)
        if not wanted:
            continue
        copy = module.clone()
        outputs = tuple(str(place) for place in wanted)
        passes = [deferred("cut-outputs", {"outputs": outputs}), *map(deferred, (*framework.raising, framework.lowering_pass))]
        try:
            run(copy, passes)
        except (MoirError, InternalError):
            continue
        results = [op.operands[0] for op in models_of(copy)[index].block.ops if isinstance(op, Result)]
        for value, inferred in zip(wanted.values(), results, strict=True):
            if shape_of(inferred) is not None or element_of(inferred) != dynamic:
                set_type(value, inferred.type)


def _unknown(names: ModelNames, items: Sequence[InputItem]) -> dict[Place, SSAValue]:
    """The tensors of dynamic rank at which items without a shape cut the model, by the designations that name them as
    outputs.
    """
    unknown: dict[Place, SSAValue] = {}
    for index, item in enumerate(items):
        if item.shape is not None:
            continue
        try:
            at = names.input_at(item.place, index)
        except ConversionError:
            # The pass that cuts the model reports it.
            continue
        value = at.value if isinstance(at, InputPort) else at
        if not isinstance(at, Parameter) and isinstance(value, SSAValue) and shape_of(value) is None and value not in unknown.values():
            place = _port(at) if isinstance(at, InputPort) else _tensor(value)
            if place is not None:
                unknown[place] = value
    return unknown


def _port(port: InputPort) -> Place | None:
    name = name_of(port.op)
    return Place(name, is_exact=True, input_port=port.number) if name else None


def _tensor(value: SSAValue) -> Place | None:
    name = next(iter(names_of(value)), None)
    return Place(name, is_exact=True) if name else None
