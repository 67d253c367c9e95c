"""A program -> the block of a model in the `stablehlo` dialect.

    %0 = stablehlo.dot_general %x, %w, contracting_dims = [1] x [0]
->  %0 = stablehlo.dot_general(%x, %w) {lhs_contracting_dimensions = [1], rhs_contracting_dimensions = [0]}

Calls are inlined. A region has a Parameter for each argument of its block, then one for each value that it uses from
around it, which is a further operand of its operation (`captured` says how many). Operations on quantized tensors
compute on real ones, between `uniform_dequantize` and `uniform_quantize`.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any, cast

import numpy as np
from xdsl.ir import Block as IRBlock
from xdsl.ir import SSAValue

from moir.frontends.operations import Operations, outputs_of
from moir.frontends.stablehlo.builder import ProgramBuilder
from moir.frontends.stablehlo.complex_numbers import in_parts
from moir.frontends.stablehlo.dimension_names import dimension_names
from moir.frontends.stablehlo.program import TensorType
from moir.frontends.stablehlo.scope import Scope
from moir.frontends.stablehlo.tuples import without_tuples


def block_of(builder: ProgramBuilder) -> IRBlock:
    """The block of a program. Raises ModelFileError if it has no function `main`, or is inconsistent."""
    builder.program = without_tuples(builder)
    names = builder.argument_names(builder.main())
    builder.program = in_parts(builder.program, builder.main())
    main = builder.main()
    scope = Scope(builder, Operations(), {})
    arguments = zip(
        main.body.arguments, names, _padded(main.argument_attributes, len(names)), dimension_names(builder.program, main), strict=True
    )
    for argument, name, attributes, dimensions in arguments:
        if attributes.get("jax.global_constant") == "_platform_index" or attributes.get("jax.platform_index"):
            scope.values[argument] = scope.constant(np.array(builder.platform(), np.int32), "platform_index")
        elif not isinstance(argument.type, TensorType):
            raise builder.error(f"the argument {name!r} is not a tensor", hint="export the program without tokens and effects")
        else:
            scope.argument(argument, name, dimensions)
    values, types = scope.called(main.body)
    results: list[tuple[SSAValue, str]] = []
    used: set[str] = set()
    for index, (value, type_, attributes) in enumerate(zip(values, types, _padded(main.result_attributes, len(values)), strict=True)):
        name = result_name(str(attributes.get("jax.result_info", "")), index, len(values))
        while name in used:
            name = f"{name}_{index}"
        used.add(name)
        results.append((scope.result(value, type_), name))
    if not results:
        raise builder.error("its function main has no results")
    return IRBlock([*scope.operations.list, *outputs_of(results, scope.operations.list)])


def _padded(entries: Sequence[Any], count: int) -> list[dict[str, Any]]:
    fields = [cast("dict[str, Any]", each) if isinstance(each, dict) else {} for each in entries[:count]]
    return [*fields, *({} for _ in range(count - len(fields)))]


_KEY = re.compile(r"\['([^']*)'\]|\[(\d+)\]|\.(\w+)")


def result_name(info: str, index: int, count: int) -> str:
    """The name of a result from its path in the tree of results, `jax.result_info`: `result['logits']` -> logits.

    A path of indices gives `result_0_1`; without a path the name is `result`, or `result_N` if `count`, the number of
    results, is above 1, where N is its index `index`.
    """
    keys = [next(each for each in keys if each) for keys in _KEY.findall(info) if any(keys)]
    if not keys:
        return "result" if count == 1 else f"result_{index}"
    return "_".join(keys) if not keys[0].isdecimal() else "_".join(("result", *keys))
