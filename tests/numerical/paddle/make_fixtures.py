"""Models of PaddlePaddle and their outputs for the tests of this folder, made by the framework itself.

    FLAGS_enable_pir_api=0 python tests/numerical/paddle/make_fixtures.py    # programs (.pdmodel)
    FLAGS_enable_pir_api=1 python tests/numerical/paddle/make_fixtures.py    # PIR (.json)

It needs PaddlePaddle (3.3.1 here, in an environment of its own), which the tests do not. A model has the cases of one
family, an output each. `fixtures/FAMILY.FORM.zip` has the files of the model with static and with unknown dimensions,
and `values.npz` with inputs and outputs.
"""

from __future__ import annotations

import io
import sys
import tempfile
import zipfile
from pathlib import Path

import numpy as np
import paddle
from paddle.nn import functional as F

from families import FAMILIES  # type: ignore[import-not-found]

HERE = Path(__file__).parent
FORM = "pir" if paddle.base.framework.in_pir_mode() or paddle.get_flags("FLAGS_enable_pir_api")["FLAGS_enable_pir_api"] else "program"
KINDS: set[str] = set()
"""The kinds of the operations of the programs that were written."""


class Cases(paddle.nn.Layer):
    """A model that computes all cases of a family."""

    def __init__(self, family):
        super().__init__()
        self.family = family

    def forward(self, *values):
        given = dict(zip(self.family.inputs, values))
        return [case(F, paddle, **{name: given[name] for name in names}) for names, case in self.family.cases.values()]


def write(name, family) -> None:
    """Write the archive of one family."""
    random = np.random.default_rng(7)
    inputs = {each: make(random) for each, make in family.inputs.items()}
    layer = Cases(family)
    layer.eval()
    values = {f"in/{each}": value for each, value in inputs.items()}
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as archive:
        for form in ("static", "dynamic"):
            if form == "dynamic" and not family.dynamic:
                continue
            specs = [
                paddle.static.InputSpec(
                    [None if form == "dynamic" and axis in family.dynamic else size for axis, size in enumerate(value.shape)], str(value.dtype), each
                )
                for each, value in inputs.items()
            ]
            with tempfile.TemporaryDirectory() as folder:
                paddle.jit.save(layer, f"{folder}/{form}", input_spec=specs)
                for path in sorted(Path(folder).iterdir()):
                    if path.suffix in (".pdmodel", ".json", ".pdiparams"):
                        archive.write(path, path.name)
                loaded = paddle.jit.load(f"{folder}/{form}")
                found = loaded(*(paddle.to_tensor(value) for value in inputs.values()))
                if form == "static":
                    listed = found if isinstance(found, list | tuple) else [found]
                    assert len(listed) == len(family.cases)
                    values |= {f"out/{index}/{case}": each.numpy() for index, (case, each) in enumerate(zip(family.cases, listed))}
        array = io.BytesIO()
        np.savez_compressed(array, **values)
        archive.writestr("values.npz", array.getvalue())
    (HERE / "fixtures").mkdir(exist_ok=True)
    (HERE / "fixtures" / f"{name}.{FORM}.zip").write_bytes(buffer.getvalue())


if __name__ == "__main__":
    for name in sys.argv[1:] or FAMILIES:
        write(name, FAMILIES[name])
        print(name, FORM)
