"""`mo.back.replacement`, whose base class the documents once call `MiddleReplacementPattern`."""

from __future__ import annotations

from moir.model_optimizer.api.transformations.replacement import BackReplacementPattern

MiddleReplacementPattern = BackReplacementPattern

__all__ = ["BackReplacementPattern", "MiddleReplacementPattern"]
