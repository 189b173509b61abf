"""Does it work: a matrix of the one-sided ops for each MPI, and a table of failures."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from steelyard.analyses.rma_support.model import BROKEN, OUTCOMES, PASSED, UNSUPPORTED, Functionality
from steelyard.base.plural import counted
from steelyard.render.sections import Part, untitled
from steelyard.render.table import BAD, NOTHING, PLAIN, Line, Table, number, words

_WAY = ("sync", "complete", "window", "windows", "threads")  # the axes of a line, besides MPI and op


def functionality_tables(functionalities: Sequence[Functionality]) -> tuple[Table, ...]:
    """Make a matrix for each MPI and one table of failures; none if nothing but the op varies."""
    if len({tuple(getattr(functionality, axis) for axis in _WAY) for functionality in functionalities}) < 2:
        return ()
    mpis = list(dict.fromkeys(functionality.mpi for functionality in functionalities))
    broken = [functionality for functionality in functionalities if functionality.broken]
    matrices = (
        matrix(mpi, own)
        for mpi in mpis
        for matrix, is_exchange in ((_matrix, False), (_exchange_matrix, True))
        if (
            own := [
                functionality
                for functionality in functionalities
                if functionality.mpi == mpi and functionality.is_exchange == is_exchange
            ]
        )
    )
    details = (_ways("what does not work", "runs by outcome", broken),) if broken else ()
    return (*matrices, *details)


def all_ways_table(functionalities: Sequence[Functionality]) -> Table:
    """A line for each combination that ran."""
    return _ways("all combinations", "runs by outcome", functionalities)


def _matrix(mpi: str, functionalities: Sequence[Functionality]) -> Table:
    """Make a line for each op and number of threads, with a column for each synchronisation:
    `passed/runs`.
    """
    syncs = list(dict.fromkeys(functionality.sync for functionality in functionalities))
    threads = {functionality.threads for functionality in functionalities}
    lines: dict[tuple[str, int], list[Functionality]] = {}
    for functionality in functionalities:
        lines.setdefault((functionality.op, functionality.threads), []).append(functionality)
    columns = (words("op"), *([number("threads")] * (len(threads) > 1)), *map(number, syncs))
    return Table(
        title=f"does it work: {mpi}",
        explained="runs that passed, of those that are defined and the library supports, by "
        + _opened(functionalities),
        columns=columns,
        lines=tuple(
            Line(
                (
                    op,
                    *([str(count)] * (len(threads) > 1)),
                    *(_passed_words([one for one in own if one.sync == sync]) for sync in syncs),
                ),
                BAD if any(one.broken for one in own) else PLAIN,
            )
            for (op, count), own in lines.items()
        ),
        notes=(_sum_words(functionalities),),
        grouped=1 if len(threads) > 1 else 0,
    )


def _opened(functionalities: Sequence[Functionality]) -> str:
    """Name the axis of the columns."""
    return (
        "context"
        if all(functionality.op.startswith("shmem.") for functionality in functionalities)
        else "sync"
    )


def _exchange_matrix(mpi: str, functionalities: Sequence[Functionality]) -> Table:
    """Make a line for each application or halo and back end, with a column for each number of movers."""
    movers = sorted(
        {(functionality.threads, functionality.windows == "thread") for functionality in functionalities}
    )
    ops = list(dict.fromkeys(functionality.op for functionality in functionalities))
    lines: dict[tuple[str, str], list[Functionality]] = {}
    for functionality in sorted(functionalities, key=lambda one: ops.index(one.op)):
        lines.setdefault((functionality.op, functionality.sync), []).append(functionality)
    return Table(
        title=f"do exchanges work: {mpi}",
        explained="runs that passed, of those that the library supports, by the number of threads that move "
        "messages; apart: each in a window or communicator of its own",
        columns=(
            words("op"),
            words("backend"),
            *(number(f"{count} apart" if is_apart else str(count)) for count, is_apart in movers),
        ),
        lines=tuple(
            Line(
                (
                    op,
                    backend,
                    *(
                        _passed_words([one for one in own if (one.threads, one.windows == "thread") == kind])
                        for kind in movers
                    ),
                ),
                BAD if any(one.broken for one in own) else PLAIN,
            )
            for (op, backend), own in lines.items()
        ),
        notes=(_sum_words(functionalities),),
        grouped=1,
    )


def _passed_words(functionalities: Sequence[Functionality]) -> str:
    """`12/12`; a dash if the library supports none of them."""
    runs = sum(functionality.runs - functionality.unsupported for functionality in functionalities)
    return f"{sum(functionality.passed for functionality in functionalities)}/{runs}" if runs else NOTHING


def _sum_words(functionalities: Iterable[Functionality]) -> str:
    """`280 runs: 249 passed, 6 wrong, 3 signal, 22 abort`."""
    sums = dict.fromkeys(OUTCOMES, 0)
    for functionality in functionalities:
        for outcome in OUTCOMES:
            sums[outcome] += getattr(functionality, outcome)
    told = [f"{count} {outcome}" for outcome, count in sums.items() if count]
    return f"{counted(sum(sums.values()), 'run')}: {', '.join(told)}"


def _ways(title: str, explained: str, functionalities: Sequence[Functionality]) -> Table:
    """Make a line for each combination, without constant axes and without outcomes that never happened."""
    axes = [
        axis
        for axis in ("mpi", "op", *_WAY)
        if len({getattr(functionality, axis) for functionality in functionalities}) > 1 or axis == "op"
    ]
    outcomes = [
        name
        for name in (PASSED, *BROKEN, UNSUPPORTED)
        if any(getattr(functionality, name) for functionality in functionalities)
    ]
    shared = [
        f"{axis} {getattr(functionalities[0], axis)}"
        for axis in ("mpi", *_WAY)
        if axis not in axes and getattr(functionalities[0], axis) != ""
    ]
    return Table(
        title=title,
        explained="; ".join([explained, ", ".join(shared)]) if shared else explained,
        columns=(
            *(
                number(axis) if axis == "threads" else words("MPI" if axis == "mpi" else axis)
                for axis in axes
            ),
            *map(number, ("runs", *outcomes)),
        ),
        lines=tuple(
            Line(
                (
                    *(str(getattr(functionality, axis)) for axis in axes),
                    *(_count(getattr(functionality, name)) for name in ("runs", *outcomes)),
                ),
                BAD if functionality.broken else PLAIN,
            )
            for functionality in functionalities
        ),
        grouped=2 if "mpi" in axes else 1,
    )


def _count(number_of: int) -> str:
    return str(number_of) if number_of else NOTHING


def all_combinations(functionalities: Sequence[Functionality]) -> Part:
    """Make the folded part: each combination of call, window and synchronisation."""
    return Part("All combinations", tables=(untitled(all_ways_table(functionalities)),))
