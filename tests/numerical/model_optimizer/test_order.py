"""Which transformations written for Model Optimizer run, and in which order."""

from __future__ import annotations

import pytest

from moir.errors import ConversionError
from tests.numerical.model_optimizer.conversion import RELU, appending, convert
from tests.numerical.onnx.conversion import node

SWITCHED = {
    "front/a.py": appending("Off", "id = 'off'\nenabled = False"),
    "front/b.py": appending("On", "id = 'on'"),
    "middle/c.py": appending("Unnamed", "enabled = False", "Middle"),
    "back/d.py": appending("Never", "graph_condition = [lambda graph: True, lambda graph: graph.graph['layout'] == 'NHWC']", "Back"),
}


@pytest.mark.parametrize(
    ("environment", "options", "name"),
    [
        ({}, {}, "relu.On"),
        ({"MO_ENABLED_TRANSFORMS": "off"}, {}, "relu.Off.On"),
        ({"MO_ENABLED_TRANSFORMS": "off,my_extension.middle.c.Unnamed"}, {}, "relu.Off.On.Unnamed"),
        ({"MO_DISABLED_TRANSFORMS": "on"}, {}, "relu"),
        ({"MO_ENABLED_TRANSFORMS": "off,on", "MO_DISABLED_TRANSFORMS": "off"}, {}, "relu.On"),
        ({"MO_DISABLED_TRANSFORMS": "on"}, {"enable": ["on"]}, "relu.On"),
        ({"MO_ENABLED_TRANSFORMS": "off"}, {"disable": ["off", "on"]}, "relu"),
    ],
)
def test_enabled_and_disabled(tmp_path, monkeypatch, environment, options, name):
    for variable in ("MO_ENABLED_TRANSFORMS", "MO_DISABLED_TRANSFORMS"):
        monkeypatch.delenv(variable, raising=False)
    for variable, value in environment.items():
        monkeypatch.setenv(variable, value)
    assert convert(tmp_path, SWITCHED, RELU, **options).names("ReLU") == [name]


def after(names: str, method: str = "run_after") -> str:
    modules = "".join(f"    from my_extension.front.{name.lower()} import {name}\n" for name in names.split())
    return f"def {method}(self):\n{modules}    return [{', '.join(names.split())}]"


def test_order(tmp_path):
    files = {
        "front/a.py": appending("A", after("C")),
        "front/b.py": appending("B"),
        "front/c.py": appending("C", after("B", "run_before")),
        "middle/d.py": appending("D", base="Middle"),
    }
    for attempt in ("one", "two"):
        assert convert(tmp_path / attempt, files, RELU).names("ReLU") == ["relu.C.A.B.D"]


def test_order_that_is_a_cycle(tmp_path):
    files = {"front/a.py": appending("A", after("B")), "front/b.py": appending("B", after("C")), "front/c.py": appending("C", after("A"))}
    with pytest.raises(ConversionError, match=r"(?s)cycle.*a.*b.*c"):
        convert(tmp_path, files, RELU)


UNUSED = """
    from mo.front.common.replacement import FrontReplacementPattern

    class First(FrontReplacementPattern):
        def find_and_replace_pattern(self, graph):
            [relu] = graph.get_op_nodes(op='ReLU')
            relu.out_port(0).get_connection().set_source(relu.in_port(0).get_source())

    class Second(FrontReplacementPattern):
        def run_after(self):
            return [First]

        def find_and_replace_pattern(self, graph):
            [relu] = graph.get_op_nodes(op='ReLU')
            [sigmoid] = graph.get_op_nodes(op='Sigmoid')
            sigmoid.in_port(0).connect(relu.out_port(0))
"""


def test_nodes_that_nothing_depends_on_stay_until_the_end_of_the_front_phase(tmp_path):
    nodes = [node("Relu", ["x"], ["r"], "relu"), node("Sigmoid", ["r"], ["y"], "sigmoid")]
    converted = convert(tmp_path, {"front/unused.py": UNUSED}, nodes)
    assert converted.types == ["ReLU", "Sigmoid"]
    converted = convert(tmp_path, {"front/unused.py": UNUSED.partition("    class Second")[0]}, nodes)
    assert converted.types == ["Sigmoid"]
