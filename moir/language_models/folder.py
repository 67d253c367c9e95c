"""Writing a language model: its IR and the files beside it appear together in their folder.

The files beside the IR are written to a hidden folder in the same place. They get their names when the IR is complete,
just before it does, so that an error or an interruption before leaves an older model as it was.
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable, Generator, Mapping
from contextlib import contextmanager, suppress
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from xdsl.ir import Operation, OpResult

from moir.analysis.model_ports import ModelPorts, names_of_port
from moir.conversion import stage, write_checked
from moir.dialects.moir import models_of
from moir.emit.files import check_output
from moir.emit.write import WrittenModel, write_model
from moir.errors import EmissionError
from moir.files.staging import staging_folder
from moir.language_models.companions import CHAT_TEMPLATE, DETOKENIZER, TOKENIZER, TOKENIZER_CONFIGURATION, Companions
from moir.rewriting.verification import verify_module

if TYPE_CHECKING:
    from xdsl.dialects.builtin import ModuleOp

TYPES = "token_type_ids"
"""The input of a network with the types of tokens, and the output of a tokenizer for it."""

STAGING = ".moir-"
"""The beginning of the name of the hidden folder."""

OPTIONAL = (f"{TOKENIZER}.xml", f"{DETOKENIZER}.xml", TOKENIZER_CONFIGURATION, CHAT_TEMPLATE)
"""The files beside an IR that OpenVINO GenAI reads, and that not every conversion writes."""


def check_folder(path: Path, companions: Companions) -> None:
    """Check that every file that would be replaced is the result of an older conversion.

    Args:
        path: the `.xml` of the network. Where it exists, the files beside it are those of an older conversion.
        companions: the files beside it.

    Raises EmissionError that names the file.
    """
    for name in companions.models:
        check_output(path.with_name(f"{name}.xml"))
    if path.exists():
        return
    for name in (*companions.contents, *companions.copies):
        existing = path.with_name(name)
        if existing.exists() and not _is_same(existing, name, companions):
            raise EmissionError(
                "the file would be overwritten, but it is not of an earlier conversion",
                location=str(existing),
                hint="choose another output, or remove the file",
            )


def _is_same(existing: Path, name: str, companions: Companions) -> bool:
    """Whether a file that exists already has the content that would be written, or is the source of the copy."""
    if name in companions.contents:
        return existing.read_bytes() == companions.contents[name]
    source = companions.copies[name]
    return existing.samefile(source) or (existing.stat().st_size == source.stat().st_size and existing.read_bytes() == source.read_bytes())


def notes_on_older_files(path: Path, companions: Companions) -> list[str]:
    """A note on files of a folder that OpenVINO GenAI would read although this conversion does not write them.

    Args:
        path: the `.xml` of the network.
        companions: the files that are written beside it.
    """
    written = set(companions.names)
    older = [name for name in OPTIONAL if name not in written and path.with_name(name).exists()]
    if not older:
        return []
    return [f"OpenVINO GenAI will read older files of the folder, too: {', '.join(older)}; remove them if they are of another model"]


def save_folder(module: ModuleOp, path: Path, companions: Companions, progress: Callable[[int, int], None] | None = None) -> WrittenModel:
    """Write a converted language model and what belongs beside it.

    Args:
        module: the network, in opset dialects.
        path: the `.xml` of the network; the other files are written beside it. A missing folder is created.
        companions: the other files.
        progress: called with the bytes of the network's weights that are written, and with their sum.

    Raises as `moir.save_model` does; then older files are unchanged and a folder that was created is removed.
    """
    check_output(path)
    check_folder(path, companions)
    folder = path.parent
    is_new = not folder.exists()
    try:
        folder.mkdir(parents=True, exist_ok=True)
        with staging_folder(folder, STAGING) as staged, _moving(folder) as move:
            drop_types(companions, module)
            _write_companions(staged, companions, folder)
            return write_checked(module, path, complete=partial(move, staged), progress=progress)
    except OSError as error:
        raise EmissionError(f"the model cannot be written: {error.strerror or error}", location=str(error.filename or folder)) from error
    finally:
        if is_new:
            # Removes the folder only if nothing was written to it.
            with suppress(OSError):
                folder.rmdir()


def drop_types(companions: Companions, module: ModuleOp) -> None:
    """Erase the output `token_type_ids` of a tokenizer if the network has no such input.

    OpenVINO GenAI passes each output of the tokenizer to the input of the same name, and fails if there is none.
    """
    tokenizer = companions.models.get(TOKENIZER)
    if tokenizer is None or any(TYPES in names_of_port(each) for model in models_of(module) for each in ModelPorts(model).inputs):
        return
    for result in (each for model in models_of(tokenizer) for each in ModelPorts(model).outputs):
        if TYPES in names_of_port(result):
            unused: list[Operation] = [result]
            while unused:
                op = unused.pop()
                producers = [value.op for value in op.operands if isinstance(value, OpResult)]
                op.detach()
                op.erase()
                unused += [each for each in dict.fromkeys(producers) if not any(value.uses for value in each.results)]


def _write_companions(staged: Path, companions: Companions, folder: Path) -> None:
    for name, module in companions.models.items():
        with stage(f"emission of {name}"):
            verify_module(module)
            write_model(module, staged / f"{name}.xml")
    for name, content in companions.contents.items():
        (staged / name).write_bytes(content)
    for name, source in _copies(companions.copies, folder).items():
        shutil.copyfile(source, staged / name)


def _copies(copies: Mapping[str, Path], folder: Path) -> Mapping[str, Path]:
    """The files to copy into the folder: sources that are not already in it."""
    return {name: source for name, source in copies.items() if not ((folder / name).exists() and (folder / name).samefile(source))}


@contextmanager
def _moving(target: Path) -> Generator[Callable[[Path], None]]:
    """A context with a function that moves the files of a folder to `target`.

    After an exception or an interruption, in the function or later in the context, older files are put back and new
    ones removed.
    """
    moved: list[Path] = []
    with staging_folder(target, STAGING) as older:

        def move(source: Path) -> None:
            for each in sorted(source.iterdir()):
                final = target / each.name
                if final.exists():
                    shutil.copyfile(final, older / each.name)
                moved.append(final)
                os.replace(each, final)

        try:
            yield move
        except BaseException:
            for final in moved:
                # If a file cannot be restored, the remaining ones still are.
                with suppress(OSError):
                    _put_back(older / final.name, final)
            raise


def _put_back(older: Path, final: Path) -> None:
    """Replace a file by the older one, or remove it if there was none."""
    if older.exists():
        os.replace(older, final)
    else:
        final.unlink(missing_ok=True)
