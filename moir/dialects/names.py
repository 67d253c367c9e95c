"""Names of nodes and of tensors.

The name of a source node is the attribute `name` of its operation. The names of its tensors are the attribute
`tensor_names`, one string for each result, as in the IR: several names are separated by commas, and a comma in a name
is written `\\,`. Users find the inputs and outputs of a converted model by these names.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, TypeAlias, cast

from xdsl.dialects.builtin import ArrayAttr, StringAttr, UnknownLoc
from xdsl.ir import Operation, OpResult, SSAValue

from moir.dialects.locations import located
from moir.dialects.properties import string_attribute, strings_attribute

_NO_NAMES = string_attribute("")
FRAMEWORK_OPERATION = "framework_operation"
"""The attribute with the name that an operation had in the framework's dialect. An operation has it if an extension
changed its `op`, or if it stays in the framework's dialect until the layout change."""

OUTPUT_NAMES = "output_names"
"""The attribute of a Result with the names of the output, if it does not have all names of its tensor; escaped as in
`tensor_names`.
"""


def name_of(op: Operation) -> str | None:
    """The name of the source node of an operation; None if it has no name."""
    name = op.attributes.get("name")
    return name.data if isinstance(name, StringAttr) else None


def escaped(name: str) -> str:
    """A name escaped for `tensor_names`."""
    return name.replace(",", "\\,")


def tensor_names(*names: str) -> ArrayAttr[StringAttr]:
    """The attribute `tensor_names` of an operation whose results have one name each."""
    return ArrayAttr([string_attribute(escaped(name)) for name in names])


def several_tensor_names(names: Iterable[Iterable[str]]) -> ArrayAttr[StringAttr]:
    """The attribute `tensor_names` of an operation whose results have any number of names each."""
    return ArrayAttr([string_attribute(",".join(map(escaped, each))) for each in names])


def tensor_names_of(op: Operation) -> list[str]:
    """Names of the result tensors of an operation: one string per result as in the IR, empty without names."""
    names: Any = op.attributes.get("tensor_names")
    texts: list[str] = [text.data for text in names.data] if names is not None else []
    return texts + [""] * (len(op.results) - len(texts))


def split_names(names: str) -> list[str]:
    """The separate names in a string of `tensor_names`, commas in them still escaped."""
    parts = names.split(",")
    whole: list[str] = []
    for part in parts:
        if whole and whole[-1].endswith("\\"):
            whole[-1] += "," + part
        else:
            whole.append(part)
    return [part for part in whole if part]


def names_of(value: SSAValue) -> list[str]:
    """The names of a tensor in the framework, unescaped."""
    if not isinstance(value, OpResult) or "tensor_names" not in value.op.attributes:
        return []
    return [name.replace("\\,", ",") for name in split_names(tensor_names_of(value.op)[value.index])]


def set_names(value: SSAValue, names: Iterable[str]) -> None:
    """Replace the names of a tensor."""
    if not isinstance(value, OpResult):
        return
    texts = tensor_names_of(value.op)
    texts[value.index] = ",".join(map(escaped, dict.fromkeys(names)))
    if any(texts):
        value.op.attributes["tensor_names"] = strings_attribute(texts)
    else:
        value.op.attributes.pop("tensor_names", None)


MAXIMUM_NAMES = 32
"""Maximum number of names of a tensor; further ones are added only if a Result needs them.

If a model computes one shape in a thousand places, one tensor would get all their names, in quadratic time.
"""


Additions: TypeAlias = "dict[Operation, list[tuple[int, str, bool]]]"
"""Names to be added to the results of each operation: the index of the result, the names, and whether they are
required.
"""


def add_tensor_names(value: SSAValue, names: str, *, required: bool = False) -> None:
    """Add names to a tensor; those that are not `required` only up to `MAXIMUM_NAMES`."""
    if names and isinstance(value, OpResult):
        add_names({value.op: [(value.index, names, required)]})


def add_names(additions: Additions) -> None:
    """Add names to several tensors as `add_tensor_names` does; `additions` has for each operation all names for its
    results.
    """
    for producer, added in additions.items():
        attribute = producer.attributes.get("tensor_names")
        texts = list(cast("ArrayAttr[StringAttr]", attribute).data) if attribute is not None else []
        texts += [_NO_NAMES] * (len(producer.results) - len(texts))
        by_result: dict[int, list[tuple[str, bool]]] = {}
        for index, names, required in added:
            by_result.setdefault(index, []).append((names, required))
        for index, each in by_result.items():
            texts[index] = StringAttr(_joined(texts[index].data, each))
        producer.attributes["tensor_names"] = ArrayAttr(texts)


def _joined(present: str, added: Sequence[tuple[str, bool]]) -> str:
    """The names in `present`, a string of `tensor_names`, and the names in `added` (with whether they are required),
    each once.

    Names that are not required are added only up to `MAXIMUM_NAMES`.
    """
    if len(added) == 1:
        names, required = added[0]
        if not present:
            return names
        # The commas that separate names are counted, since to split many names only to add none takes long.
        if not required and present.count(",") - present.count("\\,") + 1 >= MAXIMUM_NAMES:
            return present
        # The common case is one name that is certainly new: the present names need not be listed.
        if names not in present and "," not in names:
            return f"{present},{names}"
    distinct = dict.fromkeys(split_names(present))
    for names, required in added:
        if required or len(distinct) < MAXIMUM_NAMES:
            distinct.update(dict.fromkeys(split_names(names)))
    return ",".join(distinct)


def inherit_origin(op: Operation, value: SSAValue) -> None:
    """Copy the name and the attribute `FRAMEWORK_OPERATION` of an operation to the producer of `value`, its changed
    copy; nothing is copied if the operation lacks that attribute.

    Transformations of extensions then find the copy by name and kind.
    """
    if FRAMEWORK_OPERATION in op.attributes and isinstance(value, OpResult):
        value.op.attributes.update({key: op.attributes[key] for key in ("name", FRAMEWORK_OPERATION) if key in op.attributes})


def inherit_names(op: Operation, values: Sequence[SSAValue], later: Additions | None = None) -> None:
    """Transfer the node name and tensor names of `op` to the producers of `values`, its replacements.

    A producer that was built without name and location takes over the location of `op`, too.

    Args:
        op: the operation that is replaced.
        values: a value for each of its results.
        later: collects the names for `add_names`, where one value may replace thousands; else they are added at once.
    """
    name = op.attributes.get("name")
    if len(values) == 1 and isinstance(value := values[0], OpResult) and "tensor_names" not in value.op.attributes:
        # The common case, handled faster: one new operation takes over the name, location and tensor names.
        producer = value.op
        if type(producer.location) is UnknownLoc and "name" not in producer.attributes:
            producer.location = located(op)
        names = op.attributes.get("tensor_names")
        if names is not None and len(producer.results) == 1:
            if name is not None:
                producer.attributes.setdefault("name", name)
            producer.attributes["tensor_names"] = names
            return
    additions: Additions = {} if later is None else later
    for result, value, names in zip(op.results, values, tensor_names_of(op), strict=True):
        if isinstance(value, OpResult):
            producer = value.op
            if type(producer.location) is UnknownLoc and "name" not in producer.attributes:
                producer.location = located(op)
            if name is not None:
                producer.attributes.setdefault("name", name)
            if names:
                is_required = any(use.operation.name == "opset1.Result" for use in result.uses)
                additions.setdefault(producer, []).append((value.index, names, is_required))
    if later is None:
        add_names(additions)
