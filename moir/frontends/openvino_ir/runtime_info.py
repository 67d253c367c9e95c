"""Runtime information: the `<rt_info>` of a model, of layers and of ports, and the `<meta_data>` of older files."""

from __future__ import annotations

from collections.abc import Iterable
from xml.etree.ElementTree import Element

from xdsl.dialects.builtin import ArrayAttr, DictionaryAttr
from xdsl.ir import Attribute

from moir.dialects.moir import XML_ATTRIBUTE
from moir.dialects.properties import string_attribute


def entries_of(holder: Element) -> dict[str, Attribute]:
    """The entries of the `<rt_info>` of a layer or a port: for each name a dictionary of its fields, or several."""
    by_name: dict[str, list[Attribute]] = {}
    for information in holder.findall("rt_info"):
        for entry in information.findall("attribute"):
            fields = dict(entry.attrib)
            name = fields.pop("name", "")
            by_name.setdefault(name, []).append(DictionaryAttr({key: string_attribute(text) for key, text in fields.items()}))
    return {name: _one(entries) for name, entries in by_name.items()}


def model_entries(net: Element) -> dict[str, Attribute]:
    """The entries of the `<rt_info>` of a model (`ModuleLevel.RUNTIME_INFO`), and those of the `<meta_data>`.

    The runtime reads `<cli_parameters>` of the latter as `conversion_parameters`.
    """
    entries: dict[str, Attribute] = {}
    for holder in net.findall("meta_data"):
        for name, value in _children(holder).items():
            entries["conversion_parameters" if name == "cli_parameters" else name] = value
    for holder in net.findall("rt_info"):
        entries |= _children(holder)
    return entries


def _children(element: Iterable[Element]) -> dict[str, Attribute]:
    children: dict[str, list[Attribute]] = {}
    for child in element:
        children.setdefault(child.tag, []).append(_value(child))
    return {name: _one(values) for name, values in children.items()}


def _one(values: list[Attribute]) -> Attribute:
    return values[0] if len(values) == 1 else ArrayAttr(values)


def _value(element: Element) -> Attribute:
    if element.attrib.keys() == {"value"} and not len(element):
        return string_attribute(element.attrib["value"])
    attributes = {XML_ATTRIBUTE + name: string_attribute(text) for name, text in element.attrib.items()}
    return DictionaryAttr(attributes | _children(element))
