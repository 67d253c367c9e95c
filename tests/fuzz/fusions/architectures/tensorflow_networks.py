"""The same networks as graphs of TensorFlow, and as models of TensorFlow Lite."""

from __future__ import annotations

from fnmatch import fnmatch

from tests.fuzz.case import Case
from tests.fuzz.draw import Draw
from tests.fuzz.fusions.architectures.networks import QUANTIZED, chosen, network
from tests.fuzz.fusions.architectures.tensorflow_language import TensorFlowLanguage
from tests.fuzz.tflite.integer_model import FORMS as INTEGER_FORMS
from tests.fuzz.tflite.integer_model import integer_case
from tests.fuzz.tflite.lite_model import lite_case


def tensorflow_network(draw: Draw, only: str = "*") -> Case:
    """A network whose architecture matches a glob, as a frozen graph."""
    name = chosen(draw, only)
    return network(TensorFlowLanguage(draw, quantizes=name.endswith(QUANTIZED)), name)


def lite_network(draw: Draw, only: str = "*") -> Case:
    """The same, converted by TensorFlow's converter, some with weights of 8 or 16 bits."""
    case = tensorflow_network(draw, only)
    return lite_case(case, draw.one_of(("float", "float", "float", "halves")))


def integer_network(draw: Draw, only: str = "*") -> Case:
    """The same with activations of 8 or 16 bits, after training or as the FakeQuants of a quantized architecture say.

    The part of a glob before a slash is of how integers are used ("u8/resnet*").
    """
    wanted, _, names = only.rpartition("/")
    forms = [form for form in INTEGER_FORMS if fnmatch(form, wanted or "*")]
    return integer_case(tensorflow_network(draw, names), draw.one_of(forms))
