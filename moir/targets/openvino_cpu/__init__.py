"""Faults of the CPU plugin of OpenVINO Runtime, and the rewrites that avoid them: one file per family of operations.

A rewrite "separates" two operations by an operation between them that changes no value (a Maximum with -inf, a PRelu of
slope 1, a Reshape to the same shape), so that the plugin does not merge them.
"""
