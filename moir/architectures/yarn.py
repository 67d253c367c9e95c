"""The factors of YaRN.

Peng et al., "YaRN: Efficient Context Window Extension of Large Language Models", 2023.
"""

from __future__ import annotations

import math


def magnitude(factor: float, scale: float) -> float:
    """The magnitude factor of YaRN, 0.1 · scale · ln(factor) + 1; 1 for factors up to 1."""
    return 0.1 * scale * math.log(factor) + 1 if factor > 1 else 1.0
