"""`docs/keras-coverage.md` and `docs/stablehlo-coverage.md`: the layers and operations that are lowered."""

from __future__ import annotations

from moir.frontends.stablehlo.scope import KNOWN_COMPOSITES
from moir.lowering.keras.table import keras
from moir.lowering.stablehlo.custom_calls import SINGLE, TARGETS, UNAVAILABLE
from moir.lowering.stablehlo.table import stablehlo
from scripts.former_frameworks_coverage import IMPORTED, lowered_kinds, table_document

KERAS_HEADING = """# Coverage of Keras

The supported layers of Keras 2 and 3, and functions of `keras.ops`, which functional models have as layers (`ops.…`). Files are `.keras`
archives and `.h5` files. Reading them needs h5py (`pip install 'moir[keras]'`), but neither Keras nor TensorFlow. Any other layer is an
error that names it; an [extension](extending.md) can lower it, and gets its configuration and variables. Written by
`python -m scripts.coverage`; do not edit.

A `Lambda` layer is Python bytecode, which moir never executes. The file of a subclassed model has no graph: use `model.export`, which
writes a SavedModel. Hashes of texts and integers (`Hashing`, several places for unknown words) are operations of OpenVINO Tokenizers;
those with a salt, and `HashedCrossing`, are refused, because they are sums and products of 64 bits, and the runtime computes with 32.
Where the backends of Keras differ, moir computes what TensorFlow's does: cubic kernels of a table, zeros for masked steps before the
first one that is not, NaN before all elements for `searchsorted` on the left. `space_to_depth` with channels first is as in JAX and
PyTorch; segments without elements have the limit of their type.

{counts}

{legend}

| layer | how | where | reads |
| --- | --- | --- | --- |
"""

STABLEHLO_HEADING = """# Coverage of StableHLO

The supported operations of StableHLO. Files are texts of modules (pretty or generic form), portable artifacts (MLIR bytecode with VHLO),
and files that `jax.export` writes; JAX is not needed. Calls are inlined, and so are composites, except those of `chlo`. Quantized tensors
are computed in real numbers, and rounded where the program says so. Complex numbers are pairs of real numbers; functions of them are
listed as `complex.FUNCTION`. Random numbers are those of Threefry. Programs whose constants were left out are refused. Written by
`python -m scripts.coverage`; do not edit.

Comparisons in the total order of floats are exact but for the sign of NaN. Sorts and `chlo.top_k` have the order of the runtime: -0
equals 0, so that the first of them comes first, and the place of NaN is not defined.

{counts}

{legend}

| operation | how | where | reads |
| --- | --- | --- | --- |
"""

TARGETS_HEADING = """
## Functions of libraries

What a `custom_call` may name; those of LAPACK have a letter for their element type in front (`lapack_sgetrf_ffi`). Any other is refused
by its name, unless an extension lowers `custom_call`.

| function | computed |
| --- | --- |
"""

_READ = ("call", "composite", "constant", "func.call", "optimization_barrier", "return")
"""Operations that nothing is left of when a program is read."""


def keras_document() -> str:
    """The text of the file on Keras."""
    return table_document(KERAS_HEADING, keras, {"InputLayer": (IMPORTED, ""), **lowered_kinds(keras)})


def stablehlo_document() -> str:
    """The text of the file on StableHLO."""
    rows = dict.fromkeys((*_READ, *KNOWN_COMPOSITES), (IMPORTED, ""))
    return table_document(STABLEHLO_HEADING, stablehlo, rows | lowered_kinds(stablehlo)) + targets_section()


def targets_section() -> str:
    """The functions that a `custom_call` may name."""
    computed = sorted({*TARGETS, *(f"mhlo.{name}" for name in SINGLE)})
    rows = [*(f"| {name} | yes |" for name in computed), *(f"| {name} | no: {reason} |" for name, (reason, _) in UNAVAILABLE.items())]
    return TARGETS_HEADING + "\n".join(rows) + "\n"
