"""Recurrent cells that a symbol writes out for each step become operations for whole sequences."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path

import pytest

from tests.numerical.mxnet.models import converted, write
from tests.numerical.mxnet.test_operations import CASES


@pytest.mark.parametrize("name", [name for name in CASES if name.startswith("cells ")])
def test_sequences(name: str, tmp_path: Path) -> None:
    case = CASES[name]
    path = write(tmp_path, json.loads(bytes(case["symbol"])), {key: value for key, value in case.items() if key.startswith("w")})
    kinds = Counter(op.get_type_name() for op in converted(path).get_ops())
    assert kinds[f"{name.split()[1]}Sequence"] == (2 if name.endswith("both") else 1)
    assert not kinds["MatMul"]
    assert not kinds["Split"]
