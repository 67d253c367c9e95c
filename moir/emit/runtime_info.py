"""The `<rt_info>` of a model, of its layers and of their ports: metadata that do not affect the computation."""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import PurePosixPath, PureWindowsPath
from typing import cast

from xdsl.dialects.builtin import ArrayAttr, DictionaryAttr
from xdsl.ir import Attribute, Operation

from moir.dialects.discardable import BODY_INFORMATION, DIMENSION_NAMES, PORT_INFORMATION
from moir.dialects.moir import XML_ATTRIBUTE, ModelOp, ModuleLevel
from moir.dialects.names import name_of
from moir.dialects.properties import string_attribute, value_of
from moir.dialects.shapes import shape_of
from moir.emit.text import escape_name, plain_text
from moir.errors import EmissionError
from moir.support.records import Record
from moir.version import VERSION

PORT_ENTRIES = frozenset(("layout",))
"""The names of entries of a Parameter or Result's runtime information that are written at its port."""

PORT_OF_ENTRIES = {"opset1.Parameter": "out0", "opset1.Result": "in0"}
"""Kind of an operation -> the port at which the `PORT_ENTRIES` are written."""

_INDENT = "\t"
_PORT_KEY = r"(?:in|out)[0-9]{1,6}"

PATH_OPTIONS = frozenset(
    (
        "caffe_parser_path",
        "caffe_proto",
        "custom_layers",
        "extensions",
        "input_checkpoint",
        "input_meta_graph",
        "input_model",
        "input_proto",
        "input_symbol",
        "mean_file",
        "output_dir",
        "output_model",
        "saved_model_dir",
        "tensorboard_logdir",
        "tensorflow_custom_operations_config_update",
        "tensorflow_object_detection_api_pipeline_config",
        "transform",
        "transformations_config",
    )
)
"""Options of a conversion whose values are paths. Only their last component is written: directories are private."""

_ELEMENT_NAME = re.compile(r"[A-Za-z_][\w.-]*", re.ASCII)


ORIGINS = ("framework", "input_model")
"""Options that name the source of a model. If a model was read from IR, the values recorded in that IR are kept."""


def model_information(model: ModelOp, conversion_parameters: Mapping[str, str] | None) -> str:
    """The `<rt_info>` of the model: the recorded entries, moir's version, the required extensions, and the options of
    the conversion.

    The given options override those that the model records (`conversion_parameters`).
    """
    came_with = model.attributes.get(ModuleLevel.RUNTIME_INFO)
    entries = dict(came_with.data) if isinstance(came_with, DictionaryAttr) else {}
    earlier = entries.pop("conversion_parameters", None)
    entries["moir_version"] = string_attribute(VERSION)
    if (extensions := model.attributes.get(ModuleLevel.RUNTIME_EXTENSIONS)) is not None:
        entries[ModuleLevel.RUNTIME_EXTENSIONS] = string_attribute(",".join(value_of(extensions)))
    options = dict(earlier.data) if isinstance(earlier, DictionaryAttr) else {}
    carried = model.attributes.get(ModuleLevel.CONVERSION_PARAMETERS)
    new: dict[str, Attribute] = dict(carried.data) if isinstance(carried, DictionaryAttr) else {}
    new |= {name: string_attribute(value) for name, value in (conversion_parameters or {}).items()}
    options |= {name: value for name, value in new.items() if not (name in ORIGINS and name in options)}
    for name in PATH_OPTIONS & options.keys():
        options[name] = string_attribute(_anonymous(plain_text(options[name])))
    if options:
        entries["conversion_parameters"] = DictionaryAttr(options)
    return f"\t<rt_info>\n{_entries(entries, _INDENT * 2)}\t</rt_info>\n"


def body_information(op: Operation, index: int) -> str:
    """The `<rt_info>` of a body of an operation: its recorded entries.

    It is never omitted: a body without `<rt_info>` is read as one of an outdated version of OpenVINO IR.
    """
    bodies = op.attributes.get(BODY_INFORMATION)
    given = list(cast("ArrayAttr[Attribute]", bodies)) if isinstance(bodies, ArrayAttr) else []
    entries = given[index] if index < len(given) else None
    inner = _entries(entries.data, _INDENT * 2) if isinstance(entries, DictionaryAttr) else ""
    return f"\t<rt_info>\n{inner}\t</rt_info>\n" if inner else "\t<rt_info/>\n"


def _entries(entries: Mapping[str, Attribute], indent: str) -> str:
    return "".join([_entry(name, value, indent) for name, value in entries.items() if not name.startswith(XML_ATTRIBUTE)])


def _entry(name: str, value: Attribute, indent: str) -> str:
    """The XML elements of an entry of the model's runtime information (`ModuleLevel.RUNTIME_INFO`)."""
    if isinstance(value, ArrayAttr):
        return "".join([_entry(name, each, indent) for each in cast("ArrayAttr[Attribute]", value)])
    if not isinstance(value, DictionaryAttr):
        return f'{indent}<{_checked(name)} value="{escape_name(plain_text(value))}"/>\n'
    attributes = "".join(
        f' {_checked(key.removeprefix(XML_ATTRIBUTE))}="{escape_name(plain_text(each))}"'
        for key, each in value.data.items()
        if key.startswith(XML_ATTRIBUTE)
    )
    inner = _entries(value.data, indent + _INDENT)
    if not inner:
        return f"{indent}<{_checked(name)}{attributes}/>\n"
    return f"{indent}<{_checked(name)}{attributes}>\n{inner}{indent}</{name}>\n"


class LayerInformation(Record):
    """The `<rt_info>` of a layer and, by port number, of its ports; empty texts if there are no entries."""

    layer: str
    inputs: Mapping[int, str]
    outputs: Mapping[int, str]

    @staticmethod
    def of(op: Operation) -> LayerInformation:
        """The runtime information of an operation."""
        if op.attributes.keys().isdisjoint(_HOLDERS):
            return _NO_INFORMATION
        entries = _dictionary(op, "runtime_info")
        if names := _dimension_names(op):
            entries = {**entries, DIMENSION_NAMES: names}
        ports: dict[str, dict[str, Attribute]] = {}
        for port, each in _dictionary(op, PORT_INFORMATION).items():
            if not isinstance(each, DictionaryAttr) or re.fullmatch(_PORT_KEY, port) is None:
                raise EmissionError(f"{PORT_INFORMATION} has no dictionary for {port!r}", operation=op.name, node=name_of(op))
            ports[port] = dict(each.data)
        if (own := PORT_OF_ENTRIES.get(op.name)) is not None:
            ports.setdefault(own, {}).update({name: entry for name, entry in entries.items() if name in PORT_ENTRIES})
            entries = {name: entry for name, entry in entries.items() if name not in PORT_ENTRIES}
        texts = {port: _attributes_element(op, each, "\t\t\t\t\t") for port, each in ports.items()}
        return LayerInformation(_attributes_element(op, entries, "\t\t\t"), _numbered(texts, "in"), _numbered(texts, "out"))


_NO_INFORMATION = LayerInformation("", {}, {})
_HOLDERS = frozenset(("runtime_info", PORT_INFORMATION, DIMENSION_NAMES))


def _dimension_names(op: Operation) -> DictionaryAttr | None:
    """The entry with the names of the dynamic dimensions of an input of a model; None if none has a name."""
    if op.name != "opset1.Parameter" or not isinstance(op.parent_op(), ModelOp) or DIMENSION_NAMES not in op.attributes:
        return None
    sizes = zip(shape_of(op.results[0]) or (), value_of(op.attributes[DIMENSION_NAMES]), strict=False)
    names = {f"d{axis}": string_attribute(name) for axis, (size, name) in enumerate(sizes) if size < 0 and name}
    return DictionaryAttr({"version": string_attribute("0"), **names}) if names else None


def _numbered(texts: Mapping[str, str], prefix: str) -> dict[int, str]:
    return {int(port.removeprefix(prefix)): text for port, text in texts.items() if port.startswith(prefix)}


def _dictionary(op: Operation, name: str) -> Mapping[str, Attribute]:
    attribute = op.attributes.get(name)
    return attribute.data if isinstance(attribute, DictionaryAttr) else {}


def _attributes_element(op: Operation, entries: Mapping[str, Attribute], indent: str) -> str:
    """The `<rt_info>` with an `<attribute>` for each entry; empty without entries."""
    lines: list[str] = []
    for name, entry in entries.items():
        for each in cast("ArrayAttr[Attribute]", entry) if isinstance(entry, ArrayAttr) else (entry,):
            if not isinstance(each, DictionaryAttr):
                raise EmissionError(f"runtime information {name!r} is not a dictionary", operation=op.name, node=name_of(op))
            fields = "".join(f' {_checked(key)}="{escape_name(plain_text(value))}"' for key, value in each.data.items())
            lines.append(f'{indent}\t<attribute name="{escape_name(name)}"{fields}/>\n')
    return f"{indent}<rt_info>\n{''.join(lines)}{indent}</rt_info>\n" if lines else ""


def _checked(name: str) -> str:
    if not _ELEMENT_NAME.fullmatch(name):
        raise EmissionError(f"{name!r} is not a name an entry of the runtime information can have")
    return name


def _anonymous(value: str) -> str:
    """A path, or several separated by commas, each reduced to its last component, so that no folders are revealed."""
    return ",".join(_last_part(part) for part in value.split(","))


def _last_part(path: str) -> str:
    name = PureWindowsPath(path).name if "\\" in path else PurePosixPath(path).name
    return f"DIR/{name}" if name else path
