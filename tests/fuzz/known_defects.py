"""Cases of the seed of the tests that are defects, with the reason. Whoever mends one takes its line out.

A case that is listed and is no defect any more fails the test. A change of a generator changes cases: then `python -m
tests.fuzz --seed 11 --count 300` says which of them are defects now, and the reasons are found by their operations.
"""

from __future__ import annotations

SEED = 11
COUNT = 300

_RANK = "the plugin compiles no result of unknown rank: this should be refused"
_WEIGHTS = "weights of unknown size do not compile"

KNOWN_DEFECTS: dict[int, tuple[str, str]] = {
    9: ("Relu", "infinities of f64 become the largest number of f32"),
    36: ("Loop.while", _RANK),
    41: ("Unique", "Unique of strings does not compile"),
    93: ("fold-scales.convolution", _WEIGHTS),
    99: ("ConstantOfShape", _RANK),
    101: ("fuse-clamp.twice", "Relu of NaN is 0"),
    109: ("Resize", "Resize of i8 with computed sizes has no elements"),
    236: ("QLinearConv", _WEIGHTS),
}
"""By the number of the case: its operation or pattern, and why."""
