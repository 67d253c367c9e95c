"""The view of a framework: the part of its models that extensions for Model Optimizer's API see.

    VIEW = FrameworkView(
        names={"Conv": "Conv Convolution"},
        attributes=by_kind({"Concat Gather": {"axis": Extracted("axis", 0)}}),
        messages={"pb": node_message},
    )

All fields have defaults. `moir.model_optimizer.frameworks.lookup` finds the view that a framework's record names.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from xdsl.ir import Operation

from moir.dialects.framework import FrameworkOp
from moir.model_optimizer.frameworks.extracted import Extracted
from moir.support.records import Record


class NormalInputs(Record):
    """The inputs that replace attributes of an operation, as on Model Optimizer's nodes.

    Args:
        name: the `op` by which extensions ask for such nodes.
        values: function of an operation: the values of its inputs after the first, None for an input that is left out;
            the function returns None if the operation has these inputs already.
        properties: the attributes that the inputs stand for.
        is_distinct: whether Model Optimizer had another name for the form without these inputs.
    """

    name: str
    values: Callable[[Operation], list[Any] | None]
    properties: tuple[str, ...]
    is_distinct: bool = False


class FrameworkView(Record):
    """The models of one framework as extensions see them.

    Args:
        names: kind -> the names of its nodes in Model Optimizer, separated by spaces. The first is their `op`;
            patterns find them by the others, too. A kind that is not listed has the name that it has in the framework.
        forms: kind -> function that says which of the names is the `op` of an operation.
        attributes: kind -> attributes by the names of Model Optimizer's extractors.
        messages: name of an attribute -> function that makes the message of a node from its kind and its operation.
        constant_message: function that makes the attribute `pb` of a constant; None if constants have none.
        custom_kind: function that gives the kind of an operation which the model itself names, None for any other.
        schema: function that returns the names of the attributes that the definition of an operation has, None if that
            is unknown. most_inputs: function that returns the largest number of inputs in the newest definition of a
            kind.
        normal_inputs: kind -> the inputs that replace its attributes.
        input_orders: kind -> for each input of Model Optimizer's nodes, the index of the framework's operand, where
            the order differs.
        output_counts: kind -> the number of outputs of Model Optimizer's nodes, where a model may omit some.
        powers: kind -> its exponent, if it is asked for as `Pow`.
        variadic: the kinds that have any number of inputs.
        axis_last: the kinds whose last input is an axis, all others being data.
        is_convolution_with_channels_last: function that says whether an operation is one.
        value_of_text: function that reads the value of an attribute from a text; None if texts stay texts.
        leaves_out_defaults: whether a model need not have the attributes that are at their defaults.
        attributes_are_complete: whether the attributes by the extractors' names fully determine what an operation
            computes.
        has_single_precision: whether all its floats are f32.
        flattens_products: whether a FullyConnected flattens its data after the batch.
        clips_windows: whether an average that counts padding excludes the elements of a last window after the padding.
    """

    names: Mapping[str, str] = {}
    forms: Mapping[str, Callable[[Operation], str]] = {}
    attributes: Mapping[str, Mapping[str, Extracted]] = {}
    messages: Mapping[str, Callable[[str, Operation], Any]] = {}
    constant_message: Callable[[Operation], Any] | None = None
    custom_kind: Callable[[Operation], str | None] | None = None
    schema: Callable[[FrameworkOp], frozenset[str] | None] | None = None
    most_inputs: Callable[[str], int] | None = None
    normal_inputs: Mapping[str, NormalInputs] = {}
    input_orders: Mapping[str, tuple[int, ...]] = {}
    output_counts: Mapping[str, int] = {}
    powers: Mapping[str, float] = {}
    variadic: frozenset[str] = frozenset()
    axis_last: frozenset[str] = frozenset()
    is_convolution_with_channels_last: Callable[[Operation], bool] | None = None
    value_of_text: Callable[[str], Any] | None = None
    leaves_out_defaults: bool = False
    attributes_are_complete: bool = True
    has_single_precision: bool = False
    flattens_products: bool = False
    clips_windows: bool = False
