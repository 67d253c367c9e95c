"""`moir-opt`: runs passes on modules, from text or a model file to text or OpenVINO IR.

    moir-opt model.onnx -p lower-onnx,fold-constants
    moir-opt dumps/07-fold-constants.mlir --resume-after 07-fold-constants -t ir -o model.xml
    moir-opt a.mlir --weights-file b.bin -o b.mlir
    moir-opt a.mlir --extensions my_extension -p fuse-mine

Text refers to weights in side files in its folder (text from stdin: in the current folder). Without `--weights-file`,
values over 64 bytes are omitted from the output.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable, Generator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import replace
from io import BytesIO, StringIO
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any, cast

from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Attribute
from xdsl.printer import Printer
from xdsl.utils.arg_spec import parse_spec
from xdsl.utils.exceptions import ArgSpecParseError, DiagnosticException, ParseError, ShrinkException, VerifyException
from xdsl.xdsl_opt_main import xDSLOptMain

from moir.conversion import Observer, collection_paused, import_model, open_extensions, run, save_model, stage
from moir.dialects.context import MoirContext
from moir.errors import ConversionError, ModelFileError, UsageError
from moir.frameworks import readable
from moir.options import ConversionOptions
from moir.pipeline import load_pass, pass_names
from moir.pipeline_text import DEFAULT, Pipeline, framework_of
from moir.recognition import framework_of_file
from moir.rewriting.verification import verify_module
from moir.source_files import is_mapped
from moir.tools.conversion_arguments import add_extension_arguments, add_reading_arguments, conversion_options
from moir.tools.failures import describe, one_line, report_failures
from moir.tools.output import replacing_file
from moir.tools.progress import Timing
from moir.tools.text import TextParser, print_module
from moir.tools.weights_file import WeightsReader, WeightsWriter

if TYPE_CHECKING:
    from xdsl.passes import ModulePass

    from moir.pipeline import LoadedExtensions

TEXT, IR = "mlir", "ir"
"""The names of the targets: text of modules, and OpenVINO IR."""


class VerificationAfterPass(Observer):
    """Verifies the module after each pass, for `--verify-each`."""

    def finish(self, number: int, stage: str, module: ModuleOp, seconds: float) -> None:
        verify_module(module, stage)


class ModuleAfterPass(Observer):
    """Prints the module after passes to stderr, for `--print-ir-after-change` and `--print-between-passes`.

    Args:
        always: whether to print the module also after passes that did not change it.
    """

    def __init__(self, *, always: bool) -> None:
        self._always = always
        self._last = ""

    def finish(self, number: int, stage: str, module: ModuleOp, seconds: float) -> None:
        text = StringIO()
        print_module(module, text)
        changed = text.getvalue() != self._last
        self._last = text.getvalue()
        if self._always or (changed and number > 0):
            print(f"// IR after {number:02}-{stage}\n{self._last}", file=sys.stderr)


class MoirOptMain(xDSLOptMain):
    """The driver. The constructor parses the command line and loads extensions, `run` does the work.

    Args:
        arguments: the command line, by default that of the process.
        stack: closes the extensions when the tool ends.
    """

    version_format = "moir-opt, built on xdsl {xdsl_version}"

    def __init__(self, arguments: Sequence[str] | None, stack: ExitStack) -> None:
        self.passes = Pipeline(())
        self.extensions: LoadedExtensions | None = None
        self._stack = stack
        self.weights: WeightsWriter | None = None
        super().__init__("Run passes of moir over text or model files.", arguments)

    def register_all_dialects(self) -> None:
        self.ctx = MoirContext()

    def register_all_frontends(self) -> None:
        self.available_frontends[TEXT] = self.parse_text
        for framework in readable():
            for suffix in framework.suffixes:
                self.available_frontends[suffix.removeprefix(".")] = self.read_model_file

    def register_all_passes(self) -> None:
        def factory(name: str) -> Callable[[], type[ModulePass]]:
            return lambda: load_pass(name)

        for name in pass_names():
            self.register_pass(name, factory(name))

    def register_all_targets(self) -> None:
        self.available_targets = {TEXT: self.print_text, IR: print_ir}

    def register_all_arguments(self, arg_parser: argparse.ArgumentParser) -> None:
        super().register_all_arguments(arg_parser)
        arg_parser.prog = "moir-opt"
        add = arg_parser.add_argument
        add_reading_arguments(arg_parser)
        add_extension_arguments(arg_parser)
        add("--pass-pipeline", metavar="PIPELINE", help="the passes, in the form 'builtin.module(a,b{x=1})'")
        add("--resume-after", metavar="PASS", help="run the default pipeline from behind a pass, named as its dump: 07-fold-constants")
        add("--weights-file", metavar="FILE", help="write values over 64 bytes to this file beside the output (default: leave them out)")
        add("--dump-ir", metavar="DIR", help="write the module after each pass that changes it, weights included, to a folder")
        add("--print-ir-after-change", action="store_true", help="print the module to stderr after each pass that changed it")
        add(
            "--trace-rewrites",
            metavar="PATTERN",
            help="print each rewrite to stderr, with operations before and after; =PATTERN: those of passes or patterns named like it",
        )
        add("--timing", action="store_true", help="print a table of the time each pass took to stderr")
        add("--verify-each", action="store_true", help="verify the module after each pass")
        add("--debug", action="store_true", help="print a traceback with an error")

    def setup_pipeline(self) -> None:
        given = [text for text in (self.args.passes, self.args.pass_pipeline, self.args.resume_after) if text]
        if len(given) > 1:
            raise UsageError("-p, --pass-pipeline and --resume-after exclude each other")
        if self.args.resume_after:
            given = [f"{DEFAULT}{{after={self.args.resume_after}}}"]
        # The framework of a text is known only after parsing, for which the operations of extensions are needed.
        framework = None if self.input_kind == TEXT else framework_of_file(self.args.input_file)
        self.extensions = open_extensions(framework, conversion_options(self.args), {"input_model": self.args.input_file})
        if self.extensions is not None:
            self._stack.callback(self.extensions.close)
        self.passes = Pipeline.parse(given[0] if given else "", self.extensions)

    # Input

    def get_input_stream(self) -> tuple[IO[bytes], str]:
        if self.args.input_file in (None, "-"):
            return sys.stdin.buffer, TEXT
        extension = self.input_kind
        # The frontend maps the file itself.
        return (Path(self.args.input_file).open("rb") if extension == TEXT else BytesIO()), extension

    @property
    def input_kind(self) -> str:
        """The parser of the input: `mlir` for text, or the suffix of the files that a frontend reads."""
        if self.args.input_file in (None, "-"):
            return TEXT
        path = Path(self.args.input_file)
        # The folder of a SavedModel has the frontend of the file in it.
        extension = self.args.frontend or ("pb" if path.is_dir() else path.suffix.removeprefix(".").lower())
        return extension if extension in self.available_frontends else TEXT

    def get_input_name(self) -> str:
        return "<stdin>" if self.args.input_file in (None, "-") else self.args.input_file

    def input_folder(self) -> Path:
        """The folder of the input, which contains the side files of a text."""
        return Path() if self.args.input_file in (None, "-") else Path(self.args.input_file).parent

    def parse_text(self, stream: IO[bytes]) -> ModuleOp:
        """Parse a text. Raises ParseError, and ModelFileError if the text is not in UTF-8."""
        try:
            parser = TextParser(self.ctx, stream.read(), self.get_input_name())
        except UnicodeDecodeError as error:
            raise ModelFileError(f"byte {error.start} is not UTF-8 text", location=self.get_input_name()) from error
        with stage("the parser"):
            try:
                return parser.parse_module(not self.args.no_implicit_module)
            except VerifyException as error:
                parser.raise_error(str(error))

    def read_model_file(self, stream: IO[bytes]) -> ModuleOp:
        """Read a model file with its frontend, which opens the file by its name."""
        with stage("the import"):
            return import_model(self.args.input_file, conversion_options(self.args))

    # Output

    def print_text(self, module: ModuleOp, output: IO[str]) -> None:
        """Print a module, for the target `mlir`."""
        from xdsl.syntax_printer import SyntaxPrinter

        print_module(
            module,
            output,
            self.weights,
            SyntaxPrinter if self.args.syntax_highlight else Printer,
            print_generic_format=self.args.print_op_generic,
            print_properties_as_attributes=self.args.print_no_properties,
            print_debuginfo=self.args.print_debuginfo,
        )

    @contextmanager
    def weights_writer(self) -> Generator[WeightsWriter | None]:
        """The writer of the output's side file, None if there is no side file."""
        if not self.args.weights_file:
            yield None
            return
        path = Path(self.args.weights_file)
        with replacing_file(path) as file:
            yield WeightsWriter(file, path.name)
            if is_mapped(path):
                raise UsageError(f"{path} holds weights of the input; choose another side file")

    @contextmanager
    def text_output(self) -> Generator[IO[str]]:
        """The stream for the output; files of IR are written without it."""
        if self.args.output_file in (None, "-") or self.writes_ir:
            yield sys.stdout
            sys.stdout.flush()
            return
        text = StringIO()
        yield text
        with replacing_file(Path(self.args.output_file)) as file:
            file.write(text.getvalue().encode())

    @property
    def writes_ir(self) -> bool:
        """Whether the output consists of the two files of OpenVINO IR."""
        return parse_spec(self.args.target).name == IR and self.args.output_file not in (None, "-")

    # Work

    def check_paths(self) -> None:
        """Raises UsageError for options that contradict each other."""
        args = self.args
        if args.split_input_file and (self.writes_ir or args.dump_ir):
            raise UsageError("--split-input-file goes with text output only")
        if args.dump_ir and args.input_file and Path(args.dump_ir).resolve() == self.input_folder().resolve():
            raise UsageError("--dump-ir needs another folder than that of the input, whose dumps it would replace")
        if args.weights_file and args.output_file not in (None, "-"):
            beside, other = Path(args.output_file).resolve(), Path(args.weights_file).resolve()
            if beside.parent != other.parent or beside == other:
                raise UsageError("--weights-file is a file in the folder of the output")

    def run(self) -> None:
        """Read, transform and write each chunk of the input. Raises the errors that `report_failures` reports."""
        self.check_paths()
        cast(MoirContext, self.ctx).weights = WeightsReader(self.input_folder())
        timing = Timing()
        observers = self.observers(timing)
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
        if self.args.timing or self.args.time_passes:
            print(timing.table(), end="", file=sys.stderr)

    def observers(self, timing: Timing) -> list[Observer]:
        """The observers of the passes, as options request them."""
        args = self.args
        observers: list[Observer] = [timing]
        if args.verify_each:
            observers.append(VerificationAfterPass())
        if args.print_ir_after_change or args.print_between_passes:
            observers.append(ModuleAfterPass(always=args.print_between_passes))
        if args.trace_rewrites is not None:
            from moir.tools.tracing import RewriteTrace

            observers.append(RewriteTrace(args.trace_rewrites))
        if args.dump_ir:
            from moir.tools.dumps import DumpWriter

            observers.append(DumpWriter(Path(args.dump_ir)))
        return observers

    def piece(self, chunk: IO[bytes], extension: str, offset: int, output: IO[str], observers: Sequence[Observer]) -> None:
        """Read, transform and write one chunk of the input.

        With `--verify-diagnostics` or `--parsing-diagnostics`, an error of that kind becomes the output instead.
        """
        try:
            with chunk:
                module = self.available_frontends[extension](chunk)
            self.transform(module, observers)
            if self.writes_ir:
                save_model(module, self.args.output_file)
            else:
                output.write(self.output_resulting_program(module))
        except ParseError as error:
            error.span = replace(error.span, line_offset=offset)
            if not self.args.parsing_diagnostics:
                raise
            output.write(one_line(describe(error)) + "\n")
        except (DiagnosticException, ConversionError) as error:
            if not self.args.verify_diagnostics:
                raise
            output.write(one_line(describe(error)) + "\n")

    def transform(self, module: ModuleOp, observers: Sequence[Observer]) -> None:
        """Run the passes, and verify the module before and after them."""
        if not self.args.disable_verify:
            verify_module(module)
        framework = framework_of(module)
        passes, first = self.passes.passes(framework, ConversionOptions()), self.passes.first_number(framework)
        if first == 1:
            for observer in observers:
                observer.finish(0, "import", module, 0.0)
        run(module, passes, observers, first=first, ctx=self.ctx, extensions=self.extensions)
        if passes and not self.args.disable_verify and not self.writes_ir:
            verify_module(module)


def print_ir(module: ModuleOp, output: IO[str]) -> None:
    """Print the XML of a module, for the target `ir` without files."""
    from moir.emit.in_memory import serialize

    output.write(serialize(module)[0].decode())


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
                driver.run()
        except ShrinkException:
            print("Success, can shrink")
            return 0
        except ArgSpecParseError as error:
            raise UsageError(str(error).splitlines()[-1].strip()) from error
        if driver.args.shrink:
            print("Failure, can't shrink")
        return int(driver.args.shrink)

    try:
        return report_failures("moir-opt", body, debug="--debug" in given)
    finally:
        # With --disable-verify, xDSL's driver disables verification for the rest of the process.
        Attribute.__post_init__ = verify_attribute


if __name__ == "__main__":
    sys.exit(main())
