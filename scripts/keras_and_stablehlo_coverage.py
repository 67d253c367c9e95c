"""`docs/keras-coverage.md` and `docs/stablehlo-coverage.md`: the layers and operations that are lowered."""

from __future__ import annotations

from moir.frontends.stablehlo.scope import KNOWN_COMPOSITES
from moir.lowering.keras.table import keras
from moir.lowering.stablehlo.table import stablehlo
from scripts.former_frameworks_coverage import IMPORTED, lowered_kinds, table_document

KERAS_HEADING = """# Coverage of Keras

The layers of Keras 2 and 3 that moir knows, and the functions of `keras.ops`, which functional models have as layers (`ops.…`). Files are
`.keras` archives and `.h5` files; they need h5py (`pip install 'moir[keras]'`), but neither Keras nor TensorFlow. Any other layer, those of
users among them, is imported with its configuration and variables, and is an error that names it unless an extension lowers it. Written by
`python -m scripts.coverage`; do not edit.

A Lambda is bytecode of one version of Python, which is never executed. Models that are subclasses have no graph in the file; their
`export` writes a SavedModel.

{counts}

{legend}

| layer | how | where | reads |
| --- | --- | --- | --- |
"""

STABLEHLO_HEADING = """# Coverage of StableHLO

The operations of StableHLO that moir knows. Files are texts of modules in the pretty and the generic form, portable artifacts (bytecode of
MLIR with VHLO) and the files that `jax.export` writes; none of them needs JAX. Calls are inlined, as are composites but those of `chlo`;
quantized tensors are computed as the numbers that they stand for, and rounded where the program says it. Complex numbers
are pairs of real ones, with functions of them as `complex.FUNCTION`; random numbers are those of Threefry. Programs
whose constants were left out are refused. Written by `python -m scripts.coverage`; do not edit.

{counts}

{legend}

| operation | how | where | reads |
| --- | --- | --- | --- |
"""

_READ = ("call", "composite", "constant", "func.call", "optimization_barrier", "return")
"""Operations that nothing is left of when a program is read."""


def keras_document() -> str:
    """The text of the file on Keras."""
    return table_document(KERAS_HEADING, keras, {"InputLayer": (IMPORTED, ""), **lowered_kinds(keras)})


def stablehlo_document() -> str:
    """The text of the file on StableHLO."""
    rows = dict.fromkeys((*_READ, *KNOWN_COMPOSITES), (IMPORTED, ""))
    return table_document(STABLEHLO_HEADING, stablehlo, rows | lowered_kinds(stablehlo))
