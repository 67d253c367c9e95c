"""Writing a module in opset dialects as OpenVINO IR: the last stage of a conversion."""

from __future__ import annotations

from moir.emit.in_memory import serialize, to_openvino
from moir.emit.write import WrittenModel, write_model

__all__ = ["WrittenModel", "serialize", "to_openvino", "write_model"]
