"""Operations that the CPU plugin merges with their neighbours, or moves, although that changes results."""
