"""Small tokenizers with random changes, tokenized by the library `tokenizers`, against the converted ones.

    python -m tests.numerical.transformers.drawn_tokenizers write FILE [--count N] [--seed S]
    python -m tests.numerical.transformers.drawn_tokenizers compare FILE

The first command needs `tokenizers` and moir, the second moir and OpenVINO Tokenizers. A tokenizer that moir or the library
refuses is left out; texts of decoded ids are compared but for those of special tokens that are normalized, which the
library does not skip.
"""

from __future__ import annotations

import argparse
import json
import random
import sys
import tempfile
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path
from typing import Any

from tests.unit.tokenizers import small_tokenizers as small

TEXTS = ("hello world", "hi habi  ab", "the <s> re</s> he", " unaffable. don't", "\u00e9\u4e2d h", "Hi\tthe", "h<|end|>h [SEP]s")

VALUES: tuple[Any, ...] = (
    *(None, True, False, -1, 0, 1, 3, 1.5, "x", "", " ", "\u2581", "a", [], {}, "Isolated", "Removed", "MergedWithPrevious"),
    *("first", "always", "never", "NFC", "NFKC", "Lowercase", "Digits", "Fuse"),
)

KINDS = (small.byte_level, small.byte_fallback, small.unigram, small.word_pieces)

MOST_CHANGES = 2

Json = dict[str, Any]


def changed_tokenizer(draw: random.Random) -> Json:
    """A small tokenizer with one or two values that are others or missing; of its tokens rarely."""
    content = draw.choice(KINDS)() if draw.random() < 0.8 else small.byte_fallback(first_only=True)
    for _ in range(draw.randint(1, MOST_CHANGES)):
        places = [path for path in _places(content) if "vocab" not in path[:-1] or draw.random() < 0.02]
        *path, last = draw.choice(places)
        holder: Any = content
        for key in path:
            holder = holder[key]
        if draw.random() < 0.15:
            del holder[last]
        else:
            is_flipped = isinstance(holder[last], bool) and draw.random() < 0.8
            holder[last] = not holder[last] if is_flipped else draw.choice(VALUES)
    return content


def _places(content: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """The paths of all values in an object of JSON."""
    if path:
        yield path
    for key in content if isinstance(content, dict) else range(len(content)) if isinstance(content, list) else ():
        yield from _places(content[key], (*path, key))


def write(file: Path, count: int, seed: int) -> None:
    """Write tokenizers that the library reads, each with the ids of the texts and the texts of the ids."""
    library, draw, cases = import_module("tokenizers"), random.Random(seed), list[Json]()
    for _ in range(count):
        content = changed_tokenizer(draw)
        try:
            read = library.Tokenizer.from_str(json.dumps(content))
            ids = [read.encode(text).ids for text in TEXTS]
            cases.append({"tokenizer": content, "ids": ids, "texts": [read.decode(each) for each in ids]})
        except BaseException as error:  # a panic of Rust is no Exception
            if isinstance(error, KeyboardInterrupt):
                raise
    file.write_text(json.dumps(cases))
    print(f"{len(cases)} of {count} are read by the library")


def differences(case: Json, folder: Path) -> list[str] | None:
    """What a converted tokenizer does otherwise; None if moir refuses it."""
    from moir.errors import MoirError
    from moir.tokenizers import detokenizer_module, read_folder, tokenizer_module
    from tests.unit.tokenizers.runtime import ids_of, texts_of

    (folder / "tokenizer.json").write_text(json.dumps(case["tokenizer"]))
    try:
        definition = read_folder(folder)
        modules = tokenizer_module(definition), detokenizer_module(definition)
    except MoirError:
        return None
    actual = ids_of(modules[0], TEXTS, folder)
    wrong = [f"{text!r}: {actual[text]}, not {ids}" for text, ids in zip(TEXTS, case["ids"], strict=True) if actual[text] != ids]
    if any(each.get("special") and each.get("normalized") for each in case["tokenizer"].get("added_tokens") or ()):
        return wrong
    pairs = [(ids, text) for ids, text in zip(case["ids"], case["texts"], strict=True) if ids and "\0" not in text]
    texts = texts_of(modules[1], [ids for ids, _ in pairs], folder)
    return wrong + [f"{ids}: {text!r}, not {expected!r}" for (ids, expected), text in zip(pairs, texts, strict=True) if text != expected]


def compare(file: Path) -> int:
    """Print what differs; returns the number of tokenizers that are wrong."""
    refused = wrong = 0
    cases: list[Json] = json.loads(file.read_text())
    with tempfile.TemporaryDirectory() as folder:
        for number, case in enumerate(cases):
            try:
                found = differences(case, Path(folder))
            except RuntimeError as error:  # of the runtime
                found = [str(error).strip().splitlines()[-1]]
            refused += found is None
            wrong += bool(found)
            if found:
                print(f"{number}: {found[0]}")
    print(f"{len(cases)} tokenizers, {refused} refused, {wrong} wrong")
    return wrong


def main() -> int:
    """Run a command."""
    parser = argparse.ArgumentParser(
        prog="python -m tests.numerical.transformers.drawn_tokenizers", description="Compare drawn tokenizers."
    )
    parser.add_argument("command", choices=["write", "compare"])
    parser.add_argument("file", type=Path)
    parser.add_argument("--count", type=int, default=500)
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args()
    if options.command == "compare":
        return compare(options.file)
    write(options.file, options.count, options.seed)
    return 0


if __name__ == "__main__":
    sys.exit(main())
