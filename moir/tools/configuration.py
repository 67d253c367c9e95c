"""Files of a configuration: parameters of a conversion in TOML, `--config` and `--print-config`.

    input = "image[1,3,224,224]"
    output = ["logits"]
    compress_to_fp16 = true

The keys are the names of parameters, with underscores or dashes; the values are what `convert_model` takes. Paths are
relative to the current folder. The command line takes precedence.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from moir.errors import ModelFileError, UsageError
from moir.options import ConversionOptions
from moir.parameters import parameter_named, parameters
from moir.parameters.parameter import Parameter, Plain
from moir.support.suggestions import did_you_mean

_PART = r"""(?:[\w-]+|"[^"\n]*"|'[^'\n]*')"""
_LONG_KEY = re.compile(rf"(?:^|[\[{{,])[ \t]*{_PART}(?:[ \t]*\.[ \t]*{_PART}){{32,}}[ \t]*[=\]]", re.MULTILINE)
"""A pattern for keys `a.b.c…` of more than 32 parts, which are refused: the memory that the parser takes for a key
grows with the square of the number of its parts.
"""


OF_A_RUN = frozenset(("cache", "cluster", "debug", "jobs", "json", "manifest", "memory", "resume", "shard", "silent", "timeout"))
"""Options of the command line that do not affect the result for a model, only how conversions are run."""

OF_ONE_MODEL = frozenset(("certify", "config", "dump_ir", "matmul_nbits", "opset", "print_config", "timing", "verbose"))
"""Options of the command line that can only be used with a single model."""


def hint_for_key(name: str, known: Iterable[str]) -> str:
    """The hint of an error about a key that a file of options cannot have.

    Args:
        name: the key, with underscores.
        known: the keys that the file can have.
    """
    option = f"--{name.replace('_', '-')}"
    if name in OF_A_RUN:
        return f"{option} is an option of the whole run; give it on the command line"
    if name in OF_ONE_MODEL:
        return f"{option} is an option of the command line, for one model: moir MODEL {option}"
    return did_you_mean(name, known) or "keys are the names of options"


def read_configuration(path: str) -> dict[Parameter[Any], Any]:
    """The values in a file. Raises UsageError if it cannot be read, or has keys or values that do not exist."""
    return dict(entry(path, name, value) for name, value in read_toml(path, "a configuration in TOML").items())


def read_toml(path: str, what: str, limit: int | None = None) -> dict[str, Any]:
    """The content of a TOML file.

    Args:
        path: the file.
        what: the expected kind of file, for messages.
        limit: its largest size in bytes; None for that of configurations.

    Raises UsageError if it cannot be read, or is larger.
    """
    import tomllib

    from moir.files.reading import LARGEST_CONFIGURATION, read_whole

    try:
        text = read_whole(Path(path), what, limit or LARGEST_CONFIGURATION).decode()
        if _LONG_KEY.search(text):
            raise UsageError("it has a key of more than 32 parts", location=path, hint="keys are the names of parameters")
        return tomllib.loads(text)
    except ModelFileError as error:
        raise UsageError(error.reason, location=path, hint=error.hint) from error
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise UsageError(f"{path}: it is not TOML: {error}") from error
    except RecursionError as error:
        raise UsageError("lists and tables are nested too deeply", location=path) from error


def entry(path: str, name: str, value: Any) -> tuple[Parameter[Any], Any]:
    """The parameter for the key `name` of a file, and the parameter's value.

    Raises UsageError for an unknown key or a wrong value.
    """
    try:
        parameter = parameter_named(name)
    except UsageError as error:
        hint = hint_for_key(name.replace("-", "_"), [each.name for each in parameters()])
        raise UsageError(f"there is no key {name!r}", location=path, hint=hint) from error
    expected = parameter.kind.expected
    if not expected.accepts(value):
        raise UsageError(f"{name} must be {expected.description}, not {value!r}", location=path, hint=expected.advice(value))
    return parameter, parameter.kind.of_python(value)


def configuration_text(options: ConversionOptions) -> str:
    """The options that are not at their defaults, as the text of a configuration file."""
    return "".join(f"{each.name} = {_toml(each.kind.plain(value))}\n" for each, value in options.given.items())


def _toml(value: Plain) -> str:
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, int | float):
        return repr(value)
    if isinstance(value, list):
        return f"[{', '.join(map(_toml, value))}]"
    return f'"{"".join(map(_escaped, value))}"'


_ESCAPES: Mapping[str, str] = {'"': '\\"', "\\": "\\\\"}


def _escaped(letter: str) -> str:
    return _ESCAPES.get(letter) or (letter if letter.isprintable() else f"\\U{ord(letter):08x}")
