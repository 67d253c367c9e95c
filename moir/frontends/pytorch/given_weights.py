"""The tensors of other files for the weights of a program, by their names.

A weight whose name the files do not have takes the tensor of the same name with a prefix more or less, as of a module
that holds the network, or that of a weight which is the same by the files' metadata, by the configuration beside them
(`tie_word_embeddings`), or as the program has that name, too, and uses one of both: where only one tensor can be meant.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, cast

from moir.dialects.data import DataAttr
from moir.errors import ModelFileError
from moir.files.reading import read_whole
from moir.frontends.pytorch.safetensors import SafeTensors

LISTED = 8
"""Names that a message lists."""

EMBEDDINGS = ("embed_tokens.weight", "wte.weight", "word_embeddings.weight", "shared.weight", "embed_in.weight", "tok_embeddings.weight")
"""Last parts of the names of embeddings of tokens, which other weights are often the same as."""

TIED = ("lm_head.weight", "embed_out.weight", "decoder.weight", "output.weight", *EMBEDDINGS)
"""Last parts of the names of weights that often are the same as the embeddings."""

Shapes = Mapping[str, Sequence[int]]


def given_weights(
    path: Path, shapes: Shapes, optional: frozenset[str], unused: Sequence[str] = ()
) -> tuple[dict[str, DataAttr], list[str]]:
    """The tensors for the weights of a program, and notes on names.

    Args:
        path: the file or folder that has them.
        shapes: the shapes of the weights by their names.
        optional: the weights that the program itself has.
        unused: further names of weights that the program has and does not use: of each, a used one may be the same.

    Raises ModelFileError if a weight is missing or has another shape; the message lists all of them.
    """
    files = SafeTensors(path)
    found: dict[str, DataAttr] = {}
    renamed: dict[str, str] = {}
    for name, shape in shapes.items():
        source = name if name in files.tensors else _other_name(name, shape, files)
        if source is not None:
            found[name] = files.tensors[source]
            if source != name:
                renamed[name] = source
    for name, source in {**_by_unused(unused, shapes, found, files), **_tied(path, shapes, found, files)}.items():
        found[name], renamed[name] = files.tensors[source], source
    _check(path, shapes, found, optional, files)
    notes = (
        [f"weights of other names are taken: {_listed([f'{name} from {source}' for name, source in renamed.items()])}"] if renamed else []
    )
    used = {*found, *renamed.values()}
    surplus = [name for name in files.tensors if name not in used]
    if surplus:
        notes.append(f"the files have weights that the program does not use: {_listed(surplus)}")
    return found, notes


def _other_name(name: str, shape: Sequence[int], files: SafeTensors) -> str | None:
    """The only tensor that a name can mean: the same one, or one with a prefix more or less."""
    same = files.same.get(name)
    if same in files.tensors:
        return same
    candidates = [
        each
        for each, value in files.tensors.items()
        if (each.endswith(f".{name}") or name.endswith(f".{each}")) and tuple(value.shape) == tuple(shape)
    ]
    return candidates[0] if len(candidates) == 1 else None


def _by_unused(unused: Sequence[str], shapes: Shapes, found: Mapping[str, DataAttr], files: SafeTensors) -> dict[str, str]:
    """The weights whose tensor has a name that the program has, but does not use."""
    same: dict[str, str] = {}
    for name in shapes:
        if name not in found:
            candidates = [each for each in unused if each in files.tensors and tuple(files.tensors[each].shape) == tuple(shapes[name])]
            if len(candidates) == 1:
                same[name] = candidates[0]
    return same


def _tied(path: Path, shapes: Shapes, found: Mapping[str, DataAttr], files: SafeTensors) -> dict[str, str]:
    """The weights that are the same as the embeddings, with the names of these."""
    missing = [name for name in shapes if name not in found and name.endswith(TIED)]
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
    """Whether the configuration beside the files says that weights are tied, or nothing of it, which means the same."""
    configuration = (path if path.is_dir() else path.parent) / "config.json"
    if not configuration.is_file():
        return False
    try:
        content: Any = json.loads(read_whole(configuration, "the configuration"))
    except (ValueError, RecursionError):
        return False
    return isinstance(content, dict) and cast("dict[str, Any]", content).get("tie_word_embeddings", True) is True


def _check(path: Path, shapes: Shapes, found: Mapping[str, DataAttr], optional: frozenset[str], files: SafeTensors) -> None:
    """Raises ModelFileError for weights that are missing or have another shape."""
    missing = [name for name in shapes if name not in found and name not in optional]
    other = [
        f"{name} is {list(value.shape)} instead of {list(shapes[name])}"
        for name, value in found.items()
        if tuple(value.shape) != tuple(shapes[name])
    ]
    reasons: list[str] = []
    if missing:
        reasons.append(f"{len(missing)} weights are missing: {_listed(missing)}")
    if other:
        reasons.append(f"{len(other)} weights have another shape: {_listed(other)}")
    if not reasons:
        return
    surplus = [name for name in files.tensors if name not in found]
    hint = (
        f"the files have {_listed(surplus)}, which the program does not name"
        if surplus
        else "give the weights of the network that was exported"
    )
    raise ModelFileError("; ".join(reasons), location=str(path), hint=hint)


def _listed(names: Sequence[str]) -> str:
    """Names, the first ones of many."""
    return ", ".join(names[:LISTED]) + (f", … {len(names)} in all" if len(names) > LISTED else "")
