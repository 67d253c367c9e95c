"""The module `mo.back.replacement`, with the base class under a further name, `MiddleReplacementPattern`, which the
documentation uses once.
"""

from __future__ import annotations

from moir.model_optimizer.api.transformations.replacement import BackReplacementPattern

MiddleReplacementPattern = BackReplacementPattern

__all__ = ["BackReplacementPattern", "MiddleReplacementPattern"]
