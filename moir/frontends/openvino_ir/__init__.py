"""Reading OpenVINO IR: `read_model(path)` gives a module in opset dialects, of an `.xml` and the `.bin` beside it."""

from moir.frontends.openvino_ir.model import read_model

__all__ = ["read_model"]
