"""Framework dialects -> opset dialects: the driver, and what the lowerings of several frameworks share."""
