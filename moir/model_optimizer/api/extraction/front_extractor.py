"""The base classes of extractors, which read the attributes of a framework's nodes.

class BlurExtractor(FrontExtractorOp):
    op = "Blur"

    @classmethod
    def extract(cls, node):
        Blur.update_node_stat(node, {"sigma": onnx_attr(node, "sigma", "f", 1.0)})
        return cls.enabled
"""

from __future__ import annotations

import logging
from collections.abc import Iterable, Mapping
from types import FunctionType
from typing import Any, ClassVar, cast

from moir.errors import ConversionError
from moir.lowering.caffe.layer_parameters import parameter_text
from moir.model_optimizer.graph.node import GraphNode
from moir.model_optimizer.graph.operation import Op

logger = logging.getLogger("moir")


class FrontExtractorOp:
    """An extractor for the nodes of one kind.

    `op` is the framework's name of the kind. `extract` reads `node.pb` and sets attributes of the node, as a rule by
    `update_node_stat` of an Op class; it returns whether the node is supported.
    """

    op: ClassVar[str | None] = None
    enabled: bool = True

    @classmethod
    def extract(cls, node: GraphNode) -> bool | None:
        """Read the attributes of a node. Returns whether it is supported."""
        raise ConversionError(f"the class {cls.__name__} does not define extract")

    @classmethod
    def extracted(cls, node: GraphNode) -> bool:
        """Call `extract` of the class, or of an instance if it is a method of one. Returns whether the node is
        supported.

        If `extract` returns a tuple of a flag and attributes, a supported node gets the attributes.
        """
        function = next(base.__dict__["extract"] for base in cls.__mro__ if "extract" in base.__dict__)
        is_method = isinstance(function, FunctionType) and function.__code__.co_argcount == 2
        result = cast(object, cls().extract(node) if is_method else cls.extract(node))
        if not isinstance(result, tuple):
            return bool(result)
        is_supported, attributes = cast("tuple[bool, dict[str, Any] | None]", result)
        if is_supported and attributes:
            Op.update_node_stat(node, attributes)
        return bool(is_supported)

    @classmethod
    def missing_member(cls) -> str | None:
        """The member that a class must define and does not; None if it is complete."""
        if not isinstance(cls.op, str):
            return "op"
        defined = any("extract" in base.__dict__ for base in cls.__mro__[: cls.__mro__.index(FrontExtractorOp)])
        return None if defined else "extract"


REGISTERED: list[type[FrontExtractorOp]] = []
"""The extractors that functions registered, until the extension with the file that called them collects them."""


class CaffePythonFrontExtractorOp(FrontExtractorOp):
    """An extractor for Caffe layers written in Python; `op` is `<module>.<layer>`."""

    @staticmethod
    def get_attrs(pb: Any) -> dict[str, Any]:
        """The parameters of a layer: its `param_str` as a dictionary, empty if it has none.

        Raises ConversionError if it is not the text of a Python dictionary.
        """
        return CaffePythonFrontExtractorOp.parse_param_str(pb.python_param.param_str, str(pb.python_param.layer))

    @staticmethod
    def parse_param_str(param_str: object, layer: str | None = None) -> dict[str, Any]:
        """A `param_str` as a dictionary; the braces may be missing.

        Args:
            param_str: the text.
            layer: the name of the layer's class, for the error.

        Raises ConversionError if it is not the text of a Python dictionary.
        """
        parameters = parameter_text(str(param_str)) if param_str else {}
        if parameters is None:
            raise ConversionError(f"param_str is {param_str!r}, which is not the text of a Python dictionary", operation=layer)
        return parameters

    @staticmethod
    def check_param(op_cls: type[Op], attrs: Mapping[str, Any]) -> None:
        """Warn of parameters that will not be written to the IR."""
        supported = cast("Iterable[Any]", op_cls.supported_attrs(cast(Op, op_cls)))
        names = {entry if isinstance(entry, str) else entry[0] for entry in supported}
        for name in attrs:
            if name not in names:
                logger.warning("the attribute %s of %s is not recognized", name, op_cls.op)


class MXNetCustomFrontExtractorOp(FrontExtractorOp):
    """An extractor for MXNet's nodes of kind `Custom`; `op` is their attribute `op_type`."""


def register_caffe_python_extractor(op: type[Op], name: str | None = None) -> type[CaffePythonFrontExtractorOp]:
    """Register an extractor for the layer `name`, by default the `op` of the class: its parameters become attributes.

    Returns the extractor, which a file need not keep.
    """

    class CaffePythonExtractor(CaffePythonFrontExtractorOp):
        @classmethod
        def extract(cls, node: GraphNode) -> bool | None:
            attributes = cls.get_attrs(node.pb)
            cls.check_param(op, attributes)
            op.update_node_stat(node, attributes)
            return True

    CaffePythonExtractor.op = name or op.op
    CaffePythonExtractor.__name__ = f"{op.__name__}CaffePythonExtractor"
    REGISTERED.append(CaffePythonExtractor)
    return CaffePythonExtractor
