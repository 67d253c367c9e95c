"""StableHLO program -> module in the `stablehlo` dialect: text, bytecode of MLIR, files of `jax.export`."""

from __future__ import annotations

import mmap
from collections.abc import Sequence
from pathlib import Path
from typing import cast

from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Block

from moir.dialects.module import Module
from moir.dialects.moir import ModelOp, add_notes
from moir.errors import ModelFileError
from moir.files.reading import map_content
from moir.frameworks.record import SAMPLE, is_text
from moir.frontends.stablehlo.builder import ProgramBuilder
from moir.frontends.stablehlo.graph import block_of
from moir.frontends.stablehlo.program import Program

BYTECODE = b"ML\xefR"
LARGEST_TEXT = 1 << 32
"""Largest size of a text in bytes."""


def read_model(path: str | Path) -> ModuleOp:
    """Read a StableHLO program.

    Args:
        path: the text of a module, its bytecode, or a file that `jax.export.Exported.serialize` wrote.

    Returns a module with one `moir.model`, in which functions are inlined. Raises ModelFileError for a file that is
    damaged, or that has no function `main`.
    """
    path = Path(path)
    mapped = map_content(path)
    platforms: list[str] = []
    program: Program
    if mapped[: len(BYTECODE)] == BYTECODE:
        program = _of_bytecode(path, mapped)
    elif is_text(mapped[:SAMPLE]):
        program = _of_text(path, mapped)
    else:
        from moir.frontends.stablehlo.jax_export import read_export

        data, platforms = read_export(cast("bytes", mapped), str(path))
        program = _of_bytecode(path, data)
    builder = ProgramBuilder(program, str(path), platforms)
    block = block_of(builder)
    model = ModelOp.of(program.name or path.stem or "model", block, {})
    add_notes(model, builder.notes)
    return Module([model])


def read_block(data: bytes, location: str, platforms: Sequence[str]) -> tuple[Block, list[str]]:
    """The block of a StableHLO program that is embedded in a node of another model, and notes for the user.

    Args:
        data: the bytecode, or the text.
        location: the file with the node, for messages.
        platforms: the platforms of the program, in lower case.

    Raises ModelFileError if the program is damaged, or has no function `main`.
    """
    is_bytecode = data[: len(BYTECODE)] == BYTECODE
    builder = ProgramBuilder(_of_bytecode(Path(location), data) if is_bytecode else _of_text(Path(location), data), location, platforms)
    return block_of(builder), builder.notes


def _of_bytecode(path: Path, data: mmap.mmap | bytes | memoryview) -> Program:
    from moir.frontends.stablehlo.bytecode.reader import read_bytecode

    return read_bytecode(cast("bytes", data), str(path))


def _of_text(path: Path, mapped: mmap.mmap | bytes) -> Program:
    from moir.frontends.stablehlo.text.modules import ModuleReader

    if len(mapped) > LARGEST_TEXT:
        raise ModelFileError("the text is too large", location=str(path), hint="write the program as bytecode")
    try:
        text = mapped[:].decode()
    except UnicodeDecodeError as error:
        raise ModelFileError(f"the text is not in UTF-8: {error.reason}", location=str(path)) from error
    try:
        return ModuleReader(text, str(path)).program()
    except RecursionError as error:
        raise ModelFileError("the text is nested too deeply", location=str(path)) from error
