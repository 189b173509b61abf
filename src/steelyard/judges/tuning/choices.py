"""Which algorithm of a collective beats the library's own choice, at each size of a sweep.

A sweep has each test case under the library's own choice and under settings that force an algorithm, launch
by launch. An algorithm is chosen where it is faster in the 95 % interval of its ratio. That is a proposal and
no finding, for of many algorithms one is fast by luck: what is made of it is measured anew.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from msgspec import Struct

from steelyard.records.campaign_file import UNSET
from steelyard.results.key import RowKey, key_of
from steelyard.results.row import Row, launch_medians
from steelyard.stats import difference_interval
from steelyard.stats.fast_stats import middle

LEAST = math.log(1.02)  # a smaller difference is not worth a line of a file
MUCH = math.log(1.25)  # who may be faster by so much is not beaten yet
_LEAST_LAUNCHES = 2  # of which an interval can be made
_PREFIX = "mpi."


@dataclass(frozen=True, slots=True)
class ForcedBy:
    """How a family of MPIs is told the algorithm of a collective.

    `variable` forces one; the name of the collective stands in place of `{}`, or in capitals of `{upper}`. A
    forced algorithm is obeyed only with the variables `beside`, which have other values by themselves.
    """

    variable: str
    beside: Mapping[str, str]

    def forces(self, collective: str) -> str:
        """Name the variable that forces an algorithm of a collective."""
        return self.variable.format(collective, upper=collective.upper())


LIBRARIES: Mapping[str, ForcedBy] = {
    "openmpi": ForcedBy("OMPI_MCA_coll_tuned_{}_algorithm", {}),
    # MPICH's collectives of the device, such as those by shared memory, ask no table of algorithms.
    "mpich": ForcedBy("MPIR_CVAR_{upper}_INTRA_ALGORITHM", {"MPIR_CVAR_DEVICE_COLLECTIVES": "none"}),
    "intel": ForcedBy("I_MPI_ADJUST_{upper}", {}),
}


class Choice(Struct, frozen=True, kw_only=True):
    """What a file is to say of a collective at one size: `algorithm`, empty for the library's own table.

    `usual` is the time without any setting, `chosen` with it, in ns, medians over the launches that have
    both. `is_faster`: beyond what launches differ by. `point` is the number of the test case without any.
    """

    mpi: str
    collective: str
    ranks: int
    bytes: int
    algorithm: str
    usual: float
    chosen: float
    is_faster: bool
    point: int


def family_of(mpi: str) -> str:
    """Name the family of an MPI by its name in rows, `openmpi-4.1.4`."""
    return mpi.partition("-")[0]


def is_swept(row: Row) -> bool:
    """Is it a collective of an MPI that can be told the algorithm, and of which the sweep forces some?"""
    is_timed = row.status == "ok" and row.unit == "ns" and row.bound is None
    if not is_timed or family_of(row.mpi or "") not in LIBRARIES or not row.op.startswith(_PREFIX):
        return False
    return _library(row).forces(_collective(row)) in row.env


def open_of(rows: Sequence[Row], mpi: str) -> tuple[int, int]:
    """Count the algorithms, each at a size, that may be faster by `MUCH` than an MPI's own choice though they
    are not chosen, and all.
    """
    groups: dict[RowKey, list[Row]] = {}
    for row in rows:
        if is_swept(row) and row.mpi == mpi:
            groups.setdefault(_key(row), []).append(row)
    forced = [
        (_against(row, usual), row)
        for group in groups.values()
        for usual in filter(_is_usual, group)
        for row in group
        if _algorithm(row) and _is_as_with_file(row)
    ]
    return sum(case is None or case.low < -MUCH for case, _ in forced), len(forced)


def choices_of(rows: Sequence[Row]) -> tuple[Choice, ...]:
    """List what files are to say of the collectives that a sweep has a faster algorithm of, at all sizes.

    A collective is left out where its file would make a size slower: of MPICH, where its device has no equal.
    """
    groups: dict[RowKey, list[Row]] = {}
    for row in rows:
        if is_swept(row):
            groups.setdefault(_key(row), []).append(row)
    by_collective: dict[tuple[str, str], list[Choice | None]] = {}
    for group in groups.values():
        first = group[0]
        by_collective.setdefault((first.mpi or "", first.op), []).append(_choice(group))
    whole = (
        [choice for choice in choices if choice is not None]
        for choices in by_collective.values()
        if None not in choices
    )
    return tuple(
        choice for choices in whole if any(choice.is_faster for choice in choices) for choice in choices
    )


def _collective(row: Row) -> str:
    return row.op.removeprefix(_PREFIX)


def _library(row: Row) -> ForcedBy:
    return LIBRARIES[family_of(row.mpi or "")]


def _key(row: Row) -> RowKey:
    library = _library(row)
    names = (library.forces(_collective(row)), *library.beside)
    return key_of(row, tuple(f"env.{name}" for name in names))


def _algorithm(row: Row) -> str:
    """Name the algorithm that a row has forced; empty for the library's own table."""
    value = row.env[_library(row).forces(_collective(row))]
    return "" if value == UNSET else value


def _is_as_with_file(row: Row) -> bool:
    """Has it the variables with which a forced algorithm is obeyed?"""
    return all(row.env.get(name, UNSET) == value for name, value in _library(row).beside.items())


def _is_usual(row: Row) -> bool:
    """Is it the library as it is, without any of its settings?"""
    return not _algorithm(row) and all(row.env.get(name, UNSET) == UNSET for name in _library(row).beside)


@dataclass(frozen=True, slots=True)
class _Against:
    """A row against the usual one: the logarithm of the ratio of their times, and its interval."""

    row: Row
    usual: float
    time: float
    ratio: float
    low: float
    high: float


def _choice(group: Sequence[Row]) -> Choice | None:
    """Choose of one test case; None without the usual one, and where all else is slower."""
    usual = next((row for row in group if _is_usual(row)), None)
    if usual is None:
        return None
    able = [row for row in group if _is_as_with_file(row)]
    known = [case for row in able if (case := _against(row, usual)) is not None]
    faster = [case for case in known if case.high < -LEAST]
    unforced = [case for case in known if not _algorithm(case.row)]
    alike = [case for case in (*unforced, *known) if case.low <= LEAST]
    best = min(faster, key=lambda case: case.ratio) if faster else alike[0] if alike else None
    if best is None:
        return None
    return Choice(
        mpi=usual.mpi or "",
        collective=_collective(usual),
        ranks=usual.ranks,
        bytes=usual.bytes,
        algorithm=_algorithm(best.row),
        usual=best.usual,
        chosen=best.time,
        is_faster=bool(faster),
        point=usual.point,
    )


def _against(row: Row, usual: Row) -> _Against | None:
    """None where launches that have both are too few for an interval."""
    mine, theirs = launch_medians(row), launch_medians(usual)
    shared = sorted(mine.keys() & theirs.keys())
    if len(shared) < _LEAST_LAUNCHES:
        return None
    span = difference_interval([math.log(mine[launch] / theirs[launch]) for launch in shared])
    usual_time, time = (middle([of[launch] for launch in shared]) for of in (theirs, mine))
    return _Against(row, usual_time, time, span.value, span.low, span.high)
