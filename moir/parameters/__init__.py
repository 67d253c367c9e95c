"""The table of the parameters of a conversion: a record for each.

From the table follow the options of the command lines, the keywords of `moir.convert_model` and how they are checked,
`ConversionOptions`, the file of a configuration (`--config`), what the IR records, and which passes run with which
fields.

To add a parameter

1. write its record into the file of its subject here, and put it into the tuple at the end of that file: a tuple of a
   new file goes into `parameters`. The kind of its value is one of `kinds.py`; a notation of its own is a
   `structured` kind, whose reader is imported when it is called.
2. put the passes that it asks for into the record (`passes`), and their names at their places in `moir/pipeline`.
   Such a pass runs only where a parameter asks for it; its fields come from the `PassRequest`.
3. add the keyword to `moir.convert_model` (`moir/interface.py`), or that of a reader to `ReaderOptions`
   (`moir/parameters/reader_options.py`). Without it, `import moir.interface` fails. A synonym of other tools
   (`synonym_of`) is accepted without that.
4. `python -m scripts.option_texts` writes its description into the docstring, and synonyms into `docs/options.md`.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from functools import cache
from typing import Any

from moir.errors import ArgumentError
from moir.frameworks.record import Framework
from moir.parameters.arguments import Expected
from moir.parameters.compression import COMPRESSION_PARAMETERS
from moir.parameters.extension import EXTENSION_PARAMETERS
from moir.parameters.interface import INTERFACE_PARAMETERS
from moir.parameters.layout import LAYOUT_PARAMETERS
from moir.parameters.parameter import Parameter, PassRequest
from moir.parameters.preprocessing import PREPROCESSING_PARAMETERS
from moir.parameters.reading import expected_of_readers, reading_parameters
from moir.parameters.runtime import RUNTIME_PARAMETERS
from moir.parameters.state import STATE_PARAMETERS
from moir.support.suggestions import did_you_mean

CONVERSION_PARAMETERS: tuple[Parameter[Any], ...] = (
    *INTERFACE_PARAMETERS,
    *STATE_PARAMETERS,
    *COMPRESSION_PARAMETERS,
    *LAYOUT_PARAMETERS,
    *PREPROCESSING_PARAMETERS,
    *RUNTIME_PARAMETERS,
)
"""The parameters of the conversion itself, in the order of the help text."""


def parameters(frameworks: Iterable[Framework] | None = None) -> tuple[Parameter[Any], ...]:
    """All parameters: those of the conversion, of extensions, and of the readers of frameworks, by default of all."""
    return (*CONVERSION_PARAMETERS, *reading_parameters(frameworks), *EXTENSION_PARAMETERS)


def parameter_named(name: str) -> Parameter[Any]:
    """The parameter with a name, which may have dashes or underscores. Raises ArgumentError if there is none."""
    keyword = name.replace("-", "_")
    if keyword in (known := _conversion_parameters()):
        return known[keyword]
    known = {each.name: each for each in parameters()}
    if keyword not in known:
        hint = did_you_mean(keyword, known, f"they are {', '.join(known)}")
        raise ArgumentError(f"there is no parameter {name!r}", hint=hint)
    return known[keyword]


@cache
def _conversion_parameters() -> Mapping[str, Parameter[Any]]:
    """The parameters that do not depend on which frameworks are registered, by name."""
    return {each.name: each for each in parameters(())}


def expected_keywords() -> dict[str, Expected]:
    """The expected values of the keywords in the signature of `convert_model`, without those of readers, in the order
    of the table.
    """
    return {each.name: each.kind.expected for each in parameters(()) if not each.synonym_of}


def expected_of_further_keywords() -> dict[str, Expected]:
    """The expected values of the keywords of `convert_model` that its signature does not name: synonyms, and the
    options of readers.
    """
    return {each.name: each.kind.expected for each in parameters(()) if each.synonym_of} | expected_of_readers()


@cache
def pass_requests() -> Mapping[str, PassRequest]:
    """The requests of parameters for passes, by the name of the pass."""
    return {request.name: request for each in CONVERSION_PARAMETERS for request in each.passes}


@cache
def requesting(name: str) -> tuple[Parameter[Any], ...]:
    """The parameters that ask for a pass."""
    return tuple(each for each in CONVERSION_PARAMETERS if any(request.name == name for request in each.passes))
