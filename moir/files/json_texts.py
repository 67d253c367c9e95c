"""Texts in JSON that are models, or describe one: read with limits, and recognized by the keys of their objects."""

from __future__ import annotations

import mmap
import re
from pathlib import Path
from typing import Any, cast

from moir.errors import ModelFileError
from moir.frameworks import readable
from moir.frameworks.record import Framework
from moir.support.records import Record

LARGEST_TEXT = 1 << 23
"""Largest size in bytes of a text that describes a model; its parser takes some twenty times as much memory."""

LARGEST_GRAPH = 1 << 28
"""Largest size in bytes of a text that is a graph."""

MODEL_JSON = "model.json"
"""The name of the file of a TensorFlow.js model in its folder."""
BINARY_GRAPH = "tensorflowjs_model.pb"
"""The name of the graph of a model of TensorFlow.js before its version 1."""
MANIFEST = "weights_manifest.json"
"""The name of the file that lists the weights of a graph named `BINARY_GRAPH`."""

_MOST_DIGITS = 20
"""The largest number of characters of an integer of 64 bits."""

_BEGINNING = rb'(?:\xef\xbb\xbf)?\s*(?:\{\s*"|\[\s*\{\s*"(?:paths|weights)"\s*:)'
"""A pattern for the beginning of a JSON object, or of a manifest of TensorFlow.js, which is a list."""


def parsed_object(text: str | bytes, path: Path, what: str) -> dict[str, Any]:
    """The object that a JSON text contains. Raises ModelFileError, which calls it `what`, for any other text."""
    content = _parsed(text, path, what)
    if not isinstance(content, dict):
        raise ModelFileError(f"{what} is not a JSON object; the file is damaged", location=str(path))
    return cast("dict[str, Any]", content)


def parsed_graph(content: mmap.mmap, path: Path, what: str, hint: str | None = None) -> Any:
    """The value of a JSON text that is a whole graph, with the line of a mistake in it.

    Args:
        content: the file.
        path: its path.
        what: what it should be, for messages, such as "a symbol".
        hint: what the user can do about a text that is cut off.

    Raises ModelFileError if it has more than 256 MB, or is not JSON.
    """
    import json

    if len(content) > LARGEST_GRAPH:
        raise ModelFileError(f"more than {LARGEST_GRAPH >> 20} MB of text", location=str(path))
    try:
        return json.loads(content[:].decode())
    except UnicodeDecodeError as error:
        raise ModelFileError("text that is not in UTF-8", location=f"{path}, offset {error.start}") from None
    except json.JSONDecodeError as error:
        raise ModelFileError(f"not {what}: {error.msg}", location=f"{path}, line {error.lineno}", hint=hint) from None
    except ValueError:
        raise ModelFileError(f"not {what}: a number of thousands of digits", location=str(path)) from None
    except RecursionError:
        raise ModelFileError("lists are nested too deeply", location=str(path)) from None


def read_list(path: Path, model: Path, what: str) -> list[Any]:
    """The list that a file beside a `model` contains.

    Raises ModelFileError, which calls it `what`, for any other file.
    """
    content = _parsed(_text(path, model), path, what)
    if not isinstance(content, list):
        raise ModelFileError(f"{what} is not a JSON list; the file is damaged", location=str(path))
    return cast("list[Any]", content)


def _text(path: Path, model: Path | None = None) -> bytes:
    """The content of a file, see `map_file`.

    Raises ModelFileError if it is too large for a text that describes a model.
    """
    from moir.files.reading import map_content

    mapped = map_content(path, model)
    if len(mapped) > LARGEST_TEXT:
        raise ModelFileError(f"more than {LARGEST_TEXT >> 20} MiB of JSON text", location=str(path), hint="give a model")
    return mapped[:]


def _parsed(text: str | bytes, path: Path, what: str) -> object:
    # Most models are no JSON, and importing its parser takes longer than reading a small model.
    import json

    plain = text.decode(errors="replace") if isinstance(text, bytes) else text
    plain = plain.removeprefix("\ufeff")
    try:
        content = json.loads(plain, parse_int=_integer)
    except (ValueError, RecursionError) as error:
        raise ModelFileError(f"{what} is not valid JSON: {error}", location=str(path)) from error
    if not plain.isascii() or "\\ud" in plain.lower():
        try:
            json.dumps(content, ensure_ascii=False).encode()
        except UnicodeEncodeError as error:
            raise ModelFileError(f"{what} has a text with half of a surrogate pair", location=str(path)) from error
    return content


def _integer(text: str) -> int:
    """An integer of a JSON text. Raises ValueError if it does not fit into 64 bits."""
    # Python refuses to read more than 4,300 digits.
    if len(text) > _MOST_DIGITS or not -(2**63) <= int(text) < 2**63:
        raise ValueError(f"the number {text[:_MOST_DIGITS]}… does not fit into 64 bits")
    return int(text)


class JsonModel(Record):
    """A model that a JSON text describes.

    Args:
        topology: the object with the graph or the layers of the model.
        fields: the outermost object. It is the topology itself where nothing surrounds it; in a `model.json` of
            TensorFlow.js, the topology is its field `modelTopology`.
    """

    topology: dict[str, Any]
    fields: dict[str, Any]

    @property
    def is_tensorflow_js(self) -> bool:
        """Whether it is a `model.json` of TensorFlow.js."""
        return self.topology is not self.fields


def begins_object(beginning: bytes) -> bool:
    """Whether the first bytes of a file are those of a JSON object, or of a list of weights of TensorFlow.js."""
    return re.match(_BEGINNING, beginning) is not None


def read_json_model(path: Path) -> tuple[Framework, JsonModel] | None:
    """The model that a JSON text describes, with its framework: the one whose keys the topology has.

    None if the text describes no model. Raises ModelFileError if it is not valid, or it is a part of a model of
    TensorFlow.js without the topology.
    """
    content = _parsed(_text(path), path, "the text")
    if isinstance(content, list):
        raise _weights_only(path, "the list of the weights of a TensorFlow.js model")
    if not isinstance(content, dict):
        return None
    fields = cast("dict[str, Any]", content)
    topology: Any = fields.get("modelTopology", fields)
    if not isinstance(topology, dict):
        if "weightsManifest" in fields or topology is None:
            raise _weights_only(path, "a model.json of TensorFlow.js without the layers or the graph of the model")
        raise ModelFileError("its modelTopology is not a JSON object; the file is damaged", location=str(path))
    topology = cast("dict[str, Any]", topology)
    for framework in readable():
        if framework.json_keys and any(keys <= topology.keys() for keys in framework.json_keys):
            return framework, JsonModel(topology, fields)
    if "modelTopology" in fields:
        keys = ", ".join(list(topology)[:6]) or "no keys"
        reason = f"its modelTopology has {keys}; the layers of Keras or a graph of TensorFlow are expected"
        raise ModelFileError(reason, location=str(path), hint="convert the model to TensorFlow.js again")
    if "weightsManifest" in fields:
        raise _weights_only(path, "a model.json of TensorFlow.js without the layers or the graph of the model")
    return None


def model_name(path: Path) -> str:
    """The name of a model from the path of its file; for a `model.json`, the name of the folder."""
    return (path.absolute().parent.name if path.name == MODEL_JSON else path.stem) or "model"


def _weights_only(path: Path, what: str) -> ModelFileError:
    """The error for a list of weights without a model; its hint names the model beside it, if there is one."""
    beside = next((each for each in (MODEL_JSON, BINARY_GRAPH) if each != path.name and (path.parent / each).is_file()), None)
    hint = (
        f"give the {MODEL_JSON} or {BINARY_GRAPH} that belongs to it"
        if beside is None
        else f"give the model beside it: {path.parent / beside}"
    )
    return ModelFileError(f"this is {what}", location=str(path), hint=hint)
