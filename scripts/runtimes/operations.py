"""Which operations each release accepts, measured with a sample of each, against the records of the releases."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Callable, Sequence
from importlib import import_module
from pathlib import Path
from typing import Any, cast

import openvino

from moir.targets.releases.registry import accepts, release_named
from scripts.opset_reference import REFERENCE, instance
from scripts.opset_samples import Sample

UNMEASURED = {"opset1.Result", "opset3.Assign", "opset6.Assign", "opset3.ReadValue", "opset6.ReadValue"}
"""Operations that cannot be a model alone."""

NOT_COMPILED = {
    "opset1.BinaryConvolution": "the CPU plugin of no release has it for u1",
    "opset1.HardSigmoid": "constants are needed, which the sample does not have",
    "opset1.Selu": "constants are needed, which the sample does not have",
    **dict.fromkeys(
        (
            *("opset3.GRUCell", "opset1.LSTMCell", "opset4.LSTMCell", "opset1.RNNCell"),
            *(f"opset5.{kind}Sequence" for kind in ("GRU", "LSTM", "RNN")),
        ),
        "constant weights are needed, which the sample does not have",
    ),
    "opset9.RDFT": "the sample is not compiled by any release",
    "opset8.AdaptiveMaxPool": "its indices are not computed as i64 by all releases",
}
"""Operations that are compared by what the reader accepts only, and why."""


def models(folder: Path) -> dict[str, str]:
    """A model of each operation, as IR: the path by the name of the operation."""
    folder.mkdir(parents=True, exist_ok=True)
    reference = cast("dict[str, Any]", json.loads(REFERENCE.read_text(encoding="utf-8"))["operations"])
    files: dict[str, str] = {}
    # The stubs of these are incomplete.
    result: Any = import_module("openvino.opset6").result
    model: Any = openvino.Model
    for name in reference.keys() - UNMEASURED:
        content = reference[name]["sample"]
        opset, _, kind = name.partition(".")
        node = instance(kind, opset, Sample(tuple(content["operands"]), content["attributes"]))
        sources: list[Any] = [each.get_node() for each in node.input_values()]
        parameters = [each for each in sources if each.get_type_name() == "Parameter"]
        files[name] = str(folder / f"{name}.xml")
        openvino.serialize(model([result(each) for each in node.outputs()], parameters, name), files[name])
    return files


def differences(versions: Sequence[str], build: Path, interpreter: Callable[[str], Path]) -> int:
    """Print the operations for which a release does otherwise than its record says.

    Args:
        versions: versions of the runtime since 2022.1.
        build: the folder for models.
        interpreter: makes the environment of a version, and returns its interpreter.

    Returns the exit status: 1 if there are differences.
    """
    files, count = models(build / "operations"), 0
    listed = build / "operations.json"
    listed.write_text(json.dumps(files), encoding="utf-8")
    for version in versions:
        child = Path(__file__).with_name("accepted.py")
        finished = subprocess.run(
            [interpreter(version), "-I", child, listed], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True, check=True
        )
        for line in finished.stdout.splitlines():
            name, reads, compiles = cast("tuple[str, bool, bool]", json.loads(line))
            actual = reads if name in NOT_COMPILED else compiles
            if actual != accepts(release_named(version), name):
                count += 1
                print(f"{version}: {name} is {'accepted' if actual else 'not accepted'}", flush=True)
    return int(count > 0)
