"""The command line: its commands, and messages for errors. Only cli prints and exits."""

from __future__ import annotations

import contextlib
import errno
import os
import signal
import sys
from collections.abc import Sequence
from typing import Annotated, Any, NoReturn

import typer

from steelyard import __version__
from steelyard.base.errors import InputError, SteelyardError, StoppedError
from steelyard.base.printable import one_line, visible
from steelyard.base.secret import masked_text
from steelyard.campaign.abandoned_folders import clear_abandoned
from steelyard.cli.console import say, spell_all, tell
from steelyard.cli.options import Command, UsageError, lazy_group
from steelyard.cli.start import ReaderLeftError
from steelyard.cli.suite_command import suite_command
from steelyard.cli.under_launcher import end_unless_first
from steelyard.records.command_line import resumed, retyped
from steelyard.session.bug_report_file import results_folder_of
from steelyard.system.started_as import started_as

_COMMANDS = {
    "run": Command(
        "run", "RunOptions", "run", "measure, show, and keep; resume what was stopped", measures=True
    ),
    "list": Command("list", "ListOptions", "list_what_there_is", "ops, methods, stop rules and plans"),
    "doctor": Command("doctor", "JsonOnly", "doctor", "this machine: MPIs, cores, clocks, what may disturb"),
    "show": Command("show", "ShowOptions", "show", "results as tables"),
    "report": Command("show", "ReportOptions", "report", "results as one HTML file that opens offline"),
    "plot": Command("plot", "PlotOptions", "plot", "static figures for papers: SVG, PNG, PDF"),
    "export": Command("export", "ExportOptions", "export", "results for other programs: csv, osu, imb, ..."),
    "load": Command("load", "LoadOptions", "load", "what other suites have printed, side by side"),
    "compare": Command("compare", "CompareOptions", "compare", "slower, faster, the same, or cannot tell"),
    "check": Command(
        "check",
        "CheckOptions",
        "check",
        "is tonight slower than the nights before, and since when",
        measures=True,
    ),
    "check guidelines": Command(
        "guidelines",
        "GuidelineOptions",
        "guidelines",
        "is a call slower than those it could be composed of",
        measures=True,
    ),
    "tune": Command(
        "tune",
        "TuneOptions",
        "tune",
        "write an MPI's file of faster algorithms, and measure it",
        measures=True,
    ),
    "accept": Command(
        "accept", "AcceptOptions", "accept", "is this machine well: measure it, and judge", measures=True
    ),
    "diff": Command("diff", "DiffOptions", "diff", "the settings in which two runs differ"),
    "rerun": Command(
        "diff", "RerunOptions", "rerun", "measure a campaign again, as it was planned", measures=True
    ),
    "bug-report": Command(
        "bug_report", "BugReportOptions", "bug_report", "what helps to find a bug, shown before it is written"
    ),
    "op-header": Command(
        "op_header", "NoOptions", "say_header", "the folder of steelyard/op.h, for operations of your own"
    ),
    "validate": Command(
        "validate", "ValidateOptions", "validate", "methods against simulated truth", measures=True
    ),
}
_MPI = {
    "list": Command("mpi", "JsonOnly", "list_mpis", "the MPI implementations found"),
    "build": Command("mpi", "BuildOptions", "build_engine", "build the engine for an MPI"),
}
_PLAN = {
    "show": Command("plan", "RunOptions", "show_plan", "jobs, test cases, time, node hours and disk"),
}
_STYLE: dict[str, Any] = {
    "no_args_is_help": True,
    "pretty_exceptions_enable": False,
    "rich_markup_mode": None,
    "context_settings": {"help_option_names": ["-h", "--help"]},
}
_MPI_HELP = "the MPI implementations found, and engines for them"
_PLAN_HELP = "what a plan would measure, before anything runs"
_FULL = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.EIO)
_FORBIDDEN = (errno.EACCES, errno.EPERM, errno.EROFS)


_RUNS = ("measure", "bench", "benchmark", "test", "start", "exec")  # what people call `run`


def _meant(words: Sequence[str]) -> str | None:
    """Find what runs a word that stands in the place of a command: an op, a plan, another suite's test."""
    from steelyard.plan.shipped import shipped_plans

    if words[0] in ("help", "man"):
        return _typed(words[0], retyped([*words[1:2], "-h"]))
    rank = started_as(os.environ)
    ranks = {} if rank is None or rank.ranks is None else {"-n": str(rank.ranks)}
    if words[0] in _RUNS:
        return _typed(words[0], retyped(["run", *words[1:]], **ranks))
    if (theirs := suite_command(words, _COMMANDS["run"].made("run").params)) is not None:
        return theirs
    is_op_or_plan = "." in words[0] or words[0] in shipped_plans()
    return _typed(words[0], retyped(["run", *words], **ranks)) if is_op_or_plan else None


def _typed(word: str, instead: str) -> str:
    return f"'{visible(word)}' is no command; type: {instead}"


mpi_app = typer.Typer(cls=lazy_group(_MPI), help=_MPI_HELP, **_STYLE)
app = typer.Typer(
    name="steelyard",
    cls=lazy_group(_COMMANDS, _meant),
    help="Measures MPI, OpenSHMEM, Pthreads, OpenMP and files, and says how far each number can be trusted.",
    **_STYLE,
)
app.add_typer(mpi_app, name="mpi")
plan_app = typer.Typer(cls=lazy_group(_PLAN), help=_PLAN_HELP, **_STYLE)
app.add_typer(plan_app, name="plan")


def main() -> None:
    """Run the command line; an error becomes one sentence on stderr and an exit code.

    Any other exception is a bug, which `start` reports.
    """
    spell_all()
    try:
        try:
            code = _called()
        finally:
            sys.stdout.flush()  # not at exit, where a full disk would go unnoticed
        sys.exit(code)
    except SteelyardError as error:
        end_unless_first(error.exit_code)
        _end(str(error), error.exit_code)
    except (BrokenPipeError, ReaderLeftError):
        _leave_stdout()
        sys.exit(128 + signal.SIGPIPE)
    except OSError as error:
        _leave_stdout()
        if _is_nowhere():
            _end("the folder in which this was typed is gone; go to another one (cd)", 2)
        where = f"'{error.filename}': " if error.filename is not None else ""
        what = f"{where}{error.strerror or error}; what was finished is kept"
        folder = results_folder_of(error)
        then = f", then type: {resumed(folder)}" if folder else " and call it again"
        for cause, remedy, code in ((_FULL, "make room", 3), (_FORBIDDEN, "let it be written", 2)):
            if error.errno in cause:
                _end(f"{what}; {remedy}{then}", code)
        _end(what, 2)
    except MemoryError:
        _end("there is not enough memory (see ulimit -v); what was finished is kept", 3)
    except RuntimeError as error:
        if "can't start new thread" not in str(error):
            raise
        _end("no further thread can be started (see ulimit -u); what was finished is kept", 3)


def _called() -> int:
    """Call the command, and return its exit code. Typer by itself would turn an abort and a broken pipe
    into 1, which is a verdict.
    """
    for note in clear_abandoned():
        tell(f"note: {note}")
    try:
        return app(prog_name="steelyard", standalone_mode=False) or 0
    except UsageError as error:
        said = error.format_message()
        if "\n" in said:  # there is no argument at all: it is the help
            error.show()
            return InputError.exit_code
        raise InputError(_usage_sentence(said, error.ctx)) from None
    except typer.Abort:
        raise StoppedError("stopped") from None


def _usage_sentence(said: str, ctx: Any) -> str:
    """Make our sentence of what typer says of a command line, and name the help that lists what there is."""
    command = ctx.command_path if ctx is not None else "steelyard"
    return f"{said[:1].lower()}{said[1:].rstrip('.')}; see '{command} -h'"


def _end(sentence: str, code: int) -> NoReturn:
    with contextlib.suppress(OSError, ValueError):  # stderr may be closed
        tell(f"steelyard: {one_line(masked_text(sentence))}")
    sys.exit(code)


def _leave_stdout() -> None:
    """Close a stdout that accepts nothing, and drop the rest of its buffer."""
    with contextlib.suppress(OSError, ValueError):
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def _is_nowhere() -> bool:
    """Was the current folder removed? Then no relative path means anything."""
    try:
        os.getcwd()  # noqa: PTH109
    except FileNotFoundError:
        return True
    return False


def _version(wanted: bool) -> None:
    if wanted:
        say(f"steelyard {__version__}")
        raise typer.Exit


@app.callback()
def _common(
    version: Annotated[
        bool,
        typer.Option("--version", callback=_version, is_eager=True, help="print the version and exit"),
    ] = False,
) -> None:
    del version


@mpi_app.callback()
@plan_app.callback()
def _common_of_group() -> None:
    """Make typer treat the app as a group, by a callback."""
