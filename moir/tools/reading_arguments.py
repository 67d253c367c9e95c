"""The arguments of the command lines that say how a model is read."""

from __future__ import annotations

import argparse

from moir.frameworks import ReadingOptions


def add_reading_arguments(parser: argparse.ArgumentParser) -> None:
    """Add `--checkpoint`, `--saved-model-tags` and `--signature`."""
    add = parser.add_argument_group("TensorFlow").add_argument
    add("--checkpoint", metavar="PREFIX", help="values of the variables of a graph that is not frozen: the checkpoint without .index")
    add("--saved-model-tags", metavar="TAG[,TAG]", help="tags of the graph of a SavedModel (default: serve, or the only graph)")
    add("--signature", metavar="NAME", help="signature of a SavedModel (default: serving_default, or the only one)")


def reading_options(arguments: argparse.Namespace) -> ReadingOptions:
    """The options of `read_model` a command line gave; None for those it did not."""
    tags: str | None = arguments.saved_model_tags
    return {"checkpoint": arguments.checkpoint, "tags": tags.split(",") if tags else None, "signature": arguments.signature}
