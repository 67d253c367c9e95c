"""A lowering."""

from moir.lowering.onnx.table import onnx


@onnx.lowers("com.example.Half")
def half(node, op):
    """onnx.com.example.Half(x) -> extension.Half(x)"""
    return op.Half(node.operand(0), exact=node.flag("exact", True))
