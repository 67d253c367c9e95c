"""Operations on images that the CPU plugin does not compile or computes wrongly."""
