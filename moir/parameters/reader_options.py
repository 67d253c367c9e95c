"""The keywords that are options of readers, as a type for type checkers; nothing imports this file while moir
starts.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TypedDict


class ReaderOptions(TypedDict, total=False):
    """The keywords of `read_model` and `convert_model` that are options of the built-in readers."""

    checkpoint: str | Path | None
    tags: Sequence[str] | None
    signature: str | None
    input_proto: str | Path | None
    mean_file: str | Path | None
    mean_file_offsets: str | None
    caffe_proto: str | Path | None
    custom_layers: str | Path | None
    input_symbol: str | Path | None
    nd_prefix_name: str | Path | None
    program: str | None
    weights: str | Path | None
    packing: str | None
