"""The parts of a model that its subgraphs share."""

from __future__ import annotations

from collections.abc import Mapping

from moir.frontends.tflite.flatbuffer import ModelFile
from moir.frontends.tflite.state import Resources
from moir.frontends.tflite.tensors import Tensor, tensor_of

LARGEST_GROWTH = 64
"""The largest ratio of the number of operations of a module to that of the file: subgraphs that are called twice
multiply.
"""


class ModelParts:
    """The parts that all subgraphs of a model share: tensors, variables, names, and the count of operations.

    Args:
        file: the file.
        inputs: the names that the signature gives inputs, by the indices of their tensors.
        outputs: the names that it gives outputs, likewise.
    """

    def __init__(self, file: ModelFile, inputs: Mapping[int, list[str]], outputs: Mapping[int, list[str]]) -> None:
        self.file = file
        self.inputs = inputs
        self.outputs = outputs
        self.resources = Resources(file)
        self.names: set[str] = set()
        """The names that tensors have already: those of inner subgraphs may repeat them."""
        self._tensors: dict[int, list[Tensor]] = {}
        with file.damage("the operators"):
            self._left = LARGEST_GROWTH * sum(min(each.OperatorsLength(), len(file.mapped)) for each in file.subgraphs)

    def tensors(self, index: int) -> list[Tensor]:
        """The tensors of a subgraph. Raises ModelFileError for a subgraph that does not exist."""
        if index not in self._tensors:
            if not 0 <= index < len(self.file.subgraphs):
                raise self.file.error(f"there is no subgraph {index} among {len(self.file.subgraphs)}", "the file is damaged")
            table = self.file.subgraphs[index]
            with self.file.damage(f"the tensors of subgraph {index}"):
                self._tensors[index] = [tensor_of(self.file, each) for each in self.file.vector(table.TensorsLength(), table.Tensors)]
        return self._tensors[index]

    def count(self) -> None:
        """Count an operation. Raises ModelFileError if their number is out of proportion to the file."""
        self._left -= 1
        if self._left < 0:
            raise self.file.error("its subgraphs call each other so often that the model is out of proportion to the file")
