"""`CustomLayersMapping.xml`, Model Optimizer's list of the types of layers that are written to the IR unchanged.

    <CustomLayers>
        <CustomLayer NativeType="Proposal" hasParam="true" protoParamName="proposal_param"/>
        <CustomLayer NativeType="Warp" hasParam="false"><CustomParam Name="mode" Value="2"/></CustomLayer>
    </CustomLayers>

A layer of such a type becomes `extension.<type>`, whose attributes are the fields of its parameters: those of messages
within them, too, values of a repeated field joined by commas, and 0 or 1 for a boolean. A `CustomParam` is an attribute
of every layer of the type. The shapes of its results are unknown.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import NamedTuple
from xml.etree.ElementTree import Element, ParseError, XMLParser

from moir.errors import ModelFileError
from moir.files.protobuf.text_format import Scalar, TextMessage
from moir.files.reading import read_whole
from moir.frontends.caffe.network import Layer

_ATTRIBUTES = ("NativeType", "hasParam", "protoParamName")


class CustomLayer(NamedTuple):
    """How the layers of one type are written to the IR.

    Args:
        parameters: the field with their parameters; None if they have none.
        attributes: attributes of every layer of the type.
    """

    parameters: str | None
    attributes: dict[str, str]


def read_mapping(path: Path) -> dict[str, CustomLayer]:
    """The layers that a file lists, by their types. Raises ModelFileError for a file of another kind."""
    parser = XMLParser()
    try:
        content = read_whole(path, "a CustomLayersMapping.xml")
        # Entities could expand to unlimited text.
        if b"<!DOCTYPE" in content or b"<!ENTITY" in content:
            raise ModelFileError("the XML has a document type", location=str(path), hint="remove <!DOCTYPE …>")
        parser.feed(content)
        root: Element = parser.close()
    except (ParseError, ValueError, LookupError) as error:
        raise ModelFileError(f"not XML: {error}", location=str(path)) from error
    if root.tag != "CustomLayers":
        raise _error(path, "its outermost element is not CustomLayers")
    layers: dict[str, CustomLayer] = {}
    for entry in root:
        if entry.tag != "CustomLayer":
            raise _error(path, f"it has an element {entry.tag}, where only CustomLayer can be")
        name, layer = _entry(entry, path)
        if name in layers:
            raise _error(path, f"it has the type {name!r} twice")
        layers[name] = layer
    return layers


def _error(path: Path, reason: str) -> ModelFileError:
    return ModelFileError(f"not a list of custom layers: {reason}", location=str(path))


def _entry(entry: Element, path: Path) -> tuple[str, CustomLayer]:
    """The type of layer that an element lists, and how layers of it are written."""
    name, has_parameters, parameters = (entry.get(attribute, "") for attribute in _ATTRIBUTES)
    if not name:
        raise _error(path, "a CustomLayer has no NativeType")
    if has_parameters.lower() not in ("true", "false"):
        raise _error(path, f"hasParam of {name!r} is {has_parameters!r}, not true or false")
    if has_parameters.lower() == "true" and not parameters:
        raise _error(path, f"{name!r} has parameters, but no protoParamName")
    attributes: dict[str, str] = {}
    for child in entry:
        if child.tag != "CustomParam" or "Name" not in child.attrib or "Value" not in child.attrib:
            raise _error(path, f"{name!r} has an element {child.tag} that is not a CustomParam with Name and Value")
        attributes[child.attrib["Name"]] = child.attrib["Value"]
    return name, CustomLayer(parameters if has_parameters.lower() == "true" else None, attributes)


def attributes_of(layer: Layer, custom: CustomLayer) -> Mapping[str, str]:
    """The attributes that a layer has in the IR."""
    attributes = dict(custom.attributes)
    for message in layer.message.messages(custom.parameters) if custom.parameters else ():
        attributes |= _texts(message)
    return attributes


def _texts(message: TextMessage) -> dict[str, str]:
    entries: dict[str, str] = {}
    for name, values in message.fields.items():
        scalars = [_text(value) for value in values if not isinstance(value, TextMessage)]
        if scalars:
            entries[name] = ",".join(scalars)
        for value in values:
            if isinstance(value, TextMessage):
                entries |= _texts(value)
    return entries


def _text(value: Scalar) -> str:
    return str(int(value)) if isinstance(value, bool) else str(value)
