"""Modules of PyTorch with the inputs that torch exports them with; without torch, what says how it would be."""

from __future__ import annotations

import sys
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

import moir
from moir.errors import ArgumentError
from tests.numerical.pytorch.programs import Program


class Module:
    """What a module of PyTorch looks like from outside."""

    __module__ = "torch.nn.modules"

    def named_parameters(self) -> None:
        """Parameters, which nobody asks for."""


def test_a_module_without_inputs_says_how_to_give_them(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "torch", ModuleType("torch"))
    with pytest.raises(ArgumentError, match="example_inputs"):
        moir.convert_model(Module())


def test_inputs_for_another_model_are_refused(tmp_path: Path) -> None:
    program = Program()
    x = program.input("x", "f32", [2, 3])
    program.output(program.node("aten.relu.default", [("self", x)], "f32"))
    program.save(tmp_path / "m.pt2")
    with pytest.raises(ArgumentError, match=r"is for a torch\.nn\.Module"):
        moir.convert_model(tmp_path / "m.pt2", example_inputs=1)
    with pytest.raises(ArgumentError, match="not for bytes"):
        moir.convert_model((tmp_path / "m.pt2").read_bytes(), example_inputs=1)
    with pytest.raises(ArgumentError, match=r"is for a torch\.nn\.Module"):
        moir.convert_model(tmp_path / "m.pt2", example_input=1)
    with pytest.raises(ArgumentError, match="are the same; give one of them"):
        moir.convert_model(tmp_path / "m.pt2", example_inputs=1, example_input=1)


def test_a_module_is_exported_with_its_inputs() -> None:
    torch: Any = pytest.importorskip("torch")
    module, x = torch.nn.Linear(4, 3), torch.ones(2, 4)
    for given in (x, (x,), [x], {"input": x}):
        converted = moir.to_openvino(moir.convert_model(module, example_inputs=given))
        assert [port.get_any_name() for port in converted.inputs] == ["input"]
    converted = moir.to_openvino(moir.convert_model(module, example_input=x))
    assert [port.get_any_name() for port in converted.inputs] == ["input"]
    with pytest.raises(ArgumentError, match="torch does not export Linear"):
        moir.convert_model(module, example_inputs=(x, x))


def test_a_program_of_vmap_is_decomposed() -> None:
    torch: Any = pytest.importorskip("torch")

    class Rows(torch.nn.Module):
        def forward(self, x: Any) -> Any:
            return torch.vmap(lambda row: row.softmax(0))(x)

    converted = moir.to_openvino(moir.convert_model(torch.export.export(Rows(), (torch.ones(2, 4),))))
    assert list(converted.output(0).shape) == [2, 4]


def test_what_torch_does_not_save_is_an_error() -> None:
    torch: Any = pytest.importorskip("torch")
    attention = pytest.importorskip("torch.nn.attention.flex_attention")

    class Attention(torch.nn.Module):
        def forward(self, x: Any) -> Any:
            return attention.flex_attention(x, x, x)

    program = torch.export.export(Attention(), (torch.ones(1, 2, 16, 8),))
    with pytest.raises(ArgumentError, match=r"torch does not save the program.*scaled_dot_product_attention"):
        moir.convert_model(program)
