"""The base of the blocks that combine several tokens: attentions, convolutions, recurrences."""

from __future__ import annotations

from abc import ABC, abstractmethod

from xdsl.ir import SSAValue

from moir.architectures.inputs import ModelInputs
from moir.architectures.record import Architecture, Configuration
from moir.architectures.vectors import VectorNodes


class TokenBlockNodes(ABC):
    """Appends the blocks of a kind to a network.

    Args:
        architecture: the record of the family.
        configuration: the sizes of the model.
        vectors: appends operations that compute each token by itself.
        inputs: the inputs of the model.
    """

    def __init__(self, architecture: Architecture, configuration: Configuration, vectors: VectorNodes, inputs: ModelInputs) -> None:
        self.architecture = architecture
        self.configuration = configuration
        self.vectors = vectors
        self.nodes = vectors.nodes
        self.inputs = inputs

    @abstractmethod
    def block(self, x: SSAValue, layer: int) -> SSAValue:
        """The result of the block of a layer, f32 [batch, tokens, features] as x."""
