"""The XML of an IR as a tree of elements, read so that a hostile file costs neither much time nor much memory.

Documents with a document type are refused, so that there are no entities, and limits apply to the depth of the tree and
the number of elements.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any
from xml.etree.ElementTree import Element, ParseError, XMLPullParser

from moir.errors import ModelFileError
from moir.files.reading import map_content

MAXIMUM_DEPTH = 512
"""Largest depth of elements: an IR has six levels, and three more for each body within a body."""

MAXIMUM_ELEMENTS = 16_000_000
"""Largest number of elements, about twenty for each layer."""

_CHUNK = 1 << 18
_ENCODING = re.compile(rb"\s*<\?xml[^>]{0,200}encoding\s*=\s*[\"']([^\"']{0,40})")
_ENCODINGS = frozenset((b"utf-8", b"utf8", b"us-ascii", b"ascii"))


def read_document(path: Path) -> Element:
    """The root element of an XML file. Raises ModelFileError if it is not XML, or exceeds the limits."""
    data = map_content(path)
    with data:
        beginning = data[:512]
        encoding = _ENCODING.match(beginning)
        if b"\0" in beginning or (encoding is not None and encoding[1].lower() not in _ENCODINGS):
            raise ModelFileError("the XML is not in UTF-8", location=str(path), hint="save it in UTF-8")
        # Entities could expand to unlimited text, or to the content of a file.
        if data.find(b"<!DOCTYPE") >= 0 or data.find(b"<!ENTITY") >= 0:
            raise ModelFileError("the XML has a document type, which no IR has", location=str(path), hint="remove <!DOCTYPE …>")
        return _Parser(path).parsed(memoryview(data))


class _Parser:
    def __init__(self, path: Path) -> None:
        self._path = path
        self._parser: Any = XMLPullParser(("start", "end"))
        self._depth = 0
        self._count = 0
        self._root: Element | None = None

    def parsed(self, data: memoryview) -> Element:
        try:
            with data:
                for start in range(0, len(data), _CHUNK):
                    self._parser.feed(bytes(data[start : start + _CHUNK]))
                    self._check()
            self._parser.close()
            self._check()
        except ParseError as error:
            line, column = error.position
            reason = str(error).partition(":")[0]
            raise ModelFileError(f"line {line}, column {column}: the XML cannot be read: {reason}", location=str(self._path)) from error
        assert self._root is not None
        return self._root

    def _check(self) -> None:
        depth, count = self._depth, self._count
        for event, element in self._parser.read_events():
            if event == "end":
                depth -= 1
                continue
            if self._root is None:
                self._root = element
            depth += 1
            count += 1
            if depth > MAXIMUM_DEPTH:
                raise ModelFileError(f"its elements are nested more than {MAXIMUM_DEPTH} deep", location=str(self._path))
        self._depth, self._count = depth, count
        if count > MAXIMUM_ELEMENTS:
            raise ModelFileError(f"it has more than {MAXIMUM_ELEMENTS:,} elements", location=str(self._path))
