"""Operations of the domain com.microsoft, which ONNX Runtime defines."""
