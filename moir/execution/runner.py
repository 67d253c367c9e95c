"""Runners of models: classes that execute one model in the runtime of its framework, in OpenVINO Runtime, or by the
definitions of its operations.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Hashable, Mapping, Sequence
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any, TypeVar

from moir.dialects.memory_map import Array
from moir.execution.ports import Interface, interface_of, only_model
from moir.execution.values import named_values

if TYPE_CHECKING:
    from pathlib import Path

    from xdsl.dialects.builtin import ModuleOp

Loaded = TypeVar("Loaded")


class Runner(ABC):
    """Runs one model.

    Args:
        module: the model, as its frontend reads it or in opset dialects.
    """

    title: str = ""
    """The name of the runtime, with its version."""

    keeps: bool = False
    """Whether what is loaded or compiled for a run is kept for the next one, with its memory."""

    def __init__(self, module: ModuleOp) -> None:
        self.module = module
        self.interface: Interface = interface_of(module)
        self._kept: dict[Hashable, Any] = {}

    def kept(self, key: Hashable, make: Callable[[], Loaded]) -> Loaded:
        """The result of `make`.

        A runner that keeps results calls `make` only once for each key, and returns the kept result later.
        """
        if not self.keeps:
            return make()
        if key not in self._kept:
            self._kept[key] = make()
        return self._kept[key]

    @property
    def tensors(self) -> list[str]:
        """The names of the model's inner tensors (those that are neither inputs nor outputs), one name for each."""
        values = named_values(only_model(self.module).block, constants=False)
        first = {value: name for name, value in reversed(values.items())}
        taken = {name for port in (*self.interface.inputs, *self.interface.outputs) for name in port.names}
        return [name for name, value in values.items() if first[value] == name and name not in taken]

    @abstractmethod
    def run(self, inputs: Mapping[str, Array], tensors: Sequence[str] = ()) -> dict[str, Array]:
        """Run the model once.

        Args:
            inputs: an array for each input, by the first name of the port.
            tensors: names of inner tensors whose values are wanted, too.

        Returns arrays by the first names of the outputs, and by the names of the inner tensors; without those that the
        runtime does not have.

        Raises ExecutionError.
        """


class FrameworkRunner(Runner):
    """Runs a model file of a framework by the framework's own runtime.

    Args:
        path: the model.
        module: the model as its frontend reads it.
        reading: the options of its reader.
    """

    PACKAGE: str = ""
    """The package that has to be installed."""

    def __init__(self, path: Path, module: ModuleOp, reading: Mapping[str, object]) -> None:
        super().__init__(module)
        self.path = path
        self.reading = reading

    @classmethod
    def is_installed(cls) -> bool:
        """Whether the runtime is installed; it is not imported."""
        return find_spec(cls.PACKAGE) is not None
