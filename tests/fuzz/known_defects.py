"""Cases of the seed of the tests that are defects, with the reason. Whoever mends a defect removes its line.

A listed case that is not a defect any more fails the test. A change of a generator changes cases: then `python -m
tests.fuzz --seed 11 --count 300` says which of them are defects now, and the reasons are found by their operations.
"""

from __future__ import annotations

SEED = 11
COUNT = 300

KNOWN_DEFECTS: dict[int, tuple[str, str]] = {}
"""By the number of the case: its operation or pattern, and why."""

TENSORFLOW_COUNT = 100

KNOWN_TENSORFLOW_DEFECTS: dict[int, tuple[str, str]] = {}
"""The same for graphs of TensorFlow."""

LAYER_COUNT = 300

KNOWN_LAYER_DEFECTS: dict[int, tuple[str, str]] = {}
"""The same for networks of MXNet and Caffe."""
