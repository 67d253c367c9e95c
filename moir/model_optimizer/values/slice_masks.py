"""The masks of a StridedSlice: in Model Optimizer a 1 in `begin_mask` or `end_mask` means that the entry is used.

In TensorFlow and in the IR it means that the entry is ignored, so these two masks are inverted wherever an extension
reads or sets them. The other masks are as in the IR.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

INVERTED = ("begin_mask", "end_mask")
MASKS = (*INVERTED, "new_axis_mask", "shrink_axis_mask", "ellipsis_mask")


def inverted(mask: Any) -> Any:
    """A mask with 0 for 1 and 1 for 0."""
    return 1 - np.array(mask, dtype=np.int64).reshape(-1)


def texts_of_the_ir(texts: Mapping[str, str]) -> dict[str, str]:
    """The masks of a StridedSlice in the form of the IR, by name, from the texts that `backend_attrs` wrote.

    All masks that have entries become equally long: an entry that a mask does not have is 0 in the IR.
    """
    listed = {name: [int(float(item)) for item in texts.get(name, "").split(",") if item.strip()] for name in MASKS}
    bits = {name: inverted(mask).tolist() if name in INVERTED else mask for name, mask in listed.items()}
    length = max(len(mask) for mask in bits.values())
    extended = {name: (mask + [0] * length)[:length] for name, mask in bits.items() if mask or name in INVERTED}
    return {**texts, **{name: ",".join(map(str, mask)) for name, mask in extended.items()}}
