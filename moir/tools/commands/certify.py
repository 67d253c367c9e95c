"""`moir certify`: shows a certificate, and verifies that the conversion and its checks still give the same results.

The exit status is 0 if nothing is wrong and nothing differs, 1 otherwise, and 2 for a failure.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from moir.tools.argument_parser import ArgumentParser
from moir.tools.failures import FAILED, one_line, report_failures
from moir.tools.streams import text_output

if TYPE_CHECKING:
    from moir.certificate.records import Certificate
    from moir.options import ConversionOptions

TROUBLE = 2
"""The exit status of a certification that fails."""

WRONG_SHOWN = 10
"""The largest number of wrong or changed parts of a model that are printed."""


def argument_parser() -> ArgumentParser:
    """The argument parser of `moir certify`."""
    parser = ArgumentParser(
        prog="moir certify",
        description="Print what a certificate of a conversion says; with --verify, repeat the conversion and its checks. "
        "The exit status is 0 if nothing is wrong and nothing differs, 1 if something is, 2 for a failure.",
    )
    parser.add_argument("certificate", metavar="CERTIFICATE", help="the file that moir MODEL --certify has written")
    parser.add_argument("--verify", action="store_true", help="repeat the conversion and the checks, and print what differs")
    parser.add_argument("--json", action="store_true", help="print the counts and the differences as an object of JSON")
    parser.add_debug_argument()
    return parser


def main(arguments: Sequence[str]) -> int:
    """Run `moir certify`; returns the exit status."""
    return report_failures("moir certify", lambda: _run(argument_parser().parsed(arguments)), debug="--debug" in arguments, failed=TROUBLE)


def _run(options: argparse.Namespace) -> int:
    from moir.certificate.json_form import read_certificate

    path = Path(options.certificate)
    certificate = read_certificate(path)
    changed: list[str] = []
    if options.verify:
        from moir.certificate.verification import certified_again, differences

        again = certified_again(certificate, path.parent)
        changed, certificate = differences(certificate, again), again.certificate
    if options.json:
        wrong = [piece.tensor for piece in certificate.wrong]
        counts = {"counts": dict(certificate.counts), "wrong": wrong, "differences": changed if options.verify else None}
        text_output().write(json.dumps(counts, indent=2, ensure_ascii=False) + "\n")
    else:
        more = [("differs", each) for each in changed[:WRONG_SHOWN]]
        more += [("", f"… {len(changed)} in all")] if len(changed) > WRONG_SHOWN else []
        more += [("verified", "the conversion and its checks give the same")] if options.verify and not changed else []
        _print([*rows(certificate), *more])
    return FAILED if changed or certificate.wrong else 0


def certify_conversion(path: Path, model: Path, xml: Path, options: ConversionOptions, passes: str | None, *, silent: bool = False) -> int:
    """Write the certificate of a conversion that was done, and print a summary of it; returns the exit status.

    Args:
        path: the certificate to write.
        model: the model.
        xml: the IR that was written.
        options: the options of the conversion.
        passes: the pipeline; None for the default one.
        silent: whether to print nothing.
    """
    from moir.certificate.certify import certify
    from moir.certificate.json_form import write_certificate

    done = certify(model, xml, path.parent, options, passes)
    write_certificate(done.certificate, path)
    if not silent:
        changed = [("differs", f"{each}: converting again gives other bytes") for each in done.changed]
        _print([("certificate", str(path)), *rows(done.certificate), *changed])
    return 0 if done.is_right else FAILED


def rows(certificate: Certificate) -> list[tuple[str, str]]:
    """The content of a certificate as rows of a table: labels and texts."""
    counts = certificate.counts
    equal = sum(bool(piece.equal_to) for piece in certificate.pieces)
    pieces = ", ".join(f"{count} {justification}" for justification, count in counts.items())
    pieces += f"; {equal} equal to others" if equal else ""
    result = [("reference", certificate.reference), ("runtime", certificate.runtime), ("pieces", pieces)]
    for piece in certificate.wrong[:WRONG_SHOWN]:
        result += [("wrong", f"{piece.tensor}: {piece.reason}"), ("", f"nodes: {', '.join(piece.nodes)}")]
        result += [("", f"rewrites: {', '.join(piece.rules)}")] if piece.rules else []
    if len(certificate.wrong) > WRONG_SHOWN:
        result.append(("", f"… {len(certificate.wrong)} wrong in all"))
    reasons = dict.fromkeys(piece.reason for piece in certificate.pieces if piece.justification == "not judged")
    result += [("not judged", each) for each in list(reasons)[:WRONG_SHOWN]]
    return result + [("note", each) for each in certificate.notes]


def _print(lines: Sequence[tuple[str, str]]) -> None:
    text_output().write("".join(f"{label:<12}{one_line(text)}\n" for label, text in lines))
