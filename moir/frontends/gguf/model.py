"""A file in GGUF -> module in the `transformers` dialect."""

from __future__ import annotations

from pathlib import Path

from xdsl.dialects.builtin import ModuleOp

from moir.architectures.families import architecture_of
from moir.architectures.family import Family
from moir.architectures.network import network
from moir.frontends.gguf.checkpoint import FileCheckpoint, as_stored
from moir.frontends.gguf.configuration import configuration
from moir.frontends.gguf.container import Container
from moir.frontends.gguf.metadata import Metadata
from moir.frontends.gguf.rotary import divisors_of
from moir.frontends.gguf.spellings import SPELLINGS, Spelling
from moir.frontends.huggingface.configuration import configured
from moir.frontends.huggingface.keys import Keys
from moir.support.suggestions import did_you_mean

CONVERT_FOLDER = "convert the Hugging Face folder that it was made from"


def read_model(path: str | Path) -> ModuleOp:
    """Read a language model.

    Args:
        path: the file; the first one of a model that is split.

    Returns a module with one `moir.model`. Raises ModelFileError for a file that is damaged, of a family or with a type
    of tensors that moir does not know, for keys and tensors that it does not know.
    """
    path = Path(path)
    container = Container(path)
    spelling, family, keys = described(container)
    architecture, sizes, _ = configured(family, keys)
    checkpoint = FileCheckpoint(container, spelling, sizes)
    if not spelling.has_sliding_sizes:
        divisors = [() if each is None else divisors_of(container, each) for each in sizes.rotary]
        pairs = zip(sizes.rotary, divisors, strict=True)
        sizes = sizes.with_fields(rotary=tuple(None if each is None else each.with_fields(divisors=own) for each, own in pairs))
    sizes = sizes.with_fields(biases=checkpoint.biases())
    return network(as_stored(architecture, checkpoint), sizes, checkpoint, path.stem or "model")


def described(container: Container) -> tuple[Spelling, Family, Keys]:
    """The spelling of an architecture's files, the model family, and the entries of a config.json of the same model.

    Raises ModelFileError for a file that is not a model, for an unknown architecture, and if a key of the metadata is
    missing or unknown, or has a value that the family does not support.
    """
    name = container.metadata.get("general.architecture")
    kind = container.metadata.get("general.type", "model")
    if kind != "model":
        raise container.error(f"the file is no model, but of the kind {str(kind)[:60]!r}", "give the file of the model itself")
    spelling = SPELLINGS.get(name) if isinstance(name, str) else None
    if spelling is None or not isinstance(name, str):
        hint = CONVERT_FOLDER if not isinstance(name, str) else did_you_mean(name, SPELLINGS, CONVERT_FOLDER)
        raise container.error(f"files of the architecture {str(name)[:60]!r} are not read", hint)
    metadata = Metadata(container, name)
    for condition, variant in spelling.variants.items():
        key, _, number = condition.partition("=")
        if (value := metadata.value(key)) and (not number or value == int(number)):
            spelling = spelling.with_fields(family=variant)
    family = architecture_of(spelling.family)
    assert family is not None
    return spelling, family, Keys(configuration(container, metadata, spelling, family), container.location)
