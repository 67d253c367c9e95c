"""Writes models in memory to files: bytes, file objects, messages of protobuf, models of frameworks.

A frontend reads files, and its weights are views of them. So an object is first written to a temporary folder by its
own framework, which must be imported already; the folder exists as long as the module.
"""

from __future__ import annotations

import shutil
from collections.abc import Callable, Generator, Sequence
from contextlib import contextmanager, redirect_stdout
from importlib import import_module
from io import StringIO
from pathlib import Path
from platform import machine
from tempfile import mkdtemp
from typing import TYPE_CHECKING, Any, NamedTuple, cast
from weakref import finalize

from moir.errors import ArgumentError, MoirError
from moir.files.temporary_copies import named_as

if TYPE_CHECKING:
    from xdsl.dialects.builtin import ModuleOp


class ModelObject(NamedTuple):
    """A kind of objects that are models.

    Args:
        matches: whether an object is of this kind.
        write: writes an object below a folder, and returns the path.
    """

    matches: Callable[[Any], bool]
    write: Callable[[Any, Path], Path]


MESSAGES = {"onnx.ModelProto": "model.onnx", **dict.fromkeys(("tensorflow.GraphDef", "tensorflow.MetaGraphDef"), "model.pb")}
"""Full name of a protobuf message -> the name of the file that it is written to."""


def _is_bytes(model: Any) -> bool:
    return isinstance(model, bytes | bytearray | memoryview)


def _is_message(model: Any) -> bool:
    return _message_name(model) in MESSAGES


def _is_file(model: Any) -> bool:
    return callable(getattr(model, "read", None))


def _message_name(model: Any) -> str:
    return str(getattr(getattr(model, "DESCRIPTOR", None), "full_name", ""))


def _is_of(*packages: str) -> Callable[[Any], bool]:
    """A function that returns whether the class of an object, or one of its base classes, is defined in one of
    `packages`.
    """

    def matches(model: Any) -> bool:
        classes: tuple[type, ...] = type(model).__mro__
        return any(each.__module__.partition(".")[0] in packages for each in classes)

    return matches


def _is_keras_model(model: Any) -> bool:
    return _is_of("keras", "tf_keras")(model) and hasattr(model, "export")


def _is_graph(model: Any) -> bool:
    return _is_of("tensorflow")(model) and hasattr(model, "as_graph_def")


def _is_function(model: Any) -> bool:
    return _is_of("tensorflow")(model) and (hasattr(model, "get_concrete_function") or hasattr(model, "structured_input_signature"))


def _is_tensorflow_module(model: Any) -> bool:
    return _is_of("tensorflow")(model) and hasattr(model, "trainable_variables")


def _write_bytes(model: Any, folder: Path) -> Path:
    path = folder / "model"
    path.write_bytes(model)
    return path


def _write_file(model: Any, folder: Path) -> Path:
    path = folder / "model"
    with path.open("wb") as file:
        start = model.read(0)
        if isinstance(start, str):
            raise ArgumentError("the file is open as text", hint="open it with mode 'rb'")
        shutil.copyfileobj(model, file)
    return path


def _write_message(model: Any, folder: Path) -> Path:
    path = folder / MESSAGES[_message_name(model)]
    try:
        path.write_bytes(model.SerializeToString())
    except ValueError as error:
        hint = "write it to a file, with its weights in another one"
        raise ArgumentError(f"the message cannot be written: {error}", hint=hint) from error
    return path


def _write_keras(model: Any, folder: Path) -> Path:
    path = folder / "saved_model"
    # Keras prints what it exports.
    with redirect_stdout(StringIO()):
        model.export(str(path))
    return path


def _write_graph(model: Any, folder: Path) -> Path:
    return _write_message(model.as_graph_def(), folder)


def _concrete(model: Any) -> Any:
    """The traced function of a tf.function, or of a method that is one; a function that is traced already is returned
    as it is.
    """
    return model.get_concrete_function() if hasattr(model, "get_concrete_function") else model


def _write_function(model: Any, folder: Path) -> Path:
    tf: Any = import_module("tensorflow")

    function = _concrete(model)
    holder: Any = tf.Module()
    holder.variables_of_function = list(function.graph.variables)
    holder.captured = model
    return _save(holder, function, folder)


def _write_tensorflow_module(model: Any, folder: Path) -> Path:
    call: Any = model.__call__ if callable(model) else None
    return _save(model, _concrete(call) if hasattr(call, "get_concrete_function") else None, folder)


def _is_exported_program(model: Any) -> bool:
    return _is_of("torch")(model) and hasattr(model, "graph_signature") and hasattr(model, "range_constraints")


_VECTORIZED = "torch._functorch.predispatch"
"""The module of the functions that torch.vmap leaves in an exported program."""


def _is_torch_module(model: Any) -> bool:
    return _is_of("torch")(model) and hasattr(model, "named_parameters")


def _write_exported_program(model: Any, folder: Path) -> Path:
    torch: Any = import_module("torch")

    path = folder / "model.pt2"
    if any(_VECTORIZED in getattr(node.target, "__module__", "") for node in model.graph.nodes if callable(node.target)):
        # The operations of torch.vmap lack a dimension unless they are decomposed.
        model = model.run_decompositions()
    more: dict[str, Any] = {}
    if any("_weight_int4pack_mm_for_cpu" in str(node.target) for node in model.graph.nodes):
        # The layout of packed int4 weights depends on the processor, and torch does not save it.
        more["extra_files"] = {"packing": _layout_of(torch.backends.cpu.get_cpu_capability())}
    try:
        torch.export.save(model, str(path), **more)
    except Exception as error:
        text = " ".join(str(error).split())
        hint = "torch.export.save(program, FILE) has to succeed"
        if "flex_attention" in text:
            hint += "; write the attention as torch.nn.functional.scaled_dot_product_attention, which torch saves"
        raise ArgumentError(f"torch does not save the program: {text[:300]}", hint=hint) from error
    return path


def _layout_of(capability: str) -> str:
    """The name, as in `--packing`, of the layout in which torch packs weights on a processor with a capability."""
    is_arm = machine().lower() in ("aarch64", "arm64")
    names = {"DEFAULT": "neon" if is_arm else "scalar", "NO AVX": "scalar", "SVE256": "scalar"}
    return names.get(capability, capability.lower())


def _write_torch_module(model: Any, _folder: Path) -> Path:
    hint = "give them: moir.convert_model(model.eval(), example_inputs=(x,)); or convert a program: torch.export.export(model, inputs)"
    raise ArgumentError(f"{type(model).__name__} is a module of PyTorch, whose graph depends on its inputs", hint=hint)


def _exported(model: Any, example_inputs: Any) -> Any:
    """The exported program of a module of PyTorch.

    Raises ArgumentError for another kind of model, or one that torch cannot export.
    """
    if not _is_torch_module(model):
        reason = f"argument 'example_inputs' is for a torch.nn.Module, not for {type(model).__name__}"
        raise ArgumentError(reason, hint="leave it out")
    torch: Any = import_module("torch")

    arguments: tuple[Any, ...] = (example_inputs,)
    keywords: dict[str, Any] = {}
    if isinstance(example_inputs, dict):
        arguments, keywords = (), cast("dict[str, Any]", example_inputs)
    elif isinstance(example_inputs, tuple | list):
        arguments = tuple(cast("Sequence[Any]", example_inputs))
    try:
        # What torch prints while it traces is its own business; its errors are not.
        with redirect_stdout(StringIO()), torch.no_grad():
            return torch.export.export(model, arguments, keywords, strict=False)
    except Exception as error:
        text = " ".join(str(error).split())[:300]
        hint = "torch.export.export(model, inputs) has to succeed; see the documentation of torch.export"
        raise ArgumentError(f"torch does not export {type(model).__name__}: {text}", hint=hint) from error


def _is_jax_export(model: Any) -> bool:
    return _is_of("jax")(model) and hasattr(model, "mlir_module_serialized")


def _is_jax_lowered(model: Any) -> bool:
    return _is_of("jax")(model) and callable(getattr(model, "as_text", None)) and hasattr(model, "compiler_ir")


def _write_jax_export(model: Any, folder: Path) -> Path:
    if len(model.platforms) > 1:
        # The file of jax.export says which of them the program asks for.
        path = folder / "model.jax"
        path.write_bytes(model.serialize())
    else:
        path = folder / "model.mlirbc"
        path.write_bytes(model.mlir_module_serialized)
    return path


def _write_jax_lowered(model: Any, folder: Path) -> Path:
    path = folder / "model.mlir"
    path.write_text(model.as_text(debug_info=True))
    return path


def _save(holder: Any, signature: Any, folder: Path) -> Path:
    tf: Any = import_module("tensorflow")

    path = folder / "saved_model"
    tf.saved_model.save(holder, str(path), signatures=signature)
    return path


OBJECTS: tuple[ModelObject, ...] = (
    ModelObject(_is_bytes, _write_bytes),
    ModelObject(_is_message, _write_message),
    ModelObject(_is_keras_model, _write_keras),
    ModelObject(_is_graph, _write_graph),
    ModelObject(_is_function, _write_function),
    ModelObject(_is_tensorflow_module, _write_tensorflow_module),
    ModelObject(_is_exported_program, _write_exported_program),
    ModelObject(_is_torch_module, _write_torch_module),
    ModelObject(_is_jax_export, _write_jax_export),
    ModelObject(_is_jax_lowered, _write_jax_lowered),
    ModelObject(_is_file, _write_file),
)
"""The kinds of objects, in the order in which they are tried: the most specific ones first."""


def is_model_object(model: Any) -> bool:
    """Whether an object is a model that can be written to a file."""
    return any(each.matches(model) for each in OBJECTS)


class Source:
    """A file to which an object was written; it exists until the module that is read from it is deleted."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.module: ModuleOp | None = None
        """The module that was read; None if reading failed."""


@contextmanager
def written(model: Any, example_inputs: Any = None) -> Generator[Source]:
    """A context that yields the file to which an object is written. Raises ArgumentError if its framework cannot write
    it.

    Args:
        model: an object for which `is_model_object` holds.
        example_inputs: arguments of a module of PyTorch, with which it is exported first; None for other models.
    """
    model = model if example_inputs is None else _exported(model, example_inputs)
    folder = Path(mkdtemp(prefix="moir-"))
    source: Source | None = None
    try:
        write = next(each.write for each in OBJECTS if each.matches(model))
        try:
            source = Source(write(model, folder))
        except MoirError:
            raise
        except Exception as error:
            text = " ".join(str(error).split())[:300]
            hint = "give a tf.function with an input_signature, or write the model to a file"
            raise ArgumentError(f"{type(model).__name__} cannot be written to a file: {text}", hint=hint) from error
        with named_as(f"<{type(model).__name__}>", source.path, "a model of several files cannot come from memory; give its path"):
            yield source
    finally:
        if source is None or source.module is None:
            shutil.rmtree(folder, ignore_errors=True)
        else:
            finalize(source.module, shutil.rmtree, folder, ignore_errors=True)
