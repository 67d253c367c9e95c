"""The settings of TensorFlow, which it reads when it is imported first, whichever test does that; and files that no test
needs to survive a loss of power.
"""

from __future__ import annotations

import os

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
# Kernels of oneDNN round differently, and some quantized types have none.
os.environ.setdefault("TF_ENABLE_ONEDNN_OPTS", "0")
os.environ.setdefault("CUDA_VISIBLE_DEVICES", "")


def keep_in_memory(descriptor: int) -> None:
    """Takes the place of `os.fsync`, whose wait for the disk was a tenth of the time of all tests."""


os.fsync = keep_in_memory
