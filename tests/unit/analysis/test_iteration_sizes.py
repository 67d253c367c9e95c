"""The dimensions of what a loop collects that may change from iteration to iteration."""

from __future__ import annotations

import pytest
from xdsl.parser import Parser

from moir.analysis.dimensions import Dimensions
from moir.analysis.iteration_sizes import varying_axes
from moir.dialects.context import MoirContext
from moir.dialects.opset.control_flow import Loop

MODULE = """
builtin.module {{
  moir.model @m {{
    %n = opset1.Parameter() {{name = "n"}} : tensor<si64>
    %xs = opset1.Parameter() {{name = "xs"}} : tensor<?x?xf32>
    %h0 = opset1.Parameter() {{name = "h0"}} : tensor<?x4xf32>
    %w = opset1.Parameter() {{name = "w"}} : tensor<?x4xf32>
    %t = opset1.Constant() {{value = #moir.data<tensor<i1>, [true]>}} : tensor<i1>
    %s = opset1.Constant() {{value = #moir.data<tensor<si64>, [0]>}} : tensor<si64>
    %ys = opset5.Loop(%n, %t, %xs, %h0, %w, %n, %s) {{
      inputs = [#moir.port<iteration>, #moir.port<2 axis 0 from 0 to -1 stride 1 part 1>, #moir.port<3 back 1>, #moir.port<4>,
        #moir.port<5>, #moir.port<6 back 3>],
      outputs = [#moir.port<2 axis 0 from 0 to -1 stride 1 part 1>], condition = 0}} ({{
      %i = opset1.Parameter() : tensor<si64>
      %x = opset1.Parameter() : tensor<1x?xf32>
      %h = opset1.Parameter() : tensor<?x4xf32>
      %v = opset1.Parameter() : tensor<?x4xf32>
      %k = opset1.Parameter() : tensor<si64>
      %j = opset1.Parameter() : tensor<si64>
      %0 = opset1.Constant() {{value = #moir.data<tensor<si64>, [0]>}} : tensor<si64>
      %1 = opset1.Constant() {{value = #moir.data<tensor<si64>, [1]>}} : tensor<si64>
      %l = opset1.Constant() {{value = #moir.data<tensor<1xsi64>, [0]>}} : tensor<1xsi64>
      %c = opset1.Constant() {{value = #moir.data<tensor<i1>, [true]>}} : tensor<i1>
      {body}
      %u = opset1.Unsqueeze({element}, %0) : tensor<1x{shape}>
      opset1.Result(%c)
      opset1.Result({state})
      opset1.Result(%u)
      opset1.Result({number})
    }}) : tensor<?x{shape}>
    opset1.Result(%ys) {{name = "ys"}}
  }}
}}
"""

BROADCAST = "%a = opset1.Add(%h, %v) : tensor<?x4xf32>"
GROWN = "%a = opset1.Concat(%h, %v) {axis = 0} : tensor<?x4xf32>"
RANGE = "%a = opset4.Range(%0, {}, %1) {{output_type = si64}} : tensor<?xsi64>"
SELECTED = "%z = opset3.NonZero({}) : tensor<2x?xsi64>"

# body, element, its type, next state, dimensions that may change
CASES: dict[str, tuple[str, str, str, str, list[int]]] = {
    "invariant": ("", "%v", "?x4xf32", "%h", []),
    "slice": ("", "%x", "1x?xf32", "%h", []),
    "state that keeps its size": ("%a = opset1.Relu(%h) : tensor<?x4xf32>", "%a", "?x4xf32", "%a", []),
    "state that is broadcast, after it": (BROADCAST, "%a", "?x4xf32", "%a", []),
    "state that is broadcast, before it": (BROADCAST, "%h", "?x4xf32", "%a", [1]),
    "state that grows": (GROWN, "%a", "?x4xf32", "%a", [1]),
    "state that grows, of which the size is not collected": (
        f"{GROWN}\n      %r = opset1.ReduceSum(%a, %l) {{keep_dims = true}} : tensor<1x4xf32>",
        *("%r", "1x4xf32", "%a", []),
    ),
    "range of the number of the iteration": (RANGE.format("%i"), "%a", "?xsi64", "%h", [1]),
    "range of an invariant": (RANGE.format("%k"), "%a", "?xsi64", "%h", []),
    "range of a state": (RANGE.format("%j"), "%a", "?xsi64", "%h", [1]),
    "elements of a slice": (SELECTED.format("%x"), "%z", "2x?xsi64", "%h", [2]),
    "elements of an invariant": (SELECTED.format("%v"), "%z", "2x?xsi64", "%h", []),
    "elements of a state": (SELECTED.format("%h"), "%z", "2x?xsi64", "%h", []),
    "elements of a state that changes": (
        f"%a = opset1.Relu(%h) : tensor<?x4xf32>\n      {SELECTED.format('%h')}",
        *("%z", "2x?xsi64", "%a", [2]),
    ),
    "size that is computed of a shape": (
        """%q = opset3.ShapeOf(%v) : tensor<2xsi64>
      %p = opset8.Gather(%q, %0, %0) : tensor<si64>
      %d = opset1.Multiply(%p, %p) : tensor<si64>
      %a = opset4.Range(%0, %d, %1) {output_type = si64} : tensor<?xsi64>""",
        *("%a", "?xsi64", "%h", []),
    ),
    "size that is computed of a shape that changes": (
        f"""{GROWN}
      %q = opset3.ShapeOf(%h) : tensor<2xsi64>
      %p = opset8.Gather(%q, %0, %0) : tensor<si64>
      %d = opset1.Multiply(%p, %p) : tensor<si64>
      %e = opset4.Range(%0, %d, %1) {{output_type = si64}} : tensor<?xsi64>""",
        *("%e", "?xsi64", "%a", [1]),
    ),
}


@pytest.mark.parametrize("name", CASES)
def test_dimensions(name: str) -> None:
    body, element, type_, state, axes = CASES[name]
    number = "%o" if "%j" in body else "%j"
    body += "\n      %o = opset1.Add(%j, %1) : tensor<si64>"
    text = MODULE.format(body=body, element=element, shape=type_, state=state, number=number)
    module = Parser(MoirContext(), text).parse_module()
    (loop,) = [op for op in module.walk() if isinstance(op, Loop)]
    assert varying_axes(loop, Dimensions(static=True)) == ({0: axes} if axes else {})
