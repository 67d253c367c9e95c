"""Programs for several devices: what one device computes as well, and what is refused."""

from __future__ import annotations

from pathlib import Path

import pytest

import moir
from moir.dialects.moir import models_of
from moir.errors import ModelFileError


def kinds_of(text: str, folder: Path) -> list[str]:
    """The operations of the IR of a program."""
    (folder / "a.mlir").write_text(text)
    (model,) = models_of(moir.convert_model(folder / "a.mlir"))
    return [each.name for each in model.body.block.ops]


def function(body: str, before: str = "") -> str:
    return f"module {{\n{before}\n  func.func @main(%0: tensor<2x8xf32>) -> tensor<2x8xf32> {{\n{body}\n  }}\n}}\n"


MESH = '  sdy.mesh @mesh = <["x"=2, "y"=1]>'

IDENTITIES = {
    "a constraint": '%1 = sdy.sharding_constraint %0 <@mesh, [{"x"}, {}]> : tensor<2x8xf32>',
    "a generic constraint": '%1 = "sdy.sharding_constraint"(%0) <{sharding = #sdy.sharding<@mesh, [{"x"}, {}]>}> : '
    "(tensor<2x8xf32>) -> tensor<2x8xf32>",
    "a gather of shards": '%1 = sdy.all_gather [{"x"}, {}] %0 out_sharding=<@mesh, [{}, {}]> : tensor<2x8xf32>',
    "a barrier": "%1 = sdy.propagation_barrier %0 allowed_direction=NONE : tensor<2x8xf32>",
    "a group": "sdy.sharding_group %0 group_id=3 : tensor<2x8xf32>\n    %1 = stablehlo.optimization_barrier %0 : tensor<2x8xf32>",
    "a custom call": '%1 = stablehlo.custom_call @Sharding(%0) {backend_config = ""} : (tensor<2x8xf32>) -> tensor<2x8xf32>',
    "a custom call of Shardy": "%1 = stablehlo.custom_call @xla.sdy.FuncResultSharding(%0) : (tensor<2x8xf32>) -> tensor<2x8xf32>",
    "a manual computation": '%1 = sdy.manual_computation(%0) in_shardings=[<@mesh, [{"y"}, {}]>] out_shardings=[<@mesh, [{"y"}, {}]>] '
    'manual_axes={"y"} (%a: tensor<2x8xf32>) {\n      sdy.return %a : tensor<2x8xf32>\n    } : (tensor<2x8xf32>) -> tensor<2x8xf32>',
    "a named computation": '%1 = sdy.named_computation<"f">(%0) (%a: tensor<2x8xf32>) {\n      sdy.return %a : tensor<2x8xf32>\n'
    "    } : (tensor<2x8xf32>) -> tensor<2x8xf32>",
    "a collective broadcast": '%1 = "stablehlo.collective_broadcast"(%0) <{replica_groups = dense<0> : tensor<1x1xi64>}> : '
    "(tensor<2x8xf32>) -> tensor<2x8xf32>",
    "groups of one": '%1 = "stablehlo.all_gather"(%0) <{all_gather_dim = 0 : i64, replica_groups = dense<[[0], [1]]> : tensor<2x1xi64>}> : '
    "(tensor<2x8xf32>) -> tensor<2x8xf32>",
}


@pytest.mark.parametrize("name", IDENTITIES)
def test_identities(name: str, tmp_path: Path) -> None:
    text = function(f"    {IDENTITIES[name]}\n    %2 = stablehlo.negate %1 : tensor<2x8xf32>\n    return %2 : tensor<2x8xf32>", MESH)
    assert kinds_of(text, tmp_path) == ["opset1.Parameter", "opset1.Negative", "opset1.Result"]


SEVERAL = {
    "a sum": '"stablehlo.all_reduce"(%0) <{replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>}> ({\n'
    "    ^bb0(%a: tensor<f32>, %b: tensor<f32>):\n      %s = stablehlo.add %a, %b : tensor<f32>\n      stablehlo.return %s : tensor<f32>\n"
    "    }) : (tensor<2x8xf32>) -> tensor<2x8xf32>",
    "all devices": '"stablehlo.all_to_all"(%0) <{replica_groups = dense<> : tensor<0x0xi64>, split_count = 1 : i64}> : '
    "(tensor<2x8xf32>) -> tensor<2x8xf32>",
    "a permutation": '"stablehlo.collective_permute"(%0) <{source_target_pairs = dense<[[0, 1], [1, 0]]> : tensor<2x2xi64>}> : '
    "(tensor<2x8xf32>) -> tensor<2x8xf32>",
    "nothing sent": '"stablehlo.collective_permute"(%0) <{source_target_pairs = dense<> : tensor<0x2xi64>}> : '
    "(tensor<2x8xf32>) -> tensor<2x8xf32>",
    "a part": "stablehlo.custom_call @SPMDFullToShardShape(%0) : (tensor<2x8xf32>) -> tensor<1x8xf32>",
    "a part of Shardy": "stablehlo.custom_call @xla.sdy.GlobalToLocalShape(%0) : (tensor<2x8xf32>) -> tensor<1x8xf32>",
}


@pytest.mark.parametrize("name", SEVERAL)
def test_several_devices_are_refused(name: str, tmp_path: Path) -> None:
    (tmp_path / "a.mlir").write_text(function(f"    %1 = {SEVERAL[name]}\n    return %0 : tensor<2x8xf32>", MESH))
    with pytest.raises(ModelFileError, match=r"(it combines|it sends|it splits) .*; export the program for one device"):
        moir.convert_model(tmp_path / "a.mlir")


def test_a_manual_computation_of_parts_is_refused(tmp_path: Path) -> None:
    body = """    %1 = sdy.manual_computation(%0) in_shardings=[<@mesh, [{"x"}, {}]>] out_shardings=[<@mesh, [{"x"}, {}]>] manual_axes={"x"}
      (%a: tensor<1x8xf32>) {
      %b = stablehlo.negate %a : tensor<1x8xf32>
      sdy.return %b : tensor<1x8xf32>
    } : (tensor<2x8xf32>) -> tensor<2x8xf32>
    return %1 : tensor<2x8xf32>"""
    (tmp_path / "a.mlir").write_text(function(body, MESH))
    with pytest.raises(ModelFileError, match="it splits a tensor between several devices"):
        moir.convert_model(tmp_path / "a.mlir")
