"""Releases of OpenVINO Runtime: what each of them reads, and how newer operations are replaced by those that it
reads.
"""
