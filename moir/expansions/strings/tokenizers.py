"""Operations of OpenVINO Tokenizers, an extension of the runtime, for strings that the operation sets cannot express.

They are layers of version `extension`. The notes of a model with such layers, for the user, and its runtime information
name the package that has to be loaded with the model.

Source: https://github.com/openvinotoolkit/openvino_tokenizers, version 2026.4.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from xdsl.dialects.builtin import DictionaryAttr, StringAttr
from xdsl.ir import Attribute, SSAValue

from moir.dialects.extension import extension_class
from moir.dialects.moir import ModelOp, ModuleLevel, add_notes, model_around
from moir.dialects.properties import strings_attribute, value_of
from moir.errors import UnsupportedOperationError
from moir.expansions.strings.texts import Texts
from moir.options import NO_TOKENIZERS
from moir.rewriting.builder import OpBuilder

PACKAGE = "openvino_tokenizers"
VERSION = "2026.4"
"""The release of the package whose operations are emitted."""
NOTE = f"the model needs OpenVINO Tokenizers in the runtime: `import {PACKAGE}` before it is read"
"""The note for the user about a model that has operations of OpenVINO Tokenizers."""
CLASSES_NOTE = "classes of characters (\\p{…}) are of the Unicode that the runtime knows: recently assigned characters may differ"
"""The note for the user about a pattern with classes of Unicode characters: TensorFlow's library has Unicode data of
another version.
"""

LARGEST_GROWTH = 3
"""The largest ratio of the size of a replacement to the size of its match.

The extension (2026.4) has room for four times the bytes of the text, and returns the text unchanged if the result is
larger.
"""


def operation(
    op: OpBuilder, kind: str, operands: Sequence[SSAValue], attributes: dict[str, str], types: Sequence[Attribute]
) -> Sequence[SSAValue]:
    """Build an operation of the extension and return its results; the model gets a mark that it needs the extension.

    Args:
        op: the builder.
        kind: the kind of the operation.
        operands: its operands.
        attributes: its attributes, spelled as in the IR.
        types: the types of its results.
    """
    properties: dict[str, Attribute] = {name: StringAttr(value) for name, value in attributes.items()}
    created = extension_class(kind).create(operands=operands, result_types=types, properties=properties)
    op.insert(created)
    if (model := _model(op)) is not None and ModuleLevel.RUNTIME_EXTENSIONS not in model.attributes:
        model.attributes[ModuleLevel.RUNTIME_EXTENSIONS] = strings_attribute([PACKAGE])
        add_notes(model, [NOTE])
    return created.results


def _model(op: OpBuilder) -> ModelOp | None:
    """The model that the operations of a builder are in; None in a body that is not part of a model yet."""
    parent = op.block.parent_op()
    return None if parent is None else model_around(parent)


def _note(op: OpBuilder, note: str) -> None:
    if (model := _model(op)) is not None:
        add_notes(model, [note])


def check_permitted(op: OpBuilder, reason: str, hint: str) -> None:
    """Raises UnsupportedOperationError if the options of the conversion exclude operations of the extension.

    `reason` says what the extension would be needed for, `hint` what to do without it.
    """
    parameters = None if (model := _model(op)) is None else model.attributes.get(ModuleLevel.CONVERSION_PARAMETERS)
    names = parameters.data.get("tokenizers") if isinstance(parameters, DictionaryAttr) else None
    if names is not None and value_of(names) == NO_TOKENIZERS:
        raise UnsupportedOperationError(f"{reason}, and operations of OpenVINO Tokenizers are ruled out", hint=hint)


def replaced(op: OpBuilder, texts: Texts, pattern: str, rewrite: str, *, all_matches: bool) -> Texts:
    """Strings with the first match of a PCRE2 pattern replaced, or with `all_matches` all of them.

    `rewrite` is the replacement, which refers to groups as `${1}`.
    """
    if r"\p{" in pattern:
        _note(op, CLASSES_NOTE)
    constants = (op.constant(np.frombuffer(each.encode(), np.uint8)) for each in (pattern, rewrite))
    attributes = {"global_replace": "true" if all_matches else "false"}
    types = [texts.begins.type, texts.ends.type, texts.symbols.type]
    return Texts(*operation(op, "RegexNormalization", [*texts, *constants], attributes, types))
