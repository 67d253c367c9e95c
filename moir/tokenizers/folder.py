"""The tokenizer of a folder: `tokenizer.json` with `tokenizer_config.json` and `chat_template.jinja`."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any, cast

from moir.errors import ConversionError, ModelFileError
from moir.files.reading import read_whole
from moir.frontends.json_fields import Fields
from moir.tokenizers.algorithms import algorithm_of
from moir.tokenizers.decoders import decoding_of
from moir.tokenizers.definition import FIRST_TEXT, SECOND_TEXT, AddedToken, BytesAsCharacters, Template, TokenizerDefinition
from moir.tokenizers.steps import normalizer_steps, pre_tokenizer_steps, refused

LARGEST_FILE = 1 << 28
_HINT = "the tokenizer is damaged: download it again, or convert with --no-tokenizer"


def read_folder(path: Path) -> TokenizerDefinition:
    """The tokenizer of a folder. Raises ModelFileError if it is damaged, ConversionError if it cannot be expressed."""
    file = path / "tokenizer.json"
    if not file.is_file():
        raise ConversionError("the folder has no tokenizer.json", location=str(path), hint="convert with --no-tokenizer")
    fields = _object(file)
    settings = (
        _object(path / "tokenizer_config.json") if (path / "tokenizer_config.json").is_file() else Fields({}, "settings", str(path), _HINT)
    )
    model = fields.fields("model")
    vocabulary = _vocabulary(model)
    named = {key: _content(settings.content.get(f"{key}_token")) for key in ("bos", "eos", "pad", "unk", "cls", "sep", "mask")}
    added = tuple(_added(fields, set(named.values())))
    ids = vocabulary | {each.text: each.id for each in added}
    normalizer = fields.content.get("normalizer")
    splitter = fields.content.get("pre_tokenizer")
    before = normalizer_steps(fields.fields("normalizer")) if normalizer is not None else []
    after = pre_tokenizer_steps(fields.fields("pre_tokenizer")) if splitter is not None else []
    if '"prepend_scheme": "first"' in json.dumps(splitter):
        raise refused(fields, "Metaspace with prepend_scheme first")
    byte_level = "characters" if BytesAsCharacters() in after else "bytes" if '"ByteLevel"' in json.dumps(splitter) else ""
    algorithm, last = algorithm_of(model, vocabulary, added, byte_level)
    tokens = [""] * (max(ids.values(), default=-1) + 1)
    for token, index in ids.items():
        tokens[index] = token
    special = [each.id for each in added if each.special]
    decoder = fields.fields("decoder") if fields.content.get("decoder") is not None else None
    processor = fields.fields("post_processor") if fields.content.get("post_processor") is not None else None
    templates = _templates(processor)
    jinja = path / "chat_template.jinja"
    template = read_whole(jinja, "a chat template").decode(errors="replace") if jinja.is_file() else settings.content.get("chat_template")
    limit = settings.content.get("model_max_length")
    return TokenizerDefinition(
        location=str(file), added=added, normalization=tuple(before), pre_tokenization=(*after, *last), prefix="",
        algorithm=algorithm, single=templates[0], pair=templates[1], decoding=decoding_of(decoder, tokens, special),
        has_types="token_type_ids" in (settings.content.get("model_input_names") or ()),
        pads_right=settings.content.get("padding_side", "right") != "left",
        truncates_right=settings.content.get("truncation_side", "right") != "left",
        longest=int(limit) if isinstance(limit, int) and 0 < limit < 1 << 30 else 1 << 30,
        bos=ids.get(named["bos"]), eos=ids.get(named["eos"]), pad=ids.get(named["pad"]),
        chat_template=template if isinstance(template, str) else "",
        post_processor="" if processor is None else json.dumps(processor.content),
    )  # fmt: skip


def _object(path: Path) -> Fields:
    try:
        content: Any = json.loads(read_whole(path, "a tokenizer", LARGEST_FILE))
    except (ValueError, RecursionError) as error:
        raise ModelFileError(f"not JSON: {error}", location=str(path), hint=_HINT) from None
    if not isinstance(content, dict):
        raise ModelFileError("not an object of JSON", location=str(path), hint=_HINT)
    return Fields(cast("dict[str, Any]", content), path.name, str(path), _HINT)


def _vocabulary(model: Fields) -> dict[str, int]:
    if model.content.get("type") == "Unigram":
        pairs = model.list("vocab")
        if not all(
            isinstance(each, list) and len(each) == 2 and isinstance(each[0], str) and isinstance(each[1], int | float) for each in pairs
        ):
            raise model.error("the vocabulary is not a list of tokens and scores")
        return {each[0]: index for index, each in enumerate(pairs)}
    vocabulary = model.fields("vocab").content
    if not all(type(index) is int for index in vocabulary.values()):
        raise model.error("an id is not an integer")
    return dict(vocabulary)


def _content(token: Any) -> str:
    content = token.get("content") if isinstance(token, dict) else token
    return content if isinstance(content, str) else ""


def _added(fields: Fields, named: set[str]) -> Iterator[AddedToken]:
    for each in fields.objects("added_tokens"):
        text, flags = each.text("content"), each.content
        if flags.get("normalized") and fields.content.get("normalizer") is not None:
            raise refused(each, f"the normalized added token {text!r}")
        index = each.integer("id")
        yield AddedToken(text, index, bool(flags.get("special")) or text in named, bool(flags.get("normalized")),
                         bool(flags.get("lstrip")), bool(flags.get("rstrip")), bool(flags.get("single_word")))  # fmt: skip


def _templates(processor: Fields | None) -> tuple[Template, Template | None]:
    plain = Template((FIRST_TEXT,), (0,)), Template((FIRST_TEXT, SECOND_TEXT), (0, 1))
    kind = "ByteLevel" if processor is None else processor.text("type")
    if processor is None or kind == "ByteLevel":
        return plain
    if kind == "Sequence":
        found = [each for each in map(_templates, processor.objects("processors")) if each != plain]
        if len(found) > 1:
            raise refused(processor, "a sequence of several templates")
        return found[0] if found else plain
    if kind in ("RobertaProcessing", "BertProcessing"):
        first, last = (int(processor.list(key)[1]) for key in ("cls", "sep"))
        middle, type_ = ((last, last), 0) if kind == "RobertaProcessing" else ((last,), 1)
        pair = (first, FIRST_TEXT, *middle, SECOND_TEXT, last)
        types = (0,) * (2 + len(middle)) + (type_,) * 2
        return Template((first, FIRST_TEXT, last), (0, 0, 0)), Template(pair, types)
    if kind == "TemplateProcessing":
        single, pair_template = _template(processor, "single"), _template(processor, "pair")
        return single, pair_template
    raise refused(processor, f"the post-processor {kind}")


def _template(processor: Fields, key: str) -> Template:
    ids: list[int] = []
    types: list[int] = []
    for each in processor.objects(key):
        kind, _ = each.only()
        item = each.fields(kind)
        found = [{"A": FIRST_TEXT, "B": SECOND_TEXT}[item.text("id")]] if kind == "Sequence" else list(
            processor.fields("special_tokens").fields(item.text("id")).list("ids"))  # fmt: skip
        ids += found
        types += [item.integer("type_id", 0)] * len(found)
    return Template(tuple(ids), tuple(types))
