"""Finding where the encoding of a file is invalid, after the parser rejected it.

The parser gives no offset. This walk is slow and strict, and only serves to report the offset.
"""

from __future__ import annotations

from typing import Any

from moir.frontends.protobuf.wire import LENGTH, Splitter

_PARSER_DEPTH = 100
"""The nesting of messages that protobuf's parsers allow."""


def report_damage(splitter: Splitter, descriptor: Any) -> None:
    """Raise ModelFileError with the offset of the first damage; return if none is found.

    Args:
        splitter: the splitter of the file.
        descriptor: protobuf's descriptor of the outermost message.
    """
    _walk(splitter, descriptor, 0, len(splitter.buffer), 0)


def _walk(splitter: Splitter, descriptor: Any, position: int, end: int, depth: int) -> None:
    if depth > _PARSER_DEPTH:
        raise splitter.error(f"messages are nested more than {_PARSER_DEPTH} deep", position)
    fields = descriptor.fields_by_number
    while position < end:
        number, wire, start = splitter.tag(position, end)
        start, stop = splitter.content(position, wire, start, end)
        field = fields.get(number)
        if field is not None and field.message_type is not None and wire == LENGTH:
            _walk(splitter, field.message_type, start, stop, depth + 1)
        position = stop
