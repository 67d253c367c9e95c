"""Convolutions that the CPU plugin computes wrongly or does not compile."""
