"""Loops that the CPU plugin executes wrongly."""
