"""Write the page docs/results/rma-mt-apps.md from a results folder of the plan rma-mt-apps.

    steelyard run rma-mt-apps --mpi openmpi --mpi mpich --out results/rma-mt-apps
    python benchmarks/apps_page.py results/rma-mt-apps > docs/results/rma-mt-apps.md

The date, the machine, the versions and the load are read from the folder.
"""

from __future__ import annotations

import argparse
import shlex
from collections.abc import Iterator, Sequence
from pathlib import Path

import numpy as np

from steelyard.analyses.best_arms import AGREES, DISAGREES
from steelyard.analyses.halo_exchange.model import Exchanges, ExchangeWay, exchanges_of, other_ways
from steelyard.analyses.halo_exchange.tables import best_words, exchange_names, exchange_tables, way_words
from steelyard.analyses.phases.model import STREAM, PhaseRoofs, phase_roofs_of
from steelyard.analyses.rma_support.model import functionality_of
from steelyard.analyses.rma_support.tables import functionality_tables
from steelyard.base.plural import counted
from steelyard.base.units import format_bytes, format_rate, format_time
from steelyard.render.table import NUMBER, Table
from steelyard.report.setting_words import machine_words
from steelyard.results.facets import Rate
from steelyard.results.load import Measured, load
from steelyard.results.row import Row
from steelyard.results.rows import rows_of
from steelyard.results.states import shared_by
from steelyard.rows.labels import Fact, Facts, count_fact, labels_of, param_facts

_ABOUT = (
    "`benchmarks/apps_page.py` wrote this page from a results folder of the plan "
    "[`rma-mt-apps`](../ops/apps.md#would-micro-benchmarks-have-named-the-best-exchange):\n\n"
)
_BUSY = 0.05  # of the CPUs' time: more, and times of the launches are partly others'


def markdown(heads: Sequence[str], lines: Sequence[Sequence[str]], numbers: Sequence[bool]) -> str:
    """A table of Markdown; columns of numbers stand on the right."""
    rule = ("---:" if is_number else "---" for is_number in numbers)
    rows = (heads, tuple(rule), *lines)
    return "\n".join("| " + " | ".join(cells) + " |" for cells in rows) + "\n"


def markdown_of(table: Table) -> str:
    """A table in Markdown; what lines of a group have in common stands in the first one."""
    lines: list[tuple[str, ...]] = []
    before: tuple[str, ...] = ()
    for line in table.lines:
        group = line.cells[: table.grouped]
        cells = line.cells if group != before else ("",) * table.grouped + line.cells[table.grouped :]
        lines.append(cells)
        before = group
    return markdown(
        [column.name for column in table.columns], lines, [column.kind == NUMBER for column in table.columns]
    )


def _first_line(text: str) -> str:
    """Take the first line of a library's version text; records escape its control characters."""
    return text.replace("\\n", "\n").replace("\\t", " ").splitlines()[0].strip()


def place_lines(measured: Measured, rows: Sequence[Row]) -> Iterator[str]:
    """Say when and where it was measured, with which versions, beside which load."""
    cases = [row for row in rows if row.status != "skipped"]
    launches = {file.job.launch for file in measured.files}
    yield (
        f"- **When.** {measured.campaign.created[:16].replace('T', ' ')}, "
        f"{counted(len(launches), 'launch')} of {counted(len(rows), 'test case')}, of which {len(cases)} ran."
    )
    machine = ", ".join(f"{name} {text}" for name, text in machine_words(measured.campaign.machine))
    yield f"- **Where.** {machine}."
    starts = [file.launch for file in measured.files if file.launch]
    libraries = {
        file.job.mpi.name: _first_line(file.launch.mpi.library)
        for file in measured.files
        if file.job.mpi and file.launch and file.launch.mpi and file.launch.mpi.library
    }
    versions = [f"{name} ({library})" for name, library in libraries.items()]
    builds = dict.fromkeys(
        f"steelyard {start.version}, {start.build.get('compiler')} {start.build.get('flags')}"
        for start in starts
    )
    yield f"- **Versions.** {'; '.join([*versions, *builds])}."
    shares = [group.share for file in measured.files for group in shared_by(file)]
    if shares:
        busy = np.median(shares) > _BUSY
        yield (
            f"- **Load.** Others used {100 * np.median(shares):.0f} % of the CPUs' time in the median "
            f"launch, {100 * max(shares):.0f} % in the worst one: "
            + ("times and ratios below say little." if busy else "a quiet machine.")
        )


def answer(found: Sequence[Exchanges]) -> str:
    """Say in how many applications, by 1 thread or several, a micro-benchmark names the best exchange."""
    verdicts = [order.verdict for one in found for order in one.orders]
    agreed, decided = verdicts.count(AGREES), sum(verdict in (AGREES, DISAGREES) for verdict in verdicts)
    return (
        f"A micro-benchmark would have named the best exchange in {agreed} of {len(verdicts)} cases, "
        f"and another one in {decided - agreed}; {len(verdicts) - decided} are undecided."
    )


def order_lines(found: Sequence[Exchanges]) -> Iterator[tuple[str, ...]]:
    """Make a line for each application and number of threads: both best ways, Kendall's tau."""
    for name, entry in zip(exchange_names(found), found, strict=True):
        for order in entry.orders:
            yield (
                name,
                str(order.threads),
                f"{order.op} {format_bytes(order.bytes)}",
                {AGREES: "yes", DISAGREES: "no"}.get(order.verdict, "undecided"),
                best_words(order.micro_best, order.micro),
                best_words(order.macro_best, order.macro),
                f"{order.tau:+.2g}",
                "" if order.p is None else f"{order.p:.2g}",
            )


def _cell(way: ExchangeWay | None) -> str:
    if way is None:
        return ""
    span = way.ratio
    interval = "" if span.low is None or span.high is None else f" [{span.low:.2f}, {span.high:.2f}]"
    return f"{format_time(way.time)}, {span.value:.2f}{interval}"


def ways_table(found: Sequence[Exchanges]) -> str:
    """A line for each way, a column for each application: time, ratio, interval."""
    names = list(dict.fromkeys(way_words(way) for one in found for way in one.ways))
    columns = [{way_words(way): way for way in one.ways} for one in found]
    lines = [(name, *(_cell(column.get(name)) for column in columns)) for name in names]
    return markdown(["exchange", *exchange_names(found)], lines, [False, *(True for _ in found)])


def roof_lines(found: Sequence[PhaseRoofs]) -> Iterator[tuple[str, ...]]:
    """A line for each phase that counts what it moves."""
    names = labels_of([{"mpi": Fact("MPI", one.mpi or "", one.mpi or ""), **_facts(one)} for one in found])
    for i, roof in enumerate(found):
        what = ", ".join((roof.op, *(said for axis in names.varying if (said := axis.facts[i].said))))
        for name, share in roof.shares.items():
            yield what, name, f"{100 * share:.0f} %"


def _facts(one: PhaseRoofs) -> Facts:
    return {"ranks": count_fact("rank", one.ranks), **param_facts(one.params)}


def plain_rows(rows: Sequence[Row]) -> list[Row]:
    """Keep nonblocking messages of one thread only: memory bandwidth is the same for all exchanges."""
    others = other_ways(rows)
    return [row for row in rows if id(row) not in others]


def stream_lines(rows: Sequence[Row]) -> Iterator[tuple[str, ...]]:
    """A line for each triad of STREAM: threads, working set, bandwidth."""
    for row in rows:
        if row.op == STREAM and (bandwidth := row.get(Rate).bandwidth):
            yield str(row.threads), format_bytes(row.bytes), format_rate(bandwidth)


def page(folder: Path) -> Iterator[str]:
    """The parts of the page."""
    measured = load(folder)
    rows = rows_of(measured)
    found = exchanges_of(rows)
    tables = exchange_tables(found)
    yield f"# Proxy applications by exchange\n\n{answer(found)}\n"
    yield f"{_ABOUT}    {shlex.join(measured.campaign.command)}\n"
    yield "\n".join(place_lines(measured, rows)) + "\n"
    yield "## Would micro-benchmarks have named the best exchange?\n"
    orders = [table for table in tables if table.title.startswith("would")]
    for table in orders:
        yield markdown(
            ("application", "threads", "halo", "named the best", "best halo", "best there", "tau", "p"),
            list(order_lines(found)),
            [False, True, False, False, False, False, True, True],
        )
        yield f"{table.explained[0].upper()}{table.explained[1:]}.\n"
        yield markdown_of(table)
    yield "## Times\n"
    yield (
        "The time of a run, its ratio to nonblocking messages of one thread (below 1 is faster), and the "
        "interval of the ratio over launches.\n"
    )
    yield ways_table(found)
    yield "## Where the time goes\n"
    yield "Shares of the time of all phases in percent, over all ranks.\n"
    for table in tables:
        if table.title.startswith("phases"):
            yield f"### {table.title.partition(': ')[2]}\n"
            yield markdown_of(table)
    if roofs := phase_roofs_of(plain_rows(rows)):
        yield "## The roof of memory\n"
        yield (
            "The bytes that a phase moves per second, over the bandwidth of STREAM's triad on as many cores "
            "([how](../ops/apps.md)). The triad is the one whose working set is nearest in size.\n"
        )
        yield markdown(("threads", "working set", "triad"), list(stream_lines(rows)), [True, True, True])
        yield markdown(("what", "phase", "of roof"), list(roof_lines(roofs)), [False, False, True])
    yield "## Do exchanges work?\n"
    for table in functionality_tables(functionality_of(rows)):
        yield f"### {table.title.partition(': ')[2] or table.title}\n"
        yield f"{table.explained[0].upper()}{table.explained[1:]}.\n"
        yield markdown_of(table)
        yield "\n".join(f"{note}." for note in table.notes) + "\n"


def main() -> None:
    """Print it."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("folder", type=Path)
    print("\n".join(page(parser.parse_args().folder)), end="")


if __name__ == "__main__":
    main()
