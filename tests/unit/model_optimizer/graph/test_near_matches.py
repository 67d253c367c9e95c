"""What is said of a transformation that matches nothing, and of names that do not exist."""

from __future__ import annotations

import logging
from collections.abc import Mapping
from pathlib import Path

import pytest

from moir.errors import ConversionError
from moir.extensions.loading import Extensions
from moir.lowering.onnx.table import onnx
from moir.model_optimizer.api.transformations.anchors import built_in
from moir.model_optimizer.api.transformations.replacement import FrontReplacementOp, apply_to_matches
from moir.model_optimizer.graph.graph import Graph
from moir.model_optimizer.graph.near_matches import failing_step
from moir.pipeline import pipeline_names
from moir.rewriting.events import RewriteEvent, traced
from moir.testing import build_graph, connect_front, regular_op, result
from scripts.extension_names import count_missing, extension_files, loading_error
from tests.unit.extensions.directories import write


def chain() -> Graph:
    """`x` (X) -> `y` (Y, with k=1) -> `z` (Z) -> the output, and a second Y on its own."""
    nodes = {**regular_op("x", {"op": "X"}), **regular_op("y", {"op": "Yy", "k": 1}), **regular_op("z", {"op": "Z"}), **result("out")}
    nodes.update(regular_op("other", {"op": "Yy"}))
    return build_graph(nodes, [*connect_front("x", "y"), *connect_front("y", "z"), *connect_front("z", "out")])


def step(*attributes: Mapping[str, object], edges: object = (("a", "b"), ("b", "c"))) -> str | None:
    """Why a pattern `a` -> `b` -> `c` of these attributes does not match the chain."""
    actual = failing_step(chain(), list(zip("abc", attributes, strict=False)), edges)  # pyright: ignore[reportArgumentType]
    return None if actual is None else actual[1]


def test_the_step_of_a_pattern_that_fails() -> None:
    assert step({"op": "X"}, {"op": "Yy"}, {"op": "Z"}) is None
    assert step({"op": "X"}, {"op": "Yyy"}, {"op": "Z"}) == "b fails: no node has op 'Yyy'; did you mean Yy?"
    assert step({"op": "X"}, {"op": "Yy", "k": 2}, {"op": "Z"}) == "a matches 'x', then b fails: node 'y' has k = 1, not 2"
    said = step({"op": "X"}, {"op": "Yy", "k": lambda value: value is None}, {"op": "Z"})
    assert said == "a matches 'x', then b fails: node 'y' has k = 1, which its condition refuses"
    names = ({"op": "X"}, {"op": "Yy"}, {"op": "Z"})
    said = step(*names, edges=(("a", "b"), ("b", "c"), ("a", "c")))
    assert said == "a matches 'x', then c fails: node 'y' has op = 'Yy', not 'Z'"
    said = step(*names, edges=(("a", "b"), ("b", "c", {"in": 1})))
    assert said == "a matches 'x', b matches 'y', then c fails: nothing is connected there"
    said = step(*names, edges=(("a", "b"),))
    assert said == "a matches 'x', b matches 'y', then c fails: there is an edge that the pattern does not have from 'y' to 'z'"


def test_it_is_logged_and_reported(caplog: pytest.LogCaptureFixture) -> None:
    events: list[RewriteEvent] = []
    pattern = {"nodes": [("a", {"op": "X"}), ("b", {"op": "Yy", "k": 3})], "edges": [("a", "b")]}
    with caplog.at_level(logging.INFO, "moir"), traced(events.append):
        apply_to_matches(chain(), pattern, lambda *_: None, "Mine")
    assert caplog.messages == ["Mine matches nothing: a matches 'x', then b fails: node 'y' has k = 1, not 3"]
    assert [(event.pattern, event.reason) for event in events] == [("Mine", caplog.messages[0].partition(": ")[2])]
    assert events[0].before[0].endswith("mo.X() : tensor<*x?>") or "mo.X" in events[0].before[0]
    caplog.clear()
    with caplog.at_level(logging.WARNING, "moir"):
        apply_to_matches(chain(), pattern, lambda *_: None, "Mine")
    assert not caplog.messages


def test_a_replacement_of_an_operation_that_no_node_has(caplog: pytest.LogCaptureFixture) -> None:
    class Mine(FrontReplacementOp):
        op = "Zz"

    with caplog.at_level(logging.INFO, "moir"):
        Mine().find_and_replace_pattern(chain())
    assert caplog.messages == ["Mine looks for nodes with op 'Zz', a name that no operation has; nearest Z"]


def test_an_operation_of_another_model(caplog: pytest.LogCaptureFixture) -> None:
    class Mine(FrontReplacementOp):
        op = "BatchNorm2d"

    with caplog.at_level(logging.WARNING, "moir"):
        Mine().find_and_replace_pattern(chain())
    assert not caplog.messages


MISTAKES = {
    "while_a_file_loads": ("front__a", "import numpy\nnumpy.zeross(2)", "did you mean zeros"),
    "of_a_name": (
        "front__a",
        "from mo.graph.graph import Grap",
        "moir has no 'Grap' in Model Optimizer's graph.graph; did you mean Graph?",
    ),
}


@pytest.mark.parametrize("name", MISTAKES)
def test_the_nearest_name(tmp_path: Path, name: str) -> None:
    file, text, expected = MISTAKES[name]
    write(tmp_path, **{file: text})
    with pytest.raises(ConversionError) as raised, Extensions.load([tmp_path], "onnx", [onnx]):
        pass
    assert expected in str(raised.value)
    assert "front/a.py:" in str(raised.value)


def test_the_places_of_built_in_transformations_that_ran_elsewhere() -> None:
    assert built_in("front", "InputCut").places_after == ("front-start",)
    assert built_in("middle", "CheckForCycle").places_before == ("built-in PartialInfer",)
    assert built_in("middle", "FuseReshapesSequence").places_before == ("built-in MiddleFinish",)
    assert built_in("front", "Pack").places_before == ("front-start",)


RESTORING = """
    from mo.front.common.replacement import FrontReplacementPattern
    from extensions.front.restore_ports import RestorePorts
    from extensions.front.pass_separator import FrontStart
    from extensions.front.input_cut import InputCut

    class Mine(FrontReplacementPattern):
        enabled = True

        def run_after(self):
            return [InputCut]

        def run_before(self):
            return [RestorePorts]

        def find_and_replace_pattern(self, graph):
            pass
"""


def test_a_place_in_front_of_the_front_phase(tmp_path: Path) -> None:
    write(tmp_path, front__a=RESTORING)
    with Extensions.load([tmp_path], "onnx", [onnx]) as extensions:
        names = [each.name for each in extensions.passes(pipeline_names("onnx"), "onnx")]
    assert names.index("mine") < names.index("front-start")


def test_the_script_lists_what_is_missing(tmp_path: Path) -> None:
    write(
        tmp_path / "ext",
        ops__a="from mo.ops.op import Op, Opp\nfrom mo.utils.nothing import some\nOp.get_opp()",
        front_tf__b="""
            from mo.front.common.replacement import FrontReplacementPattern

            class B(FrontReplacementPattern):
                enabled = True

                def find_and_replace_pattern(self, graph):
                    graph.get_op_nodez()
                    for node in graph.get_op_nodes():
                        node.in_port(0).get_sauce()
        """,
    )
    number, missing = count_missing([tmp_path])
    assert number == 2
    assert set(missing.counts) == {"ops.op: Opp", "utils.nothing: some", "Op.get_opp", "Graph.get_op_nodez", "Port.get_sauce"}
    assert missing.places["Graph.get_op_nodez"].endswith("front/tf/b.py:8")
    (first, second) = (loading_error(root, file) for root, file in extension_files(tmp_path))
    assert first is not None
    assert first.startswith("ops/a.py:1: the file cannot be loaded")
    assert second is None
