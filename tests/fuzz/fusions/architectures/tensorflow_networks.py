"""The same networks as graphs of TensorFlow, and as models of TensorFlow Lite."""

from __future__ import annotations

from tests.fuzz.case import Case
from tests.fuzz.draw import Draw
from tests.fuzz.fusions.architectures.networks import QUANTIZED, chosen, network
from tests.fuzz.fusions.architectures.tensorflow_language import TensorFlowLanguage
from tests.fuzz.tflite.lite_model import lite_case


def tensorflow_network(draw: Draw, only: str = "*") -> Case:
    """A network whose architecture matches a glob, as a frozen graph."""
    name = chosen(draw, only)
    return network(TensorFlowLanguage(draw, quantizes=name.endswith(QUANTIZED)), name)


def lite_network(draw: Draw, only: str = "*") -> Case:
    """The same, converted by TensorFlow's converter, some with weights of 8 or 16 bits."""
    case = tensorflow_network(draw, only)
    return lite_case(case, draw.one_of(("float", "float", "float", "halves")))
