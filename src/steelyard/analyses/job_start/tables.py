"""The start and the end of a job, as a table."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from steelyard.analyses.job_start.model import StartTimes
from steelyard.base.units import format_time
from steelyard.render.table import NOTHING, Table, number, plain_lines
from steelyard.rows.labels import Fact, Facts, count_fact, labels_of, set_facts
from steelyard.rows.words import half_words

_EXPLAINED = (
    "slowest rank: launcher to main, process to main, main to MPI_Init_thread, that, main to first "
    "allreduce, MPI_Finalize"
)


def start_tables(starts: Sequence[StartTimes]) -> tuple[Table, ...]:
    """A line for each kind of launch; none without any."""
    return start_tables_across({"": starts})


def start_tables_across(folders: Mapping[str, Sequence[StartTimes]]) -> tuple[Table, ...]:
    """A line for each kind of launch of all folders, which have one table; none without any."""
    named = [(name, start) for name, starts in folders.items() for start in starts]
    if not named:
        return ()
    starts = [start for _, start in named]
    labels = labels_of([{"folder": Fact("folder", name, ""), **_facts(start)} for name, start in named])
    return (
        Table(
            title="start of a job",
            explained=", ".join((_EXPLAINED, *labels.common.values())),
            columns=(
                *(axis.column for axis in labels.varying),
                *(
                    number("launch"),
                    number("to main"),
                    number("to Init"),
                    number("Init", strong=True),
                    number("±"),
                ),
                *(number("allreduce"), number("Finalize")),
            ),
            lines=plain_lines((*labels.cells(i), *_cells(start)) for i, start in enumerate(starts)),
            grouped=0,
        ),
    )


def _facts(start: StartTimes) -> Facts:
    launcher = start.launcher or "not told"
    return {
        "mpi": Fact("MPI", start.mpi or "", start.mpi or ""),
        "launcher": Fact("launcher", launcher, launcher),
        "ranks": count_fact("rank", start.ranks),
        "hosts": count_fact("host", start.hosts or 1),
        **set_facts("env", start.env),
    }


def _cells(start: StartTimes) -> tuple[str, ...]:
    return (
        _time(start.launch.value if start.launch else None),
        _time(start.exec_to_main),
        _time(start.main_to_init),
        _time(start.init.value),
        half_words(start.init.value, start.init.low, start.init.high),
        _time(start.job.value if start.job else None),
        _time(start.finalize),
    )


def _time(ns: float | None) -> str:
    return NOTHING if ns is None else format_time(ns)
