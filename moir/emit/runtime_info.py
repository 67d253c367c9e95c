"""The `<rt_info>` of a model, of its layers and of their ports: information that does not affect the computation."""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import PurePosixPath, PureWindowsPath

from xdsl.dialects.builtin import DictionaryAttr
from xdsl.ir import Operation

from moir.dialects.moir import ModelOp, ModuleLevel
from moir.dialects.names import name_of
from moir.dialects.properties import value_of
from moir.emit.text import escape_name, plain_text
from moir.errors import EmissionError
from moir.version import VERSION

PORT_ENTRIES = frozenset(("layout",))
"""Entries of a Parameter or Result that belong to its port."""

PATH_OPTIONS = frozenset(
    (
        "caffe_parser_path",
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
"""Options of a conversion whose values are paths. Only the last component is written, as directories are private."""

_ELEMENT_NAME = re.compile(r"[A-Za-z_][\w.-]*", re.ASCII)


def model_information(model: ModelOp, conversion_parameters: Mapping[str, str] | None) -> str:
    """The `<rt_info>` of the model: moir's version, the extensions that it needs, the options of the conversion.

    Options are those that the model records (`conversion_parameters`), overridden by the given ones.
    """
    carried = model.attributes.get(ModuleLevel.CONVERSION_PARAMETERS)
    options: dict[str, str] = {}
    if isinstance(carried, DictionaryAttr):
        options |= {name: plain_text(value) for name, value in carried.data.items()}
    options |= conversion_parameters or {}
    lines = [_value_element("moir_version", VERSION, "\t\t")]
    if (extensions := model.attributes.get(ModuleLevel.RUNTIME_EXTENSIONS)) is not None:
        lines.append(_value_element(ModuleLevel.RUNTIME_EXTENSIONS, ",".join(value_of(extensions)), "\t\t"))
    if options:
        entries = "".join(
            _value_element(name, _anonymous(value) if name in PATH_OPTIONS else value, "\t\t\t") for name, value in options.items()
        )
        lines.append(f"\t\t<conversion_parameters>\n{entries}\t\t</conversion_parameters>\n")
    return f"\t<rt_info>\n{''.join(lines)}\t</rt_info>\n"


def layer_information(op: Operation, on_port: bool, indent: str) -> str:
    """The `<rt_info>` of the layer of an operation, or with `on_port` of its only port; empty if there are no entries.

    `indent` is the indentation of the element.
    """
    attribute = op.attributes.get("runtime_info")
    if not isinstance(attribute, DictionaryAttr):
        return ""
    has_port_entries = op.name in ("opset1.Parameter", "opset1.Result")
    lines: list[str] = []
    for name, entry in attribute.data.items():
        if not isinstance(entry, DictionaryAttr):
            raise EmissionError(f"runtime information {name!r} is no dictionary", operation=op.name, node=name_of(op))
        if (has_port_entries and name in PORT_ENTRIES) == on_port:
            fields = "".join(f' {_checked(key)}="{escape_name(plain_text(value))}"' for key, value in entry.data.items())
            lines.append(f'{indent}\t<attribute name="{escape_name(name)}"{fields}/>\n')
    return f"{indent}<rt_info>\n{''.join(lines)}{indent}</rt_info>\n" if lines else ""


def _value_element(name: str, value: str, indent: str) -> str:
    return f'{indent}<{_checked(name)} value="{escape_name(value)}"/>\n'


def _checked(name: str) -> str:
    if not _ELEMENT_NAME.fullmatch(name):
        raise EmissionError(f"{name!r} is no name an entry of the runtime information can have")
    return name


def _anonymous(value: str) -> str:
    """A path, or several separated by commas, without directories."""
    return ",".join(_last_part(part) for part in value.split(","))


def _last_part(path: str) -> str:
    name = PureWindowsPath(path).name if "\\" in path else PurePosixPath(path).name
    return f"DIR/{name}" if name else path
