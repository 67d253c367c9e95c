"""`moir-opt`: runs passes on modules, from text or a model file to text, OpenVINO IR or an ONNX model.

    moir-opt model.onnx -p lower-onnx,fold-constants
    moir-opt dumps/007-fold-constants.mlir --resume-after 007-fold-constants -t ir -o model.xml
    moir-opt a.mlir --weights-file b.bin -o b.mlir
    moir-opt a.mlir --extensions my_extension -p fuse-mine
    moir-opt model.onnx -p default --print-ir-after=fuse-gelu --crash-reproducer=crash.mlir
    moir-opt crash.mlir --run-reproducer

Text refers to weights in side files in its folder (text from stdin: in the current folder). Without `--weights-file`,
values over 64 bytes are omitted from the output.

The types that a text gives to results of operations are checked: a type that does not follow from the operands and
properties of its operation is an error (`moir.tools.optimizer.written_types`). Errors about operations of a text begin
with file, line and column. `--list-passes`, `--print-ir-before`, `--verify-diagnostics` and others are those of
`mlir-opt`, whose spellings `--mlir-…` are accepted.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Generator, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import replace
from functools import cached_property
from io import BytesIO, StringIO
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any, cast

from xdsl.dialects.builtin import LocationAttr, ModuleOp
from xdsl.ir import Attribute, Operation
from xdsl.printer import Printer
from xdsl.utils.arg_spec import parse_spec
from xdsl.utils.diagnostic import Diagnostic
from xdsl.utils.exceptions import ArgSpecParseError, DiagnosticException, ParseError, ShrinkException, VerifyException
from xdsl.xdsl_opt_main import xDSLOptMain

from moir.analysis.provenance import traced_locations
from moir.conversion import Observer, collection_paused, import_model, open_extensions, run, save_model, stage
from moir.dialects.context import MoirContext
from moir.dialects.framework import framework_of
from moir.errors import ConversionError, InternalError, ModelFileError, UsageError
from moir.files.output import TEXT_FILE, WEIGHTS_FILE, replacing_file
from moir.files.source_files import check_not_read, recorded
from moir.options import ConversionOptions
from moir.pipeline.text import DEFAULT, Pipeline
from moir.rewriting.verification import verify_module
from moir.tools.conversion_arguments import conversion_options
from moir.tools.failures import FAILED, describe, one_line, report_failures
from moir.tools.optimizer.arguments import IR, ONNX_MODEL, TEXT, argument_parser, frontends
from moir.tools.optimizer.input import OptInput
from moir.tools.optimizer.ir_printing import ModuleObserver, reported_to
from moir.tools.optimizer.observers import check_names, observers_of
from moir.tools.optimizer.text import TextParser, named_locations, named_sources, print_module
from moir.tools.optimizer.text_limits import read_text_file
from moir.tools.optimizer.text_locations import TextLocations, set_location
from moir.tools.optimizer.weights_file import WeightsReader, WeightsWriter
from moir.tools.optimizer.written_types import check_written_types
from moir.tools.progress import Timing
from moir.tools.streams import STANDARD, text_output

if TYPE_CHECKING:
    from moir.pipeline import LoadedExtensions


class MoirOptMain(xDSLOptMain):
    """The program `moir-opt`: the constructor parses the command line and loads extensions, `run` does the work.

    Args:
        arguments: the command line, by default that of the process.
        stack: closes the extensions when the tool ends.
    """

    def __init__(self, arguments: Sequence[str] | None, stack: ExitStack) -> None:
        self.passes = Pipeline(())
        self.extensions: LoadedExtensions | None = None
        self._stack = stack
        self.weights: WeightsWriter | None = None
        self.locations: TextLocations | None = None
        """Where the operations of the chunk are in its text; None if it is not text."""
        self.line_offset = 0
        """Number of lines of the input before the chunk."""
        self.text: str | None = None
        """The text of the chunk; None if it is not text."""
        self._import_seconds = 0.0
        self.differences: list[str] = []
        """The differences that `--verify-diagnostics` found."""
        # The constructor of xDSL's driver would make an argument parser of its own.
        self.ctx = MoirContext()
        # xDSL's own entries are of other types from 0.75 on.
        self._readers: dict[str, Callable[[IO[bytes]], ModuleOp]] = {
            name: self.parse_text if name == TEXT else self.read_model_file for name in frontends()
        }
        self.available_frontends = dict(self._readers)
        self.available_targets = {TEXT: self.print_text, IR: print_ir, ONNX_MODEL: refuse_onnx_text}
        self._parser = argument_parser()
        self.args = self._parser.parsed(arguments)
        self.setup_pipeline()
        self.ctx.allow_unregistered = self.args.allow_unregistered_dialect
        Diagnostic.colored = self.args.syntax_highlight
        if self.args.disable_verify:
            Attribute.__post_init__ = _nothing

    def setup_pipeline(self) -> None:
        if self.args.run_reproducer:
            if self.args.passes or self.args.pass_pipeline or self.args.resume_after:
                raise UsageError("--run-reproducer takes the passes from the file; leave out -p, --pass-pipeline and --resume-after")
            from moir.tools.optimizer.reproducer import take_command

            take_command(self.args, self._parser)
        given = [text for text in (self.args.passes, self.args.pass_pipeline, self.args.resume_after) if text]
        if len(given) > 1:
            raise UsageError("-p, --pass-pipeline and --resume-after exclude each other")
        if self.args.resume_after:
            given = [f"{DEFAULT}{{after={self.args.resume_after}}}"]
        # The framework of a text is known only after parsing, for which the operations of extensions are needed.
        framework = None if self.args.list_passes or self.args.show_dialects else self.input.framework
        options = conversion_options(self.args)
        self.extensions = open_extensions(framework, options, options.parameters(self.args.input_file or STANDARD))
        if self.extensions is not None:
            self._stack.callback(self.extensions.close)
        self.passes = Pipeline.parse(given[0] if given else "", self.extensions)
        check_names(self.args, self.extensions)

    # Input

    @cached_property
    def input(self) -> OptInput:
        """The input, which is opened when it is first needed: the lists of passes and dialects need no input."""
        return OptInput(self.args.input_file, self.args.frontend, self._stack)

    def get_input_stream(self) -> tuple[IO[bytes], str]:
        if self.input.framework is None:
            return self.input.path.open("rb"), TEXT
        # The frontend maps the file itself.
        return BytesIO(), self.input.framework.dialect

    def get_input_name(self) -> str:
        return self.input.name

    def parse_text(self, stream: IO[bytes]) -> ModuleOp:
        """Parse a text. Raises ParseError, and ModelFileError if the text is not in UTF-8."""
        name = self.get_input_name()
        try:
            self.text = read_text_file(stream, name).decode()
        except UnicodeDecodeError as error:
            raise ModelFileError(f"byte {error.start} is not UTF-8 text", location=name) from error
        parser = TextParser(self.ctx, self.text, name)
        with recorded(self.input.path) as reading, stage("the parser"):
            try:
                reading.module = module = parser.parse_module(not self.args.no_implicit_module)
            except VerifyException as error:
                parser.raise_error(str(error))
        self.locations = TextLocations(parser, self.line_offset)
        return module

    def read_model_file(self, stream: IO[bytes]) -> ModuleOp:
        """Read a model file with its frontend, which opens the file by its name."""
        with stage("the import"):
            return import_model(self.input.path, conversion_options(self.args), self.input.framework)

    # Output

    def print_text(self, module: ModuleOp, output: IO[str]) -> None:
        """Print a module, for the target `mlir`."""
        from xdsl.syntax_printer import SyntaxPrinter

        self.render(module, output, self.weights, SyntaxPrinter if self.args.syntax_highlight else Printer)

    def render(self, module: ModuleOp, output: IO[str], weights: WeightsWriter | None = None, printer: type[Printer] = Printer) -> None:
        """Print a module in the form that options request."""
        print_module(
            module,
            output,
            weights,
            printer,
            locations=self.printed_locations(module),
            print_generic_format=self.args.print_op_generic,
            print_properties_as_attributes=self.args.print_no_properties,
        )

    def printed_locations(self, module: ModuleOp) -> Mapping[Operation, LocationAttr] | None:
        """The locations that options ask to print after operations; None to print no locations."""
        if self.args.print_provenance and self.args.print_debuginfo:
            return named_sources(named_locations(module), traced_locations(module))
        if self.args.print_provenance:
            return traced_locations(module)
        return named_locations(module) if self.args.print_debuginfo else None

    @contextmanager
    def weights_writer(self) -> Generator[WeightsWriter | None]:
        """A context with the writer of the output's side file; None if there is no side file."""
        if not self.args.weights_file:
            yield None
            return
        path = Path(self.args.weights_file)
        with replacing_file(path, WEIGHTS_FILE) as file:
            yield WeightsWriter(file, path.name)

    @contextmanager
    def text_output(self) -> Generator[IO[str]]:
        """A context with the stream for the output: standard output, or a text that replaces a file at the end."""
        if self.args.output_file in (None, STANDARD) or self.writes_model:
            yield text_output()
            sys.stdout.flush()
            return
        text = StringIO()
        yield text
        with replacing_file(Path(self.args.output_file), TEXT_FILE) as file:
            file.write(text.getvalue().encode())

    @property
    def writes_model(self) -> bool:
        """Whether the output is a model: the two files of OpenVINO IR, or an ONNX model."""
        return parse_spec(self.args.target).name in (IR, ONNX_MODEL) and self.args.output_file not in (None, STANDARD)

    def written_files(self) -> Iterator[Path]:
        """The files that options name for the output, except a text that replaces the input."""
        if self.args.output_file not in (None, STANDARD):
            output = Path(self.args.output_file)
            if self.input.framework is not None or output.resolve() != self.input.path.resolve():
                yield output
        if self.args.weights_file:
            yield Path(self.args.weights_file)
        if self.args.crash_reproducer:
            from moir.tools.optimizer.reproducer import weights_path_of

            yield Path(self.args.crash_reproducer)
            yield weights_path_of(Path(self.args.crash_reproducer))

    # Work

    def check_paths(self) -> None:
        """Raises UsageError for options that contradict each other."""
        args = self.args
        if args.split_input_file and (self.writes_model or args.dump_ir):
            raise UsageError("--split-input-file goes with text output only")
        if args.crash_reproducer:
            from moir.tools.optimizer.reproducer import check_path

            check_path(Path(args.crash_reproducer))
        if args.weights_file and args.output_file not in (None, STANDARD):
            beside, other = Path(args.output_file).resolve(), Path(args.weights_file).resolve()
            if beside.parent != other.parent or beside == other:
                raise UsageError("--weights-file is a file in the folder of the output")

    def run(self) -> None:
        """Read, transform and write each chunk of the input. Raises the errors that `report_failures` reports."""
        self.check_paths()
        cast(MoirContext, self.ctx).weights = WeightsReader(self.input.folder)
        timing = Timing()
        observers = [timing, *observers_of(self.args, self.render)]
        try:
            with ExitStack() as stack:
                chunks, extension = self.prepare_input()
                output = stack.enter_context(self.text_output())
                self.weights = stack.enter_context(self.weights_writer())
                for index, (chunk, offset) in enumerate(chunks):
                    if index:
                        output.write("// -----\n")
                    self.piece(chunk, extension, offset, output, observers)
        finally:
            for observer in observers:
                observer.close()
        if self.args.timing:
            print(timing.table(), end="", file=sys.stderr)

    def piece(self, chunk: IO[bytes], extension: str, offset: int, output: IO[str], observers: Sequence[Observer]) -> None:
        """Read, transform and write one chunk of the input, `offset` lines after its beginning, by the reader for
        `extension`.

        With `--verify-diagnostics` its errors are compared with those that its text announces. With
        `--parsing-diagnostics`, an error of the parser becomes the output instead.
        """
        self.line_offset, self.locations, self.text = offset, None, None
        errors: list[tuple[int | None, int | None, str]] = []
        try:
            start = time.perf_counter()
            with chunk:
                module = self._readers[extension](chunk)
            self._import_seconds = time.perf_counter() - start
            check_not_read(module, self.written_files())
            self.transform(module, observers)
            self.write(module, output, observers)
        except ParseError as error:
            error.span = replace(error.span, line_offset=offset)
            if self.args.verify_diagnostics:
                errors.append((*error.span.get_location()[1:], error.msg))
            elif self.args.parsing_diagnostics:
                output.write(one_line(describe(error)) + "\n")
            else:
                raise
        except (DiagnosticException, ConversionError, InternalError) as error:
            location = None if self.locations is None else self.locations.of_error(error)
            if self.args.verify_diagnostics and not isinstance(error, InternalError):
                position = (None, None) if location is None else location[1:]
                errors.append((*position, one_line(describe(error))))
            else:
                set_location(error, location)
                raise
        if self.args.verify_diagnostics:
            self.check_diagnostics(errors)

    def check_diagnostics(self, errors: Sequence[tuple[int | None, int | None, str]]) -> None:
        """Compare the errors of a chunk with those that its comments announce, and record the differences."""
        from moir.tools.optimizer.expected_diagnostics import differences, expectations_of

        name = self.get_input_name()
        expected = [] if self.text is None else expectations_of(self.text, name, self.line_offset)
        self.differences.extend(differences(name, expected, errors))

    def transform(self, module: ModuleOp, observers: Sequence[Observer]) -> None:
        """Run the passes, and verify the module before and after them."""
        if not self.args.disable_verify:
            verify_module(module)
        if self.locations is not None and (self.args.reinfer_types or not self.args.disable_verify):
            with stage("type inference", self.extensions):
                check_written_types(module, replace=self.args.reinfer_types)
        framework = framework_of(module)
        passes, first = self.passes.passes(framework, ConversionOptions()), self.passes.first_number(framework)
        for observer in observers:
            if isinstance(observer, ModuleObserver):
                observer.watch(module, passes, first)
        if first == 1:
            for observer in observers:
                observer.finish(0, "import", module, self._import_seconds)
        with reported_to(observers):
            run(module, passes, observers, first=first, ctx=self.ctx, extensions=self.extensions, verifies=self.args.verify_each)
        if passes and not self.args.disable_verify and not self.writes_model:
            verify_module(module)

    def write(self, module: ModuleOp, output: IO[str], observers: Sequence[Observer]) -> None:
        """Write a module in the form of the target."""
        with reported_to(observers):
            if self.writes_model and parse_spec(self.args.target).name == ONNX_MODEL:
                from moir.onnx_export import save_onnx

                save_onnx(module, self.args.output_file)
            elif self.writes_model:
                save_model(module, self.args.output_file)
            else:
                output.write(self.output_resulting_program(module))


def _nothing(self: Attribute) -> None:
    """Does nothing, in place of the verification of attributes."""


def print_ir(module: ModuleOp, output: IO[str]) -> None:
    """Print the XML of a module, for the target `ir` without files."""
    from moir.emit.in_memory import serialize

    output.write(serialize(module)[0].decode())


def refuse_onnx_text(_module: ModuleOp, _output: IO[str]) -> None:
    """Raises UsageError: an ONNX model is no text."""
    raise UsageError("an ONNX model is written to a file", hint="give -o model.onnx")


def main(arguments: Sequence[str] | None = None) -> int:
    """Run `moir-opt`; returns the exit status."""
    given = sys.argv[1:] if arguments is None else list(arguments)
    # The value of --trace-rewrites is optional and follows `=`: a separate argument is the input file.
    given = [f"{each}=" if each == "--trace-rewrites" else each for each in given]
    verify_attribute: Any = Attribute.__post_init__

    def body() -> int:
        try:
            with collection_paused(), ExitStack() as stack:
                driver = MoirOptMain(given, stack)
                if driver.args.list_passes or driver.args.show_dialects:
                    from moir.tools.commands.lists import print_lists

                    print_lists(passes=driver.args.list_passes, dialects=driver.args.show_dialects, extensions=driver.extensions)
                    return 0
                driver.run()
        except ShrinkException:
            print("Success, can shrink")
            return 0
        except ArgSpecParseError as error:
            raise UsageError(str(error).splitlines()[-1].strip()) from error
        if driver.args.shrink:
            print("Failure, can't shrink")
        for line in driver.differences:
            print(f"moir-opt: error: {one_line(line)}", file=sys.stderr)
        return FAILED if driver.args.shrink or driver.differences else 0

    try:
        return report_failures("moir-opt", body, debug="--debug" in given)
    finally:
        # --disable-verify is for this run only.
        Attribute.__post_init__ = verify_attribute


if __name__ == "__main__":
    sys.exit(main())
