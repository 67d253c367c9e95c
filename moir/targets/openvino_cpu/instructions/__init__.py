"""Operations that the CPU plugin does not execute if ONEDNN_MAX_CPU_ISA limits the instruction set below the
processor's own.
"""
