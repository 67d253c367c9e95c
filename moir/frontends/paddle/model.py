"""PaddlePaddle model -> module in the `paddle` dialect.

NAME.pdmodel + NAME.pdiparams     a program and its parameters
__model__ + __params__            the same in older versions; or one file for each parameter
NAME.json + NAME.pdiparams        PIR, since version 3
"""

from __future__ import annotations

import mmap
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from xdsl.dialects.builtin import DictionaryAttr, ModuleOp
from xdsl.ir import Attribute

from moir.dialects.data import DataAttr
from moir.dialects.module import Module
from moir.dialects.moir import ModelOp, ModuleLevel
from moir.dialects.properties import integer_attribute
from moir.errors import ModelFileError
from moir.files.protobuf.damage import report_damage
from moir.files.protobuf.wire import Splitter
from moir.files.reading import check_beginning, map_content
from moir.frameworks import FRAMEWORKS
from moir.frameworks.record import SAMPLE, is_text
from moir.frontends.paddle.elements import TENSOR
from moir.frontends.paddle.messages import MESSAGES, PROGRAM_FORMAT
from moir.frontends.paddle.parameters import read_stream
from moir.frontends.paddle.pir import PirBuilder
from moir.frontends.paddle.pir_file import read_program
from moir.frontends.paddle.program import ProgramBuilder

STREAM_NAMES = ("__params__", "params", "model.pdiparams")
"""Usual names of a stream of parameters that is not named like its program."""
SUFFIX = ".pdiparams"


def read_model(path: str | Path) -> ModuleOp:
    """Read a PaddlePaddle model.

    Args:
        path: the `.pdmodel`, `__model__` or `.json`, or the folder with one of them.

    Returns a module with one `moir.model`. Raises ModelFileError for a file that is damaged, missing or of another
    model.
    """
    path = Path(path)
    program = _program_of_folder(path) if path.is_dir() else path
    mapped = map_content(program, path if path.is_dir() and program.parent != path else None)
    check_beginning(program, mapped, "paddle")
    attributes: dict[str, Attribute] = {}
    if is_text(mapped[:SAMPLE]):
        pir = read_program(program, mapped)
        block = PirBuilder(pir, _parameters(program, pir.parameters), program).block()
    else:
        message = _message(program, mapped)
        block = ProgramBuilder(message, _parameters(program, _parameter_names(message)), program).block()
        # Before version 2.5 there were no tensors without dimensions.
        attributes[ModuleLevel.OPSET_IMPORT] = DictionaryAttr({"paddle": integer_attribute(message.version.version)})
    name = program.stem if program.suffix else program.parent.name
    return Module([ModelOp.of(name or "model", block, attributes)])


def _program_of_folder(folder: Path) -> Path:
    """The program in a folder, by the usual names."""
    for name in FRAMEWORKS["paddle"].folder_files:
        if (folder / name).is_file():
            return folder / name
    raise ModelFileError("the folder has no model of PaddlePaddle", location=str(folder), hint="give the file of the program")


def _message(path: Path, mapped: mmap.mmap) -> Any:
    """The message of a program. Raises ModelFileError if its encoding is damaged, or it has no blocks."""
    splitter = Splitter(path, memoryview(mapped), PROGRAM_FORMAT)
    splitter.check_top_level()
    kind = MESSAGES.reader("ProgramDesc")
    try:
        program: Any = kind.FromString(mapped[:])
    except ValueError as error:
        report_damage(splitter, kind)
        reason = "damaged or not a PaddlePaddle program: its protobuf encoding is invalid"
        raise ModelFileError(reason, location=str(path)) from error
    if not program.blocks or any(block.idx != index for index, block in enumerate(program.blocks)):
        raise ModelFileError("the blocks of the program are not in order", location=str(path), hint="the file is damaged")
    texts = (each for block in program.blocks for desc in block.ops for each in (desc.type, *_names(desc)))
    if not all(isinstance(each, str) for each in texts) or not all(isinstance(v.name, str) for b in program.blocks for v in b.vars):
        raise ModelFileError("a name is not in UTF-8", location=str(path), hint="the file is damaged")
    return program


def _names(desc: Any) -> Iterable[Any]:
    for each in (*desc.inputs, *desc.outputs):
        yield each.parameter
        yield from each.arguments
    for attribute in desc.attrs:
        yield attribute.name


def _parameter_names(program: Any) -> list[str]:
    """The names of the parameters of a program: its persistable tensors."""
    return [each.name for each in program.blocks[0].vars if each.persistable and each.type.type == TENSOR]


def file_names_of_parameters(path: Path) -> list[str]:
    """The names that the files of the parameters of a program have if each has its own. Raises ModelFileError for a
    damaged program.
    """
    return [each for each in _parameter_names(_message(path, map_content(path))) if _is_file_name(each)]


def _parameters(path: Path, names: list[str]) -> dict[str, DataAttr]:
    """The values of the parameters: from one stream beside the program, or from a file for each.

    Raises ModelFileError if there is neither.
    """
    stream = path.with_suffix(SUFFIX)
    beside = [stream] if path.suffix else [path.with_name(each) for each in STREAM_NAMES]
    for each in (stream, *beside):
        if each.is_file() and each != path:
            return read_stream(each, names, path)
    if not names:
        return {}
    files = {name: path.with_name(name) for name in names if _is_file_name(name)}
    present = [name for name, file in files.items() if file.is_file()]
    if len(present) == len(names):
        return {name: read_stream(file, [name], path)[name] for name, file in files.items()}
    if present:
        missing = next(name for name in names if name not in present)
        reason = f"the parameter {missing!r} has no file beside the program, where {len(present)} others have one"
        raise ModelFileError(reason, location=str(path), hint="copy all files of the model")
    reason = f"the parameters are missing: there is no {beside[0].name} beside the file"
    raise ModelFileError(reason, location=str(path), hint=f"put {beside[0].name} into the folder of the program")


def _is_file_name(name: str) -> bool:
    """Whether a name of a parameter can be that of a file in the folder of the program."""
    return bool(name) and name not in (".", "..") and not set(name) & set("/\\\0:")
