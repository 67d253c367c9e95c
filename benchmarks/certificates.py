"""What certificates of sample models say, and what they cost beside the conversion.

    python benchmarks/certificates.py PATH... [-o RESULT.jsonl]

A path is a model, or a folder with `meta.json` beside each model, which names its `files` (by default those of GGUF)
and the shapes of its `inputs`. Every model is converted, run once, and converted with a certificate, each by a command
of its own. The cost is CPU time: `cost = moir MODEL --certify / (3 · moir MODEL + moir run MODEL)`, which has to be at
most 1; it is nan for a model that the framework's runtime does not load.
"""

from __future__ import annotations

import argparse
import json
import math
import sys
import tempfile
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from processes import ConverterFailed, print_table, run

from moir.certificate.json_form import read_certificate
from moir.errors import MoirError

SECONDARY = (".params", ".pdiparams", ".prototxt", ".npz", ".data", ".index", ".data-00000-of-00001")
"""Suffixes of files that belong to a model and are none themselves."""


def models_of(path: Path) -> Iterator[tuple[Path, Sequence[str]]]:
    """The models below a path, with the options of their conversion."""
    found = sorted(path.rglob("meta.json")) if path.is_dir() else []
    if not found:
        yield path, []
    for description in found:
        meta = json.loads(description.read_text())
        shapes = ",".join(f"{name}[{','.join(map(str, each['shape']))}]" for name, each in meta.get("inputs", {}).items())
        if (description.parent / "config.json").exists():
            yield description.parent, []
            continue
        for name in meta.get("files", [each.name for each in description.parent.glob("*.gguf")]):
            file = description.parent / name
            if file.suffix not in SECONDARY and (file.is_file() or (file / "saved_model.pb").exists()):
                yield file, ["--input", shapes] if meta.get("framework") == "mxnet" else []


def measured(model: Path, given: Sequence[str], folder: Path) -> dict[str, Any]:
    """What the certificate of a model says, and the CPU seconds of the three commands. Raises ConverterFailed."""
    moir, written, certificate = [sys.executable, "-m", "moir"], ["-o", str(folder / "model.xml"), "--silent"], folder / "certificate.json"
    seconds = {"conversion": run([*moir, str(model), *written, *given]).cpu}
    try:
        seconds["execution"] = run([*moir, "run", str(model), *given]).cpu
    except ConverterFailed:
        seconds["execution"] = math.nan  # The framework's runtime does not load all models that moir does.
    try:
        seconds["certificate"] = run([*moir, str(model), *written, *given, "--certify", str(certificate)]).cpu
    except ConverterFailed:
        if not certificate.exists():
            raise
    done = read_certificate(certificate)
    return {
        "counts": dict(done.counts),
        "reference": done.reference,
        "wrong": [f"{each.tensor}: {each.reason}" for each in done.wrong],
        "unjudged": dict(Counter(each.reason for each in done.pieces if each.justification == "not judged")),
        "seconds": {name: round(value, 3) for name, value in seconds.items()},
    }


def main(arguments: Sequence[str]) -> int:
    """Run the benchmark; the exit status is 1 if a piece is wrong or a model has no certificate."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("paths", nargs="+", type=Path)
    parser.add_argument("-o", "--output", type=Path, help="a file with a line of JSON for each model")
    options = parser.parse_args(arguments)
    total, rows, failed = Counter[str](), [["model", "exact", "proved", "executed", "not judged", "wrong", "cost"]], 0
    with open(options.output or "/dev/null", "w") as log:
        for path in options.paths:
            for model, given in models_of(path):
                name = "/".join(model.parts[-3:])
                result: dict[str, Any] = {}
                try:
                    with tempfile.TemporaryDirectory() as folder:
                        result = measured(model, given, Path(folder))
                except (ConverterFailed, MoirError) as error:
                    result = {"error": str(error)}
                log.write(json.dumps({"model": name, **result}) + "\n")
                log.flush()
                if "error" in result:
                    rows.append([name, "no certificate:", result["error"][:60], "", "", "", ""])
                    failed += 1
                    continue
                seconds = result["seconds"]
                cost = seconds.get("certificate", math.nan) / (3 * seconds["conversion"] + seconds["execution"])
                rows.append([name, *(str(each) for each in result["counts"].values()), f"{cost:.2f}"])
                total.update(result["counts"])
                failed += bool(result["wrong"])
    print_table(rows)
    print(f"{len(rows) - 1} models:", ", ".join(f"{count} {what}" for what, count in total.items()))
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
