"""The page of a report: one HTML file that needs no network, with a recorded conversion and the code that draws it."""

from __future__ import annotations

import gzip
import html
import json
from base64 import b64encode
from collections.abc import Mapping
from importlib.resources import files
from typing import Any

_LAYOUT = "dagre/dagre.min.js"
"""The library that computes the positions of nodes and edges."""

_LICENCE = "dagre/LICENSE"
_SCRIPTS = (_LAYOUT, "content.js", "scopes.js", "pane.js", "details.js", "export.js", "keyboard.js", "app.js")


def page(content: Mapping[str, Any], title: str) -> str:
    """The page as HTML.

    Args:
        content: what `ReportRecorder.content` returns, and `title`, `facts` (pairs of a name and a text), `verdict`.
        title: the title of the document.
    """
    # A fixed time: the same conversion gives the same page but for the durations.
    packed = gzip.compress(json.dumps(content, separators=(",", ":")).encode(), mtime=0)
    parts = {
        "TITLE": html.escape(title),
        "STYLE": _file("report.css"),
        "LICENCE": html.escape(_file(_LICENCE)),
        "CONTENT": b64encode(packed).decode(),
        "SCRIPT": "\n".join(map(_file, _SCRIPTS)),
    }
    text = _file("report.html")
    for name, value in parts.items():
        text = text.replace(f"@{name}@", value)
    return text


def _file(name: str) -> str:
    return files(__name__.rpartition(".")[0]).joinpath("page", *name.split("/")).read_text(encoding="utf-8")
