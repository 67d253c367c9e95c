"""The tensors of other files for the weights of a program, by their names.

If the files have no tensor of the name of a weight, it gets another tensor, provided that only one is possible: the
tensor of the same name with a prefix added or removed (such as the name of a module around the network); the tensor of
a weight to which it is tied, according to the metadata of the files or the configuration beside them
(`tie_word_embeddings`); or the tensor of another weight that the program lists and does not use.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, cast

from moir.dialects.data import DataAttr
from moir.errors import ModelFileError
from moir.files.reading import read_whole
from moir.frontends.safetensors import SafeTensors

LISTED = 8
"""Names that a message lists."""

EMBEDDINGS = ("embed_tokens.weight", "wte.weight", "word_embeddings.weight", "shared.weight", "embed_in.weight", "tok_embeddings.weight")
"""Last parts of the names of token embeddings, to which other weights are often tied."""

TIED = ("lm_head.weight", "embed_out.weight", "decoder.weight", "output.weight", *EMBEDDINGS)
"""Last parts of the names of weights that often are the same as the embeddings."""

Shapes = Mapping[str, Sequence[int]]


def weights_from_file(
    path: Path, shapes: Shapes, optional: frozenset[str], unused: Sequence[str] = ()
) -> tuple[dict[str, DataAttr], list[str]]:
    """The tensors for the weights of a program, and notes on names.

    Args:
        path: the file or folder that has them.
        shapes: the shapes of the weights by their names.
        optional: the weights that the program itself has.
        unused: further names of weights that the program lists and does not use: each may be a second name of a weight
            that it uses.

    Raises ModelFileError if a weight is missing or has another shape; the message lists all of them.
    """
    files = SafeTensors(path)
    tensors: dict[str, DataAttr] = {}
    renamed: dict[str, str] = {}
    for name, shape in shapes.items():
        source = name if name in files.tensors else _other_name(name, shape, files)
        if source is not None:
            tensors[name] = files.tensors[source]
            if source != name:
                renamed[name] = source
    for name, source in {**_by_unused(unused, shapes, tensors, files), **_tied(path, shapes, tensors, files)}.items():
        tensors[name], renamed[name] = files.tensors[source], source
    _check(path, shapes, tensors, optional, files)
    notes = (
        [f"weights of other names are taken: {_shown_names([f'{name} from {source}' for name, source in renamed.items()])}"]
        if renamed
        else []
    )
    used = {*tensors, *renamed.values()}
    surplus = [name for name in files.tensors if name not in used]
    if surplus:
        notes.append(f"the files have weights that the program does not use: {_shown_names(surplus)}")
    return tensors, notes


def _other_name(name: str, shape: Sequence[int], files: SafeTensors) -> str | None:
    """The name of the tensor in the files that weight `name` with shape `shape` stands for: the tensor of this name, or
    the only one of this shape whose name has a prefix added or removed.

    None if there is none, or several.
    """
    same = files.same.get(name)
    if same in files.tensors:
        return same
    candidates = [
        each
        for each, value in files.tensors.items()
        if (each.endswith(f".{name}") or name.endswith(f".{each}")) and tuple(value.shape) == tuple(shape)
    ]
    return candidates[0] if len(candidates) == 1 else None


def _by_unused(unused: Sequence[str], shapes: Shapes, sources: Mapping[str, DataAttr], files: SafeTensors) -> dict[str, str]:
    """Weights without a tensor of their name -> the name of the tensor for each.

    The tensor is the only one of the same shape among those that the program lists and does not use.
    """
    same: dict[str, str] = {}
    for name in shapes:
        if name not in sources:
            candidates = [each for each in unused if each in files.tensors and tuple(files.tensors[each].shape) == tuple(shapes[name])]
            if len(candidates) == 1:
                same[name] = candidates[0]
    return same


def _tied(path: Path, shapes: Shapes, sources: Mapping[str, DataAttr], files: SafeTensors) -> dict[str, str]:
    """Weights that are tied to the embeddings -> the names of the embeddings."""
    missing = [name for name in shapes if name not in sources and name.endswith(TIED)]
    if not missing or not _says_tied(path):
        return {}
    tied: dict[str, str] = {}
    for name in missing:
        candidates = [
            each for each, value in files.tensors.items() if each.endswith(EMBEDDINGS) and tuple(value.shape) == tuple(shapes[name])
        ]
        if len(candidates) == 1:
            tied[name] = candidates[0]
    return tied


def _says_tied(path: Path) -> bool:
    """Whether weights are tied according to the configuration beside the files; true if it does not mention that."""
    configuration = (path if path.is_dir() else path.parent) / "config.json"
    if not configuration.is_file():
        return False
    try:
        content: Any = json.loads(read_whole(configuration, "the configuration"))
    except (ValueError, RecursionError):
        return False
    return isinstance(content, dict) and cast("dict[str, Any]", content).get("tie_word_embeddings", True) is True


def _check(path: Path, shapes: Shapes, sources: Mapping[str, DataAttr], optional: frozenset[str], files: SafeTensors) -> None:
    """Raises ModelFileError for weights that are missing or have another shape."""
    missing = [name for name in shapes if name not in sources and name not in optional]
    other = [
        f"{name} is {list(value.shape)} instead of {list(shapes[name])}"
        for name, value in sources.items()
        if tuple(value.shape) != tuple(shapes[name])
    ]
    reasons: list[str] = []
    if missing:
        reasons.append(f"{len(missing)} weights are missing: {_shown_names(missing)}")
    if other:
        reasons.append(f"{len(other)} weights have another shape: {_shown_names(other)}")
    if not reasons:
        return
    surplus = [name for name in files.tensors if name not in sources]
    hint = (
        f"the files have {_shown_names(surplus)}, which the program does not name"
        if surplus
        else "give the weights of the network that was exported"
    )
    raise ModelFileError("; ".join(reasons), location=str(path), hint=hint)


def _shown_names(names: Sequence[str]) -> str:
    """Names for a message; only the first ones if there are many."""
    return ", ".join(names[:LISTED]) + (f", … {len(names)} in all" if len(names) > LISTED else "")
