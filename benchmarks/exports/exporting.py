"""Exports the networks of the corpus, with inputs and results."""

from __future__ import annotations

import json
import sys
import time
import traceback
import warnings
from collections.abc import Mapping
from fnmatch import fnmatch
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np
import torch
import torch.utils._pytree as pytree
from exports.network import Builder, Inputs, Network

FAMILIES = ("structures", "language", "generation", "vision", "multimodal", "quantized_programs")


def networks(only: str) -> dict[str, Builder]:
    """The builders of the networks that match a glob; families whose packages are not installed are left out."""
    builders: dict[str, Builder] = {}
    for family in FAMILIES:
        try:
            builders |= import_module(f"exports.{family}").NETWORKS
        except ImportError as error:
            print(f"{family}: {error}", file=sys.stderr)
    return {name: builder for name, builder in builders.items() if any(fnmatch(name, glob) for glob in only.split(","))}


def _arrays(given: Any) -> list[np.ndarray[Any, Any]]:
    """The tensors in a structure; bfloat16 as float32, which has all its numbers."""
    leaves = [each for each in pytree.tree_leaves(given) if isinstance(each, torch.Tensor)]
    return [(each.float() if each.dtype == torch.bfloat16 else each).detach().numpy() for each in leaves]


def _write(folder: Path, network: Network, program: torch.export.ExportedProgram) -> None:
    """Write a program, its inputs and torch's results."""
    folder.mkdir(parents=True, exist_ok=True)
    # Before it runs, as it may write to its buffers.
    torch.export.save(program, folder / "model.pt2")
    signature = program.graph_signature
    names = {
        "inputs": [each.arg.name for each in signature.input_specs if each.kind.name == "USER_INPUT" and hasattr(each.arg, "name")],
        "outputs": [
            each.arg.name
            for each in signature.output_specs
            if each.kind.name == "USER_OUTPUT" and type(each.arg).__name__ == "TensorArgument"
        ],
        "tolerance": network.tolerance,
        "targets": [str(node.target) for node in program.graph.nodes if node.op == "call_function"],
        "torch": torch.__version__,
    }
    for tag, given in (("", network.inputs), ("_b", network.others)):
        if given is None or (tag and network.dynamic is None):
            continue
        try:
            with torch.no_grad():
                outputs = program.module()(*given, **network.keywords)
        except (AssertionError, RuntimeError):
            if not tag:
                raise
            # torch has fixed a size that was to be dynamic; before 2.9 it says so by a RuntimeError.
            continue
        np.savez(folder / f"values{tag}.npz", **{f"in{i}": a for i, a in enumerate(_arrays((given, dict(network.keywords))))},
                 **{f"out{i}": a for i, a in enumerate(_arrays(outputs))})  # fmt: skip
    (folder / "meta.json").write_text(json.dumps(names), encoding="utf-8")


def _forms(network: Network) -> Mapping[str, Any]:
    """The forms of programs of a network: as exported, with its dynamic shapes, and decomposed."""
    forms: dict[str, Any] = {"dynamic" if network.dynamic is not None else "static": (network.dynamic, False)}
    if network.decomposed:
        forms["core"] = (network.dynamic, True)
    return forms


def export(folder: Path, only: str, again: bool) -> int:
    """Export the networks; returns the number of those that failed."""
    failed = 0
    for name, builder in networks(only).items():
        if not again and list(folder.glob(f"{name}/*/model.pt2")):
            continue
        start = time.perf_counter()
        try:
            torch.manual_seed(1)
            with warnings.catch_warnings(), torch.no_grad():
                warnings.simplefilter("ignore")
                network = builder()
                inputs: Inputs = tuple(network.inputs)
                for form, (dynamic, decomposed) in _forms(network).items():
                    program = torch.export.export(network.module, inputs, dict(network.keywords), dynamic_shapes=dynamic, strict=False)
                    if decomposed:
                        program = program.run_decompositions()
                    shown = Network(network.module, inputs, dynamic, network.others, network.keywords, tolerance=network.tolerance)
                    _write(folder / name / form, shown, program)
        except Exception as error:
            failed += 1
            lines = str(error).strip().splitlines() or [type(error).__name__]
            print(f"{name}: not exported: {lines[0][:300]}", flush=True)
            (folder / f"{name}.error").write_text(traceback.format_exc(), encoding="utf-8")
        else:
            print(f"{name}: {time.perf_counter() - start:.1f} s", flush=True)
    return failed
