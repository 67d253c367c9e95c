"""Exports the networks of the corpus as ONNX models, by both exporters of torch."""

from __future__ import annotations

import time
import warnings
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import torch
import torch.utils._pytree as pytree
from exports.exporting import networks
from exports.network import Network

OLD_OPSET = 14
"""The operator set of the exporter that traces: attention is written out, masks are made by Where."""

NEW_OPSET = 18

FORMS = ("old", "new")
"""The exporter that traces, and that of exported programs."""


def _axes(network: Network, names: list[str]) -> dict[str, dict[int, str]]:
    """The dynamic axes for the exporter that traces; axes of one size have one name."""
    given = network.dynamic
    while isinstance(given, tuple | list) and len(given) == 1 and isinstance(given[0], tuple | list):
        given = given[0]
    results: dict[str, dict[int, str]] = {}
    for name, sizes, value in zip(names, given or (), network.inputs, strict=False):
        if isinstance(sizes, dict):
            results[name] = {axis: f"size_{axis}_{value.shape[axis]}" for axis in sizes}
    return results


def _write(path: Path, network: Network, form: str) -> None:
    """Write the model of one exporter, and its inputs as `inputs.npz`."""
    path.parent.mkdir(parents=True, exist_ok=True)
    inputs = tuple(network.inputs)
    if form == "new":
        program = torch.export.export(network.module, inputs, dict(network.keywords), dynamic_shapes=network.dynamic, strict=False)
        torch.onnx.export(program, f=str(path), opset_version=NEW_OPSET, dynamo=True, external_data=False, verbose=False)
    else:
        names = [f"input_{number}" for number in range(len(inputs))]
        torch.onnx.export(
            network.module, inputs, str(path), opset_version=OLD_OPSET, dynamo=False, input_names=names, dynamic_axes=_axes(network, names)
        )
    import onnx

    graph = onnx.load(path, load_external_data=False).graph
    constants = {each.name for each in graph.initializer}
    names = [each.name for each in graph.input if each.name not in constants]
    leaves = pytree.tree_leaves((inputs, dict(network.keywords)))
    values = [each.detach().numpy() for each in leaves if isinstance(each, torch.Tensor)]
    if len(names) == len(values):
        np.savez(path.with_name("inputs.npz"), **dict(zip(names, values, strict=True)))


def export_onnx(folder: Path, only: str, again: bool, forms: Sequence[str] = FORMS) -> int:
    """Write `NAME_old/model.onnx` and `NAME_new/model.onnx` of each network; returns how many failed."""
    failed = 0
    for name, builder in networks(only).items():
        for form in forms:
            path = folder / f"{name}_{form}" / "model.onnx"
            if path.exists() and not again:
                continue
            start = time.perf_counter()
            try:
                torch.manual_seed(1)
                with warnings.catch_warnings(), torch.no_grad():
                    warnings.simplefilter("ignore")
                    network: Any = builder()
                    _write(path, network, form)
            except Exception as error:
                failed += 1
                path.unlink(missing_ok=True)
                lines = str(error).strip().splitlines() or [type(error).__name__]
                print(f"{name} {form}: not exported: {lines[0][:200]}", flush=True)
            else:
                print(f"{name} {form}: {time.perf_counter() - start:.1f} s, {path.stat().st_size / 1e6:.1f} MB", flush=True)
    return failed
