"""The orders of forms that matter: pairs of forms with another result in the other order, on models of all forms.

    python -m tests.fuzz.forms.orders [--count N] [--seed SEED] [--only FORM,…]

Models are the lit tests and the smallest models of the faults, and N random ones for each form. A pair is printed if no
form of it says that it runs after the other one (`Form.after`); the exit status is then 1.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator, Mapping, Sequence
from itertools import combinations

import numpy as np
from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.parser import Parser

from moir.dialects.context import MoirContext
from moir.errors import ConversionError
from moir.pipeline import load_pass
from moir.targets.record import Form
from scripts.form_index import forms_of
from tests.fuzz.forms.models import model, proof, proofs, texts

FORMS: Mapping[str, Form] = {form.name: form for form, _ in forms_of("openvino_cpu")}


def follows(later: str, earlier: str) -> bool:
    """Whether a form says, perhaps by others, that it runs after another one."""
    return any(each == earlier or follows(each, earlier) for each in FORMS[later].after)


def models(form: str, seed: int, count: int) -> Iterator[ModuleOp]:
    """The models of a form."""
    yield from (Parser(MoirContext(), text).parse_module() for text in texts(form))
    yield from map(proof, proofs(form))
    for number in range(count):
        try:
            with np.errstate(all="ignore"):
                yield model(form, seed, number)[0]
        except (ConversionError, ValueError):
            continue  # a random model that makes no sense


def rewritten(module: ModuleOp, *names: str) -> ModuleOp:
    """A copy of a module after some passes."""
    copy = module.clone()
    for name in names:
        load_pass(name)().apply(Context(), copy)
    return copy


def printed(module: ModuleOp) -> str:
    """The text of a module without operations that are there twice or that nothing reads."""
    return str(rewritten(module, "deduplicate", "eliminate-dead"))


def undeclared(module: ModuleOp) -> Iterator[tuple[str, str]]:
    """The pairs of forms that have another result in the other order, on one model, although none says so."""
    after = {name: rewritten(module, name) for name in FORMS}
    changing = {name for name, each in after.items() if str(each) != str(module)}
    for one, other in combinations(FORMS, 2):
        is_open = FORMS[one].stage == FORMS[other].stage and not follows(one, other) and not follows(other, one)
        if is_open and {one, other} & changing and printed(rewritten(after[one], other)) != printed(rewritten(after[other], one)):
            yield one, other


def main(arguments: Sequence[str] | None = None) -> int:
    """Look for pairs; returns the exit status."""
    parser = argparse.ArgumentParser("python -m tests.fuzz.forms.orders", description="Print the orders of forms that matter.")
    parser.add_argument("--count", type=int, default=2, help="the random models for each form (default 2)")
    parser.add_argument("--seed", type=int, default=1, help="the seed (default 1)")
    parser.add_argument("--only", default=",".join(FORMS), help="the forms whose models are examined")
    options = parser.parse_args(arguments)
    pairs: dict[tuple[str, str], str] = {}
    for form in options.only.split(","):
        for module in models(form, options.seed, options.count):
            for pair in undeclared(module):
                if pair not in pairs:
                    pairs[pair] = form
                    print(f"{pair[0]} and {pair[1]}, on a model of {form}")
    return int(bool(pairs))


if __name__ == "__main__":
    sys.exit(main())
