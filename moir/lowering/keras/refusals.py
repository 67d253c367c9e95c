"""Layers that cannot be converted: they refer to something that is not in the file, or have no equivalent in the
operation sets.
"""

from __future__ import annotations

from typing import NoReturn

from moir.lowering.binder import LoweringNode
from moir.lowering.keras.table import keras
from moir.rewriting.builder import OpBuilder

REFUSALS = {
    "FlaxLayer": "it refers to a module of Flax that is not in the file",
    "HashedCrossing": "it joins hashes of 64 bits by products of 64 bits, which are not supported",
    "JaxLayer": "it refers to a program of JAX that is not in the file",
    "TFSMLayer": "it refers to a SavedModel that is not in the file",
    "TorchModuleWrapper": "it refers to a module of PyTorch that is not in the file",
}
"""For each layer, the reason why it cannot be converted."""


@keras.lowers(*REFUSALS)
def refused(node: LoweringNode, _: OpBuilder) -> NoReturn:
    """keras.HashedCrossing(x), likewise the other kinds of `REFUSALS`: raises ConversionError with the reason"""
    node.fail(REFUSALS[node.op.KIND], hint="cut the model after this layer with --input, or write a lowering for it")
