"""The view of PyTorch, whose exported programs Model Optimizer did not read: nodes have the names of the program's
kinds.
"""

from __future__ import annotations

from moir.model_optimizer.frameworks.view import FrameworkView

VIEW = FrameworkView(attributes_are_complete=False)
