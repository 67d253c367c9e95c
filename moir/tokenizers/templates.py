"""Post-processors of `tokenizer.json` as templates of ids."""

from __future__ import annotations

from typing import Any

from moir.files.json_fields import Fields
from moir.tokenizers.definition import FIRST_TEXT, SECOND_TEXT, Template
from moir.tokenizers.steps import refused

PLAIN, PLAIN_PAIR = Template((FIRST_TEXT,), (0,)), Template((FIRST_TEXT, SECOND_TEXT), (0, 1))
"""The templates without special tokens."""
_LONGEST = 256


def templates_of(processor: Fields, count: int) -> tuple[Template, Template | None]:
    """The templates of one text and of two; None for the latter if the post-processor has none.

    Args:
        processor: the post-processor.
        count: the number of ids of the tokenizer.

    Raises ModelFileError if it is damaged, ConversionError if it cannot be expressed.
    """
    kind = processor.text("type")
    if kind == "ByteLevel":
        return PLAIN, PLAIN_PAIR
    if kind == "Sequence":
        every = [templates_of(each, count) for each in processor.objects("processors")]
        others = [each for each in every if each != (PLAIN, PLAIN_PAIR)]
        if len(others) > 1:
            raise refused(processor, "a sequence of several templates")
        return others[0] if others else (PLAIN, PLAIN_PAIR)
    if kind in ("RobertaProcessing", "BertProcessing"):
        first, last = (_end(processor, key, count) for key in ("cls", "sep"))
        middle, type_ = ((last, last), 0) if kind == "RobertaProcessing" else ((last,), 1)
        pair = (first, FIRST_TEXT, *middle, SECOND_TEXT, last)
        types = (0,) * (2 + len(middle)) + (type_,) * 2
        return Template((first, FIRST_TEXT, last), (0, 0, 0)), Template(pair, types)
    if kind == "TemplateProcessing":
        single, pair_template = _template(processor, "single", count), _template(processor, "pair", count)
        if single.ids.count(FIRST_TEXT) != 1 or SECOND_TEXT in single.ids:
            raise processor.error("the template 'single' does not have the sequence A once")
        if not pair_template.ids:
            return single, None
        if pair_template.ids.count(FIRST_TEXT) != 1 or pair_template.ids.count(SECOND_TEXT) != 1:
            raise processor.error("the template 'pair' does not have the sequences A and B once")
        return single, pair_template
    raise refused(processor, f"the post-processor {kind}")


def _end(processor: Fields, key: str, count: int) -> int:
    """The id of the pair [token, id] under `key`, for a special token at an end of the text.

    Raises ModelFileError unless it is below `count`.
    """
    pair = processor.list(key)
    if len(pair) != 2 or not isinstance(pair[0], str):
        raise processor.error(f"{key!r} is not a token and its id")
    return _id(processor, pair[1], count)


def _id(fields: Fields, value: Any, count: int) -> int:
    if isinstance(value, bool) or not isinstance(value, int) or not 0 <= value < count:
        raise fields.error(f"{str(value)[:40]} is not the id of a token")
    return value


def _template(processor: Fields, key: str, count: int) -> Template:
    ids: list[int] = []
    types: list[int] = []
    for each in processor.objects(key):
        kind, _ = each.only()
        item = each.fields(kind)
        name, type_ = item.text("id"), item.integer("type_id", 0)
        if kind == "Sequence":
            if name not in ("A", "B"):
                raise item.error(f"the sequence {name[:40]!r} is neither A nor B")
            own = [FIRST_TEXT if name == "A" else SECOND_TEXT]
        elif kind == "SpecialToken":
            token = processor.fields("special_tokens").fields(name)
            own = [_id(token, value, count) for value in token.list("ids")]
        else:
            raise item.error("neither a sequence nor a special token")
        if not 0 <= type_ < 1 << 31:
            raise item.error(f"the type {type_} is out of range")
        ids += own
        types += [type_] * len(own)
        if len(ids) > _LONGEST:
            raise processor.error(f"the template {key!r} has more than {_LONGEST} parts")
    return Template(tuple(ids), tuple(types))
