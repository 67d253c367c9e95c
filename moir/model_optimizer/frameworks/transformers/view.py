"""The view of language models: extensions see the blocks, for which Model Optimizer had no names."""

from __future__ import annotations

from moir.model_optimizer.frameworks.view import FrameworkView

VIEW = FrameworkView()
