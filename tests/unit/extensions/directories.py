"""Extension directories and models for tests."""

from __future__ import annotations

from pathlib import Path
from textwrap import dedent

import onnx
from onnx import TensorProto, helper


def write(directory: Path, **files: str) -> Path:
    """Write the files of an extension; `front_onnx__mine` is `front/onnx/mine.py`."""
    for name, text in files.items():
        folder, _, stem = name.rpartition("__")
        path = directory / folder.replace("_", "/") / f"{stem}.py"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(dedent(text), encoding="utf-8")
    return directory


def chain(path: Path, *kinds: str, domain: str = "com.example") -> Path:
    """A model of nodes in a row; those whose kinds begin with `my` are of a domain of their own. Returns its path."""
    nodes = [
        helper.make_node(
            kind, [f"t{index}"], [f"t{index + 1}"], name=f"node{index}", domain=domain if kind.lower().startswith("my") else ""
        )
        for index, kind in enumerate(kinds)
    ]
    x = helper.make_tensor_value_info("t0", TensorProto.FLOAT, [2, 4])
    y = helper.make_tensor_value_info(f"t{len(kinds)}", TensorProto.FLOAT, [2, 4])
    imports = [helper.make_opsetid("", 17), helper.make_opsetid(domain, 1)]
    onnx.save(helper.make_model(helper.make_graph(nodes, "g", [x], [y]), opset_imports=imports, ir_version=9), path)
    return path
