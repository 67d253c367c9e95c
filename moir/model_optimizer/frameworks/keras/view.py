"""The view of Keras, which Model Optimizer did not read: extensions see the nodes of the `keras` dialect."""

from __future__ import annotations

from moir.model_optimizer.frameworks.view import FrameworkView

VIEW = FrameworkView()
