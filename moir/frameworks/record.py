"""The record of a framework: the facts about it that the stages of a conversion need.

The records are in `moir/frameworks`.
"""

from __future__ import annotations

import re

from moir.support.records import Record

SAMPLE = 512
"""The number of bytes from the beginning of a file that are enough to recognize it."""

VARINT = rb"[\x80-\xff]{0,4}[\x00-\x7f]"
"""A regular expression for an integer as protobuf encodes it, such as the size of a field."""


class ReaderOption(Record):
    """An option of a reader besides the path.

    Args:
        name: keyword of the reader and of `convert_model`.
        flag: the option of the command lines.
        metavar: placeholder of the value in the help text.
        help: the help text.
        is_list: whether the command line takes several values, separated by commas.
        is_path: whether the value is a path.
        former: further spellings of the option.
    """

    name: str
    flag: str
    metavar: str
    help: str
    is_list: bool = False
    is_path: bool = False
    former: tuple[str, ...] = ()


class Framework(Record):
    """The record of a framework.

    Args:
        dialect: name of its dialect, which is also the name of the framework in options and messages.
        title: its name in prose.
        reader: `module:function` that takes a path and the reader's options and returns a module; None if there is no
            frontend yet.
        suffixes: suffixes of the names of its model files, for files whose content says nothing.
        beginning: regular expression for the first bytes of its binary files; empty if there is none.
        text_beginning: regular expression for the first characters of its text files; empty if there is none.
        json_keys: sets of keys of an object that describes one of its models in JSON: all keys of one set are there.
            The object may be the `modelTopology` of a `model.json` of TensorFlow.js.
        completions: suffixes that complete the name of a model, where users give the common beginning of several names.
        folder_files: files that mark a folder as a model of this framework; one of them is enough.
        beside: patterns of the names of files that may belong to a model file, in its folder: `{stem}` is its name
            without suffix, `*` any text; of several files that a pattern matches, the last by its name belongs to it.
        parts: `module:function` that takes the path of a model file and returns such patterns for the files that its
            content names, relative to its folder; it is asked again when they are there. None if it names none.
        folder_content: patterns of the names of the files that belong to a model that is a folder; empty for all.
        options: the reader's options.
        takes_outputs: whether the reader has a further keyword `wanted`, the tensors that the user names as outputs,
            because it leaves out what the outputs do not depend on.
        lowering: `module:table` of its lowerings; None if there are none yet.
        expander: `module:function` that replaces an operation without handler by the framework's own definition of it.
        writes: the passes that replace writes to values, in order. They run before inputs and outputs are changed: an
            output may be a value that is written by operations on which it does not depend.
        raising: the passes before the lowering, in order.
        passes: passes of the middle phase that run only for models of frameworks that list them.
        channel_last: whether convolutions have the channels in the last dimension, which makes the layout change
            useful.
        has_fixed_sizes: whether its programs have all their sizes as constants, so that static sizes of inputs do not
            change: an IR of them cannot be reshaped.
        is_lowered: whether its models are in opset dialects when they are read, so that it has no dialect of its own.
        embedded: the dialects of further frameworks whose programs its models may contain; they are lowered together.
        shared_dialect: the dialect of another framework in which its models are read, so that the stages after it are
            those of that framework; empty if there is none.
        constant_kind: the kind of its constants in lower case, as Model Optimizer's extractors name it.
        runner: `module:class` that runs its models by its own runtime; None if no package has that.
        view: `module:view` of what extensions for Model Optimizer's API see of its models; None if they see its
            operations as they are.
        ir_name: name of the files of its IRs without suffix; empty if they are named like the model.
        companions: `module:function` that takes the path of a model and whether its tokenizer is converted, and returns
            the files that belong beside an IR of the name `ir_name`; None if there are none.
        operations: `module:function` that lists its operations, see `moir/inspection/operations`; None if these are the
            kinds in its table of lowerings.
    """

    dialect: str
    title: str
    reader: str | None = None
    suffixes: tuple[str, ...] = ()
    beginning: bytes = b""
    text_beginning: bytes = b""
    json_keys: tuple[frozenset[str], ...] = ()
    completions: tuple[str, ...] = ()
    folder_files: tuple[str, ...] = ()
    beside: tuple[str, ...] = ()
    parts: str | None = None
    folder_content: tuple[str, ...] = ()
    options: tuple[ReaderOption, ...] = ()
    takes_outputs: bool = False
    lowering: str | None = None
    expander: str | None = None
    writes: tuple[str, ...] = ()
    raising: tuple[str, ...] = ()
    passes: frozenset[str] = frozenset()
    channel_last: bool = False
    has_fixed_sizes: bool = False
    is_lowered: bool = False
    embedded: tuple[str, ...] = ()
    shared_dialect: str = ""
    constant_kind: str = "const"
    runner: str | None = None
    view: str | None = None
    ir_name: str = ""
    companions: str | None = None
    operations: str | None = None

    @property
    def operations_dialect(self) -> str:
        """The name of the dialect to which the operations of the framework's models belong."""
        return self.shared_dialect or self.dialect

    @property
    def lowering_pass(self) -> str:
        """The name of the pass that lowers the framework's dialect; if there is nothing to lower, of the pass at its
        position.
        """
        return "check-lowered" if self.is_lowered else f"lower-{self.operations_dialect}"

    def begins(self, data: bytes) -> bool:
        """Whether the first bytes of a file, `data`, are those of a model of this framework."""
        expression = self.text_beginning if is_text(data) else self.beginning
        return bool(expression) and re.match(expression, data, re.DOTALL) is not None


_CONTROL_CHARACTERS = bytes(byte for byte in range(0x20) if byte not in b"\t\n\r\f")
"""The control characters that do not occur in text: all but white space."""


def is_text(data: bytes) -> bool:
    """Whether the first bytes of a file are text: no control characters but white space."""
    return bool(data.strip()) and len(data.translate(None, _CONTROL_CHARACTERS)) == len(data)
