"""The view of PaddlePaddle: extensions see the framework's operations, since Model Optimizer had no names for them."""

from __future__ import annotations

from moir.model_optimizer.frameworks.view import FrameworkView

VIEW = FrameworkView()
