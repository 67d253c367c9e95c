"""What certificates of sample models say, and what they cost beside the conversion.

    python benchmarks/certificates.py PATH... [-o RESULT.jsonl]

A path is a model, or a folder with `meta.json` beside each model, which names its `files` and the shapes of its
`inputs`. Every model is converted, run once by what its certificate refers to, and certified, in this process; the
second time counts. The cost is the CPU time of the certificate, relative to that of one conversion and of one
execution: `cost = certificate / (conversion + execution)`.
"""

from __future__ import annotations

import argparse
import json
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from processes import print_table

from moir.certificate.certify import certify
from moir.certificate.recorded_conversion import recorded_conversion
from moir.certificate.reference_choice import chosen_reference
from moir.conversion import convert, save_model
from moir.errors import MoirError
from moir.options import ConversionOptions

SECONDARY = (".params", ".pdiparams", ".prototxt", ".npz", ".data", ".index")
"""Suffixes of files that belong to a model and are none themselves."""


def models_of(path: Path) -> Iterator[tuple[Path, Mapping[str, Any]]]:
    """The models below a path, with the options of their conversion."""
    found = sorted(path.rglob("meta.json")) if path.is_dir() else []
    if not found:
        yield path, {}
    for description in found:
        meta = json.loads(description.read_text())
        shapes = {name: each["shape"] for name, each in meta.get("inputs", {}).items()} if meta.get("framework") == "mxnet" else {}
        if (description.parent / "config.json").exists():
            yield description.parent, {}
            continue
        for name in meta.get("files", ()):
            file = description.parent / name
            if file.suffix not in SECONDARY and (file.is_file() or (file / "saved_model.pb").exists()):
                yield file, {"input": shapes} if shapes else {}


def measured(model: Path, given: Mapping[str, Any], folder: Path) -> dict[str, Any]:
    """What the certificate of a model says, and the CPU seconds of its conversion, execution and certificate."""
    options, xml = ConversionOptions(**given), folder / "model.xml"
    seconds: dict[str, float] = {}
    for _ in range(2):
        start = time.process_time()
        save_model(convert(model, options), xml)
        seconds["conversion"] = time.process_time() - start
        conversion = recorded_conversion(model, options)
        start = time.process_time()
        chosen_reference(model, conversion, options, 0)
        seconds["execution"] = time.process_time() - start
        del conversion
        start = time.process_time()
        done = certify(model, xml, folder, options)
        seconds["certificate"] = time.process_time() - start
    pieces = done.certificate.pieces
    return {
        "counts": dict(done.certificate.counts),
        "changed": done.changed,
        "reference": done.certificate.reference,
        "wrong": [f"{each.tensor}: {each.reason}" for each in done.certificate.wrong],
        "unjudged": dict(Counter(each.reason for each in pieces if each.justification == "not judged")),
        "seconds": {name: round(value, 3) for name, value in seconds.items()},
    }


def main(arguments: Sequence[str]) -> int:
    """Run the benchmark; the exit status is 1 if a piece is wrong, an IR changes or a model has no certificate."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("paths", nargs="+", type=Path)
    parser.add_argument("-o", "--output", type=Path, help="a file with a line of JSON for each model")
    options = parser.parse_args(arguments)
    total, rows, failed = Counter[str](), [["model", "exact", "proved", "executed", "not judged", "wrong", "cost"]], 0
    with open(options.output or "/dev/null", "w") as log:
        for path in options.paths:
            for model, given in models_of(path):
                name = "/".join(model.parts[-3:])
                try:
                    with tempfile.TemporaryDirectory() as folder:
                        result = measured(model, given, Path(folder))
                except MoirError as error:
                    result = {"error": f"{type(error).__name__}: {error.reason}"}
                log.write(json.dumps({"model": name, **result}) + "\n")
                log.flush()
                if "error" in result:
                    rows.append([name, "no certificate:", result["error"][:60], "", "", "", ""])
                    failed += 1
                    continue
                seconds = result["seconds"]
                cost = seconds["certificate"] / (seconds["conversion"] + seconds["execution"])
                rows.append([name, *(str(each) for each in result["counts"].values()), f"{cost:.1f}"])
                total.update(result["counts"])
                failed += bool(result["wrong"] or result["changed"])
    print_table(rows)
    print(f"{len(rows) - 1} models:", ", ".join(f"{count} {what}" for what, count in total.items()))
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
