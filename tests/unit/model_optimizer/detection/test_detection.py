"""Detection configurations: the reader of pipeline.config, ids, and what is said of graphs without a detection head."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from textwrap import dedent

import onnx
import pytest
from onnx import TensorProto, helper

from moir.errors import ConversionError
from moir.interface import convert_model
from moir.model_optimizer.detection.pipeline_config import PipelineConfig
from moir.model_optimizer.detection.preprocessor import resized_to
from moir.model_optimizer.detection.transformations import HEADS
from moir.options import ConversionOptions


def pipeline(directory: Path, text: str) -> PipelineConfig:
    path = directory / "pipeline.config"
    path.write_text(dedent(text))
    return PipelineConfig.read(path)


def saved(directory: Path) -> Path:
    """A model of one ONNX node."""
    x, y = (helper.make_tensor_value_info(name, TensorProto.FLOAT, [2]) for name in "xy")
    path = directory / "relu.onnx"
    onnx.save(helper.make_model(helper.make_graph([helper.make_node("Relu", ["x"], ["y"])], "g", [x], [y])), path)
    return path


def test_fields_of_a_pipeline_configuration(tmp_path: Path) -> None:
    config = pipeline(
        tmp_path, "model { faster_rcnn { first_stage_max_proposals: 300 unknown: [1, 2] second_stage_post_processing { a: 1.5 } } }"
    )
    assert config.in_model("first_stage_max_proposals") == 300
    assert config.in_model("second_stage_post_processing.a") == 1.5
    assert config.in_model("first_stage_nms_iou_threshold") is None
    assert config.in_model("missing.message.field") is None


@pytest.mark.parametrize(
    ("resizer", "size"),
    [
        ("fixed_shape_resizer { height: 300 width: 400 }", (300, 400)),
        ("keep_aspect_ratio_resizer { min_dimension: 600 max_dimension: 1024 }", (600, 600)),
        ("keep_aspect_ratio_resizer { min_dimension: 600 max_dimension: 1024 pad_to_max_dimension: true }", (1024, 1024)),
        ("identity_resizer { }", None),
    ],
)
def test_size_of_resized_images(resizer: str, size: tuple[int, int] | None, tmp_path: Path) -> None:
    assert resized_to(pipeline(tmp_path, f"model {{ ssd {{ image_resizer {{ {resizer} }} }} }}")) == size


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("train_config { batch_size: 1 }", "there is no message 'model'"),
        ("model { center_net { num_classes: 1 } }", "the model is center_net, not ssd or faster_rcnn"),
        ("model { ssd { num_classes: ", "pipeline.config"),
    ],
)
def test_no_pipeline_configuration(text: str, reason: str, tmp_path: Path) -> None:
    with pytest.raises(ConversionError) as raised:
        pipeline(tmp_path, text)
    assert reason in str(raised.value)


def test_a_text_where_a_number_is_needed(tmp_path: Path) -> None:
    config = pipeline(tmp_path, 'model { ssd { num_classes: "many" } }')
    with pytest.raises(ConversionError, match=r"ssd\.num_classes is 'many', not a number"):
        config.in_model("num_classes")


def test_ids_are_unique() -> None:
    ids = [head.id for head in HEADS]
    assert len(set(ids)) == len(ids)


def test_detection_output_of_a_graph_without_a_head(tmp_path: Path) -> None:
    text = 'node { name: "x" op: "Placeholder" attr { key: "dtype" value { type: DT_FLOAT } } } '
    text += 'node { name: "y" op: "Relu" input: "x" attr { key: "T" value { type: DT_FLOAT } } }'
    path = tmp_path / "relu.pbtxt"
    path.write_text(text)
    with pytest.raises(ConversionError, match="no detection head was recognised") as raised:
        convert_model(path, detection="output")
    assert "leave out --detection=output" in str(raised.value)


def test_only_output_asks_for_extensions() -> None:
    assert ConversionOptions(detection="output").needs_extensions
    assert not ConversionOptions(detection="plain").needs_extensions


def test_nothing_is_imported_without_the_options(tmp_path: Path) -> None:
    code = f"""
        import sys, moir
        moir.convert_model({str(saved(tmp_path))!r})
        assert not [name for name in sys.modules if "detection" in name and name.startswith("moir.")], sys.modules
    """
    subprocess.run([sys.executable, "-c", dedent(code)], check=True)
