"""Operations in a few words, `allreduce 486 ns at 8 B, 29.3 us at 64 KiB`, and their families in a sentence.

A number is told only if its row's interval is no wider than `NOISY`: what is wider says little.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence

from steelyard.base.plural import counted
from steelyard.base.units import format_bytes, format_share
from steelyard.records.kinds import BANDWIDTH, COLLECTIVE, INSTRUMENT, LATENCY, PATTERN, RATE, WORK
from steelyard.results.facets import Cores, Rate, Roof
from steelyard.results.row import Row, half_of
from steelyard.rows.labels import row_labels
from steelyard.rows.op_order import place_of
from steelyard.rows.row_words import NOISY, bandwidth_words, rate_words, value_words

MOST_OPS = 4  # of a family that a sentence names
USUAL_SIZE = 8  # bytes: the small message that people quote
MPI_FAMILY = "mpi"
MEMORY_FAMILY = "mem"
APP_FAMILY = "app"
# First word of an op's name -> the subject of a sentence about such ops.
_SUBJECTS = {
    "omp": "OpenMP",
    "pthread": "Pthreads",
    "atomic": "Atomic instructions",
    "shmem": "OpenSHMEM",
    "cpu": "Arithmetic",
    "mem": "Memory",
    "shm": "Shared memory without MPI",
    "sock": "Sockets without MPI",
    "ofi": "libfabric without MPI",
    "ucx": "UCX without MPI",
    "npb": "NPB",
    "app": "Proxy applications",
    "noise": "Noise",
    "file": "Files without MPI",
    "self": "The instrument",
}
_MPIS = {"openmpi": "Open MPI", "mpich": "MPICH", "intel": "Intel MPI", "mvapich": "MVAPICH"}


def mpi_words(name: str) -> str:
    """Write the name of an MPI as its makers do: `Open MPI 4.1.4` for `openmpi-4.1.4`."""
    match = re.fullmatch(r"([a-z]+)-(\d.*)", name)
    return f"{_MPIS[match[1]]} {match[2]}" if match and match[1] in _MPIS else name


def family_of(op: str) -> str:
    """Take the first word of an op's name."""
    return op.partition(".")[0]


def group_words(row: Row) -> str:
    """Name the kind of op that a comparison of many ops sums up: `messages`, `collectives`, `OpenMP`."""
    if family_of(row.op) != MPI_FAMILY:
        return _SUBJECTS.get(family_of(row.op), family_of(row.op))
    if row.role in (LATENCY, BANDWIDTH, RATE, PATTERN):
        return "Messages"
    return "Collectives" if row.role == COLLECTIVE else "Other calls of MPI"


def is_claimed(row: Row) -> bool:
    """Is the row's interval narrow enough for its number to be told? One sample has no interval."""
    half = half_of(row.time, row.time_low, row.time_high)
    return row.status == "ok" and row.time is not None and row.time > 0 and (half is None or half <= NOISY)


def family_sentences(rows: Sequence[Row], folder: str = "") -> Iterator[str]:
    """Write a sentence for each family and MPI, the ops of MPI first; those on the timer, and work that
    others are compared with, only if alone.

    `folder` is named if there are several.
    """
    references = {row.reference_point for row in rows}
    told = [row for row in rows if row.role not in (INSTRUMENT, WORK) and row.point not in references] or rows
    groups: dict[tuple[str, str], list[Row]] = {}
    for row in sorted(told, key=lambda row: family_of(row.op) != MPI_FAMILY):
        groups.setdefault((family_of(row.op), row.mpi or ""), []).append(row)
    for (family, mpi), own in groups.items():
        once = [row for row in own if is_claimed(row)]
        # Beside rows of several launches a row of one is no claim, unless they tell nothing.
        if claimed := [row for row in once if row.launch_count > 1] or once:
            yield _sentence(family, mpi, claimed, own, folder)


def _sentence(family: str, mpi: str, rows: Sequence[Row], asked: Sequence[Row], folder: str) -> str:
    """`Open MPI 4.1.4, 2 ranks: pingpong 204 ns at 8 B, up to 12.1 GB/s at 1 MiB; barrier 341 ns.`

    `asked` are the rows whose numbers are too uncertain, too: a team is named where it is one of several.
    """
    ops: dict[str, list[Row]] = {}
    for row in rows:
        ops.setdefault(row.op, []).append(row)
    # Beside rows with an interval one without is no claim, unless they tell nothing.
    ops = {op: [row for row in own if row.time_low is not None] or own for op, own in ops.items()}
    largest = {op: _largest(own) for op, own in ops.items()}
    names = sorted(ops, key=place_of)
    shown = [row for op in names[:MOST_OPS] for row in largest[op]]
    is_named = len(ops) == 1  # the whole name, which a command takes
    team = _team(shown)
    facts = [
        _op_words(op if is_named else op.partition(".")[2], largest[op])
        + _own_team(largest[op], team, [row for row in asked if row.op == op])
        + _only_place(largest[op], [row for row in asked if row.op == op])
        for op in names[:MOST_OPS]
    ]
    more = len(names) - MOST_OPS
    facts += [f"{counted(more, 'more operation')}"] if more > 0 else []
    what = "" if family == MPI_FAMILY else _SUBJECTS.get(family, family)
    subject = [folder, " with ".join(filter(None, ("" if is_named else what, mpi_words(mpi)))), team]
    return f"{', '.join(filter(None, subject))}: {'; '.join(facts)}.".removeprefix(": ")


def _largest(rows: Sequence[Row]) -> list[Row]:
    """Take the rows of the most ranks, and of those the most threads; without further settings, if any is."""
    most = max((row.ranks, row.threads) for row in rows)
    largest = [row for row in rows if (row.ranks, row.threads) == most]
    return [row for row in largest if not (row.omp or row.env or row.placed)] or largest


def _team(rows: Sequence[Row]) -> str:
    """`2 ranks`, `2 ranks of 4 threads`; nothing if rows differ, or for one rank of one thread."""
    teams = {(row.ranks, row.threads) for row in rows}
    if len(teams) != 1:
        return ""
    ((ranks, threads),) = teams
    parts = (counted(ranks, "rank") if ranks > 1 else "", counted(threads, "thread") if threads > 1 else "")
    return " of ".join(filter(None, parts))


def _own_team(rows: Sequence[Row], team: str, asked: Sequence[Row]) -> str:
    """` (2 threads)`, where the ops of a sentence have no `team` in common; ` (1 thread)`, where more threads
    were asked for and told nothing.
    """
    words_of_team = "" if team else _team(rows)
    if not words_of_team and not team:
        of_one = {"rank": (row.ranks for row in asked), "thread": (row.threads for row in asked)}
        words_of_team = " of ".join(counted(1, noun) for noun, counts in of_one.items() if len({*counts}) > 1)
    return f" ({words_of_team})" if words_of_team else ""


def _only_place(rows: Sequence[Row], asked: Sequence[Row]) -> str:
    """` (same-cpu 1,1)`, where more placements were asked for and told nothing."""
    places, all_ = ({row.placed.text for row in some if row.placed} for some in (rows, asked))
    return f" ({next(iter(places))})" if len(places) == 1 < len(all_) else ""


def _op_words(name: str, rows: Sequence[Row]) -> str:
    """Tell one op: its time at a small and a large size, or its highest rate."""
    if any(row.get(Cores).cores for row in rows):
        return f"{name} {_noise_words(rows)}"
    if rows[0].headline == "bandwidth":
        return f"{name} {_fastest(rows)}{_beyond_caches(rows)}"
    if rows[0].headline != "time":
        rates = _span(rows, lambda row: row.get(Rate).mops or 0.0, rate_words)
        return f"{name} {rates}{_of_memory(rows)}"
    sizes = sorted({row.bytes for row in rows if row.sized})
    if not sizes:
        return f"{name} {_times(rows)}"
    small = USUAL_SIZE if USUAL_SIZE in sizes else next((size for size in sizes if size), 0)
    text = f"{name} {_times_at(rows, small)}"
    if sizes[-1] == small:
        return text
    is_stream = rows[0].role == LATENCY and any(row.get(Rate).bandwidth for row in rows)
    return f"{text}, {_fastest(rows) + _beyond_caches(rows) if is_stream else _times_at(rows, sizes[-1])}"


def _times_at(rows: Sequence[Row], size: int) -> str:
    return f"{_times([row for row in rows if row.bytes == size])} at {format_bytes(size)}"


def _times(rows: Sequence[Row]) -> str:
    return _span(rows, lambda row: row.time or 0.0, value_words)


def _fastest(rows: Sequence[Row]) -> str:
    """`up to 12.1 GB/s at 1 MiB`."""
    best = max(rows, key=lambda row: row.get(Rate).bandwidth or 0.0)
    most = "up to " if len(rows) > 1 else ""
    return f"{most}{bandwidth_words(best)} at {format_bytes(best.bytes)}{_once(best)}"


def _of_memory(rows: Sequence[Row]) -> str:
    """`, 46 % of memory's bandwidth`: the share that an application has, if it is known well enough."""
    shares = [
        row.get(Roof).of_roof or 0.0
        for row in rows
        if family_of(row.op) == APP_FAMILY and _is_known(row.get(Roof))
    ]
    ends = dict.fromkeys(f"{100 * end:.0f} %" for end in (min(shares), max(shares))) if shares else ()
    return f", {' to '.join(ends)} of memory's bandwidth" if len(shares) == len(rows) else ""


def _is_known(roof: Roof) -> bool:
    low, high = roof.of_roof_low, roof.of_roof_high
    return bool(low and high and high / low <= (1 + NOISY) ** 2)


def _beyond_caches(rows: Sequence[Row]) -> str:
    """`, 12.1 GB/s at 256 MiB`: of memory also the largest size, because the highest rate is a cache's."""
    best = max(rows, key=lambda row: row.get(Rate).bandwidth or 0.0)
    largest = max(rows, key=lambda row: row.bytes)
    is_told = family_of(best.op) == MEMORY_FAMILY and largest.bytes > best.bytes
    return f", {bandwidth_words(largest)} at {format_bytes(largest.bytes)}" if is_told else ""


def _span(rows: Sequence[Row], size: Callable[[Row], float], words: Callable[[Row], str]) -> str:
    """`12.8 ns`; of several variants `12.8 ns (type=int) to 139 ns (type=double)`, if one fact differs."""
    ends = (min(rows, key=size), max(rows, key=size))
    texts = list(dict.fromkeys(words(row) for row in ends))
    varying = row_labels(ends).varying
    if len(texts) > 1 and len(varying) == 1:
        texts = [f"{text} ({fact.said})" for text, fact in zip(texts, varying[0].facts, strict=True)]
    return " to ".join(texts) + _once(ends[0])


def _once(row: Row) -> str:
    return "" if half_of(row.time, row.time_low, row.time_high) is not None else " (no interval)"


def _noise_words(rows: Sequence[Row]) -> str:
    """`saw up to 0.31 % of a core's time lost`."""
    share = max(core.share for row in rows for core in row.get(Cores).cores)
    return f"saw up to {format_share(share)} of a core's time lost"
