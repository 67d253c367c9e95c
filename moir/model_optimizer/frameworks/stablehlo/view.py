"""The view of StableHLO, which Model Optimizer did not read: extensions see the nodes of the `stablehlo` dialect."""

from __future__ import annotations

from moir.model_optimizer.frameworks.view import FrameworkView

VIEW = FrameworkView()
