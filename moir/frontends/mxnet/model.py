"""MXNet model, a `-symbol.json` with its `.params` -> module in the `mxnet` dialect."""

from __future__ import annotations

import re
from pathlib import Path

from xdsl.dialects.builtin import ModuleOp

from moir.dialects.data import DataAttr
from moir.dialects.module import Module
from moir.dialects.moir import ModelOp
from moir.errors import ModelFileError
from moir.files.recognition import beginning_of
from moir.frameworks.record import is_text
from moir.frontends.mxnet.graph import VARIABLE, SymbolBuilder
from moir.frontends.mxnet.ndarrays import read_arrays
from moir.frontends.mxnet.symbol import Symbol, read_symbol

_PARAMETERS = re.compile(r"(?P<prefix>.*)-\d{4,}\.params$")
_SYMBOL = "-symbol.json"


def read_model(path: str | Path, input_symbol: str | Path | None = None, nd_prefix_name: str | Path | None = None) -> ModuleOp:
    """Read an MXNet model.

    Args:
        path: the `-symbol.json`, the `-NNNN.params`, or the common beginning of their names. If there are several
            files of parameters beside a symbol, the one with the highest number is read.
        input_symbol: the symbol of a file of parameters with another name; or the parameters of a symbol.
        nd_prefix_name: the common beginning of the names of two files, `_args.nd` and `_auxs.nd`, that training wrote;
            their arrays replace those of the parameters.

    Returns a module with one `moir.model`. Raises ModelFileError for a file that is damaged, missing or of another
    model.
    """
    symbol_path, parameters = _files(Path(path), None if input_symbol is None else Path(input_symbol))
    # Files that the user named may be anywhere; files found by convention have to be in the same folder.
    beside = Path(path) if input_symbol is None else None
    symbol = read_symbol(symbol_path, beside)
    values = _values(parameters, beside)
    if nd_prefix_name is not None:
        values |= _training_values(Path(nd_prefix_name))
    _check_names(symbol, values, symbol_path, parameters)
    block = SymbolBuilder(symbol, values, symbol_path).block()
    name = symbol_path.name.removesuffix(_SYMBOL).removesuffix(".json")
    return Module([ModelOp.of(name or "model", block)])


def _files(path: Path, other: Path | None) -> tuple[Path, Path]:
    """The paths of the symbol and of the parameters, from `path` (one of them, or the common beginning of their names).

    `other` is the other file if the user names it. Raises ModelFileError if one of them is missing.
    """
    if not path.exists():
        path = path.with_name(path.name + _SYMBOL)
    if is_text(beginning_of(path)):
        if other is not None and is_text(beginning_of(other)):
            return other, _parameters_beside(path)
        return path, other or _parameters_beside(path)
    if other is not None:
        return other, path
    match = _PARAMETERS.match(path.name)
    beside = path.with_name(f"{match['prefix'] if match else path.stem}{_SYMBOL}")
    if not beside.is_file():
        hint = "name it: --input-symbol FILE.json"
        raise ModelFileError(f"the symbol is missing: there is no {beside.name} beside the file", location=str(path), hint=hint)
    return beside, path


def _parameters_beside(path: Path) -> Path:
    """The path of the file of parameters with the highest number beside a symbol.

    Raises ModelFileError if there is none.
    """
    prefix = path.name.removesuffix(_SYMBOL).removesuffix(".json")
    names = sorted((int(sibling.name[len(prefix) + 1 : -7]), sibling) for sibling in path.parent.iterdir() if _is_of(sibling.name, prefix))
    if names:
        return names[-1][1]
    if (plain := path.with_name(f"{prefix}.params")).is_file():
        return plain
    hint = f"put {prefix}-0000.params beside it, or name them: --input-symbol FILE.params"
    raise ModelFileError("a symbol has no weights, and there is no file of parameters beside it", location=str(path), hint=hint)


def _is_of(name: str, prefix: str) -> bool:
    match = _PARAMETERS.match(name)
    return match is not None and match["prefix"] == prefix


def _values(path: Path, model: Path | None = None) -> dict[str, DataAttr]:
    """The arrays of a file by the names of their variables."""
    return {
        name.partition(":")[2] if name.startswith(("arg:", "aux:")) else name: value for name, value in read_arrays(path, model).items()
    }


def _training_values(prefix: Path) -> dict[str, DataAttr]:
    values: dict[str, DataAttr] = {}
    for suffix in ("_args.nd", "_auxs.nd"):
        values |= _values(prefix.with_name(prefix.name + suffix))
    return values


def _check_names(symbol: Symbol, values: dict[str, DataAttr], path: Path, parameters: Path) -> None:
    """Raises ModelFileError if the parameters belong to another symbol: no variable of this one has a value."""
    variables = {node.name for node in symbol.nodes if node.kind == VARIABLE}
    if values and variables and not variables.intersection(values):
        listed = ", ".join(list(values)[:3])
        reason = f"no variable of {path.name} has a value in {parameters.name}, whose arrays are {listed}, …"
        raise ModelFileError(reason, location=str(path), hint="the two files are of different models")
