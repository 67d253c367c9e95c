"""Layers that call a function of TensorFlow: `TFOpLambda` of Keras 2, as the operations that the function creates."""

from __future__ import annotations

from importlib import import_module

from xdsl.ir import SSAValue

from moir.lowering.binder import LoweringNode
from moir.lowering.keras.attributes import Arguments, values_within
from moir.lowering.keras.table import keras
from moir.lowering.keras.tensorflow.calls import FUNCTIONS, Call
from moir.lowering.table import Replacement
from moir.rewriting.builder import OpBuilder

_FAMILIES = ("same_operations", "arrays", "images", "matrices", "networks", "reduction")
"""The modules that define functions, imported when the first call is lowered."""


_FORMER_NAMES = {"batch_to_space_nd": "batch_to_space", "nn.softmax_cross_entropy_with_logits_v2": "nn.softmax_cross_entropy_with_logits"}
"""Names in `tf.compat.v1`, each with the name that the function has in TensorFlow 2."""

_WITHOUT_EFFECT = frozenset(
    ("name", "layout", "bad_indices_policy", "use_cudnn_on_gpu", "partition_strategy", "validate_indices", "grad_a", "grad_b")
)
"""Arguments that do not change the result of a function in any call that is accepted."""

_LISTING = frozenset(("einsum", "linalg.einsum", "meshgrid"))
"""Functions of a variable number of tensors: Keras 2 stores only their first argument, so they cannot be converted."""


@keras.lowers("TFOpLambda", "SlicingOpLambda")
def tensorflow_function(node: LoweringNode, op: OpBuilder) -> Replacement:
    """keras.TFOpLambda(…) {function = "linalg.band_part"} -> what tf.MatrixBandPart(…) lowers to; likewise other
    functions
    """
    for family in _FAMILIES:
        import_module(f"moir.lowering.keras.tensorflow.{family}")
    name = node.text("function")
    current = name.removeprefix("compat.v1.")
    function = FUNCTIONS.get(_FORMER_NAMES.get(current, current))
    if function is None:
        from moir.support.suggestions import did_you_mean

        hint = "convert the SavedModel of the model, write a lowering for this node, or cut the model before it"
        node.fail(f"the function tf.{name} is not supported", hint=did_you_mean(name, FUNCTIONS, hint))
    arguments = Arguments(node)
    keywords = {key: value for key, value in arguments.keywords.items() if key not in _WITHOUT_EFFECT}
    if current in _LISTING and not values_within([*arguments.positional, *keywords.values()][1:]):
        hint = "convert the SavedModel of the model"
        node.fail(f"the file has only the first argument of tf.{name}: Keras 2 does not store the others", hint=hint)
    if "filter" in keywords and "filters" not in keywords and current.startswith("nn.conv"):
        keywords["filters"] = keywords.pop("filter")
    try:
        results = function(Call(node, op), *arguments.positional, **keywords)
    except TypeError as error:
        node.fail(f"its arguments do not fit tf.{name}: {str(error).replace('()', '')}")
    values = [results] if isinstance(results, SSAValue) else list(results)
    if len(values) < node.result_count:
        node.fail(f"the result {len(values)} of tf.{name} is used, but it has {len(values)} results")
    return values[: node.result_count]
