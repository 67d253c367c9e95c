"""Checks of a model for a device that is not at hand: what it will refuse, and what its precision loses (`moir check`,
`--keep-precision`).
"""
