"""The settings of a tokenizer in files beside `tokenizer.json`: special tokens, chat template, sides of padding and
truncation.

tokenizer_config.json      {"eos_token": "</s>", "padding_side": "left", "chat_template": …, …}
special_tokens_map.json    {"eos_token": "</s>", …}, for tokens that the former does not name
chat_template.jinja        the template, before those of the other files
chat_template.json         {"chat_template": …}
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, cast

from moir.errors import ModelFileError
from moir.files.json_fields import Fields
from moir.files.reading import read_whole
from moir.support.records import Record
from moir.tokenizers.definition import AddedToken

LARGEST_FILE = 1 << 27
HINT = "the tokenizer is damaged: download it again, or convert with --no-tokenizers"
"""The hint for a damaged file."""
_NAMES = ("bos", "eos", "pad", "unk", "cls", "sep", "mask")
_FORCED = "clean_up_tokenization_spaces_for_bpe_even_though_it_will_corrupt_output"


class Settings(Record):
    """The settings of a tokenizer.

    Args:
        named: the special tokens with a name, as they are written, by "bos", "eos", …
        tokens: the special tokens and those of `added_tokens_decoder`, with their ids; -1 for tokens without an id.
        chat_template: the template of conversations; empty for none.
        cleans: whether spaces before punctuation are removed from decoded texts.
        cleans_byte_pairs: whether this also applies to byte-pair encodings.
        has_types: whether the model takes the types of the tokens.
        pads_right: whether shorter texts are padded on the right.
        truncates_right: whether longer texts are cut on the right.
        longest: the number of tokens to which truncation shortens a text; None for no limit.
    """

    named: Mapping[str, str]
    tokens: tuple[AddedToken, ...]
    chat_template: str
    cleans: bool
    cleans_byte_pairs: bool
    has_types: bool
    pads_right: bool
    truncates_right: bool
    longest: int | None


def read_settings(path: Path) -> Settings:
    """The settings of a folder; defaults for files that it does not have. Raises ModelFileError."""
    fields, others = read_token_settings(path), _optional(path / "special_tokens_map.json")
    content = {**others.content, **{key: value for key, value in fields.content.items() if value is not None}}
    merged = Fields(content, fields.place, fields.location, fields.hint)
    tokens = {name: token for name in _NAMES if (token := _token(merged, f"{name}_token", content.get(f"{name}_token"))) is not None}
    limit = content.get("model_max_length")
    inputs = fields.list("model_input_names")
    return Settings(
        named={name: token.text for name, token in tokens.items()}, tokens=(*tokens.values(), *_further_tokens(merged)),
        chat_template=_chat_template(path, fields), cleans=_flag(fields, "clean_up_tokenization_spaces"),
        cleans_byte_pairs=_flag(fields, _FORCED), has_types="token_type_ids" in inputs, pads_right=_is_right(fields, "padding_side"),
        truncates_right=_is_right(fields, "truncation_side"),
        longest=limit if type(limit) is int and 0 < limit < 1 << 30 else None,
    )  # fmt: skip


def read_token_settings(path: Path) -> Fields:
    """The content of `tokenizer_config.json` of a folder, empty if it has none. Raises ModelFileError."""
    return _optional(path / "tokenizer_config.json")


def read_object(path: Path) -> Fields:
    """The object of JSON in a file. Raises ModelFileError for anything else."""
    try:
        content: Any = json.loads(read_whole(path, "a tokenizer", LARGEST_FILE))
    except RecursionError:
        raise ModelFileError("nested too deeply", location=str(path), hint=HINT) from None
    except ValueError as error:
        raise ModelFileError(f"not JSON: {error}", location=str(path), hint=HINT) from None
    if not isinstance(content, dict):
        raise ModelFileError("not an object of JSON", location=str(path), hint=HINT)
    return Fields(cast("dict[str, Any]", content), path.name, str(path), HINT)


def added_token(fields: Fields, index: int, *, special: bool) -> AddedToken:
    """An added token with the id `index` from an object of `tokenizer.json` or `tokenizer_config.json`.

    It is special if `special` is set or the object says so.
    """
    text, flag = fields.text("content"), fields.content.get
    return AddedToken(text, index, special or bool(flag("special")), bool(flag("normalized")), bool(flag("lstrip")),
                      bool(flag("rstrip")), bool(flag("single_word")))  # fmt: skip


def _optional(path: Path) -> Fields:
    return read_object(path) if path.is_file() else Fields({}, path.name, str(path), HINT)


def _token(fields: Fields, key: str, content: Any) -> AddedToken | None:
    """A special token; None if it is absent.

    `content` is its text or object, found under `key` of `fields`, which names its place in messages.
    """
    if content is None or isinstance(content, str):
        return AddedToken(content, -1, special=True) if content else None
    return added_token(fields.object(content, key), -1, special=True)


def _further_tokens(fields: Fields) -> Iterator[AddedToken]:
    """The special tokens without names, and the added tokens, of the object in `tokenizer_config.json`."""
    for key in ("additional_special_tokens", "extra_special_tokens"):
        values = fields.content.get(key)
        for each in fields.fields(key).content.values() if isinstance(values, dict) else fields.list(key):
            if (token := _token(fields, key, each)) is not None:
                yield token
    decoder = fields.fields("added_tokens_decoder", {})
    for key in decoder.content:
        if not (key.isascii() and key.isdigit() and len(key) < 10):
            raise decoder.error(f"{key[:40]!r} is not an id")
        yield added_token(decoder.fields(key), int(key), special=False)


def _flag(fields: Fields, key: str) -> bool:
    value = fields.content.get(key)
    if value is not None and not isinstance(value, bool):
        raise fields.error(f"{key!r} is neither true nor false")
    return bool(value)


def _is_right(fields: Fields, key: str) -> bool:
    side = fields.text(key, "right")
    if side not in ("left", "right"):
        raise fields.error(f"{key!r} is neither left nor right")
    return side == "right"


def _chat_template(path: Path, fields: Fields) -> str:
    jinja = path / "chat_template.jinja"
    if jinja.is_file():
        try:
            return read_whole(jinja, "a chat template", LARGEST_FILE).decode()
        except UnicodeDecodeError:
            raise ModelFileError("the chat template is not UTF-8", location=str(jinja), hint=HINT) from None
    return _template_of(_optional(path / "chat_template.json")) or _template_of(fields)


def _template_of(fields: Fields) -> str:
    """The chat template in an object: the text itself; of several, the one named "default"; empty if there is none."""
    value = fields.content.get("chat_template")
    if isinstance(value, list):
        named = {each.text("name"): each.text("template") for each in fields.objects("chat_template")}
        return named.get("default", "")
    if isinstance(value, dict):
        return fields.fields("chat_template").text("default", "")
    return fields.text("chat_template", "")
