"""Files of the IR, written layer by layer."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Operation

from moir import read_model

X = '<data shape="2,3" element_type="f32"/>'


def port(number: int, *dimensions: int, precision: str = "FP32", names: str = "", inner: str = "") -> str:
    """A port of a layer."""
    label = f' names="{names}"' if names else ""
    body = "".join(f"<dim>{size}</dim>" for size in dimensions) + inner
    return f'<port id="{number}" precision="{precision}"{label}>{body}</port>'


def layer(number: int, kind: str, inner: str = "", *, version: str = "opset1", name: str = "", ins: str = "", outs: str = "") -> str:
    """A layer, with the text of its ports."""
    ports = (f"<input>{ins}</input>" if ins else "") + (f"<output>{outs}</output>" if outs else "")
    return f'<layer id="{number}" name="{name or f"n{number}"}" type="{kind}" version="{version}">{inner}{ports}</layer>'


def edge(source: tuple[int, int], target: tuple[int, int]) -> str:
    """An edge from a port of a layer to one of another."""
    return f'<edge from-layer="{source[0]}" from-port="{source[1]}" to-layer="{target[0]}" to-port="{target[1]}"/>'


def net(layers: list[str], edges: list[str], *, version: str = "11", information: str = "") -> str:
    """The text of a model."""
    return f'<net name="m" version="{version}"><layers>{"".join(layers)}</layers><edges>{"".join(edges)}</edges>{information}</net>'


def unary(
    kind: str, inner: str = "", *, parameter: str = X, version: str = "opset1", outs: int = 1, net_version: str = "11", **more: Any
) -> str:
    """A model of an input, an operation on it, and an output."""
    results = "".join(port(1 + index) for index in range(outs))
    return net(
        [
            layer(0, "Parameter", parameter, name="x", outs=port(0, names="x")),
            layer(1, kind, inner, version=version, name="op", ins=port(0), outs=results),
            layer(2, "Result", name="y", ins=port(0)),
        ],
        [edge((0, 0), (1, 0)), edge((1, 1), (2, 0))],
        version=net_version,
        **more,
    )


def constant(element: str, shape: str, offset: int, size: int) -> str:
    """A model whose only output is a constant."""
    data = f'<data element_type="{element}" shape="{shape}" offset="{offset}" size="{size}"/>'
    return net(
        [layer(0, "Const", data, name="c", outs=port(0)), layer(1, "Result", name="y", ins=port(0))],
        [edge((0, 0), (1, 0))],
    )


def written(folder: Path, text: str, weights: bytes | np.ndarray[Any, Any] | None = None) -> Path:
    """The path of an IR with this text and these weights."""
    path = folder / "model.xml"
    path.write_text(text, encoding="utf-8")
    if weights is not None:
        path.with_suffix(".bin").write_bytes(weights if isinstance(weights, bytes) else weights.tobytes())
    return path


def read(folder: Path, text: str, weights: bytes | np.ndarray[Any, Any] | None = None) -> ModuleOp:
    """The module of an IR with this text and these weights."""
    return read_model(written(folder, text, weights))


def operation(module: ModuleOp, name: str) -> Operation:
    """The only operation of a name."""
    (operation,) = [op for op in module.walk() if op.name == name]
    return operation
