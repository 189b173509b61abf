"""`steelyard load`: what other suites have printed, beside one another and beside results of ours."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import msgspec
import typer

from steelyard.base.errors import InputError
from steelyard.cli.console import print_table, say_json
from steelyard.cli.options import JsonFlag

if TYPE_CHECKING:
    from steelyard.readers.printed_numbers import PrintedNumber

_AS_TEXT = ("osu-full", "imb", "netpipe")  # formats in which results of ours are read beside files
EXAMPLES = {
    "load": (
        "steelyard load osu-before.txt osu-after.txt",
        "steelyard load IMB.log results/now",
        "steelyard load bench.json --json",
    )
}


@dataclass(frozen=True)
class LoadOptions:
    """The options of `steelyard load`."""

    paths: Annotated[
        list[Path],
        typer.Argument(
            metavar="FILE|DIR",
            help="what OSU, IMB, NetPIPE, NPB, IOR, mdtest, STREAM, HPL, HPCG or Google Benchmark printed; "
            "results as these print",
        ),
    ]
    json: JsonFlag = False


def load(options: LoadOptions) -> None:
    """Show what other suites have printed, side by side; results folders as these would have printed them."""
    from steelyard.readers.files import read_printed
    from steelyard.readers.tables import printed_table

    names = [str(path) for path in options.paths]
    if len({*names}) < len(names):
        raise InputError("a file is given twice; give each once")
    sources = {str(path): _of_folder(path) if path.is_dir() else read_printed(path) for path in options.paths}
    if options.json:
        say_json({name: msgspec.to_builtins(numbers) for name, numbers in sources.items()})
    else:
        print_table(printed_table(sources))


def _of_folder(folder: Path) -> tuple[PrintedNumber, ...]:
    """Read what the suites would have printed of a results folder. Raises InputError if that is nothing."""
    from steelyard.cli.show import their_tests
    from steelyard.export.export_input import Export
    from steelyard.export.formats import FORMATS
    from steelyard.readers.files import numbers_of_text
    from steelyard.session.results import read_each

    what = Export(tuple(one.exported() for one in read_each([folder])), their_tests())
    found: list[PrintedNumber] = []
    refusals: list[str] = []
    for name in _AS_TEXT:
        try:
            found += numbers_of_text(FORMATS[name](what).decode())
        except InputError as error:
            refusals.append(str(error))
    if not found:
        raise InputError(refusals[0])
    return tuple(found)
