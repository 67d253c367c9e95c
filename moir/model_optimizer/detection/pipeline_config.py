"""The pipeline.config of a model of the TensorFlow Object Detection API: the fields that a conversion needs.

    config = PipelineConfig.read(Path("pipeline.config"))
    config.number("ssd.post_processing.batch_non_max_suppression.iou_threshold")

The file is a message in protobuf's text format. Only requested fields are read, so that fields of other versions of the
API do no harm. Source: `object_detection/protos` of https://github.com/tensorflow/models.
"""

from __future__ import annotations

from pathlib import Path

from moir.errors import ConversionError
from moir.files.protobuf.text_format import Scalar, TextMessage, read_configuration
from moir.support.suggestions import alternatives

META_ARCHITECTURES = ("ssd", "faster_rcnn")
"""The kinds of models that the file describes and moir has passes for."""


class PipelineConfig:
    """The message `model` of a pipeline.config.

    Args:
        model: the message.
        path: the file.
    """

    def __init__(self, model: TextMessage, path: Path) -> None:
        self.model = model
        self.path = path
        kinds = [name for name in META_ARCHITECTURES if model.messages(name)]
        if not kinds:
            given = alternatives(model.fields) if model.fields else "nothing"
            raise ConversionError(
                f"the model is {given}, not {alternatives(META_ARCHITECTURES)}",
                location=str(path),
                hint="convert without the pipeline configuration: the model becomes plain operations",
            )
        self.architecture = kinds[0]

    @classmethod
    def read(cls, path: Path) -> PipelineConfig:
        """Read a file. Raises ConversionError for a file that is not a pipeline.config."""
        if not path.is_file():
            raise ConversionError("the pipeline configuration is not a file", location=str(path))
        models = read_configuration(path, "a pipeline.config").messages("model")
        if not models:
            raise ConversionError("there is no message 'model'", location=str(path), hint="is it the pipeline.config of the model?")
        return cls(models[0], path)

    def number(self, field_path: str) -> float | None:
        """The number at `field_path`, a path of field names with dots between; None if the field is absent.

        Raises ConversionError for a value that is not a number.
        """
        above, _, name = field_path.rpartition(".")
        message = self._message(above)
        values: list[Scalar] = [] if message is None else message.scalars(name)
        if not values:
            return None
        if isinstance(values[-1], str):
            raise ConversionError(f"{field_path} is {values[-1]!r}, not a number", location=str(self.path))
        return float(values[-1])

    def integer(self, field_path: str) -> int | None:
        """The integer at `field_path`, a path of field names; None if the field is absent."""
        number = self.number(field_path)
        return None if number is None else int(number)

    def in_model(self, field_path: str) -> float | None:
        """The number at `field_path`, a path below the message of the architecture, such as `ssd`; None if the field is
        absent.
        """
        return self.number(f"{self.architecture}.{field_path}")

    def _message(self, field_path: str) -> TextMessage | None:
        message: TextMessage | None = self.model
        for name in filter(None, field_path.split(".")):
            message = next(iter(message.messages(name)), None) if message is not None else None
        return message
