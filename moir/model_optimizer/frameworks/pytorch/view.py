"""The view of PyTorch, whose exported programs Model Optimizer did not read: nodes are called as in the program."""

from __future__ import annotations

from moir.model_optimizer.frameworks.view import FrameworkView

VIEW = FrameworkView(attributes_are_complete=False)
