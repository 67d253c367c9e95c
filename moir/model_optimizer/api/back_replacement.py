"""`mo.back.replacement`, of which the documents once call the base class by the name of the middle phase."""

from __future__ import annotations

from moir.model_optimizer.api.replacement import BackReplacementPattern

MiddleReplacementPattern = BackReplacementPattern

__all__ = ["BackReplacementPattern", "MiddleReplacementPattern"]
