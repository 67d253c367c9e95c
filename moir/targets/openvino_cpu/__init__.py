"""Faults of the CPU plugin of OpenVINO Runtime, and the rewrites that avoid them: one file per family of operations."""
