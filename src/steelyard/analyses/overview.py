"""Results folders as the terminal prints them: what all rows share, tables, what was skipped."""

from __future__ import annotations

import operator
from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TypeVar

from steelyard.analyses.analysis import Made
from steelyard.analyses.hosts.tables import seen_tables
from steelyard.analyses.placement_pairs.model import pictured
from steelyard.analyses.registry import analysis_tables, tables_across
from steelyard.base.files import real_path
from steelyard.base.plural import counted, counted_range, joined
from steelyard.base.printable import visible
from steelyard.base.serial_map import Mapper, serially
from steelyard.base.units import format_bytes
from steelyard.records.command_line import command, resumed
from steelyard.render.table import SIGNS, Table, signs_of
from steelyard.render.terminal import MARK, Paper, prose_text, table_text
from steelyard.results.hosts import hosts_seen
from steelyard.results.load import Measured, load
from steelyard.results.row import NOT_YET, Row
from steelyard.results.rows import rows_of
from steelyard.rows.figure_groups import SKIPPED, FigureGroup, Shown, group_items
from steelyard.rows.host_words import host_names, hosts_words
from steelyard.rows.labels import row_labels
from steelyard.rows.ratios import RatiosBy, no_ratios
from steelyard.rows.shared_remarks import of_several
from steelyard.rows.short_names import named_shortly, short_names
from steelyard.rows.table import RowTable, count_cases, count_laid_out, row_table
from steelyard.rows.words import cpus_words, why_words
from steelyard.stats.autocorrelation import LEAST_IN_TIME

MOST_HOSTS = 16  # lines of the table of hosts
MOST_CASES = 150  # that tables on a terminal show in full; of more they show some
SOME_CASES = 60
OF_SEVERAL = "remarks on several tables"


@dataclass(frozen=True, slots=True)
class ReadFolder:
    """A results folder, its rows and its models, with a name that distinguishes it from others."""

    name: str
    measured: Measured
    made: Made

    @property
    def rows(self) -> tuple[Row, ...]:
        """A row for each test case."""
        return self.made.rows


F = TypeVar("F", bound=ReadFolder)


def read_rows(folder: Path, name: str = "", mapped: Mapper = serially) -> ReadFolder:
    """Read a results folder and make its rows; `name` distinguishes it from others.

    `mapped` may work in parallel. Raises InputError.
    """
    measured = load(folder, mapped, may_be_lost=True)
    return ReadFolder(name, measured, Made(rows_of(measured, mapped=mapped)))


def as_shown(folders: Sequence[F]) -> list[F]:
    """Shorten folder names that are paths to the parts that differ."""
    named = named_shortly([folder.rows for folder in folders])
    return [
        folder if all(map(operator.is_, rows, folder.rows)) else replace(folder, made=Made(rows))
        for folder, rows in zip(folders, named, strict=True)
    ]


def folder_names(folders: Sequence[Path]) -> list[str]:
    """Name each path by the part that distinguishes it, in visible letters."""
    whole = [str(real_path(folder)) for folder in folders]
    short = short_names(set(whole))
    return [visible(short[name]) for name in whole]


def overview_text(
    folders: Sequence[ReadFolder], paper: Paper, ratios_by: RatiosBy = no_ratios, most: int | None = None
) -> str:
    """Write everything as text; an empty line (in a pipe: `#`) separates tables and the skipped cases.

    `ratios_by` knows the rows of folders that `as_shown` has named. If there are more than
    `most` test cases, some are shown, and all that failed.
    """
    apart = f"{MARK.strip()}\n" if paper.is_pipe else "\n"
    folders = as_shown(folders)
    items = shown_items(folders)
    known = [*shared_facts(items), *(["mpi"] if len({item.row.mpi for item in items} - {None}) == 1 else [])]
    blocks = [prose_text(text, paper) for text in header_lines(folders, items)]
    blocks += [
        apart + table_text(table, paper) for table in overview_tables(folders, items, known, ratios_by, most)
    ]
    told = [f"{what}: skipped: {why}" for what, why in skipped_cases(items)]
    skipped = "".join(prose_text(text, paper) for text in (*told, *unmeasured_words(folders)))
    return "".join([*blocks, apart + skipped if skipped else ""])


def shown_items(folders: Sequence[ReadFolder]) -> list[Shown]:
    """Choose the rows that tables show: if a point has many placements, the first of each class; of those
    that are not measured yet two sizes of an op, which tell that it has several.
    """
    found = []
    for folder in folders:
        chosen = pictured(folder.rows)
        name = folder.name if len(folders) > 1 else ""
        planned: dict[str, set[int]] = {}
        for row, point in zip(folder.rows, folder.measured.points, strict=True):
            if row.why == NOT_YET:
                sizes = planned.setdefault(row.op, set())
                if len(sizes) > 1 or row.bytes in sizes:
                    continue
                sizes.add(row.bytes)
            if row.point in chosen:
                found.append(Shown(row, point, name))
    return found


def shared_facts(items: Sequence[Shown]) -> Mapping[str, str]:
    """Find the facts that all measured rows share."""
    rows = [item for item in items if item.row.status != SKIPPED]
    return row_labels([item.row for item in rows], [item.folder for item in rows]).common if rows else {}


def overview_tables(
    folders: Sequence[ReadFolder],
    items: Sequence[Shown],
    known: Collection[str],
    ratios_by: RatiosBy = no_ratios,
    most: int | None = None,
) -> Iterator[Table]:
    """Make the tables of rows, in the order of the report, those of models, and what several tables share.

    `known` are the keys of facts that were already written above; `most`: see `overview_text`.
    """
    summaries = op_summaries(folders)
    found = [
        table
        for group in group_items(items)
        if (table := group_rows(group, summaries, known, ratios_by)) is not None
    ]
    common = of_several((table.title, table.remarks.shared) for table in found)
    count = sum(map(count_cases, found)) if most else 0
    share = min(most, SOME_CASES) / count if most and count > most else 1.0
    chosen = [replace(table, elsewhere=common, share=share) for table in found]
    tables = [row_table(table) for table in chosen]
    if share < 1:
        left = count - sum(map(count_laid_out, chosen))
        tables += [Table("", "", (), (), (_left_words(left, count, folders),))] if left else []
    for folder in folders:
        name = folder.name if len(folders) > 1 else ""
        tables += analysis_tables(folder.made, name)
        tables += seen_tables(hosts_seen(folder.measured), name, MOST_HOSTS)
    if len(folders) > 1:
        tables += tables_across({folder.name: folder.made for folder in folders})
    counts = Counter(sign for table in tables for sign in signs_of(table))
    signs = tuple(sign for sign in SIGNS if counts[sign] > 1)
    yield from (replace(table, explained_signs=signs) for table in tables)
    if common or signs:
        yield Table(OF_SEVERAL, "", (), (), (*common.values(), *(SIGNS[sign] for sign in signs)))


def _left_words(left: int, count: int, folders: Sequence[ReadFolder]) -> str:
    """`155 of 305 test cases are not shown here, none that failed; to show all: steelyard show x --all`."""
    shows = command("show", *(str(folder.measured.folder) for folder in folders), all=True)
    return (
        f"{left} of {counted(count, 'test case')} are not shown here, none that failed; to show all: {shows}"
    )


def op_summaries(folders: Sequence[ReadFolder]) -> dict[str, str]:
    """Describe each op in a sentence; older folders have none."""
    return {name: op.summary for folder in folders for name, op in folder.measured.campaign.ops.items()}


def group_table(
    group: FigureGroup,
    summaries: Mapping[str, str],
    known: Collection[str] = (),
    is_wide: bool = False,
    ratios_by: RatiosBy = no_ratios,
) -> Table | None:
    """Make the table of a group; None if all of it was skipped. `known` are facts that were already written
    above.
    """
    found = group_rows(group, summaries, known, ratios_by)
    return None if found is None else row_table(found, is_wide)


def group_rows(
    group: FigureGroup, summaries: Mapping[str, str], known: Collection[str], ratios_by: RatiosBy
) -> RowTable | None:
    """Choose the rows of that table."""
    told = {summaries.get(item.row.op, "") for item in group.items}
    summary = told.pop() if len(told) == 1 else ""
    measured = [item for item in group.items if item.row.status != SKIPPED]
    return RowTable(group.title, tuple(measured), summary, known, ratios_by) if measured else None


def header_lines(folders: Sequence[ReadFolder], items: Sequence[Shown]) -> Iterator[str]:
    """`openmpi-4.1.4, 2 ranks on CPUs 0,1 of node7 (AMD EPYC 9554), 10 launches`: what all rows share."""
    rows = [item.row for item in items if item.row.status != SKIPPED]
    if not rows:
        yield "Nothing was measured."
        return
    facts = dict(shared_facts(items))
    facts.pop("mpi", None)
    mpis = list(dict.fromkeys(row.mpi for row in rows if row.mpi))
    places = {row.placement for row in rows}
    place = places.pop() if len(places) == 1 else None
    cpus = cpus_words(place) if place and not rows[0].placed else ""
    team = " on ".join(part for part in (facts.pop("ranks", ""), cpus) if part)
    host = joined([_host(folder) for folder in folders])
    where = " of ".join(part for part in (team, host) if part)
    library = joined(mpis) or _without_mpi(folders)
    parts = (library, where, *facts.values(), _launches(rows, len(mpis), folders))
    yield ", ".join(part for part in parts if part)


def _without_mpi(folders: Sequence[ReadFolder]) -> str:
    """Say that a plan named MPIs and none of its test cases needed one."""
    named = any(folder.measured.campaign.plan.get("mpi") for folder in folders)
    return "without MPI (--engine mpi measures under it)" if named else ""


def _host(folder: ReadFolder) -> str:
    """`node7 (AMD EPYC 9554)`: the model is that of the host that ran the campaign."""
    host = hosts_words(host_names(folder.measured))
    cpu = str(folder.measured.campaign.machine.get("cpu_model") or "")
    return f"{host} ({cpu})" if host and cpu else host or cpu


def _launches(rows: Sequence[Row], mpis: int, folders: Sequence[ReadFolder]) -> str:
    """`10 launches each, interleaved`, and what ± assumes of few; where a row has one, it is no promise."""
    counts = sorted({row.launch_count for row in rows if row.launch_count and row.status == "ok"})
    if not counts:
        return ""
    if counts == [1]:
        return "1 launch (± says nothing about further launches)"
    words = counted_range(counts, "launch")
    limit = ""
    if counts[0] == 1:
        limit = " (± of one says nothing about further ones)"
    elif any(row.ci_if for row in rows):
        which = "they" if counts[-1] < LEAST_IN_TIME else f"fewer than {LEAST_IN_TIME}"
        limit = f" (± if {which} are independent)"
    return f"{words} each, interleaved{limit}" if mpis > 1 and len(folders) == 1 else f"{words}{limit}"


def unmeasured_words(folders: Sequence[ReadFolder]) -> Iterator[str]:
    """`15 of 30 test cases are not measured yet; to go on: steelyard run --out x`, for each folder."""
    for folder in folders:
        count = sum(1 for row in folder.rows if row.why == NOT_YET)
        if count:
            verb = "is" if count == 1 else "are"
            resumes = _resuming(folder.measured.folder)
            yield f"{count} of {counted(len(folder.rows), 'test case')} {verb} not measured yet; {resumes}"


def _resuming(folder: Path) -> str:
    """Say what goes on in a folder: a command, or the script of the job that measured into it."""
    script = folder.parent / "batch" / f"{folder.name}.sh"
    return (
        f"to go on, submit {visible(str(script))} again"
        if script.is_file()
        else f"to go on: {resumed(folder)}"
    )


def skipped_cases(items: Sequence[Shown]) -> Iterator[tuple[str, str]]:
    """List what was skipped, and why: `mpi.allreduce_init with openmpi-4.1.4`, `needs MPI 4.0`.

    Sizes are named if others of the op were measured, or skipped for another reason. Cases that are just not
    measured yet are left out.
    """
    skipped = [item for item in items if item.row.status == SKIPPED and item.row.why != NOT_YET]
    reasons: dict[tuple[str, str], dict[str, list[str]]] = {}
    for row, folder in ((item.row, item.folder) for item in skipped):
        where = " in ".join(part for part in (row.mpi, folder) if part)
        told = (why_words(row), where)
        sizes = reasons.setdefault(told, {}).setdefault(row.op, [])
        others = (item.row for item in items if item.row.op == row.op)
        alike = all(
            other.status == SKIPPED and other.why == row.why for other in others if other.mpi == row.mpi
        )
        if row.sized and not alike and format_bytes(row.bytes) not in sizes:
            sizes.append(format_bytes(row.bytes))
    places: dict[tuple[str, str], list[str]] = {}
    for (why, where), ops in reasons.items():
        named = ", ".join(f"{op} {', '.join(sizes)}".rstrip() for op, sizes in ops.items())
        places.setdefault((named, why), []).append(where)
    for (named, why), found in places.items():
        yield " with ".join(part for part in (named, joined(found)) if part), why
