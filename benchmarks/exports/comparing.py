"""Converts the programs of the corpus as processes and compares their results with torch's."""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
from collections import Counter
from fnmatch import fnmatch
from pathlib import Path
from typing import Any

import numpy as np
import openvino

Array = np.ndarray[Any, Any]


def _error(actual: Array, wanted: Array) -> float:
    """The largest difference relative to the largest value; the part that differs, of integers."""
    if actual.shape != wanted.shape:
        return float("inf")
    if not wanted.size:
        return 0.0
    if wanted.dtype.kind in "iub":
        return float(np.mean(actual != wanted))
    a, b = actual.astype(np.float64), wanted.astype(np.float64)
    if (np.isnan(a) != np.isnan(b)).any() or (np.isinf(a) != np.isinf(b)).any():
        return float("inf")
    a, b = np.nan_to_num(a, posinf=0, neginf=0), np.nan_to_num(b, posinf=0, neginf=0)
    return float(np.abs(a - b).max() / (np.abs(b).max() + 1e-9))


def _tensor(value: Array, port: Any) -> Any:
    wanted = port.get_element_type()
    if wanted == openvino.Type.bf16:
        bits = np.ascontiguousarray(value, np.float32).view(np.uint32)
        return openvino.Tensor(((bits + 0x8000) >> 16).astype(np.uint16), list(value.shape), openvino.Type.bf16)
    return openvino.Tensor(np.ascontiguousarray(value.astype(wanted.to_dtype())).reshape(value.shape))


def _value(tensor: Any) -> Array:
    if tensor.element_type == openvino.Type.bf16:
        return (np.array(tensor.data).view(np.uint16).astype(np.uint32) << 16).view(np.float32)
    return np.array(tensor.data)


def _named(port: Any, name: str) -> bool:
    return name in port.get_names() or port.get_node().get_friendly_name() == name


def check(folder: Path) -> str:
    """What is wrong with a program; empty if nothing is."""
    meta = json.loads((folder / "meta.json").read_text(encoding="utf-8"))
    with tempfile.TemporaryDirectory() as out:
        xml = Path(out) / "m.xml"
        command = [sys.executable, "-m", "moir", str(folder / "model.pt2"), "-o", str(xml)]
        done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=300)
        if done.returncode:
            return "convert: " + " ".join((done.stderr or done.stdout).split())[-600:]
        try:
            model = openvino.Core().read_model(xml)
            compiled = openvino.Core().compile_model(model, "CPU", {"INFERENCE_PRECISION_HINT": "f32"})
            return _compared(compiled, meta, folder)
        except RuntimeError as error:
            return "run: " + " ".join(str(error).split())[-400:]


def _compared(compiled: Any, meta: Any, folder: Path) -> str:
    for tag in ("", "_b"):
        path = folder / f"values{tag}.npz"
        if not path.exists():
            continue
        values = np.load(path)
        given = [values[f"in{index}"] for index in range(sum(name.startswith("in") for name in values.files))]
        wanted = [values[f"out{index}"] for index in range(sum(name.startswith("out") for name in values.files))]
        request = compiled.create_infer_request()
        feed: dict[Any, Any] = {}
        for name, value in zip(meta["inputs"], given, strict=True):
            port = next((each for each in compiled.inputs if _named(each, name)), None)
            if port is not None:
                feed[port] = _tensor(value, port)
        request.infer(feed)
        # An output that is an input, or another output, has no name of its own.
        outputs = [each for each in compiled.outputs if not any(name.endswith("_written") for name in each.get_names())]
        if len(outputs) != len(wanted):
            return f"{len(outputs)} outputs instead of {len(wanted)}"
        for port, value in zip(outputs, wanted, strict=True):
            error = _error(output := _value(request.get_tensor(port)), value)
            if not error <= (0 if value.dtype.kind in "iub" else meta["tolerance"]):
                return f"wrong{tag}: {port.get_any_name()}: {error:.3g}, {list(output.shape)} for {list(value.shape)}"
    return ""


def compare(folder: Path, only: str) -> int:
    """Compare the programs of a folder; returns the number of those that are wrong."""
    wrong: Counter[str] = Counter()
    programs = sorted(
        path.parent for path in folder.glob("*/*/model.pt2") if any(fnmatch(path.parent.parent.name, glob) for glob in only.split(","))
    )
    for program in programs:
        try:
            reason = check(program)
        except Exception as error:
            reason = f"{type(error).__name__}: {error}"
        name = f"{program.parent.name}/{program.name}"
        if reason:
            wrong[reason.partition(":")[0]] += 1
            print(f"{name}: {reason}", flush=True)
    print(f"{len(programs) - wrong.total()} of {len(programs)} programs are right" + "".join(f", {key}: {n}" for key, n in wrong.items()))
    return min(wrong.total(), 100)
