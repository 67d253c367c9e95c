"""The errors that extensions raise: `raise Error("node {} has no input", node.name)`."""

from __future__ import annotations

import logging
from typing import Any

from moir.errors import ConversionError

log = logging.getLogger("moir")
"""The logger of moir, which extensions written for Model Optimizer of 2021 import from `utils.logger`."""


class Error(ConversionError):
    """An error in the model.

    Args:
        message: what is wrong; `{}` stands for one of the values.
        values: the values.
    """

    def __init__(self, message: object = "", *values: object, **place: Any) -> None:
        text = str(message)
        super().__init__(text.format(*values) if values else text, **place)


class InternalError(Error):
    """An error in the extension."""


class FrameworkError(Error):
    """An error in the framework's model file."""


def refer_to_faq_msg(_number: int) -> str:
    """An empty text, in place of a reference to the numbered questions in Model Optimizer's documentation."""
    return ""
