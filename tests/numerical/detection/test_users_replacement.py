"""A user's own replacement of the end of an SSD, as extensions for Model Optimizer until 2020 wrote it."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from tests.numerical.detection.conversion import configuration, converted, detections, expected_detections, frozen, layer_types, results_of
from tests.numerical.detection.object_detection_api import IMAGE, Version, ssd
from tests.numerical.detection.test_object_detection_api import OUTPUTS, images, preprocessor_entry, ssd_entry
from tests.numerical.runtime import run

EXTENSION = f"""
import numpy as np

from extensions.ops.DetectionOutput import DetectionOutput
from extensions.ops.priorbox_clustered import PriorBoxClusteredOp
from extensions.ops.activation_ops import Sigmoid
from mo.front.common.weights import swap_weights_xy
from mo.front.subgraph_matcher import SubgraphMatch
from mo.front.tf.graph_utils import create_op_node_with_second_input, squeeze_reshape_and_concat
from mo.front.tf.replacement import FrontReplacementFromConfigFileSubGraph
from mo.graph.graph import Graph, Node
from mo.ops.concat import Concat
from mo.ops.reshape import Reshape


class Preprocessor(FrontReplacementFromConfigFileSubGraph):
    replacement_id = "ObjectDetectionAPIPreprocessorReplacement"

    def nodes_to_remove(self, graph: Graph, match: SubgraphMatch):
        kept = ("Preprocessor/sub", "Preprocessor/sub/y", "Preprocessor/mul", "Preprocessor/mul/x")
        return [name for name in match.matched_nodes_names() if name not in kept]

    def generate_sub_graph(self, graph: Graph, match: SubgraphMatch):
        images = Node(graph, "image_tensor")
        assert graph.graph["user_shapes"] is None
        images.shape[1:3] = {IMAGE}
        scaled = match.output_node(0)[0].in_port(0).get_source().node
        images.out_port(0).get_destination().node.out_port(0).connect(scaled.in_port(1))
        return {{}}


class Postprocessor(FrontReplacementFromConfigFileSubGraph):
    replacement_id = "ObjectDetectionAPISSDPostprocessorReplacement"

    def run_after(self):
        return [Preprocessor]

    def output_edges_match(self, graph: Graph, match: SubgraphMatch, new_sub_graph: dict):
        return {{match.output_node(0)[0].id: new_sub_graph["detections"].id}}

    def generate_sub_graph(self, graph: Graph, match: SubgraphMatch):
        boxes = match.single_input_node(0)[0].in_port(0).get_source().node
        logits = match.single_input_node(1)[0].in_port(0).get_source().node
        scores = Sigmoid(graph, {{"name": "scores"}}).create_node([logits])
        flat = [
            create_op_node_with_second_input(graph, Reshape, np.array([0, -1]), {{"name": name}}, node)
            for name, node in (("flat_boxes", boxes), ("flat_scores", scores))
        ]
        priors = []
        for level, size in enumerate((0.2, 0.4)):
            head = Node(graph, "BoxPredictor_%d/BoxEncodingPredictor/BiasAdd" % level)
            sizes = {{
                "width": np.array([size, size * 0.5**0.5]) * {IMAGE},
                "height": np.array([size, size * 2**0.5]) * {IMAGE},
                "variance": np.array([0.1, 0.1, 0.2, 0.2]),
                "offset": 0.5,
                "clip": 0,
            }}
            source = Node(graph, "image_tensor").out_node(0)
            priors.append(PriorBoxClusteredOp(graph, sizes).create_node([head, source], {{"name": "priors_%d" % level}}))
        all_priors = Concat(graph, {{"axis": -1, "in_ports_count": 2}}).create_node(priors, {{"name": "priors"}})
        limits = {{"nms_threshold": 0.5, "confidence_threshold": 0.1, "keep_top_k": 20, "top_k": 20}}
        detections = DetectionOutput(graph, match.custom_replacement_desc.custom_attributes).create_node(
            [*flat, all_priors], {{"name": "DetectionOutput", **limits}}
        )
        convolutions = [Node(graph, "BoxPredictor_%d/BoxEncodingPredictor/Conv2D" % level) for level in range(2)]
        swap_weights_xy(convolutions)
        squeeze_reshape_and_concat(convolutions)
        return {{"detections": detections}}
"""


def test_replacement_of_a_user_takes_the_place_of_ours(tmp_path: Path) -> None:
    graph = ssd(Version())
    folder = tmp_path / "extensions" / "front" / "tf"
    folder.mkdir(parents=True)
    (folder / "detector.py").write_text(EXTENSION)
    entries = configuration(tmp_path, preprocessor_entry(Version()), ssd_entry(Version()))
    model = converted(frozen(graph, OUTPUTS, tmp_path), extensions=tmp_path / "extensions", transformations_config=entries)
    assert model.inputs[0].get_partial_shape().to_string() == f"[?,{IMAGE},{IMAGE},3]"
    assert layer_types(model).count("PriorBoxClustered") == 2
    assert not {"Loop", "NonMaxSuppression", "Interpolate"} & set(layer_types(model))
    (rows,) = run(model, {"image_tensor": images()})
    actual = results_of(graph, OUTPUTS, {"image_tensor": images()})
    np.testing.assert_allclose(detections(rows), expected_detections(*(each[0] for each in actual)), rtol=1e-4, atol=2e-5)
