"""Faults of the CPU plugin of OpenVINO Runtime, and forms of operations that it computes right: a file a family."""
