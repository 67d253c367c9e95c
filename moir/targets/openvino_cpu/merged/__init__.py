"""Operations that the CPU plugin merges with their neighbours: quantization, attention, convolutions of parts."""
