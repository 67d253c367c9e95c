"""Makes a definition of a tokenizer from the content of `tokenizer.json`, read from a file or made from another
format.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any, cast

from moir.files.json_fields import Fields
from moir.tokenizers.added_tokens import passing_over, token_matching
from moir.tokenizers.algorithms import algorithm_of, count_of
from moir.tokenizers.byte_level import characters_of
from moir.tokenizers.decoders import decoding_of
from moir.tokenizers.definition import SPACE, AddedToken, BytePairs, BytesAsCharacters, Replacement, TokenizerDefinition
from moir.tokenizers.settings import Settings, added_token
from moir.tokenizers.steps import START, has_start, normalizer_steps, pre_tokenizer_steps, refused
from moir.tokenizers.templates import PLAIN, PLAIN_PAIR, templates_of


def definition_of(fields: Fields, settings: Settings) -> TokenizerDefinition:
    """The definition of a tokenizer.

    Args:
        fields: the content of `tokenizer.json`.
        settings: what the files beside it say.

    Raises ModelFileError if it is damaged, ConversionError if it cannot be expressed.
    """
    try:
        return _definition(fields, settings)
    except RecursionError:
        raise fields.error("nested too deeply") from None
    except UnicodeEncodeError as error:
        raise fields.error(f"the text {error.object[:40]!r} has one half of a surrogate pair") from None


def _definition(fields: Fields, settings: Settings) -> TokenizerDefinition:
    model = fields.fields("model")
    vocabulary = _vocabulary(model)
    added = _added(fields, vocabulary, settings)
    ids = vocabulary | {each.text: each.id for each in added}
    splitter = _optional(fields, "pre_tokenizer")
    normalizer = _optional(fields, "normalizer")
    before = [] if normalizer is None else normalizer_steps(normalizer)
    after = [] if splitter is None else pre_tokenizer_steps(splitter)
    begins = has_start(after)
    if begins and any(isinstance(step, Replacement) and step.pattern.startswith(("^", r"\A")) for step in before):
        raise refused(fields, "Metaspace with prepend_scheme first after a normalizer that changes the beginning of a text")
    is_byte_level = splitter is not None and any(kind == "ByteLevel" for kind in _kinds(splitter))
    byte_level = "characters" if BytesAsCharacters() in after else "bytes" if is_byte_level else ""
    matching = token_matching(added, normalizer, model, vocabulary, byte_level)
    algorithm, last = algorithm_of(model, vocabulary, matching.every, byte_level, matching.marked)
    after += last
    if matching.passes_over:
        after = passing_over(after, fields)
    tokens = [""] * count_of(set(ids.values()), fields)
    for token, index in ids.items():
        tokens[index] = token
    for each in matching.every:
        tokens[each.id] = each.text  # As the library: the text that is looked for.
    special = [each.id for each in added if each.special]
    processor = _optional(fields, "post_processor")
    single, pair = (PLAIN, PLAIN_PAIR) if processor is None else templates_of(processor, len(tokens))
    cleans = settings.cleans and (settings.cleans_byte_pairs or not isinstance(algorithm, BytePairs))
    named = {name: ids.get(token) for name, token in settings.named.items()}
    return TokenizerDefinition(
        location=fields.location, added=matching.added,
        normalization=(*matching.before, *before), pre_tokenization=(*matching.after, *after),
        prefix=START if begins else "", algorithm=algorithm, single=single, pair=pair,
        decoding=decoding_of(_optional(fields, "decoder"), tokens, special, cleans=cleans), has_types=settings.has_types,
        pads_right=settings.pads_right, truncates_right=settings.truncates_right,
        longest=1 << 30 if settings.longest is None else settings.longest, bos=named.get("bos"), eos=named.get("eos"),
        pad=named.get("pad"), chat_template=settings.chat_template,
        post_processor="" if processor is None else json.dumps(processor.content),
    )  # fmt: skip


def _optional(fields: Fields, key: str) -> Fields | None:
    return fields.fields(key) if fields.content.get(key) is not None else None


def _kinds(splitter: Fields) -> list[str]:
    if splitter.text("type") == "Sequence":
        return [each.text("type") for each in splitter.objects("pretokenizers")]
    return [splitter.text("type")]


def _vocabulary(model: Fields) -> dict[str, int]:
    if model.content.get("type") == "Unigram":
        pairs = model.list("vocab")
        if not all(map(_is_scored, pairs)):
            raise model.error("the vocabulary is not a list of tokens and scores")
        return {each[0]: index for index, each in enumerate(pairs)}
    vocabulary = model.fields("vocab").content
    if not all(type(index) is int for index in vocabulary.values()):
        raise model.error("an id is not an integer")
    if len(set(vocabulary.values())) < len(vocabulary):
        owners: dict[int, str] = {}
        first, second = next((owners[index], token) for token, index in vocabulary.items() if owners.setdefault(index, token) != token)
        raise model.error(f"the tokens {first[:40]!r} and {second[:40]!r} have the same id")
    return dict(vocabulary)


def _is_scored(entry: Any) -> bool:
    return isinstance(entry, list) and [type(each) for each in cast("list[Any]", entry)] in ([str, float], [str, int])


def _added(fields: Fields, vocabulary: Mapping[str, int], settings: Settings) -> tuple[AddedToken, ...]:
    """The added tokens: those of `tokenizer.json`, and those that the settings name, if they have an id.

    `vocabulary` has the ids by token, which precede. Raises ModelFileError if an id is that of another token.
    """
    named = set(settings.named.values())
    tokens: dict[str, AddedToken] = {}
    owners = {index: token for token, index in vocabulary.items()}
    for each in fields.objects("added_tokens"):
        token = added_token(each, each.integer("id"), special=each.text("content") in named)
        tokens[token.text] = token = token.with_fields(id=vocabulary.get(token.text, token.id))
        owner = owners.setdefault(token.id, token.text)
        if token.text and owner not in (token.text, token.text.replace(" ", SPACE), characters_of(token.text)):
            raise fields.error(f"the id {token.id} of the added token {token.text[:40]!r} is that of the token {owner[:40]!r}")
    for each in settings.tokens:
        index = vocabulary.get(each.text, each.id)
        if index >= 0 and each.text not in tokens:
            tokens[each.text] = each.with_fields(id=index)
    if "" in tokens:
        raise fields.error(f"the added token {tokens[''].id} is empty")
    return tuple(tokens.values())
