"""`mo.back.replacement`, whose base class is called `MiddleReplacementPattern` in one place of the documentation."""

from __future__ import annotations

from moir.model_optimizer.api.transformations.replacement import BackReplacementPattern

MiddleReplacementPattern = BackReplacementPattern

__all__ = ["BackReplacementPattern", "MiddleReplacementPattern"]
