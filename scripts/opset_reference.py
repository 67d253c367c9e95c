"""The reference of OpenVINO's operation sets, `tests/unit/dialects/opset/reference.json`, asked of the installed
OpenVINO Runtime.

python -m scripts.opset_reference              writes the file
python -m scripts.opset_reference --check      exit status 1 if the runtime says something else

For every operation of every version, a line each:

- attributes: the type of each; the words it takes, if these are limited; its default, or null if the runtime's Python
  interface asks for it. The names are those that an operation without operands reports. Types and words are found by
  setting values; candidates for words are all words in the runtime's library and in its Python interface. Defaults are
  what the Python interface hands over where its caller says nothing, otherwise what an operation reports to which
  nothing was given. Besides (`unwritten`), its value where the sample does not give it, if the runtime accepts that.
- operands: the least and greatest number by the signatures of the Python interface, the least also by what the runtime
  accepts of the sample; null if there is no limit.
- sample: operands and attributes of one instance that the runtime accepts, and its result types. `f32[2,3]` is a value
  of that type, `i64=[1,2]` a constant. What does not take matrices of f32 has its operands in
  `scripts/opset_samples.py`.
"""

from __future__ import annotations

import argparse
import faulthandler
import json
import os
import re
import sys
from collections.abc import Callable, Mapping, Sequence
from importlib import import_module
from pathlib import Path
from typing import Any, cast

import numpy as np
import openvino
from openvino import opset6

from scripts.opset_interface import Call, calls
from scripts.opset_samples import SAMPLES, Sample

REFERENCE = Path(__file__).parents[1] / "tests" / "unit" / "dialects" / "opset" / "reference.json"

NO_WORD = "no such word"

JSON = dict[str, Any]

NODES: Any = import_module("openvino._pyopenvino").NodeFactory
"""The runtime's own factory of nodes, which also makes operations without operands."""


VARIABLES: Any = import_module("openvino.opset3")
"""The operation set with the first version of the operations on variables."""


def apart(function: Callable[[], Any]) -> Any:
    """What a function returns, run in a process of its own, for the runtime crashes in some; None if it crashed or
    raised.
    """
    reader, writer = os.pipe()
    child = os.fork()
    if child == 0:
        # A crash is expected here: no report of it belongs to the tests.
        faulthandler.disable()
        try:
            text = json.dumps(function())
        except Exception:
            text = "null"
        with os.fdopen(writer, "w") as file:
            file.write(text)
        os._exit(0)
    os.close(writer)
    with os.fdopen(reader) as file:
        text = file.read()
    os.waitpid(child, 0)
    return json.loads(text) if text else None


def default_node(kind: str, opset: str) -> openvino.Node:
    """An operation to which nothing was given."""
    return NODES(opset).create(kind)


def values_of(node: openvino.Node) -> JSON:
    """The attributes of an operation."""
    return cast("JSON", node.get_attributes())  # pyright: ignore[reportUnknownMemberType]


def words() -> list[str]:
    """All words in the runtime's library and the sources of its Python interface."""
    (library,) = (Path(openvino.__file__).parent / "libs").glob("libopenvino.so*")
    library_words = {text.decode() for text in re.findall(rb"[A-Za-z][A-Za-z0-9_.-]{1,39}", library.read_bytes())}
    for path in Path(openvino.__file__).parent.glob("opset*/ops.py"):
        library_words.update(re.findall(r"[A-Za-z][A-Za-z0-9_.-]+", path.read_text()))
    return sorted(library_words)


def takes(node: openvino.Node, name: str, value: Any) -> bool:
    """Whether an attribute can be set to a value."""
    try:
        node.set_attribute(name, value)
    except (RuntimeError, TypeError):
        return False
    return True


def attribute_type(node: openvino.Node, name: str, value: Any) -> str:
    """The type of an attribute that has a value."""
    if isinstance(value, str):
        is_element_type = all(takes(node, name, word) for word in ("bf16", "u4")) and not takes(node, name, NO_WORD)
        return "element type" if is_element_type else "string"
    if isinstance(value, list):
        return next(kind for kind, item in (("strings", "a"), ("floats", 1.5), ("ints", 1)) if takes(node, name, [item]))
    return type(value).__name__


def enumeration(node: openvino.Node, name: str) -> str | None:
    """The C++ enumeration whose words an attribute takes; None if it takes any word."""
    try:
        node.set_attribute(name, NO_WORD)
    except RuntimeError as error:
        match = re.search(r"not a member of enum ([\w:]+)", str(error))
        return match[1] if match else None
    return None


def members(kind: str, opset: str, name: str, candidates: Sequence[str]) -> list[str]:
    """The words that an attribute takes, as the runtime spells them."""
    node = default_node(kind, opset)
    return sorted({values_of(node)[name] for word in candidates if takes(node, name, word)})


def attributes(kind: str, opset: str) -> dict[str, JSON] | None:
    """Type, enumeration and value of the attributes of an operation to which nothing was given; None if the runtime
    crashes.
    """

    def ask() -> dict[str, JSON]:
        node = default_node(kind, opset)
        return {
            name: {"type": (type_of_attribute := attribute_type(node, name, value)), "default": plain(value)}
            | ({"enumeration": enumeration(node, name)} if type_of_attribute == "string" else {})
            for name, value in values_of(node).items()
        }

    return apart(ask)


def plain(value: Any) -> Any:
    """An attribute as JSON: floats of single precision by their shortest text."""
    if isinstance(value, list | tuple):
        return [plain(each) for each in cast("Sequence[Any]", value)]
    return float(str(np.float32(value))) if isinstance(value, float) else value


def operand(text: str) -> openvino.Node:
    """The value or constant that a text stands for; `f32[...]` is of unknown rank."""
    element, is_constant, rest = text.partition("=")
    if is_constant:
        values = np.array(json.loads(rest))
        return openvino.op.Constant(getattr(openvino.Type, element), openvino.Shape(values.shape), values.ravel().tolist())
    element, _, shape = text.rstrip("]").partition("[")
    sizes = [int(each) for each in shape.split(",") if each and each != "..."]
    shape_of = openvino.PartialShape.dynamic() if shape == "..." else openvino.PartialShape(sizes)
    return openvino.op.Parameter(getattr(openvino.Type, element), shape_of)


OF_VARIABLES = ("Assign", "ReadValue")
"""Operations that the runtime crashes on if they have no variable."""


def instance(kind: str, opset: str, sample: Sample) -> openvino.Node:
    """The operation of a sample."""
    operands = [operand(text).output(0) for text in sample.operands]
    if kind in OF_VARIABLES:
        variable = sample.attributes["variable_id"]
        if opset == "opset3":
            read = VARIABLES.read_value(operands[0], variable)
            return read if kind == "ReadValue" else VARIABLES.assign(read, variable)
        shape = openvino.PartialShape(f"[{sample.attributes['variable_shape']}]")
        read = opset6.read_value(operands[0], variable, getattr(openvino.Type, sample.attributes["variable_type"]), shape)
        return read if kind == "ReadValue" else opset6.assign(read, variable)
    return NODES(opset).create(kind, operands, dict(sample.attributes))


def type_text(output: Any) -> str:
    """The type of a result: `f32[2,3]`."""
    return f"{output.get_element_type().get_type_name()}{output.get_partial_shape()}".replace(" ", "")


def sampled(kind: str, opset: str, sample: Sample) -> JSON | None:
    """A sample as the runtime has it; None if it refuses the sample."""

    def ask() -> JSON:
        node = instance(kind, opset, sample)
        entries = {name: plain(value) for name, value in values_of(node).items()}
        if kind in OF_VARIABLES:
            entries = {name: sample.attributes[name] for name in entries}
        return {"operands": list(sample.operands), "attributes": entries, "results": [type_text(each) for each in node.outputs()]}

    return apart(ask)


def unwritten(kind: str, opset: str, sample: Sample, name: str) -> Any:
    """The value of an attribute that nothing was said of, in an instance whose other attributes are those of a sample;
    None if the runtime refuses that.
    """
    others = {key: value for key, value in sample.attributes.items() if key != name}
    return apart(lambda: plain(values_of(instance(kind, opset, Sample(sample.operands, others)))[name]))


def accepted(kind: str, opset: str, sample: Sample) -> bool:
    """Whether the runtime accepts a sample."""
    try:
        instance(kind, opset, sample)
    except RuntimeError:
        return False
    return True


def limited(kind: str, opset: str, sample: Sample, name: str, count: int, candidates: Sequence[str]) -> list[str] | None:
    """The words for which a sample is accepted, of an attribute that can be set to any; None if the runtime does not
    look at them.

    Args:
        kind, opset, sample: the operation.
        name: the attribute.
        count: the number of words of a list, 0 for an attribute that is one word.
        candidates: the words that are tried.
    """

    def changed(word: str) -> Sample:
        return Sample(sample.operands, {**sample.attributes, name: [word] * count if count else word})

    if accepted(kind, opset, changed(NO_WORD)):
        return None
    return [word for word in candidates if accepted(kind, opset, changed(word))]


def fewest_operands(kind: str, opset: str, sample: Sample) -> int | None:
    """The fewest of its first operands with which a sample is accepted."""
    counts = range(len(sample.operands), -1, -1)
    enough = [apart(lambda count=count: accepted(kind, opset, Sample(sample.operands[:count], sample.attributes))) for count in counts]
    return min((count for count, is_enough in zip(counts, enough, strict=True) if is_enough), default=None)


def described(name: str, call: Call | None, candidates: Sequence[str], known: dict[str, list[str]]) -> JSON:
    """The description of an operation, as the runtime reports it.

    Args:
        name: its name with the operation set.
        call: what the Python interface says of it.
        candidates: words that attributes may take.
        known: the words of the enumerations that were asked for.
    """
    opset, _, kind = name.partition(".")
    sample = SAMPLES.get(name) or Sample(("f32[2,3]",) * (call.operands[0] if call else 1))
    instance_found = sampled(kind, opset, sample)
    values: JSON = instance_found["attributes"] if instance_found else {}
    rows = attributes(kind, opset)
    if rows is None:
        rows = {each: JSON(type="element type" if hasattr(openvino.Type, values[each]) else "string") for each in values}
    for each, row in rows.items():
        type_ = row.pop("enumeration", None)
        if type_ is not None:
            if type_ not in known:
                known[type_] = apart(lambda each=each: members(kind, opset, each, candidates)) or []
            row["values"] = known[type_]
        elif row["type"].startswith("string") and values and kind not in OF_VARIABLES:
            count = len(values[each]) if row["type"] == "strings" else 0
            words_found = apart(lambda each=each, count=count: limited(kind, opset, sample, each, count, candidates))
            row |= {"values": words_found} if words_found else {}
        if values and kind not in OF_VARIABLES and (value := unwritten(kind, opset, sample, each)) is not None:
            row["unwritten"] = value
        if call is not None and each in call.defaults:
            row["default"] = plain(call.defaults[each])
        if isinstance(row.get("default"), str):
            row["default"] = next((word for word in row.get("values", ()) if word.lower() == row["default"].lower()), row["default"])
    least, greatest = call.operands if call else (len(sample.operands), len(sample.operands))
    fewest = fewest_operands(kind, opset, sample)
    entry: JSON = {"attributes": rows, "operands": [least if fewest is None else min(least, fewest), greatest]}
    return entry | ({"sample": instance_found} if instance_found else {})


def reference() -> dict[str, JSON]:
    """The operations by name, each with its description as the runtime reports it."""
    call_by_name: dict[str, Call] = {}
    for call in calls():
        opset = apart(lambda call=call: default_node(call.kind, call.opset).get_type_info().version_id) or call.opset
        call_by_name[f"{opset}.{call.kind}"] = call
    names = sorted(call_by_name.keys() | SAMPLES.keys(), key=lambda name: (name.partition(".")[2], int(name.partition(".")[0][5:])))
    candidates = words()
    known: dict[str, list[str]] = {}
    return {name: described(name, call_by_name.get(name), candidates, known) for name in names}


def text_of(operations: Mapping[str, JSON]) -> str:
    """The text of the file: a line an operation."""
    lines = ",\n".join(f'"{name}": {json.dumps(entry)}' for name, entry in operations.items())
    return f'{{"runtime": {json.dumps(openvino.get_version())}, "operations": {{\n{lines}\n}}}}\n'


def main(arguments: Sequence[str] | None = None) -> int:
    """Write or check the file; returns the exit status."""
    parser = argparse.ArgumentParser(prog="python -m scripts.opset_reference", description="Write the reference of the operation sets.")
    parser.add_argument("--check", action="store_true", help="write nothing; exit with status 1 if the file says something else")
    checks: bool = parser.parse_args(arguments).check
    text = text_of(reference())
    if not checks:
        REFERENCE.write_text(text, encoding="utf-8")
        return 0
    is_current = REFERENCE.exists() and REFERENCE.read_text(encoding="utf-8") == text
    if not is_current:
        print(f"{REFERENCE} is not up to date: run python -m scripts.opset_reference", file=sys.stderr)
    return 0 if is_current else 1


if __name__ == "__main__":
    sys.exit(main())
