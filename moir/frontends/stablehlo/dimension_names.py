"""The names of the dynamic dimensions of arguments; dimensions with the same name are equal.

    %0 = stablehlo.get_dimension_size %x, dim = 0
    %1 = stablehlo.get_dimension_size %y, dim = 0
    %2 = stablehlo.compare EQ, %1, %0
    stablehlo.custom_call @shape_assertion(%2, …)
    call @_wrapped_jax_export_main(%0, %x, %y)        // whose first argument is the jax.global_constant "batch"
->  dimension 0 of both is "batch"

A program of JAX with symbols in its shapes begins so: it compares the sizes, and passes them on by their names.
"""

from __future__ import annotations

from typing import Any, cast

from moir.frontends.stablehlo.program import Function, Program, TensorType, Value

_SIZES = ("compare", "convert", "get_dimension_size")
"""The operations that may compute the sizes of dimensions in the assertions of JAX."""

ArgumentAxis = tuple[int, int]
"""A dimension of an argument: the index of the argument, and the axis."""


def dimension_names(program: Program, main: Function) -> list[list[str]]:
    """The name of each dimension of each argument, empty for dimensions that are static or have no name."""
    numbers = {argument: index for index, argument in enumerate(main.body.arguments)}
    sizes: dict[Value, ArgumentAxis] = {}
    equal: dict[Value, tuple[ArgumentAxis, ArgumentAxis]] = {}
    parents: dict[ArgumentAxis, ArgumentAxis] = {}
    names: dict[ArgumentAxis, str] = {}

    def root(argument: ArgumentAxis) -> ArgumentAxis:
        while argument in parents:
            argument = parents[argument]
        return argument

    for operation in main.body.operations:
        operands, results, attributes = operation.operands, operation.results, operation.attributes
        # Operations are not verified yet here, so any of them may lack operands.
        if not operands or (operation.kind in _SIZES and not results):
            continue
        if operation.kind == "get_dimension_size" and operands[0] in numbers and isinstance(attributes.get("dimension"), int):
            sizes[results[0]] = numbers[operands[0]], cast(int, attributes["dimension"])
        elif operation.kind == "convert" and operands[0] in sizes:
            sizes[results[0]] = sizes[operands[0]]
        elif operation.kind == "compare" and attributes.get("comparison_direction") == "EQ" and all(each in sizes for each in operands):
            equal[results[0]] = sizes[operands[0]], sizes[operands[-1]]
        elif operation.kind == "custom_call" and attributes.get("call_target_name") == "shape_assertion":
            first, second = (root(each) for each in equal.get(operands[0], ((-1, 0), (-1, 0))))
            if first != second:
                parents[first] = second
        elif operation.kind in ("func.call", "call"):
            callee = program.functions.get(str(attributes.get("callee", "")))
            given: list[Any] = [] if callee is None else [*callee.argument_attributes]
            for operand, each in zip(operands, given, strict=False):
                name: Any = cast("dict[str, Any]", each).get("jax.global_constant") if isinstance(each, dict) else None
                if operand in sizes and isinstance(name, str):
                    names.setdefault(sizes[operand], name)
    of_roots = {root(key): name for key, name in names.items()}
    return [
        [of_roots.get(root((index, axis)), "") if size < 0 else "" for axis, size in enumerate(_shape(argument))]
        for index, argument in enumerate(main.body.arguments)
    ]


def _shape(value: Value) -> tuple[int, ...]:
    return (value.type.shape or ()) if isinstance(value.type, TensorType) else ()
