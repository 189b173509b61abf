"""`steelyard plot`: static figures for papers."""

from __future__ import annotations

import fnmatch
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from steelyard.base.errors import InputError
from steelyard.base.files import write_given, write_whole
from steelyard.cli.console import say
from steelyard.cli.options import listed

if TYPE_CHECKING:
    from steelyard.rows.figure_groups import Shown
    from steelyard.rows.pictures.figures import Figure

EXAMPLES = {
    "plot": (
        "steelyard plot results/mine",
        "steelyard plot results/mine --op mpi.pingpong --out latency.pdf",
        "steelyard plot results/monday results/tuesday --to png",
    )
}


@dataclass(frozen=True)
class PlotOptions:
    """The options of `steelyard plot`."""

    folders: Annotated[list[Path], typer.Argument(metavar="DIR", help="results folders")]
    to: Annotated[
        str | None,
        typer.Option(metavar="svg|png|pdf", help="the format; default: as --out ends, else svg"),
    ] = None
    out: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE",
            help="the file of the first figure; further ones add their names to it; default: all in DIR",
        ),
    ] = None
    op: Annotated[
        list[str] | None,
        typer.Option(metavar="OP,...", help="figures of these ops alone; patterns: 'mpi.i*'"),
    ] = None


def plot(options: PlotOptions) -> None:
    """Draw times over sizes with their intervals, and ratios of MPIs or folders: a file for each figure."""
    from steelyard.analyses.overview import as_shown, shown_items
    from steelyard.judges.compare.default_comparisons import Comparisons
    from steelyard.rows.figure_groups import group_items
    from steelyard.rows.pictures.figures import FIGURE_FORMATS, figures_of
    from steelyard.session.results import read_each

    to = options.to or (options.out.suffix.removeprefix(".") if options.out else "") or "svg"
    if to not in FIGURE_FORMATS:
        raise InputError(f"--to takes no '{to}'; give {', '.join(FIGURE_FORMATS)}")
    ending = options.out.suffix.removeprefix(".") if options.out else to
    if ending != to and ending in FIGURE_FORMATS:
        raise InputError(f"--to {to} and --out {options.out} name two formats; leave --to out")
    folders = as_shown([one.read for one in read_each(options.folders)])
    items = _chosen(shown_items(folders), listed(options.op))
    figures = list(figures_of(group_items(items), Comparisons(folders).ratios))
    if not figures:
        raise InputError(f"nothing in '{options.folders[0]}' has a number to draw; 'steelyard show' says why")
    write = write_whole if options.out is None else write_given
    for path, figure in zip(_paths(options, to, figures), figures, strict=True):
        data = FIGURE_FORMATS[to](figure)
        try:
            write(path, data)
        except OSError as error:
            why = f"'{path}' cannot be written: {error.strerror}"
            raise InputError(f"{why}; give --out another place") from None
        say(str(path))


def _chosen(items: Sequence[Shown], ops: Sequence[str]) -> list[Shown]:
    """Choose the items of ops that match a pattern; all without patterns. Raises InputError if
    none matches.
    """
    known = list(dict.fromkeys(item.row.op for item in items))
    for pattern in ops:
        if not fnmatch.filter(known, pattern):
            raise InputError(f"--op {pattern} is of no op that was measured; give one of {', '.join(known)}")
    return [item for item in items if not ops or any(fnmatch.fnmatch(item.row.op, op) for op in ops)]


def _paths(options: PlotOptions, to: str, figures: Sequence[Figure]) -> list[Path]:
    """Name a file for each figure: the first has the path that was given, others add their names to it."""
    out = options.out or options.folders[0] / f"figure.{to}"
    named = [out.parent / f"{out.stem}-{figure.name}{out.suffix}" for figure in figures]
    return named if options.out is None else [out, *named[1:]]
