"""Finding where the encoding of a file is invalid, after the parser rejected it.

The parser gives no offset. This walk is slow and strict, and only serves to report the offset.
"""

from __future__ import annotations

from moir.files.protobuf.messages import MAXIMUM_DEPTH, Message
from moir.files.protobuf.wire import Splitter


def report_damage(splitter: Splitter, kind: type[Message]) -> None:
    """Raise ModelFileError with the offset of the first damage; return if none is found.

    Args:
        splitter: the splitter of the file.
        kind: the class of the outermost message.
    """
    _walk(splitter, kind, 0, len(splitter.buffer), 0)


def _walk(splitter: Splitter, kind: type[Message], position: int, end: int, depth: int) -> None:
    if depth > MAXIMUM_DEPTH:
        raise splitter.error(f"messages are nested more than {MAXIMUM_DEPTH} deep", position)
    while position < end:
        number, wire, start = splitter.tag(position, end)
        start, stop = splitter.content(position, wire, start, end)
        field = kind.TAGS.get(number << 3 | wire)
        if field is not None and field.kind is not None:
            _walk(splitter, field.kind, start, stop, depth + 1)
        position = stop
