"""What a conversion can be told: one record, threaded through from the command line or `convert_model` to every stage."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

SWITCHES = ("MO_ENABLED_TRANSFORMS", "MO_DISABLED_TRANSFORMS")
"""The environment variables that switch transformations on and off."""


@dataclass(frozen=True)
class ConversionOptions:
    """The options of a conversion.

    Args:
        reading: options of the framework's reader, by the names in its record; only those that were given.
        extensions: directories of extensions, or names of their entry points.
        transformations_config: a JSON file that configures transformations of extensions.
        enable: ids, names or full class names of transformations to run although they are not enabled.
        disable: the same of transformations and passes not to run.
        compress_to_fp16: store weights in half precision.
        layout_change: move the transpositions around channel-last operations until they cancel.
    """

    reading: Mapping[str, object] = field(default_factory=dict[str, object])
    extensions: tuple[str, ...] = ()
    transformations_config: str | Path | None = None
    enable: tuple[str, ...] = ()
    disable: tuple[str, ...] = ()
    compress_to_fp16: bool = False
    layout_change: bool = True

    @property
    def needs_extensions(self) -> bool:
        """Whether there is anything to load, to enable or to disable."""
        given = self.extensions or self.transformations_config or self.enable or self.disable
        return bool(given) or any(map(os.environ.get, SWITCHES))

    def parameters(self, path: str | Path) -> dict[str, object]:
        """What extensions find in `graph.graph["cmd_params"]`, for the conversion of a model file."""
        return {
            "input_model": str(path),
            "compress_to_fp16": self.compress_to_fp16,
            "layout_change": self.layout_change,
            **self.reading,
        }

    def recorded(self) -> Mapping[str, str]:
        """What a model carries of the options that are not at their defaults. Of paths it is the last part: folders are
        private.
        """
        texts = {
            "compress_to_fp16": "True" if self.compress_to_fp16 else "",
            "layout_change": "" if self.layout_change else "none",
            "extensions": ",".join(Path(each).name for each in self.extensions),
            "transformations_config": Path(self.transformations_config or "").name,
            "enable": ",".join(self.enable),
            "disable": ",".join(self.disable),
        }
        return {name: text for name, text in texts.items() if text}
