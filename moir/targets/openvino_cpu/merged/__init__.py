"""Operations that the CPU plugin merges wrongly with their neighbours: quantization, attention, convolutions of
parts.
"""
