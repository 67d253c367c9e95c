"""The framework's names of tensors, as ports and connections hand them on."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Literal, TypeAlias

from xdsl.ir import OpResult, SSAValue

from moir.dialects.names import split_names, tensor_names_of
from moir.dialects.opset.infrastructure import Parameter
from moir.dialects.properties import strings_attribute
from moir.errors import ConversionError

Mode: TypeAlias = Literal["merge", "source", "dest"]
"""Whose names a tensor keeps that takes the place of another: of both, its own ones, or those of the other."""


def names_of(value: SSAValue) -> list[str]:
    """The names of a tensor."""
    if not isinstance(value, OpResult):
        return []
    return [name.replace("\\,", ",") for name in split_names(tensor_names_of(value.op)[value.index])]


def set_names(value: SSAValue, names: Iterable[str]) -> None:
    """Give a tensor other names."""
    if not isinstance(value, OpResult):
        return
    texts = tensor_names_of(value.op)
    texts[value.index] = ",".join(dict.fromkeys(name.replace(",", "\\,") for name in names))
    if any(texts):
        value.op.attributes["tensor_names"] = strings_attribute(texts)
    else:
        value.op.attributes.pop("tensor_names", None)


def hand_on_names(old: SSAValue, new: SSAValue, mode: Mode) -> None:
    """Hand the names of a tensor on to the one whose consumers are now those of `old`. The names of an input of the model stay there."""
    if mode not in ("merge", "source", "dest"):
        raise ConversionError(f"there is no mode {mode!r} for the names of tensors", hint="use 'merge', 'source' or 'dest'")
    if mode == "source" or isinstance(old.owner, Parameter) or old is new:
        return
    names = names_of(old)
    if not names:
        return
    set_names(old, ())
    set_names(new, names if mode == "dest" else [*names_of(new), *names])
