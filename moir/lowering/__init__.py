"""Lowering of framework dialects to opset dialects: the driver, and functions that several frameworks share."""
