"""What the network of a language model is built from: its configuration, and its weights by the names of operands.

Each file format has a frontend that reads both. Names here do not depend on the format: operands are named as in the
record of the architecture (`layers.3.attention.query.weight`).
"""

from __future__ import annotations

from typing import Protocol

from moir.architectures.stored_weight import StoredWeight


class Checkpoint(Protocol):
    """The weights of a model.

    An operand is named by the block that reads it: `embedding.weight`, `final_norm.weight`, `head.weight`,
    `layers.3.attention.query.weight`, `layers.3.experts.gate.weight` for the matrices of all experts.
    """

    location: str
    """The file or the folder, for messages."""

    def has(self, operand: str) -> bool:
        """Whether the file has a weight for an operand."""
        ...

    def weight(self, operand: str, shape: tuple[int, ...]) -> StoredWeight:
        """The weight of an operand.

        Raises ModelFileError, with the name in the file, if it is missing or its values have another shape.
        """
        ...

    def name(self, operand: str) -> str:
        """The name of an operand or of a block (`layers.3.attention`) in the file; nodes of the IR get this name."""
        ...

    def check_all_read(self) -> None:
        """Raises ModelFileError if tensors that affect the computation were not read as any operand; the error lists
        them.
        """
        ...
