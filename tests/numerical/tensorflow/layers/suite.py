"""Layer tests of TensorFlow: a graph around each operation, each layer of Keras and each of some functions."""

from __future__ import annotations

import tempfile
import traceback
from pathlib import Path

from tests.fuzz.comparison import difference
from tests.fuzz.draw import NoCase
from tests.fuzz.runner import GENERATOR_FAILED
from tests.numerical.outcomes import Judgement, Outcome, judge
from tests.numerical.runtime import use_one_thread
from tests.numerical.tensorflow.layers.case import Form, Layer
from tests.numerical.workers import Say


def suite() -> dict[str, Layer]:
    """All layer tests by name."""
    from tests.numerical.tensorflow.layers.functions import functions
    from tests.numerical.tensorflow.layers.keras_layers import keras_layers
    from tests.numerical.tensorflow.layers.operations import operations

    return operations() | functions() | keras_layers()


def run_test(name: str, say: Say, form: Form = "static") -> Judgement:
    """Convert the graph of a test, run it and compare. The task of a worker."""
    use_one_thread()
    layer = suite()[name]
    say(f"{layer.subject}: reference")
    try:
        case = layer.case(form)
        _, reference = case.source.references()[0]
        expected = reference(case.inputs)
    except NoCase as none:
        return Judgement(Outcome.INAPPLICABLE, str(none))
    except Exception:
        return Judgement(Outcome.INAPPLICABLE, GENERATOR_FAILED + traceback.format_exc(limit=-3))
    with tempfile.TemporaryDirectory() as folder:
        judgement = judge(
            case.source.save(Path(folder)),
            case.inputs,
            lambda model, results: difference(model, list(case.inputs), case.outputs, results, expected),
            say,
        )
    if judgement.outcome == Outcome.EQUAL:
        return judgement
    return Judgement(judgement.outcome, f"{judgement.message}\n{case.source.describe()}")
