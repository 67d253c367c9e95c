"""Modules from text, and the runtime's view of what was written."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
import openvino
import pytest
from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Dialect
from xdsl.parser import Parser

from moir.dialects.context import MoirContext

Parse = Callable[..., ModuleOp]
Run = Callable[..., list[np.ndarray]]


@pytest.fixture
def parse() -> Parse:
    """Module of the text of a block, verified; further dialects may be given."""

    def parse_block(text: str, *dialects: Dialect, name: str = "model", verify: bool = True) -> ModuleOp:
        context = MoirContext()
        for dialect in dialects:
            context.load_dialect(dialect)
        module = Parser(context, f'builtin.module {{ moir.model @"{name}" {{ {text} }} }}').parse_module()
        if verify:
            module.verify()
        return module

    return parse_block


@pytest.fixture
def run() -> Run:
    """Outputs of a model, read from a file or given, for inputs."""

    def compile_and_run(model: openvino.Model | Path, *inputs: np.ndarray) -> list[np.ndarray]:
        core = openvino.Core()
        model = core.read_model(model) if isinstance(model, Path) else model
        compiled = core.compile_model(model, "CPU", {"INFERENCE_PRECISION_HINT": "f32"})
        results = compiled(list(inputs))
        return [np.array(results[index]) for index in range(len(model.outputs))]

    return compile_and_run
