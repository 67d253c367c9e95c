"""`docs/caffe-coverage.md` and `docs/mxnet-coverage.md`: the kinds of nodes of frameworks that are developed no more.

Nobody adds kinds to these frameworks, so that the documents list what is lowered; what is left out comes from the
frontends.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping

from moir.frontends.caffe.graph import DATA, INFERENCE_TYPES, TRAINING
from moir.frontends.mxnet.graph import LOSSES, VARIABLE
from moir.lowering.caffe.table import caffe
from moir.lowering.mxnet.table import mxnet
from moir.lowering.table import LoweringTable
from scripts.signature_texts import LEGEND, signature_text

IMPORTED, DIRECT, LEFT_OUT, REPORTED = "read by the frontend", "direct", "left out", "reported"

CAFFE_HEADING = """# Coverage of Caffe

The supported layers of BVLC Caffe 1.0 and of forks in use. Any other layer is an error that names it; an [extension](extending.md) can
lower it. Written by `python -m scripts.coverage`; do not edit.

The rows of a DetectionOutput are sorted by confidence within an image, as in OpenCV. Caffe, and Model Optimizer, sort them by class.

{counts}

{legend} Attributes are fields of the layer's parameters.

| layer | how | where | reads |
| --- | --- | --- | --- |
"""

MXNET_HEADING = """# Coverage of MXNet

The supported operations, by their names in a symbol; names that begin with `_np` are of the numpy interface. Any other operation is an
error that names it; an [extension](extending.md) can lower it. Labels of losses ({losses}) are left out.
Written by `python -m scripts.coverage`; do not edit.

**Quantized operations** are computed in real numbers, rounded to those that the integers represent. What MXNet rounds within an operation
(a bias, or weights that it quantizes itself) is not rounded.

**Recurrent cells** that a symbol unrolls into steps become LSTMSequence, GRUSequence or RNNSequence: cells of `mx.rnn` and Gluon, in
stacks, in both directions and with residual sums. Cells with zoneout, and decoders whose input depends on the previous step, stay
unrolled.

**Detections** have the rows that MXNet computes. With `--detection=output` the MultiBoxDetection at the end of an SSD becomes a
DetectionOutput, as Model Optimizer made of every MultiBoxDetection: [1, 1, n, 7] with image, class, score and corners, sorted, without
the rows that have no class, at most `nms_topk` for each image. `force_suppress`, which a DetectionOutput does not have, is an error then.
Anchors are constants where sizes are known, not PriorBox, as their sizes are relative to a feature map. The SSD of GluonCV always becomes
plain operations: its box_nms takes the best `topk` boxes of all classes together, a DetectionOutput those of each class.

{counts}

{legend}

| operation | how | where | reads |
| --- | --- | --- | --- |
"""

MEANINGS = {
    DIRECT: "a handler in the file of that name in `moir/lowering/{name}`",
    IMPORTED: "becomes an input, a constant or another layer when the file is read",
    LEFT_OUT: "only needed for training or its evaluation; what it reads becomes an output",
    REPORTED: "refused, with the reason",
}


def lowered_kinds(table: LoweringTable) -> dict[str, tuple[str, str]]:
    """For each kind with a handler, the way it is lowered and the file it is lowered in."""
    found: dict[str, tuple[str, str]] = {}
    for kind in table.kinds():
        handler = table.handler(kind, 1)
        if handler is not None:
            found[kind] = REPORTED if handler.__annotations__.get("return") == "NoReturn" else DIRECT, table.file(kind)
    return found


def table_document(heading: str, table: LoweringTable, rows: Mapping[str, tuple[str, str]], **values: str) -> str:
    """The document of a table: a heading with `{counts}` and `{legend}`, and a row for each kind."""
    counts = Counter(how for how, _ in rows.values())
    listed = "\n".join(
        f"- **{how}** ({counts[how]}): {meaning.format(name=table.framework)}" for how, meaning in MEANINGS.items() if counts[how]
    )
    lines = (f"| {kind} | {how} | {where} | {signature_text(table, kind)} |\n" for kind, (how, where) in sorted(rows.items()))
    return heading.format(counts=listed, legend=LEGEND, **values) + "".join(lines)


def _marked(kinds: Iterable[str], how: str) -> dict[str, tuple[str, str]]:
    return dict.fromkeys(kinds, (how, ""))


def caffe_document() -> str:
    """The text of the file on Caffe."""
    rows = _marked(("Input", *DATA, *INFERENCE_TYPES), IMPORTED) | _marked(TRAINING, LEFT_OUT) | lowered_kinds(caffe)
    return table_document(CAFFE_HEADING, caffe, rows)


def mxnet_document() -> str:
    """The text of the file on MXNet."""
    rows = _marked((VARIABLE,), IMPORTED) | lowered_kinds(mxnet)
    return table_document(MXNET_HEADING, mxnet, rows, losses=", ".join(sorted(LOSSES)))
