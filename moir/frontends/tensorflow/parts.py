"""The files beside that of a model of TensorFlow: the checkpoint of a MetaGraph, the weights of TensorFlow.js."""

from __future__ import annotations

from pathlib import Path

from moir.files.json_texts import BINARY_GRAPH
from moir.frontends.tensorflow_js.parts import names_beside_graph, names_of_shards

_META = ".meta"


def names_of_parts(path: Path) -> list[str]:
    """The names of the files that a model consists of, beside the file `path`; those that exist may name further ones.

    Raises ModelFileError for a checkpoint or a manifest that is damaged.
    """
    if path.name == BINARY_GRAPH:
        return names_beside_graph(path)
    if path.suffix != _META:
        return names_of_shards(path)
    index = path.with_suffix(".index")
    if not index.is_file():
        return [index.name]
    from moir.frontends.tensorflow.checkpoint.bundle import Bundle

    count = Bundle(path.with_suffix(""), path).shard_count
    return [f"{path.stem}.data-{number:05d}-of-{count:05d}" for number in range(count)]
