"""What the start of MPI takes by launcher, in a sentence for each library and setting."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence

from steelyard.analyses.answer_words import sure_words
from steelyard.analyses.job_start.model import INIT, JOB, StartTimes
from steelyard.base.plural import counted
from steelyard.base.units import format_time
from steelyard.results.row import Row
from steelyard.rows.labels import set_facts
from steelyard.rows.op_facts import mpi_words
from steelyard.stats import Interval

_Named = tuple[str, StartTimes]  # with the name of its folder


def is_start(row: Row) -> bool:
    """Is it the time of MPI_Init, or of a whole start?"""
    return row.op in (INIT, JOB)


def start_answers(starts: Sequence[StartTimes]) -> Iterator[str]:
    """`Open MPI 4.1.4 on 2 ranks: MPI_Init takes 352 ms by orte, 336 ms by srun-pmix; ...`"""
    yield from start_answers_across({"": starts})


def start_answers_across(folders: Mapping[str, Sequence[StartTimes]]) -> Iterator[str]:
    """The same of several folders: each MPI and setting, on the most hosts and ranks that it has."""
    groups: dict[tuple[str | None, str], list[_Named]] = {}
    for name, starts in folders.items():
        for start in starts:
            groups.setdefault((start.mpi, _setting_of(start)), []).append((name, start))
    for (mpi, setting), named in groups.items():
        hosts, ranks = most = max(_size(start) for _, start in named)
        cases = [(name, start) for name, start in named if _size(start) == most]
        where = (
            f"{counted(ranks, 'rank')} of {counted(hosts, 'host')}" if hosts > 1 else counted(ranks, "rank")
        )
        who = f"{mpi_words(mpi or '')} on {where}{f' ({setting})' if setting else ''}"
        parts = [f"MPI_Init takes {_times(cases, [start.init for _, start in cases])}"]
        if any(start.job for _, start in cases):
            whole = _times(cases, [start.job for _, start in cases])
            parts.append(f"from main to the end of the first allreduce {whole}")
        yield f"{who}: {'; '.join(parts)}."


def _setting_of(start: StartTimes) -> str:
    return ", ".join(fact.said for fact in set_facts("env", start.env).values())


def _size(start: StartTimes) -> tuple[int, int]:
    return start.hosts or 1, start.ranks


def _times(cases: Sequence[_Named], times: Sequence[Interval | None]) -> str:
    """`352 ms by orte, 336 ms by srun-pmix`; also by folder where several have one launcher."""
    launchers = Counter(start.launcher for _, start in cases)
    words = []
    for (name, start), time in zip(cases, times, strict=True):
        if time is not None:
            by = f" by {start.launcher}" if start.launcher else ""
            folder = f" in {name}" if name and launchers[start.launcher] > 1 else ""
            words.append(f"{sure_words(time, format_time)}{by}{folder}")
    return ", ".join(words)
