"""`ObjectDetectionAPIPreprocessorReplacement` and its successor for versions 2: inputs are images in the size of the
network.

    images = map(resize, cast(image_tensor)), shapes = map(shape, …)      images = cast(image_tensor)
    sub = images * 2 / 255 - 1                                       ->   shapes = the shape of each of them
                                                                          sub = images * 2 / 255 - 1

The loop over images, or the unrolled loop over a batch of known size, is removed; nodes that scale values stay. If
neither the model nor the user fixes the size of the input, it gets the size to which the pipeline.config resizes
images.
"""

from __future__ import annotations

import logging
from typing import cast

from xdsl.ir import Operation, OpResult, SSAValue

from moir.dialects.element_types import si32
from moir.dialects.framework import FrameworkOp
from moir.dialects.frameworks.tensorflow import kind_of, new_integers, new_node, origin
from moir.dialects.inference import set_type
from moir.dialects.names import inherit_names, name_of
from moir.dialects.opset.infrastructure import Parameter, Result
from moir.dialects.shapes import element_of, shape_of, tensor
from moir.model_optimizer.detection.pipeline_config import PipelineConfig
from moir.model_optimizer.detection.request import Request
from moir.support.records import Record

logger = logging.getLogger("moir")

RESIZES = ("ResizeBilinear", "ResizeNearestNeighbor", "ResizeBicubic", "ResizeArea", "CropAndResize", "ScaleAndTranslate")
"""The kinds that resize images."""

_ENDS = ("TensorListGather", "TensorListStack", "Pack")
"""The kinds that stack the results for all images."""


def remove_preprocessor(request: Request) -> None:
    """Replace the resized images by the input images, and their true shapes by the shape of the input.

    If no node resizes images, the graph is unchanged, with a message.
    """
    images = next((op for op in request.block.ops if isinstance(op, Parameter) and _is_image(op)), None)
    batches = [] if images is None else _batches(request, images)
    if images is None or not any(each.is_resized for each in batches):
        scopes = ", ".join(scope for each in request.descriptors for scope in each.scopes)
        place = f" in the scope {scopes}" if scopes else ""
        logger.warning("%s: no node%s resizes the images of an input; what there is of preprocessing stays", request.id, place)
        return
    for each in batches:
        value = each.source if each.is_resized else _shapes(request, each.source, each.end)
        inherit_names(each.end, [value])
        each.end.results[0].replace_all_uses_with(value)
    if request.pipeline is not None:
        _set_shape(images, request.pipeline)


class Batch(Record):
    """A node that puts together the results for each image of a batch.

    Args:
        end: the node.
        source: the batch.
        made_by: the nodes that compute it: those in the body of a loop, otherwise those for all images.
    """

    end: Operation
    source: SSAValue
    made_by: tuple[Operation, ...]

    @property
    def is_resized(self) -> bool:
        """Whether the results that are joined are the resized images; otherwise they are the shapes of the images."""
        return any(kind_of(op) in RESIZES for op in self.made_by) and not any(kind_of(op) == "Pack" for op in self.made_by)


def _is_image(parameter: Parameter) -> bool:
    shape = shape_of(parameter.results[0])
    return shape is None or (len(shape) == 4 and shape[-1] in (-1, 1, 3, 4))


def _batches(request: Request, images: Parameter) -> list[Batch]:
    """The nodes that stack the results for each image of the input `images`."""
    batches: list[Batch] = []
    for op in request.block.ops:
        if kind_of(op) in _ENDS:
            made_by = _made_by(op)
            starts = [each for each in made_by if kind_of(each) in ("Unpack", "TensorListFromTensor")]
            if len(starts) == 1 and _input_of(starts[0].operands[0]) is images:
                batches.append(Batch(op, starts[0].operands[0], tuple(made_by)))
    # The shape of one image is put together as well.
    inner = {op for each in batches for op in each.made_by}
    return [each for each in batches if each.end not in inner]


def _input_of(value: SSAValue) -> Operation | None:
    """The operation that computes a value, before any casts: the input, if the value are the images; None for an
    argument of a block.
    """
    owner = origin(value).owner
    while kind_of(owner) in ("Cast", "ToFloat"):
        owner = origin(cast("Operation", owner).operands[0]).owner
    return owner if isinstance(owner, Operation) else None


def _made_by(end: Operation) -> list[Operation]:
    operations: dict[Operation, None] = {}
    pending = [origin(operand) for operand in (end.operands if kind_of(end) == "Pack" else end.operands[:1])]
    while pending:
        value = pending.pop()
        owner = value.owner
        if not isinstance(owner, Operation) or owner in operations or kind_of(owner) in ("TensorListGather", "TensorListStack"):
            continue
        operations[owner] = None
        if kind_of(owner) in ("While", "StatelessWhile"):
            results = [op for op in owner.regions[-1].block.ops if isinstance(op, Result)]
            index = cast("OpResult", value).index
            pending.extend(map(origin, results[index].operands if index < len(results) else ()))
        if kind_of(owner) not in ("Unpack", "TensorListFromTensor", "TensorListReserve"):
            pending.extend(map(origin, owner.operands))
    return list(operations)


def _shapes(request: Request, images: SSAValue, before: Operation) -> SSAValue:
    """The shape of each image of a batch, [images, 3], computed by new nodes in front of `before`."""

    def add(kind: str, *operands: SSAValue, **properties: object) -> SSAValue:
        node: FrameworkOp = new_node(kind, operands, properties)
        request.block.insert_op_before(node, before)
        return node.results[0]

    def integers(values: list[int]) -> SSAValue:
        constant = new_integers(values)
        request.block.insert_op_before(constant, before)
        return constant.results[0]

    shape = add("Shape", images, out_type=si32)
    of_image = add("Slice", shape, integers([1]), integers([3]))
    count = add("Slice", shape, integers([0]), integers([1]))
    rows = add("Reshape", of_image, integers([1, 3]))
    one = integers([1])
    axis = integers([0])
    return add("Tile", rows, add("ConcatV2", count, one, axis, N=2))


def _set_shape(images: Parameter, pipeline: PipelineConfig) -> None:
    """Give the input the size of the network, for one image, where its type leaves dimensions open."""
    size = resized_to(pipeline)
    shape = shape_of(images.results[0]) or (-1, -1, -1, 3)
    if size is None or shape[1] >= 0 or shape[2] >= 0:
        return
    batch = 1 if shape[0] < 0 else shape[0]
    set_type(images.results[0], tensor((batch, *size, shape[3]), element_of(images.results[0])))
    logger.info("the input %s is [%d, %d, %d, %d], as the pipeline configuration says", name_of(images), batch, *size, shape[3])


def resized_to(pipeline: PipelineConfig) -> tuple[int, int] | None:
    """Height and width in pixels of images after the resizer of a pipeline.config; None if it does not state them.

    A resizer that keeps the aspect ratio fixes only one dimension: then height and width are both its smaller
    dimension, or the larger one if images are padded to it.
    """
    resizer = f"{pipeline.architecture}.image_resizer"
    fixed, kept = f"{resizer}.fixed_shape_resizer", f"{resizer}.keep_aspect_ratio_resizer"
    height, width = pipeline.integer(f"{fixed}.height"), pipeline.integer(f"{fixed}.width")
    if height and width:
        return height, width
    side = pipeline.integer(f"{kept}.max_dimension" if pipeline.number(f"{kept}.pad_to_max_dimension") else f"{kept}.min_dimension")
    return (side, side) if side else None
