"""moir: a neural-network model converter built as an MLIR-style compiler.

    import moir

    module = moir.convert_model("model.onnx")
    moir.save_model(module, "model.xml")

All errors that moir raises are subclasses of `moir.errors.MoirError`. The submodules are imported when a name of the
package is first used, so that `import moir` itself takes no time.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from moir import errors
    from moir.bisection.bisect import bisect
    from moir.certificate.interface import certify, verify_certificate
    from moir.conversion import Observer, save_model
    from moir.conversion_result import ConversionResult
    from moir.difference.interface import diff
    from moir.emit.in_memory import to_openvino
    from moir.inspection.interface import inspect
    from moir.interface import convert_model, read_model
    from moir.onnx_export import save_onnx
    from moir.parameters.input_values import Input
    from moir.tools.batch.interface import Job, convert_models
    from moir.tools.interface import check, compare, reduce, report, run

    __version__: str

__all__ = [
    "ConversionResult",
    "Input",
    "Job",
    "Observer",
    "__version__",
    "bisect",
    "certify",
    "check",
    "compare",
    "convert_model",
    "convert_models",
    "diff",
    "errors",
    "inspect",
    "read_model",
    "reduce",
    "report",
    "run",
    "save_model",
    "save_onnx",
    "to_openvino",
    "verify_certificate",
]

_HOMES = {
    "ConversionResult": "moir.conversion_result",
    "Input": "moir.parameters.input_values",
    "Job": "moir.tools.batch.interface",
    "Observer": "moir.conversion",
    "bisect": "moir.bisection.bisect",
    "certify": "moir.certificate.interface",
    "check": "moir.tools.interface",
    "compare": "moir.tools.interface",
    "convert_model": "moir.interface",
    "convert_models": "moir.tools.batch.interface",
    "diff": "moir.difference.interface",
    "inspect": "moir.inspection.interface",
    "read_model": "moir.interface",
    "reduce": "moir.tools.interface",
    "report": "moir.tools.interface",
    "run": "moir.tools.interface",
    "save_model": "moir.conversion",
    "save_onnx": "moir.onnx_export",
    "to_openvino": "moir.emit.in_memory",
    "verify_certificate": "moir.certificate.interface",
}


def __getattr__(name: str) -> Any:
    if name == "__version__":
        from moir.version import VERSION

        value: Any = VERSION
    elif name == "errors":
        value = import_module("moir.errors")
    elif name in _HOMES:
        value = getattr(import_module(_HOMES[name]), name)
    else:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return list(__all__)
