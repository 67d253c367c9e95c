"""A user's own replacements of both stages of a Faster R-CNN, as extensions for Model Optimizer 2021 wrote them."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from tests.numerical.detection.conversion import (
    configuration,
    converted,
    detections,
    expected_detections,
    frozen,
    layer_types,
    results_of,
)
from tests.numerical.detection.object_detection_api import CLASSES, IMAGE, VERSION_2, Version
from tests.numerical.detection.test_object_detection_api import FIRST, SECOND, images, points, preprocessor_entry, second_stage_entry
from tests.numerical.detection.two_stages import BASE, PROPOSALS, RATIOS, SCALES, STRIDE, faster_rcnn
from tests.numerical.runtime import run

EXTENSION = f"""
import numpy as np

from extensions.front.tf.CropAndResizeReplacement import CropAndResizeReplacement
from extensions.middle.InsertLayoutPropagationTransposes import (
    mark_as_correct_data_layout, mark_input_as_in_correct_layout, mark_output_as_in_correct_layout)
from extensions.ops.DetectionOutput import DetectionOutput
from extensions.ops.elementwise import Mul
from extensions.ops.parameter import Parameter
from extensions.ops.proposal import ProposalOp
from extensions.ops.transpose import Transpose
from mo.front.common.replacement import FrontReplacementPattern
from mo.front.extractor import add_output_ops, output_user_data_repack
from mo.front.subgraph_matcher import SubgraphMatch
from mo.front.tf.graph_utils import (
    add_activation_function_after_node, add_convolution_to_swap_xy_coordinates, add_fake_background_loc,
    create_op_node_with_second_input, create_op_with_const_inputs)
from mo.front.tf.replacement import FrontReplacementFromConfigFileGeneral, FrontReplacementFromConfigFileSubGraph
from mo.graph.graph import Graph, Node
from mo.ops.const import Const
from mo.ops.crop import Crop
from mo.ops.reshape import Reshape
from mo.ops.result import Result
from mo.ops.shape import Shape
from mo.ops.softmax import Softmax
from mo.utils.graph import backward_bfs_for_operation, bfs_search


def reshaped(graph, name, shape, node):
    made = create_op_node_with_second_input(graph, Reshape, np.array(shape), {{'name': name}}, node)
    mark_as_correct_data_layout(made)
    return made


class Start(FrontReplacementPattern):
    enabled = True

    def run_after(self):
        return [CropAndResizeReplacement]

    def find_and_replace_pattern(self, graph: Graph):
        pass


class Outputs(FrontReplacementFromConfigFileGeneral):
    replacement_id = 'ObjectDetectionAPIOutputReplacement'

    def run_after(self):
        return [Start]

    def transform_graph(self, graph: Graph, attributes):
        names = [name for name in attributes['outputs'].split(',') if graph.has_node(name)]
        add_output_ops(graph, output_user_data_repack(graph, names), graph.graph['inputs'])


def fix_size(graph):
    image = Node(graph, 'image_tensor')
    if image.shape[0] == -1:
        image.shape[0] = 1
    image.shape[1:3] = {IMAGE}
    return image


class Preprocessor(FrontReplacementFromConfigFileSubGraph):
    replacement_id = 'ObjectDetectionAPIPreprocessorReplacement'

    def run_after(self):
        return [Outputs]

    def nodes_to_remove(self, graph: Graph, match: SubgraphMatch):
        kept = ('Preprocessor/sub', 'Preprocessor/sub/y', 'Preprocessor/mul', 'Preprocessor/mul/x')
        return [name for name in match.matched_nodes_names() if name not in kept]

    def generate_sub_graph(self, graph: Graph, match: SubgraphMatch):
        cast = fix_size(graph).out_port(0).get_destination().node
        cast.out_port(0).connect(Node(graph, 'Preprocessor/mul').in_port(1))
        return {{}}


class Preprocessor2(FrontReplacementFromConfigFileGeneral):
    replacement_id = 'ObjectDetectionAPIPreprocessor2Replacement'

    def run_after(self):
        return [Outputs]

    def transform_graph(self, graph: Graph, attributes):
        fix_size(graph)
        start, end = Node(graph, attributes['start_nodes'][0]), Node(graph, attributes['end_nodes'][0])
        source = start.in_port(0).get_source()
        source.disconnect()
        end.out_port(0).get_connection().set_source(source)


class Proposals(FrontReplacementFromConfigFileSubGraph):
    replacement_id = 'ObjectDetectionAPIProposalReplacement'

    def run_after(self):
        return [Preprocessor, Preprocessor2]

    def output_edges_match(self, graph: Graph, match: SubgraphMatch, new_sub_graph: dict):
        return {{match.output_node(0)[0].id: new_sub_graph['boxes'].id}}

    def nodes_to_remove(self, graph: Graph, match: SubgraphMatch):
        kept = [match.single_input_node(port)[0].id for port in range(2)]
        return [name for name in match.matched_nodes_names() if name not in kept]

    def generate_sub_graph(self, graph: Graph, match: SubgraphMatch):
        codes, objectness = (backward_bfs_for_operation(match.single_input_node(port)[0], ['Add'])[0] for port in range(2))
        count = {len(RATIOS) * len(SCALES)}
        pairs = create_op_node_with_second_input(graph, Reshape, np.array([0, count, 2, -1]), {{'name': 'pairs'}})
        objectness.insert_node_after(pairs, 0)
        mark_as_correct_data_layout(pairs)
        active = Softmax(graph, {{'axis': 2, 'nchw_layout': True, 'name': 'active'}}).create_node([pairs])
        grouped = create_op_with_const_inputs(graph, Transpose, {{1: np.array([0, 2, 1, 3])}}, {{'name': 'grouped'}}, active)
        mark_input_as_in_correct_layout(grouped, 1)
        mark_output_as_in_correct_layout(grouped, 0)
        size = Shape(graph, {{'name': 'size'}}).create_node([objectness])
        scores = Reshape(graph, {{'name': 'scores'}}).create_node([grouped, size])
        mark_input_as_in_correct_layout(scores, 0)
        mark_output_as_in_correct_layout(scores, 0)
        info = Parameter(graph, {{'shape': np.array([1, 3]), 'fixed_batch': True}}).create_node([], {{'name': 'image_info'}})
        attributes = dict(match.custom_replacement_desc.custom_attributes, framework='tensorflow', min_size=1, pre_nms_topn=2 ** 31 - 1,
                          box_size_scale=5.0, box_coordinate_scale=10.0, post_nms_topn={PROPOSALS}, feat_stride={STRIDE},
                          ratio={list(RATIOS)}, scale={list(SCALES)}, normalize=1, base_size={BASE}, nms_thresh={FIRST.iou_threshold})
        found = ProposalOp(graph, attributes).create_node([scores, codes, info], {{'name': 'proposals'}})
        swapped = add_convolution_to_swap_xy_coordinates(graph, found, 5)
        regions = create_op_node_with_second_input(graph, Reshape, np.array([-1, 5]), {{'name': 'regions'}}, swapped)
        mark_input_as_in_correct_layout(regions, 0)
        [crop] = [name for name in bfs_search(graph, [match.single_input_node(0)[0].id]) if graph.node[name]['op'] == 'CropAndResize']
        crop = Node(graph, crop)
        crop['inputs_preprocessed'] = True
        crop.in_port(1).disconnect()
        regions.out_port(0).connect(crop.in_port(1))
        boxes = Crop(graph, {{'axis': np.array([3]), 'offset': np.array([1]), 'dim': np.array([4]), 'nchw_layout': True}}).create_node(
            [reshaped(graph, 'by_image', [-1, 1, {PROPOSALS}, 5], swapped)], {{'name': 'corners'}})
        return {{'boxes': reshaped(graph, 'boxes', [0, -1, 4], boxes)}}


class Detections(FrontReplacementFromConfigFileSubGraph):
    replacement_id = 'ObjectDetectionAPIDetectionOutputReplacement'

    def run_after(self):
        return [Proposals]

    def output_edges_match(self, graph: Graph, match: SubgraphMatch, new_sub_graph: dict):
        return {{match.output_node(0)[0].id: new_sub_graph['detections'].id}}

    def nodes_to_remove(self, graph: Graph, match: SubgraphMatch):
        others = [name for name in ('detection_scores', 'num_detections') if graph.has_node(name)]
        return [*match.matched_nodes_names(), *others]

    def generate_sub_graph(self, graph: Graph, match: SubgraphMatch):
        codes, classes = (match.single_input_node(port)[0].in_node(0) for port in range(2))
        while codes.has_and_set('reinterp_shape'):
            codes = codes.in_node(0)
        scores = add_activation_function_after_node(graph, classes, 'SOFTMAX')
        scores = reshaped(graph, 'flat_scores', [-1, {(CLASSES + 1) * PROPOSALS}], scores)
        codes = add_fake_background_loc(graph, reshaped(graph, 'codes', [-1, {CLASSES}, 1, 4], codes))
        variances = Const(graph, {{'value': np.array([0.1, 0.1, 0.2, 0.2])}}).create_node()
        scaled = Mul(graph, {{'name': 'scaled'}}).create_node([reshaped(graph, 'rows', [-1, 4], codes), variances])
        swapped = add_convolution_to_swap_xy_coordinates(graph, scaled, 4)
        codes = reshaped(graph, 'flat_codes', [-1, {(CLASSES + 1) * PROPOSALS * 4}], swapped)
        priors = reshaped(graph, 'priors', [-1, 1, {PROPOSALS * 4}], Node(graph, 'corners'))
        limits = dict(keep_top_k={SECOND.max_total_detections}, top_k={SECOND.max_detections_per_class},
                      nms_threshold={SECOND.iou_threshold}, confidence_threshold={SECOND.score_threshold})
        made = DetectionOutput(graph, dict(clip_before_nms=0, clip_after_nms=1)).create_node(
            [codes, scores, priors], dict(name='detections', share_location=0, variance_encoded_in_target=1, background_label_id=0,
                                          code_type='caffe.PriorBoxParameter.CENTER_SIZE', num_classes={CLASSES + 1}, **limits))
        return {{'detections': made}}
"""


def entries(version: Version) -> list[dict]:
    """The entries of `faster_rcnn_support_api_v1.15.json`, or of that for version 2.0."""
    prefix = version.prefix
    start = ["concat/concat", "concat_1/concat", "GridAnchorGenerator/Identity", *(("Cast_1", "Cast_2") if prefix else ()), "Shape"]
    ends = (
        ["stack_3", "BatchMultiClassNonMaxSuppression/stack_10", "Shape"]
        if prefix
        else [
            "map/TensorArrayStack/TensorArrayGatherV3",
            "map_2/TensorArrayStack/TensorArrayGatherV3",
            "BatchMultiClassNonMaxSuppression/map/TensorArrayStack_5/TensorArrayGatherV3",
        ]
    )
    clipping = {"clip_before_nms": False, "clip_after_nms": True}
    names = [[f"{prefix}{name}" for name in each] for each in (start, ends)]
    second = second_stage_entry()
    outputs = "detection_boxes,detection_scores,num_detections"
    if prefix:
        outputs = f"{prefix}SecondStagePostprocessor/Cast_3"
        second["outputs"] = [{"node": "Cast_3$", "port": 0}]
    return [
        preprocessor_entry(version),
        points("ObjectDetectionAPIProposalReplacement", *names, **clipping),
        second,
        {"id": "ObjectDetectionAPIOutputReplacement", "match_kind": "general", "custom_attributes": {"outputs": outputs}},
    ]


@pytest.mark.parametrize("version", [Version(), VERSION_2], ids=["1.15", "2.0"])
def test_replacements_of_both_stages(version: Version, tmp_path: Path) -> None:
    graph = faster_rcnn(version, FIRST, SECOND)
    folder = tmp_path / "extensions" / "front" / "tf"
    folder.mkdir(parents=True)
    (folder / "detector.py").write_text(EXTENSION)
    path = frozen(graph, version.outputs, tmp_path)
    model = converted(path, extensions=tmp_path / "extensions", transformations_config=configuration(tmp_path, *entries(version)))
    types = layer_types(model)
    assert (types.count("Proposal"), types.count("DetectionOutput"), types.count("ROIPooling")) == (1, 1, 1)
    assert not {"Loop", "NonMaxSuppression", "Interpolate"} & set(types)
    assert {each.get_any_name(): each.get_partial_shape().to_string() for each in model.inputs} == {
        "image_tensor": f"[1,{IMAGE},{IMAGE},3]",
        "image_info": "[1,3]",
    }
    (rows,) = run(model, {"image_tensor": images(), "image_info": np.array([[IMAGE, IMAGE, 1]], np.float32)})
    actual = results_of(graph, version.outputs, {"image_tensor": images()})
    expected = expected_detections(*(each[0] for each in actual))
    assert len(expected) >= 5
    np.testing.assert_allclose(detections(rows), expected, rtol=1e-4, atol=2e-5)
