"""`steelyard bug-report`: what the authors need, shown before it is written."""

from __future__ import annotations

import shlex
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import typer

from steelyard.base.errors import InputError
from steelyard.base.secret import masked_words
from steelyard.cli.consent import agrees, can_be_asked
from steelyard.cli.console import say, tell
from steelyard.cli.output_files import write_asked
from steelyard.records.results_folder import check_results_folder

EXAMPLES = {
    "bug_report": (
        "steelyard bug-report results/one",
        "steelyard bug-report --command 'steelyard run mpi.bcast -n 2' --out bug.txt",
    )
}


@dataclass(frozen=True)
class BugReportOptions:
    """The options of `steelyard bug-report`."""

    folder: Annotated[
        Path | None, typer.Argument(metavar="DIR", help="the results folder of what went wrong, if any")
    ] = None
    command: Annotated[
        str | None, typer.Option(metavar="WORDS", help="the command that went wrong, in quotes")
    ] = None
    out: Annotated[
        Path | None, typer.Option(metavar="FILE", help="write it there, after it was shown and agreed to")
    ] = None
    yes: Annotated[bool, typer.Option("--yes", help="write it without asking")] = False


def bug_report(options: BugReportOptions) -> None:
    """Show what helps to find a bug: versions, the command, the last traceback, this machine, and the
    diagnostics and last records of a results folder.

    Secrets are masked, and other users' processes are left out. Nothing is sent.
    """
    from steelyard.session.bug_report import bug_report_text

    if options.folder is not None:
        check_results_folder(options.folder)
    text = bug_report_text(_masked(options.command), options.folder, tell)
    say(text)
    if options.out is None:
        tell("nothing was written; add --out FILE to keep it")
        return
    if not options.yes:
        if not can_be_asked():
            raise InputError(f"'{options.out}' was not written; read the above, and add --yes")
        if not agrees(f"It names this machine, its paths and its MPIs. Write it to '{options.out}'?"):
            raise InputError(f"'{options.out}' was not written")
    write_asked(options.out, f"{text}\n".encode(errors="backslashreplace"), "--out")
    tell(f"written: {options.out}; it names this machine, its paths and its MPIs")


def _masked(command: str | None) -> str | None:
    """Mask secrets in a command. Raises InputError for one that no shell reads."""
    if command is None:
        return None
    try:
        return shlex.join(masked_words(shlex.split(command)))
    except ValueError as error:
        raise InputError(f"--command: {error}; close its quotes") from None
