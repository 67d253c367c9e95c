"""The view of PaddlePaddle: Model Optimizer had no nodes of its own for it, so that operations are seen as they are."""

from __future__ import annotations

from moir.model_optimizer.frameworks.view import FrameworkView

VIEW = FrameworkView()
