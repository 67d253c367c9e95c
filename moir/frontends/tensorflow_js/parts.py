"""The files with the weights that a manifest of TensorFlow.js names."""

from __future__ import annotations

from pathlib import Path
from typing import Any, cast

from moir.files.json_texts import MANIFEST, begins_object, read_json_model, read_list
from moir.files.recognition import beginning_of

_PATHS = "paths"


def names_of_shards(path: Path) -> list[str]:
    """The names of the files with weights that the JSON file of a model contains; empty if it contains none.

    Args:
        path: the text, a layers model or a graph model; for a file of another kind the result is empty.

    Raises ModelFileError for a text that is damaged.
    """
    if not begins_object(beginning_of(path)) or (described := read_json_model(path)) is None:
        return []
    return _paths(described[1].fields.get("weightsManifest"))


def names_beside_graph(path: Path) -> list[str]:
    """The file names of the manifest beside a binary graph and, if the manifest exists, of the files that it lists.

    Raises ModelFileError for a manifest that is damaged.
    """
    manifest = path.parent / MANIFEST
    return [MANIFEST, *(_paths(read_list(manifest, path, "the list of weights")) if manifest.is_file() else [])]


def _paths(manifest: Any) -> list[str]:
    groups = cast("list[object]", manifest) if isinstance(manifest, list) else []
    lists = [cast("dict[str, object]", each).get(_PATHS) for each in groups if isinstance(each, dict)]
    return [name for names in lists if isinstance(names, list) for name in cast("list[object]", names) if isinstance(name, str)]
