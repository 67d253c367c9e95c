"""Stand-ins for Model Optimizer's own transformations, to which users' transformations refer in their order.

    def run_after(self):
        return [SoftplusFusion, MiddleStart]

The anchors that begin and end the phases are places in moir's pipeline. Of other built-in transformations only the
phase is known: their stand-ins are placed between the anchors that begin and end this phase, so transformations that
run after or before them are in the right order. A stand-in does nothing and cannot be subclassed.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from functools import cache
from typing import Any, ClassVar, NoReturn

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.passes import ModulePass

from moir.errors import ConversionError
from moir.extensions.ordering import Transformation


class StandIn:
    """A place in the order of transformations, for a transformation that moir does not have."""

    place: ClassVar[str] = ""
    """The name of the place: a pass of moir's pipeline, or `built-in` and the name of the class."""
    places_before: ClassVar[tuple[str, ...]] = ()
    """The places before this one. Empty if the place is a pass of the pipeline."""
    places_after: ClassVar[tuple[str, ...]] = ()
    """The places after this one. Empty if the place is a pass of the pipeline."""

    def __init_subclass__(cls, *, stands_in: bool = False, **kwargs: Any) -> None:
        super().__init_subclass__(**kwargs)
        if not stands_in:
            built_in = next(base for base in cls.__mro__[1:] if issubclass(base, StandIn))
            raise ConversionError(
                f"the class {cls.__name__} is derived from {built_in.__name__}, which is not a class of Model Optimizer that moir has",
                hint="derive it from a class of mo.front.common.replacement, mo.middle.replacement or mo.back.replacement",
            )

    def find_and_replace_pattern(self, graph: object) -> NoReturn:
        """Raises ConversionError: a stand-in cannot be run."""
        raise ConversionError(
            f"{type(self).__name__} is a transformation of Model Optimizer that moir does not have, so it cannot be run by an extension",
            hint="moir's own passes run in its pipeline; `moir passes` lists them",
        )


def _anchor(name: str, place: str = "", after: tuple[str, ...] = (), before: tuple[str, ...] = ()) -> type[StandIn]:
    return type(
        name,
        (StandIn,),
        {"place": place or f"built-in {name}", "places_before": after, "places_after": before, "__module__": __name__},
        stands_in=True,
    )


LoadFinish = _anchor("LoadFinish", before=("front-start",))
FrontStart = _anchor("FrontStart", place="front-start")
FrontFinish = _anchor("FrontFinish", after=("front-start",), before=("lower",))
PartialInfer = _anchor("PartialInfer", after=("front-finish",), before=("built-in PreMiddleStart",))
PreMiddleStart = _anchor("PreMiddleStart", after=("front-finish",), before=("middle-start",))
MiddleStart = _anchor("MiddleStart", place="middle-start")
MiddleFinish = _anchor("MiddleFinish", after=("middle-start",), before=("choose-layouts", "middle-finish"))
PostMiddleStart = _anchor("PostMiddleStart", after=("built-in MiddleFinish",), before=("choose-layouts", "middle-finish"))
InsertLayoutPropagationTranspose = _anchor(
    "InsertLayoutPropagationTranspose", after=("built-in PostMiddleStart",), before=("choose-layouts", "middle-finish")
)
ApplyPermutation = _anchor("ApplyPermutation", after=("built-in PostMiddleStart", "choose-layouts"), before=("back-start",))
BackStart = _anchor("BackStart", place="back-start")
BackFinish = _anchor("BackFinish", place="back-finish")

ANCHORS: dict[str, type[StandIn]] = {
    anchor.__name__: anchor
    for anchor in (
        LoadFinish,
        FrontStart,
        FrontFinish,
        PartialInfer,
        PreMiddleStart,
        MiddleStart,
        MiddleFinish,
        PostMiddleStart,
        InsertLayoutPropagationTranspose,
        ApplyPermutation,
        BackStart,
        BackFinish,
    )
}
"""The anchors by name. The classes of the layout change are among them, since the layout differs before and after."""

_ELSEWHERE: tuple[tuple[tuple[str, ...], tuple[str, ...], str], ...] = (
    (
        (),
        ("front-start",),
        "AnalysisCollectorAnchor AnalysisJSONPrint ConfigUpdate FIFOQueueDequeueCut FreezePlaceholderValue InputCut InputsAnalysis "
        "IntermediatesNodesAnalysis IteratorGetNextCut MoveEmbeddedInputsToInputs OutputCut ReshapeDimNormalizer RestorePorts "
        "TensorFlowObjectDetectionAPIAnalysis TensorFlowRetinaNet TensorFlowYOLOV1V2Analysis TensorFlowYOLOV3Analysis "
        "TensorflowCustomOperationsConfigUpdate TrainingPhaseAnalysis TransformationsConfig UserDataRepack VariablesToConstants",
    ),
    (("built-in FrontFinish",), ("built-in PartialInfer",), "CreateTensorNodes"),
    (
        ("built-in PartialInfer",),
        ("built-in PreMiddleStart",),
        "AddIsCyclicAttribute BackEdgeSimpleInputMatcher BackEdgesMatching BinarizeWeightsM1P1 CheckForCycle ClampQuantizeMark "
        "ConditionChecks DeleteControlFlowEdges DeleteNotExecutable DequantizeLinearResolver DynamicDecoderConditionMatcher "
        "FakeQuantizeFuse LoopConditionMatcher MarkNodesToFuseUpToFakeQuantize QuantizeDequantizeLinearResolver "
        "QuantizeLinearResolver ReluFakeQuantizeMark ReluQuantizeFuse ReverseToReverseSequence SharedWeightsDuplication "
        "SimpleConditionMatcher SimpleInputMatcher SimpleOutputMatcher SmartInputMatcher SmartMatcherInputSlicingWithGather "
        "SmartOutputMatcher TensorIteratorMerge",
    ),
    (
        ("built-in PreMiddleStart",),
        ("middle-start",),
        "AddMeanScaleValues ConvertMultiInputConv CustomSubgraphCall DilatedConvolution1DConverter DilatedConvolutionConverter "
        "L2NormToNorm MiddleInputCut RemoveDropout RemoveIdentity RemoveNodesWithZeroPhase UselessSplitEraser",
    ),
    (
        ("built-in MiddleFinish",),
        ("built-in PostMiddleStart",),
        "CaffeMeanFileProcessing FuseReshapesSequence Fusing LeakyReLUFusion RemoveRedundantReshapeAfterCropAndResize "
        "RemoveRedundantReshapes",
    ),
    (
        ("built-in PostMiddleStart",),
        ("built-in ApplyPermutation",),
        "ApplyNHWCtoNCHWpermutation FuseReshapesSequenceKaldi LayoutChangeForConstantShapePaths LayoutChangeForEinsum "
        "MarkSubGraphsWithCorrectLayout MergeNodesPermutations MoveConstToLoopBody PreserveRuntimeInfo",
    ),
    (
        ("back-finish",),
        (),
        "BlobNormalizer ChangeOutputTypeAttributes ChangeRandomUniformOutputType CreateConstNodesReplacement "
        "KaldiRemoveMemoryOutputBackReplacementPattern MarkNodesWithShapeValues NamesUniquenessCheck RemoveConstOps",
    ),
)
"""Groups of built-in transformations that did not run in the phase of their directory: the places before and after
them, and their names.

Source: the order in which Model Optimizer 2024.6 ran them for TensorFlow.
"""

_BOUNDS: dict[str, tuple[tuple[str, ...], tuple[str, ...]]] = {
    "load": ((), ("front-start",)),
    "analysis": ((), ("front-start",)),
    "front": (("front-start",), ("built-in FrontFinish",)),
    "middle": (("middle-start",), ("built-in MiddleFinish",)),
    "back": (("back-start",), ("back-finish",)),
}
"""Phase -> the places before and after its built-in transformations."""

PHASES = tuple(_BOUNDS)
"""The phases that have built-in transformations; these are also the names of their directories."""


@cache
def built_in(phase: str, name: str) -> type[StandIn]:
    """The stand-in for the built-in transformation `name` of a phase; each call with the same arguments returns the
    same class.
    """
    if name in ANCHORS:
        return ANCHORS[name]
    after, before = next(((after, before) for after, before, names in _ELSEWHERE if name in names.split()), _BOUNDS[phase])
    return _anchor(name, after=after, before=before)


def is_class_name(name: str) -> bool:
    """Whether a name begins with a capital letter, as names of transformations do."""
    return re.fullmatch(r"[A-Z]\w*", name) is not None


class _PlaceOnlyPass(ModulePass):
    name = "place-only"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        """Does nothing, because a stand-in only marks a place in the order."""


class StandInPlace(Transformation):
    """A stand-in in the order of transformations; it is removed once the pipeline is sorted."""


def places(stand_ins: Iterable[type[StandIn]]) -> list[StandInPlace]:
    """The positions of stand-ins in the order of transformations, and those of the anchors that they run before or
    after.

    Positions of passes that the pipeline has are left out.
    """
    by_place = {each.place: each for each in ANCHORS.values()}
    place_by_id: dict[str, StandInPlace] = {}
    pending = list(stand_ins)
    while pending:
        each = pending.pop()
        if not each.place.startswith("built-in ") or each.place in place_by_id:
            continue
        place_by_id[each.place] = StandInPlace(each.place, _PlaceOnlyPass, each.places_before, each.places_after)
        pending.extend(by_place[place] for place in (*each.places_before, *each.places_after) if place in by_place)
    return list(place_by_id.values())
