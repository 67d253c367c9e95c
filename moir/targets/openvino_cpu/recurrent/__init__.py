"""Recurrent cells and sequences that the CPU plugin computes wrongly or has no kernel for."""
