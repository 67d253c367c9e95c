"""The functions of the Python interface that look into models: `moir.inspect`."""

from __future__ import annotations

from contextlib import ExitStack
from typing import Any

from xdsl.dialects.builtin import ModuleOp

from moir.conversion import collection_paused, open_extensions
from moir.dialects.framework import framework_of
from moir.errors import ArgumentError, UsageError
from moir.files.model_objects import is_model_object, written
from moir.frameworks import FRAMEWORKS, load
from moir.frameworks.record import Framework
from moir.inspection.node_list import NodeList
from moir.inspection.records import Inspection, NodeInspection
from moir.options import ConversionOptions
from moir.parameters.arguments import PATH
from moir.support.turns import in_turn

READER = "moir.tools.model_reading:read_any"
"""Where the function is that reads models and texts, as `module:function`.

Its layer is above this module, so it is loaded by name.
"""

TEXT, MODULE = "text of a module", "module"


@in_turn
def inspect(
    model: Any, *, node: str | None = None, nodes: str | None = None, **options: Any
) -> Inspection | NodeList | tuple[NodeInspection, ...]:
    """The contents of a model, and the operations that moir cannot convert; nothing is converted.

    Args:
        model: a path of any format that moir reads, texts of modules included; a module; or a model in memory, as
            `convert_model` takes it.
        node: the name of a node or a tensor: the result then describes the operations with this name.
        nodes: a pattern such as `*` or `/encoder/*/Softmax`: the result is then the list of the nodes whose name, kind
            or tensor matches it; a text without `*` and `?` is a part of a name.
        options: the options of `convert_model` for readers and extensions, such as `checkpoint` and `extensions`.

    Raises ConversionError for a model that cannot be read, UsageError for a mistake in the arguments, such as a node
    that does not exist.
    """
    conversion_options = ConversionOptions(**options)
    with ExitStack() as stack:
        module, framework = module_of(model, conversion_options, stack)
        return inspected(module, framework, conversion_options, stack, node=node, nodes=nodes, is_text=PATH.accepts(model))


def module_of(model: Any, options: ConversionOptions, stack: ExitStack) -> tuple[ModuleOp, Framework | None]:
    """The module of a model that is given as a path, as an object of its framework, or as a module.

    Args:
        model: the model.
        options: the options of the reader.
        stack: is given the contexts that have to end when the module is no longer needed.

    Returns the module, and the framework whose frontend read it (None for a text and for a module).
    """
    if isinstance(model, ModuleOp):
        return model, None
    with collection_paused():
        if PATH.accepts(model):
            return load(READER)(str(model), options, stack)
        if is_model_object(model):
            source = stack.enter_context(written(model))
            module, framework = load(READER)(str(source.path), options, stack)
            source.module = module
            return module, framework
    raise ArgumentError(f"{model!r} is neither a path, nor a module, nor a model in memory", hint=PATH.advice(model))


def inspected(
    module: ModuleOp,
    framework: Framework | None,
    options: ConversionOptions,
    stack: ExitStack,
    *,
    node: str | None,
    nodes: str | None,
    is_text: bool,
) -> Inspection | NodeList | tuple[NodeInspection, ...]:
    """Inspect a module, one of its nodes, or list nodes.

    Args:
        module: the module.
        framework: the framework whose frontend read it, None for a module and a text.
        options: the options that a conversion would have.
        stack: is given the context of the extensions, which it closes.
        node: the name of a node, or None.
        nodes: the pattern of the nodes to list, or None.
        is_text: whether the module was read from a text of moir.
    """
    from moir.inspection.node import inspect_node
    from moir.inspection.node_list import ALL, list_nodes
    from moir.inspection.obstacles import obstacles
    from moir.inspection.summary import inspect_module

    dialect = framework_of(module) if framework is None else framework.dialect
    extensions = open_extensions(FRAMEWORKS[dialect], options)
    if extensions is not None:
        stack.callback(extensions.close)
    if node is not None and nodes is not None:
        raise UsageError("one node is asked for, and a list of nodes", hint="leave out --node or --nodes")
    if node is not None or nodes is not None:
        unknown = {each.operation for each in obstacles(module, dialect, options, extensions)[0] if each.reason is None}
        return inspect_node(module, node, unknown) if node is not None else list_nodes(module, nodes or ALL, unknown)
    form = (TEXT if is_text else MODULE) if framework is None else framework.title
    return inspect_module(module, form, dialect, options, extensions, is_read=framework is not None)
