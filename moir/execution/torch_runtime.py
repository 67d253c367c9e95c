"""Exported programs in PyTorch, one node after another."""

from __future__ import annotations

import logging
from collections.abc import Mapping, Sequence
from importlib import import_module
from typing import Any

import numpy as np

from moir.analysis.constants import values_of
from moir.dialects.memory_map import Array
from moir.dialects.names import name_of
from moir.dialects.opset.infrastructure import Constant
from moir.errors import ExecutionError
from moir.execution.ports import only_model
from moir.execution.runner import FrameworkRunner
from moir.execution.torch_structures import register_structures
from moir.files.reading import map_file
from moir.frontends.pytorch.archive import Archive
from moir.frontends.pytorch.program import read_json
from moir.frontends.pytorch.values import ProgramFiles

WRITTEN = "_written"
"""The suffix of the names of outputs that are the new values of inputs that the program writes to."""


class TorchRunner(FrameworkRunner):
    """Runs an exported program. Inner tensors are the results of its nodes, before later nodes write to them.

    Weights that are not in the archive (`weights` of the reader) are those of the module.
    """

    PACKAGE = "torch"

    @property
    def title(self) -> str:  # pyright: ignore[reportIncompatibleVariableOverride]
        return f"PyTorch {_torch().__version__}"

    def run(self, inputs: Mapping[str, Array], tensors: Sequence[str] = ()) -> dict[str, Array]:
        torch = _torch()
        try:
            program = self.kept("program", lambda: self._program(torch))
            with torch.no_grad():
                return self._values(torch, program, inputs, frozenset(tensors))
        except Exception as error:
            # PyTorch raises errors of many kinds.
            lines = [line.strip() for line in str(error).splitlines() if line.strip()]
            reason = lines[0][:300] if lines else type(error).__name__
            raise ExecutionError(f"PyTorch cannot run the program: {reason}", location=str(self.path)) from error

    def _program(self, torch: Any) -> Any:
        """The program as torch.export reads it; the chosen one if the archive holds several."""
        name = self.reading.get("program")
        archive = Archive(memoryview(map_file(self.path) or b""), self.path)
        for record in ProgramFiles(archive).programs.values():
            register_structures(read_json(archive, record).fields("graph_module"), import_module("torch.utils._pytree"))
        logger = logging.getLogger("torch.export")
        level = logger.level
        # Warnings are silenced: what torch cannot read raises an error with the reason.
        logger.setLevel(logging.ERROR)
        try:
            if name is None:
                return torch.export.load(str(self.path))
            return import_module("torch.export.pt2_archive._package").load_pt2(str(self.path)).exported_programs[name]
        finally:
            logger.setLevel(level)

    def _values(self, torch: Any, program: Any, inputs: Mapping[str, Array], wanted: frozenset[str]) -> dict[str, Array]:
        written: dict[str, Any] = {}
        given = [self._placeholder(torch, program, spec, inputs, written) for spec in program.graph_signature.input_specs]
        arrays: dict[str, Array] = {}

        class Interpreter(torch.fx.Interpreter):
            def run_node(self, n: Any) -> Any:
                base: Any = super()
                value: Any = base.run_node(n)
                if n.name in wanted and isinstance(value, torch.Tensor) and not value.is_complex():
                    arrays[n.name] = _array(torch, value)
                return value

        results = Interpreter(program.graph_module).run(*given)
        specs = program.graph_signature.output_specs
        returned: list[Any] = []
        for spec, value in zip(specs, results, strict=True):
            if spec.kind.name == "USER_INPUT_MUTATION":
                written[spec.target] = value
            elif spec.kind.name in ("USER_OUTPUT", "LOSS_OUTPUT") and not _is_constant(spec.arg):
                returned.append(value)
        for port in self.interface.outputs[len(returned) :]:
            returned.append(written[port.name.removesuffix(WRITTEN)])
        outputs = zip(self.interface.outputs, returned, strict=True)
        return arrays | {port.name: _array(torch, value) for port, value in outputs}

    def _placeholder(self, torch: Any, program: Any, spec: Any, inputs: Mapping[str, Array], written: dict[str, Any]) -> Any:
        """The value of a graph input, by the kind in `spec`: an array of `inputs`, a number, or a weight of the
        program.

        Args:
            torch: the package.
            program: the exported program.
            spec: the input in the signature of the program.
            inputs: the arrays of the model's inputs, by name.
            written: gets a writable copy of each array input, by name.
        """
        if spec.kind.name != "USER_INPUT":
            held: Any = program.state_dict.get(spec.target)
            held = program.constants.get(spec.target) if held is None else held
            if not isinstance(held, torch.Tensor):
                return held
            if type(held).__name__ == "FakeTensor" or held.is_meta:
                return torch.from_numpy(self._weight(spec.target)).to(held.dtype)
            return held.detach() if spec.kind.name == "PARAMETER" else held.detach().clone()
        if _is_constant(spec.arg):
            return spec.arg.value
        array = inputs[spec.arg.name]
        if type(spec.arg).__name__ == "SymIntArgument":
            return int(array)
        meta = next(node.meta["val"] for node in program.graph.nodes if node.name == spec.arg.name)
        written[spec.arg.name] = torch.from_numpy(np.array(_plain(array))).to(meta.dtype)
        return written[spec.arg.name]

    def _weight(self, name: str) -> Array:
        """A weight of the module, found by its name."""
        for op in only_model(self.module).block.ops:
            if isinstance(op, Constant) and name_of(op) == name and (values := values_of(op.results[0])) is not None:
                return np.array(_plain(np.asarray(values)))
        raise ExecutionError(f"there is no weight {name!r}")


def _is_constant(argument: Any) -> bool:
    """Whether an argument in a program's signature is not a tensor but a number, a text, None, or an object."""
    return type(argument).__name__ in ("ConstantArgument", "CustomObjArgument", "TokenArgument")


def _plain(array: Array) -> Array:
    """An array, converted to f32 if its element type is not one of numpy's own types, such as bf16."""
    return array if array.dtype.kind in "biuf" and array.dtype.isbuiltin else array.astype(np.float32)


def _array(torch: Any, value: Any) -> Array:
    """A value as an array with its own memory; floats that numpy does not have, such as bf16, become f32."""
    if not isinstance(value, torch.Tensor):
        return np.asarray(value)
    if value.is_floating_point() and value.dtype not in (torch.float16, torch.float32, torch.float64):
        value = value.float()
    return np.array(value.detach().resolve_conj().resolve_neg().numpy())


def _torch() -> Any:
    return import_module(TorchRunner.PACKAGE)
