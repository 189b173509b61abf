"""How the commands that judge end: verdicts as JUnit, Markdown and JSON, and the exit code."""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer

from steelyard.base.errors import InputError, SteelyardError
from steelyard.base.junit import Case, Suite, junit_xml
from steelyard.cli.console import say_json
from steelyard.cli.output_files import write_asked

if TYPE_CHECKING:
    import msgspec

    from steelyard.judges.verdict import Judged, Scale
    from steelyard.render.table import Table


def with_errors_in_files(command: str, work: Callable[[Any], None]) -> Callable[[Any], None]:
    """Make a command that ends without verdicts say so in the files of `--junit` and `--markdown`: they may
    hold earlier ones.
    """

    @functools.wraps(work)
    def told(options: Any) -> None:
        try:
            work(options)
        except SteelyardError as error:
            with suppress(InputError):  # the first sentence is what counts
                if options.junit is not None:
                    case = Case("steelyard", command, error=str(error))
                    written = junit_xml([Suite(f"steelyard {command}", (case,))])
                    write_asked(options.junit, written, "--junit")
            with suppress(InputError):
                page = getattr(options, "markdown", None)
                write_markdown(page, f"steelyard {command}: no verdict", [str(error)], None)
            raise

    return told


def write_junit(path: Path | None, title: str, scale: Scale, judged: Iterable[Judged], strict: bool) -> None:
    """Write verdicts as JUnit XML where `--junit` asks for it. Raises InputError."""
    if path is not None:
        from steelyard.judges.verdict import verdicts_junit

        write_asked(path, verdicts_junit(title, scale, judged, strict), "--junit")


def write_markdown(path: Path | None, title: str, sentences: Sequence[str], table: Table | None) -> None:
    """Write what verdicts come to, then their table, where `--markdown` asks for it. Raises InputError."""
    if path is not None:
        from steelyard.render.markdown import page_markdown

        write_asked(path, page_markdown(title, sentences, (table,) if table else ()).encode(), "--markdown")


def say_judgement(judgement: msgspec.Struct) -> None:
    """Print what `--json` asks for."""
    from steelyard.judges.verdict import verdict_document

    say_json(verdict_document(judgement))


def exit_judged(scale: Scale, verdicts: Iterable[str], strict: bool) -> None:
    """Exit where verdicts ask for a code other than 0."""
    if code := scale.exit_code(verdicts, strict):
        raise typer.Exit(code)
