"""`steelyard export`: results for other programs, in their own formats."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from steelyard.base.errors import InputError
from steelyard.cli.console import say_bytes, tell
from steelyard.cli.output_files import write_asked
from steelyard.cli.show import their_tests
from steelyard.plan.like import find_like
from steelyard.plan.plan import nearest

if TYPE_CHECKING:
    from steelyard.export.export_input import Export
    from steelyard.records.campaign_file import PlannedPoint

_MOST_NAMED = 3  # ops, in a sentence
EXAMPLES = {
    "export": (
        "steelyard export results/mine --to csv --out mine.csv",
        "steelyard export results/mine --to osu",
        "steelyard export results/a results/b --to parquet --out both.parquet",
    )
}


@dataclass(frozen=True)
class ExportOptions:
    """The options of `steelyard export`."""

    folders: Annotated[list[Path], typer.Argument(metavar="DIR", help="results folders")]
    to: Annotated[str, typer.Option(metavar="FORMAT", help="what is written")]
    out: Annotated[Path | None, typer.Option(metavar="FILE", help="where; default: stdout")] = None


def export(options: ExportOptions) -> None:
    """Write results in a format of other programs."""
    from steelyard.export.export_input import Export
    from steelyard.session.results import read_each

    check_format(options.to)
    folders = tuple(one.exported() for one in read_each(options.folders))
    write_export(options.to, Export(folders, their_tests()), options.out)


def check_format(name: str, like: Sequence[str] = ()) -> None:
    """Raise InputError for an unknown format, or for one that cannot hold the tests `like`."""
    from steelyard.export.formats import FORMATS, PRINTS

    if name not in FORMATS:
        meant = nearest(name.replace("-", ""), FORMATS) or f"; give {', '.join(FORMATS)}"
        raise InputError(f"--to takes no '{name}'{meant}")
    for test in like:
        if name in PRINTS and find_like(test).name not in PRINTS[name]:
            fitting = [other for other, tests in PRINTS.items() if find_like(test).name in tests]
            raise InputError(f"--to {name} has no {test}; give --to {' or '.join([*fitting, 'csv'])}")


def check_prints(name: str, like: Sequence[str], points: Sequence[PlannedPoint]) -> None:
    """Raise InputError for a format of another suite that has none of these test cases."""
    from steelyard.export.formats import PRINTS

    ops = dict.fromkeys(point.op for point in points)
    if name in PRINTS and not any(test.op in ops for test in their_tests(like) if test.name in PRINTS[name]):
        named = ", ".join(list(ops)[:_MOST_NAMED]) + (", ..." if len(ops) > _MOST_NAMED else "")
        raise InputError(f"--to {name} prints no test that is {named}; give --to csv, or another op")


def write_export(name: str, what: Export, out: Path | None = None) -> None:
    """Write the format into a file or on stdout, and what readers must know besides on stderr."""
    from steelyard.export.formats import FORMATS, PRINTS
    from steelyard.export.suite_text import sentences_on

    if not what.rows:
        where = " and ".join(f"'{folder.folder}'" for folder in what.folders)
        raise InputError(f"there is no test case in {where}; measure one with 'steelyard run'")
    data = FORMATS[name](what)
    for sentence in sentences_on(data) if name in PRINTS else ():
        tell(f"note: {sentence}")
    if out is None:
        say_bytes(data)
        return
    write_asked(out, data, "--out")


def write_measured(name: str, what: Export) -> None:
    """Write results that were just measured on stdout; nothing if the format needs numbers and there are
    none.
    """
    from steelyard.export.formats import PRINTS

    if name not in PRINTS or any(row.status == "ok" for row in what.rows):
        write_export(name, what)


def _formats() -> dict[str, tuple[str, ...]]:
    from steelyard.export.formats import FORMATS

    return {"to": tuple(FORMATS)}


NAMES = {"export": _formats}
