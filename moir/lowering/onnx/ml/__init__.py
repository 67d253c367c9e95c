"""Operations of the domain ai.onnx.ml."""
