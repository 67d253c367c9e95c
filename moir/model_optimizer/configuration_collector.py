"""Collects transformations from the JSON configuration: each entry with an `op` is one.

Every other entry needs a class with its id as `replacement_id` in a file of the extensions, unless moir has a
transformation of detection networks with this id.
"""

from __future__ import annotations

import logging
from argparse import Namespace
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

from xdsl.passes import ModulePass
from xdsl.utils.arg_spec import ArgSpec

from moir.dialects.moir import ModelOp
from moir.extensions.native import ExtensionFile, kebab_case
from moir.extensions.transformation import UserTransformation
from moir.model_optimizer.api.configuration.json_configuration import CustomReplacementDescriptor, Descriptions, by_id, load_configuration
from moir.model_optimizer.api.transformations.configured_replacement import (
    FrontReplacementFromConfigFileGeneral,
    FrontReplacementFromConfigFileOp,
    FrontReplacementFromConfigFileSubGraph,
)
from moir.model_optimizer.graph.graph import Graph
from moir.model_optimizer.graph_passes import GraphPass, graph_of
from moir.parameters.extension import DETECTION, PIPELINE_CONFIG
from moir.support.suggestions import did_you_mean

if TYPE_CHECKING:
    from moir.extensions.loading import Settings

logger = logging.getLogger("moir")


class ConfigurationCollector:
    """Makes transformations of the entries with an `op`, and checks that every other entry has a class.

    Args:
        settings: the conversion for which extensions are loaded.
    """

    def __init__(self, settings: Settings) -> None:
        self.transformations: list[UserTransformation] = []
        self._path = settings.configuration
        self._framework = settings.framework
        self._detection = settings.parameters.get(DETECTION.name, DETECTION.default)
        pipeline = settings.parameters.get(PIPELINE_CONFIG.name)
        self._pipeline = Path(pipeline) if pipeline else None
        self._descriptions: Descriptions = {} if self._path is None else by_id(load_configuration(self._path))
        self._ids: set[str] = set()
        self._parameters = Namespace(
            framework=settings.framework,
            extensions=",".join(settings.directories) or None,
            transformations_config=None if self._path is None else str(self._path),
            **settings.parameters,
        )

    def collect(self, file: ExtensionFile) -> None:
        """Remember the `replacement_id` of each class of a file."""
        for base in (FrontReplacementFromConfigFileSubGraph, FrontReplacementFromConfigFileGeneral):
            self._ids.update(each.replacement_id for each in file.classes(base))

    def finish(self) -> None:
        """Called when all files are loaded. Raises ConversionError for an entry without a transformation."""
        heads = self._heads()
        for id_, descriptors in self._descriptions.items():
            if id_ in self._ids or id_ in heads:
                continue
            plain = next((each for each in descriptors if each.op is None), None)
            if plain is not None:
                raise self._unused(plain)
            assert self._path is not None
            self.transformations.append(self._operation_replacement(descriptors[0], self._path))

    def _heads(self) -> list[str]:
        """The ids in the configuration for which moir has transformations of detection networks and no file has a
        class.

        Collects these transformations, or for `--detection=output` without such ids the one that recognises heads.
        """
        if not self._descriptions and self._detection != "output":
            return []
        from moir.model_optimizer.detection.transformations import COMPLETE, IDS, configured, recognised

        heads = [id_ for id_ in self._descriptions if id_ not in self._ids and id_ in IDS]
        if self._path is not None and self._detection != "plain":
            self.transformations.extend(configured(heads, self._descriptions, self._path, self._pipeline))
        if not heads and self._detection == "output" and self._framework is not None and self._framework not in COMPLETE:
            logger.warning("--detection=output has no effect: it is for models of TensorFlow and MXNet; all stays plain operations")
        elif not heads and self._detection == "output":
            self.transformations.append(recognised(self._pipeline, self._framework))
        return heads

    def close(self) -> None:
        """Does nothing, because the collector registers nothing elsewhere."""

    def _unused(self, descriptor: CustomReplacementDescriptor) -> Exception:
        hint = did_you_mean(descriptor.id, self._ids, "give the directory of the extension that has it with --extensions")
        return descriptor.fail("no class has this replacement_id, and the entry has no op", "id", hint=hint)

    def _operation_replacement(self, descriptor: CustomReplacementDescriptor, path: Path) -> UserTransformation:
        """The transformation that replaces sub-graphs for the entries of one id, which all name an `op`; `path` is
        their file.
        """
        name = "".join(letter if letter.isalnum() else "_" for letter in descriptor.id)
        source = type(
            f"{name}FromConfigFile",
            (FrontReplacementFromConfigFileOp,),
            {"replacement_id": descriptor.id, "__doc__": f"Replaces sub-graphs by {descriptor.op}, as {path.name} says."},
        )

        def build(_spec: ArgSpec) -> ModulePass:
            return GraphPass(source, self._parameters)

        return UserTransformation(
            kebab_case(source.__name__),
            descriptor.id,
            path,
            "front",
            None,
            source,
            build,
            self._graph_of("front"),
            lambda filename: filename == str(path),
            ignores_unknown=True,
        )

    def _graph_of(self, phase: str) -> Callable[[ModelOp], Graph]:
        return lambda model: graph_of(model, phase, self._parameters)
