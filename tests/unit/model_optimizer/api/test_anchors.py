"""The order of transformations that refer to anchors and built-in transformations of Model Optimizer."""

from __future__ import annotations

from pathlib import Path

import pytest

from moir.errors import ConversionError
from moir.extensions.loading import Extensions
from moir.extensions.ordering import slotted_in
from moir.lowering.onnx.table import onnx
from moir.model_optimizer.api.transformations.anchors import ANCHORS, built_in, places
from moir.pipeline import pipeline_names
from tests.unit.extensions.directories import write


def transformation(name: str, base: str, after: str | None = None, before: str | None = None, imports: str = "pass") -> str:
    """The file of a transformation; `after` and `before` are texts of lists."""
    phase = base.removesuffix("ReplacementPattern").lower()
    module = "front.common" if phase == "front" else phase
    lists = "".join(f"    def {method}(self): return {text}\n" for method, text in (("run_after", after), ("run_before", before)) if text)
    return (
        f"from mo.{module}.replacement import {base}\n{imports}\nclass {name}({base}):\n"
        f"    def find_and_replace_pattern(self, graph): pass\n{lists}"
    )


def order(directory: Path, framework: str = "onnx") -> list[str]:
    """The pipeline with the transformations of a directory."""
    with Extensions.load([directory], framework, [onnx]) as extensions:
        return [each.name for each in extensions.passes(pipeline_names(framework), framework)]


def test_what_refers_to_a_built_in_transformation_is_on_its_side_of_it(tmp_path: Path) -> None:
    imports = "from extensions.front.softsign_replacer import SoftSign"
    write(
        tmp_path / "mine",
        front__a=transformation("Anew", "FrontReplacementPattern", after="[SoftSign]", imports=imports),
        front__b=transformation("Before", "FrontReplacementPattern", before="[SoftSign]", imports=imports),
    )
    names = order(tmp_path / "mine")
    assert names.index("front-start") < names.index("before") < names.index("anew") < names.index("lower-onnx")
    assert not [name for name in names if name.startswith("built-in")]


def test_middle_anchors(tmp_path: Path) -> None:
    imports = "from extensions.middle.pass_separator import *\nfrom openvino.tools.mo.middle.pass_separator import PreMiddleStart"
    imports += "\nfrom mo.middle.ApplyPermutations import ApplyPermutation"
    write(
        tmp_path / "mine",
        middle__a=transformation("ALate", "MiddleReplacementPattern", after="[MiddleFinish]", before="[ApplyPermutation]", imports=imports),
        middle__b=transformation("Usual", "MiddleReplacementPattern"),
        middle__c=transformation("Pre", "MiddleReplacementPattern", after="[PreMiddleStart]", before="['middle-start']", imports=imports),
        middle__d=transformation("AnchLayout", "MiddleReplacementPattern", after="[ApplyPermutation]", before="[]", imports=imports),
    )
    names = order(tmp_path / "mine", "tf")
    places_ = [names.index(name) for name in ("lower-tf", "pre", "middle-start", "usual", "a-late", "choose-layouts", "anch-layout")]
    assert places_ == sorted(places_)


def test_back_and_front_anchors(tmp_path: Path) -> None:
    front = "from extensions.front.pass_separator import FrontFinish, FrontStart\nfrom mo.load.loader import LoadFinish"
    back = "from extensions.back.pass_separator import BackFinish, BackStart"
    write(
        tmp_path / "mine",
        front__a=transformation("First", "FrontReplacementPattern", after="[LoadFinish]", before="[FrontStart]", imports=front),
        front__b=transformation("ALast", "FrontReplacementPattern", after="[FrontFinish]", before="[]", imports=front),
        front__c=transformation("Usual", "FrontReplacementPattern"),
        back__a=transformation("Final", "BackReplacementPattern", after="[BackFinish]", before="[]", imports=back),
        back__b=transformation("InBack", "BackReplacementPattern", after="[BackStart]", before="[BackFinish]", imports=back),
    )
    names = order(tmp_path / "mine")
    places_ = [names.index(name) for name in ("first", "front-start", "usual", "a-last", "back-start", "in-back", "back-finish", "final")]
    assert places_ == sorted(places_)


def test_a_cycle_through_a_built_in_transformation(tmp_path: Path) -> None:
    imports = "from extensions.back.ReshapeMutation import ReshapeMutation"
    write(
        tmp_path / "mine",
        back__a=transformation("Mine", "BackReplacementPattern", after="[ReshapeMutation]", before="[ReshapeMutation]", imports=imports),
    )
    with pytest.raises(ConversionError, match=r"cycle: .*built-in ReshapeMutation"):
        order(tmp_path / "mine")


def test_all_anchors_fit_into_one_order() -> None:
    pipeline = pipeline_names("tf")
    slotted = slotted_in([name if name != "lower-tf" else "lower" for name in pipeline], places(ANCHORS.values()))
    actual = [each if isinstance(each, str) else each.name for each in slotted]
    expected = ["built-in LoadFinish", "front-start", "built-in FrontFinish", "lower", "built-in PartialInfer", "built-in PreMiddleStart"]
    expected += [
        "middle-start",
        "built-in MiddleFinish",
        "built-in PostMiddleStart",
        "choose-layouts",
        "built-in ApplyPermutation",
        "back-start",
    ]
    positions = [actual.index(name) for name in expected]
    assert positions == sorted(positions)


def test_one_class_for_one_transformation() -> None:
    assert built_in("front", "NoOpEraser") is built_in("front", "NoOpEraser")
    assert built_in("middle", "MiddleStart") is ANCHORS["MiddleStart"]
    assert built_in("middle", "LayoutChangeForEinsum").places_after == ("built-in ApplyPermutation",)
