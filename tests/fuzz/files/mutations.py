"""Damage to the content of a file: whatever its format, by the wire format of protobuf, by words of texts, by records.

A mutation takes random choices, the content and another content of the same format, and returns the damaged content.
"""

from __future__ import annotations

import io
import random
import re
import struct
import zipfile
from collections.abc import Callable, Mapping, Sequence
from functools import reduce

from tests.fuzz.files.containers import change_gguf, change_safetensors
from tests.fuzz.files.wire import Field, encoded, fields, places

Mutation = Callable[[random.Random, bytes, bytes], bytes]

NUMBERS = (0, 1, 2, 3, 7, -1, -2, 127, 128, 255, 4096, 65536, 2**31 - 1, 2**31, 2**32, 2**53, 2**62, 2**63 - 1, -(2**63), 2**64 - 1)
"""Numbers at the limits of types, and small ones that mean another axis, size or enumeration."""

FLOATS = (0.0, -0.0, 1.0, -1.0, 1e-45, 3.4e38, float("inf"), float("-inf"), float("nan"))

WORDS = (
    *(str(number) for number in NUMBERS),
    *("nan", "inf", "-inf", "1e999", "1e-999", "0.5", "-0.0", "9" * 400, "9" * 5000, "0x10", "1_0", "٣"),
    *("", "true", "false", "null", "None", '""', "[]", "{}", "()", "a" * 300, "\0", "�", "../../etc/passwd", "/dev/zero", "%s", "..."),
)
"""What stands in the place of a word or a number of a text."""

MOST_MUTATIONS = 4
LARGEST_REPETITION = 1 << 18
"""Bytes of a part of a file that comes very often."""


# Bytes


def flip_bits(draw: random.Random, content: bytes, other: bytes) -> bytes:
    """One to four bits changed."""
    damaged = bytearray(content)
    for _ in range(draw.randint(1, 4)):
        if damaged:
            damaged[draw.randrange(len(damaged))] ^= 1 << draw.randrange(8)
    return bytes(damaged)


def truncate(draw: random.Random, content: bytes, other: bytes) -> bytes:
    """Only the beginning."""
    return content[: draw.randint(0, len(content))]


def remove_bytes(draw: random.Random, content: bytes, other: bytes) -> bytes:
    """A few bytes taken out."""
    begin = draw.randint(0, len(content))
    return content[:begin] + content[begin + draw.choice((1, 2, 4, 8, 64)) :]


def repeat_bytes(draw: random.Random, content: bytes, other: bytes) -> bytes:
    """A few bytes that come several times."""
    begin = draw.randint(0, len(content))
    part = content[begin : begin + draw.choice((1, 4, 16, 64))]
    return content[:begin] + part * draw.choice((2, 3, 50)) + content[begin + len(part) :]


def number_of_bytes(draw: random.Random, content: bytes, other: bytes) -> bytes:
    """A number of four or eight bytes in the place of others: a length, an offset, a dimension, a magic number."""
    width = draw.choice((1, 2, 4, 8))
    value = draw.choice(NUMBERS) & ((1 << 8 * width) - 1)
    begin = draw.randint(0, max(0, len(content) // width - 1)) * width
    return content[:begin] + value.to_bytes(width, "little") + content[begin + width :]


def splice(draw: random.Random, content: bytes, other: bytes) -> bytes:
    """The beginning of one file and the end of another."""
    return content[: draw.randint(0, len(content))] + other[draw.randint(0, len(other)) :]


ON_BYTES: Sequence[Mutation] = (flip_bits, truncate, remove_bytes, repeat_bytes, number_of_bytes, splice)


# Protobuf


def _changed(draw: random.Random, content: bytes, change: Callable[[list[Field], int], None]) -> bytes:
    """A message with a change of one field, at any depth."""
    message = fields(content)
    if not message:
        return flip_bits(draw, content, b"")
    change(*draw.choice(places(message)))
    return encoded(message)


def change_number(draw: random.Random, content: bytes, other: bytes) -> bytes:
    """Another value of a field that is a number; of one that is text, some bytes."""

    def change(siblings: list[Field], index: int) -> None:
        field = siblings[index]
        if isinstance(field.value, int):
            value = draw.choice(NUMBERS)
            if field.wire == 5:
                value = draw.choice((value, int.from_bytes(struct.pack("<f", draw.choice(FLOATS)), "little")))
            siblings[index] = Field(field.number, field.wire, value)
        elif isinstance(field.value, bytes):
            siblings[index] = Field(field.number, field.wire, draw.choice(ON_BYTES)(draw, field.value, other))
        else:
            siblings[index] = Field(field.number, 2, draw.choice((b"", b"a", b"a\0b", b"\xff\xfe", b"x" * 300)))

    return _changed(draw, content, change)


def change_numbers(draw: random.Random, content: bytes, other: bytes) -> bytes:
    """Several numbers changed: the numbers are most of a damaged model's surface."""
    message = fields(content)
    numbers = [(siblings, index) for siblings, index in places(message) if isinstance(siblings[index].value, int)]
    for siblings, index in draw.sample(numbers, min(len(numbers), draw.randint(1, 3))):
        siblings[index] = Field(siblings[index].number, siblings[index].wire, draw.choice(NUMBERS))
    return encoded(message) if numbers else flip_bits(draw, content, other)


def remove_field(draw: random.Random, content: bytes, other: bytes) -> bytes:
    """A message without one of its fields: an operand, an attribute, a node, a type."""
    return _changed(draw, content, lambda siblings, index: siblings.__delitem__(index))


def repeat_field(draw: random.Random, content: bytes, other: bytes) -> bytes:
    """A field that comes several times, now and then very often."""
    times = draw.choice((2, 2, 3, 40, 2000))

    def change(siblings: list[Field], index: int) -> None:
        field = siblings[index]
        siblings[index : index + 1] = [field] * min(times, max(2, LARGEST_REPETITION // len(encoded([field]))))

    return _changed(draw, content, change)


def exchange_fields(draw: random.Random, content: bytes, other: bytes) -> bytes:
    """A field in the place of another, whose number it gets: a name of another node, an operand of another kind."""
    message = fields(content)
    every = places(message)
    if not every:
        return flip_bits(draw, content, other)
    (siblings, index), (source, position) = draw.choice(every), draw.choice(every)
    same = [(s, i) for s, i in every if s[i].number == siblings[index].number and type(s[i].value) is type(siblings[index].value)]
    if draw.random() < 0.7:
        source, position = draw.choice(same)
    # A copy: a message may not be put into itself.
    value = source[position].value
    siblings[index] = Field(siblings[index].number, source[position].wire, fields(encoded(value)) if isinstance(value, list) else value)
    return encoded(message)


def splice_fields(draw: random.Random, content: bytes, other: bytes) -> bytes:
    """A field of another file."""
    message, donor = fields(content), fields(other)
    mine, theirs = places(message), places(donor)
    if not mine or not theirs:
        return splice(draw, content, other)
    siblings, index = draw.choice(mine)
    fitting = [s[i] for s, i in theirs if s[i].number == siblings[index].number] or [s[i] for s, i in theirs]
    siblings.insert(index + draw.randint(0, 1), draw.choice(fitting))
    return encoded(message)


def wrong_length(draw: random.Random, content: bytes, other: bytes) -> bytes:
    """A length that is not that of what follows it."""
    return _changed(draw, content, lambda siblings, index: siblings.insert(index, Field(siblings[index].number, 2, draw.choice(NUMBERS))))


ON_MESSAGES: Sequence[Mutation] = (
    *(change_number, change_number, change_numbers, change_numbers, remove_field, remove_field, repeat_field),
    *(exchange_fields, exchange_fields, splice_fields, wrong_length, *ON_BYTES),
)


# Flatbuffers: words of four bytes, of which offsets and lengths are most


def _words(content: bytes) -> int:
    return len(content) // 4


def _with_word(content: bytes, place: int, value: int) -> bytes:
    """A content with another word."""
    return content[: 4 * place] + (value & 0xFFFFFFFF).to_bytes(4, "little") + content[4 * place + 4 :]


def change_offset(draw: random.Random, content: bytes, other: bytes) -> bytes:
    """A word that is small, as offsets, lengths and indices are, by another number, or a little more or less."""
    if not _words(content):
        return content
    words = struct.unpack_from(f"<{_words(content)}i", content)
    small = [place for place, word in enumerate(words) if 0 <= word < len(content)] or list(range(len(words)))
    place = draw.choice(small)
    step = draw.choice((1, -1, 2, -2, 4, -4, 8, 100, len(content), 4 * len(content)))
    return _with_word(content, place, draw.choice((words[place] + step, words[place] + step, draw.choice(NUMBERS), draw.choice(words))))


def exchange_words(draw: random.Random, content: bytes, other: bytes) -> bytes:
    """Two words in each other's place: offsets to other tables, indices of other tensors."""
    if not _words(content):
        return content
    first, second = (draw.randrange(_words(content)) for _ in range(2))
    a, b = (struct.unpack_from("<I", content, 4 * place)[0] for place in (first, second))
    return _with_word(_with_word(content, first, b), second, a)


def change_half_word(draw: random.Random, content: bytes, other: bytes) -> bytes:
    """Two bytes, as the places of the fields of a table have, by those of another field, or a number."""
    if len(content) < 4:
        return content
    place, donor = (draw.randrange(len(content) // 2) * 2 for _ in range(2))
    value = draw.choice((content[donor : donor + 2], (draw.choice(NUMBERS) & 0xFFFF).to_bytes(2, "little")))
    return content[:place] + value + content[place + 2 :]


ON_FLATBUFFERS: Sequence[Mutation] = (
    *(change_offset, change_offset, change_offset, change_offset, exchange_words, exchange_words, change_half_word),
    *ON_BYTES,
)


# Text

NUMBER = re.compile(r"[-+]?\d+(?:\.\d*)?(?:[eE][-+]?\d+)?")
WORD = re.compile(r"[A-Za-z_][\w.]*")
QUOTED = re.compile(r'"[^"\n]*"')
PARTS = re.compile(r"<[^<>]*>|\{[^{}]*\}|\[[^\[\]]*\]|[^\n]+(?:\n|\Z)")
OPENING = re.compile(r"[\[{<(]")


def _text(content: bytes) -> str:
    return content.decode("utf-8", "surrogateescape")


def _bytes(text: str) -> bytes:
    return text.encode("utf-8", "surrogateescape")


def _replaced(draw: random.Random, content: bytes, pattern: re.Pattern[str], change: Callable[[str], str]) -> bytes:
    """A text with one of the matches of a pattern replaced."""
    text = _text(content)
    results = list(pattern.finditer(text))
    if not results:
        return flip_bits(draw, content, b"")
    match = draw.choice(results)
    return _bytes(text[: match.start()] + change(match.group()) + text[match.end() :])


def change_text_number(draw: random.Random, content: bytes, other: bytes) -> bytes:
    """Another number."""
    return _replaced(draw, content, NUMBER, lambda _: draw.choice(WORDS))


def change_word(draw: random.Random, content: bytes, other: bytes) -> bytes:
    """Another word, of the text or of those that stand for nothing."""
    words = WORD.findall(_text(content)) or [""]
    return _replaced(draw, content, WORD, lambda _: draw.choice((draw.choice(words), draw.choice(words), draw.choice(WORDS))))


def change_quoted(draw: random.Random, content: bytes, other: bytes) -> bytes:
    """Another text between quotation marks."""
    quoted = QUOTED.findall(_text(content)) or ['""']
    return _replaced(draw, content, QUOTED, lambda _: draw.choice((draw.choice(quoted), f'"{draw.choice(WORDS)}"', draw.choice(WORDS))))


def remove_part(draw: random.Random, content: bytes, other: bytes) -> bytes:
    """A line, a tag, or what stands between brackets, taken out."""
    return _replaced(draw, content, PARTS, lambda _: "")


def repeat_part(draw: random.Random, content: bytes, other: bytes) -> bytes:
    """A line, a tag, or what stands between brackets, several times."""
    return _replaced(draw, content, PARTS, lambda part: part * min(draw.choice((2, 3, 40, 2000)), max(2, LARGEST_REPETITION // len(part))))


def splice_part(draw: random.Random, content: bytes, other: bytes) -> bytes:
    """A line, a tag or a bracket of another file."""
    parts = PARTS.findall(_text(other)) or [""]
    return _replaced(draw, content, PARTS, lambda part: draw.choice((part, "")) + draw.choice(parts))


def nest(draw: random.Random, content: bytes, other: bytes) -> bytes:
    """A bracket that opens very often."""
    return _replaced(draw, content, OPENING, lambda part: part * draw.choice((2, 100, 20000)))


ON_TEXT: Sequence[Mutation] = (
    *(change_text_number, change_text_number, change_text_number, change_word, change_word, change_quoted, change_quoted),
    *(remove_part, remove_part, repeat_part, splice_part, splice_part, nest, *ON_BYTES),
)


# Archives


def records(content: bytes) -> dict[str, bytes]:
    """The records of a zip archive by name; empty for other content and for a damaged archive."""
    try:
        with zipfile.ZipFile(io.BytesIO(content)) as archive:
            return {name: archive.read(name) for name in archive.namelist() if not name.endswith("/")}
    except Exception:
        return {}


def archived(parts: Mapping[str, bytes]) -> bytes:
    """A zip archive of records that are stored as they are."""
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w") as archive:
        for name, content in parts.items():
            archive.writestr(zipfile.ZipInfo(name), content)
    return stream.getvalue()


def change_record(draw: random.Random, content: bytes, other: bytes) -> bytes:
    """A record of an archive damaged as what it is, with the right checksum: a text, an archive, or bytes."""
    parts = records(content)
    if not parts:
        return flip_bits(draw, content, other)
    name = draw.choice([*parts, *[each for each in parts if each.endswith(".json")] * 6])
    donors = list(records(other).values()) or [other]
    if records(parts[name]):
        return archived({**parts, name: change_record(draw, parts[name], draw.choice(donors))})
    mutations = ON_TEXT if name.endswith(".json") else ON_BYTES
    return archived({**parts, name: draw.choice(mutations)(draw, parts[name], draw.choice(donors))})


def change_records(draw: random.Random, content: bytes, other: bytes) -> bytes:
    """A record missing, under the name of another one, or taken from another archive."""
    parts, donor = records(content), records(other)
    if not parts or not donor:
        return flip_bits(draw, content, other)
    name, second, foreign = draw.choice([*parts]), draw.choice([*parts]), draw.choice([*donor])
    changed = draw.choice(({**parts, name: parts[second]}, {**parts, name: donor[foreign]}, {**parts, foreign: donor[foreign]}, {}))
    return archived(changed or {each: value for each, value in parts.items() if each != name})


ON_ARCHIVES: Sequence[Mutation] = (*(change_record,) * 12, *(change_records,) * 2, *ON_BYTES)


BY_SUFFIX: Mapping[str, Sequence[Mutation]] = {
    **dict.fromkeys((".onnx", ".pb", ".caffemodel", ".meta"), ON_MESSAGES),
    ".tflite": ON_FLATBUFFERS,
    **dict.fromkeys((".pt2", ".keras"), ON_ARCHIVES),
    **dict.fromkeys((".pbtxt", ".prototxt", ".json", ".xml", ".jinja"), ON_TEXT),
    ".safetensors": (*(change_safetensors,) * 12, *ON_BYTES),
    ".gguf": (*(change_gguf,) * 12, *ON_BYTES),
}
"""The mutations of a file by the end of its name; those of others are `ON_BYTES`."""


def mutated(draw: random.Random, name: str, content: bytes, other: bytes) -> bytes:
    """A damaged file: one to four mutations.

    Args:
        draw: the random choices.
        name: the name of the file.
        content: its content.
        other: the content of another file of its format.
    """
    suffix = name[name.rfind(".") :]
    mutations = BY_SUFFIX.get(suffix, ON_BYTES)
    chosen = [draw.choice(mutations) for _ in range(min(MOST_MUTATIONS, 1 + int(draw.expovariate(1.2))))]
    return reduce(lambda damaged, mutation: mutation(draw, damaged, other), chosen, content)
