"""Programs whose JSON is changed anywhere are converted, or refused by an error of moir."""

from __future__ import annotations

import json
import random
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import moir
from moir.errors import MoirError
from tests.fixtures.pytorch.generate import classifier
from tests.numerical.pytorch.programs import archive

PROGRAM, WEIGHTS = "m/models/model.json", "m/data/weights/model_weights_config.json"

VALUES: list[Any] = [
    *(None, True, -1, 0, 3, 10**30, 2**62, 1.5, "x", "", [], {}, [1]),
    *(
        {"as_int": 7},
        {"as_tensor": {"name": "p_fc_weight"}},
        {"as_name": "q"},
        "torch.ops.aten.cat.default",
        "torch.ops.aten.relu_.default",
    ),
]


def places(content: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """The paths of all values in an object of JSON."""
    if path:
        yield path
    for key in content if isinstance(content, dict) else range(len(content)) if isinstance(content, list) else ():
        yield from places(content[key], (*path, key))


def test_changed_programs_are_converted_or_refused(tmp_path: Path) -> None:
    generator = random.Random(3)
    records = classifier().records()
    refused = 0
    for number in range(150):
        name = WEIGHTS if number % 5 == 0 else PROGRAM
        content = json.loads(records[name])
        *path, last = generator.choice(list(places(content)))
        holder = content
        for key in path:
            holder = holder[key]
        if generator.random() < 0.2:
            del holder[last]
        else:
            holder[last] = generator.choice(VALUES)
        (tmp_path / "m.pt2").write_bytes(archive({**records, name: json.dumps(content).encode()}))
        try:
            moir.convert_model(tmp_path / "m.pt2")
        except MoirError:
            refused += 1
    assert 0 < refused < 150
