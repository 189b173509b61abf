"""Common parts of the texts of other suites: tables of tests, and comments on what they leave out."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass

from steelyard import __version__
from steelyard.base.errors import InputError
from steelyard.base.plural import counted
from steelyard.base.printable import visible
from steelyard.base.units import format_bytes
from steelyard.export.export_input import Export, ExportedFolder
from steelyard.export.suite_tests import Block, Theirs, blocks_of
from steelyard.records.command_line import command
from steelyard.results.row import Row
from steelyard.rows.labels import row_labels

ORIGIN, LEFT_OUT = "# Measured by steelyard", "# left out: "


@dataclass(frozen=True, slots=True)
class Printed:
    """The form of a suite's text: its `tests`, the lines above a table, and the line of a row.

    `line` gives None for a row that lacks a number of it.
    """

    suite: str
    tests: Collection[str]
    head: Callable[[Block], Iterable[str]]
    line: Callable[[Block, Row], str | None]


def suite_text(what: Export, printed: Printed) -> bytes:
    """Write a table for each test, MPI and number of ranks; comments below all tables name what is left out.

    Raises InputError if nothing fits.
    """
    tests = [test for test in what.tests if test.name in printed.tests]
    tables: list[str] = []
    left_out: dict[str, None] = {}
    for folder in what.folders:
        blocks, others = blocks_of(_without_references(folder.rows), tests)
        for block in blocks:
            said = [(row, printed.line(block, row) if row.status == "ok" else None) for row in block.rows]
            lines = [line for _, line in said if line is not None]
            tables += [*_head(folder, block, printed), *lines] if lines else []
            left_out |= dict.fromkeys(_why(row) for row, line in said if line is None)
        left_out |= dict.fromkeys(f"{row.op}: {printed.suite} prints no such test" for row in others)
    if not tables:
        raise InputError(_nothing(what, printed.suite, tests))
    comments = ["", *(visible(f"{LEFT_OUT}{words}") for words in left_out)] if left_out else []
    return "".join(f"{line}\n" for line in [*tables, *comments]).encode()


def sentences_on(text: bytes) -> Iterator[str]:
    """Write sentences for readers who look only at the numbers of such a text."""
    lines = text.decode().splitlines()
    tables = sum(line.startswith(ORIGIN) for line in lines)
    left_out = sum(line.startswith(LEFT_OUT) for line in lines)
    if tables > 1:
        yield f"{tables} tables, one after the other; the line '{ORIGIN}' of each says of what it is"
    if left_out:
        yield f"what is left out, and why: {counted(left_out, 'comment')} '{LEFT_OUT.strip()}'"


def _without_references(rows: Sequence[Row]) -> list[Row]:
    """List the rows without those that are measured only as references."""
    references = {row.reference_point for row in rows}
    return [row for row in rows if row.point not in references]


def _head(folder: ExportedFolder, block: Block, printed: Printed) -> Iterator[str]:
    for line in printed.head(block):
        yield line.replace(ORIGIN, f"{ORIGIN} {_origin(folder, block)}", 1)


def _why(row: Row) -> str:
    size = f" {format_bytes(row.bytes)}" if row.sized else ""
    why = f"{row.status}: {row.why}" if row.status != "ok" else "a number that is printed is not known"
    return f"{row.op}{size}, {row.mpi or 'no MPI'}, {counted(row.ranks, 'rank')}: {why}"


def _origin(folder: ExportedFolder, block: Block) -> str:
    words = [*row_labels(block.rows).common.values(), *([folder.name] if folder.name else [])]
    return visible(f"{__version__}, not by the suite itself: {', '.join(words)}")


def _nothing(what: Export, suite: str, tests: Sequence[Theirs]) -> str:
    where = " and ".join(f"'{folder.folder}'" for folder in what.folders)
    if any(test.has(row) for test in tests for row in what.rows):
        return f"no test case of {where} that {suite} prints has a number; 'steelyard show' says why"
    ops = list(dict.fromkeys(row.op for row in what.rows))
    named = ", ".join(visible(op) for op in ops[:3]) + (", ..." if len(ops) > 3 else "")
    near = next((test for test in tests if test.op in ops), None)
    how = ""
    if near is not None:
        params = " ".join(f"{name}={value}" for name, value in near.params.items())
        how = f"its {near.name} is {near.op} {params}, which '{command('run', like=near.name)}' measures; or "
    return f"{suite} prints no test of what {where} holds ({named}); {how}give --to csv or json"
