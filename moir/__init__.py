"""moir: a neural-network model converter built as an MLIR-style compiler.

    import moir

    module = moir.convert_model("model.onnx")
    moir.save_model(module, "model.xml")

The submodules are imported when a name of the package is first used, so that `import moir` itself takes no time.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from moir.conversion import convert_model, save_model
    from moir.emit.in_memory import to_openvino
    from moir.frameworks import read_model

    __version__: str

__all__ = ["__version__", "convert_model", "read_model", "save_model", "to_openvino"]

_HOMES = {
    "convert_model": "moir.conversion",
    "read_model": "moir.conversion",
    "save_model": "moir.conversion",
    "to_openvino": "moir.emit.in_memory",
}


def __getattr__(name: str) -> Any:
    if name == "__version__":
        from moir.version import moir_version

        value: Any = moir_version()
    elif name in _HOMES:
        value = getattr(import_module(_HOMES[name]), name)
    else:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    globals()[name] = value
    return value
