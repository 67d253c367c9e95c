"""Releases of OpenVINO Runtime: what each of them reads, and older operations in place of those that it does not."""
