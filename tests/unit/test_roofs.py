"""The roof of memory: what a phase moves in a second over what STREAM does on as many threads."""

from __future__ import annotations

import pytest

from flat_rows import made_row
from steelyard.analyses.phases.model import STREAM, phase_roofs_of, roof_shares
from steelyard.results.phases import RowPhase, RowPhases
from steelyard.results.row import Row

_MIB = 2**20


def _phase(name: str, median: float, moved: float | None) -> RowPhase:
    return RowPhase(
        name=name,
        communicates=moved is None,
        median=median,
        low=median,
        high=median,
        slowest=median,
        share=0.5,
        calls=1.0,
        moved=moved,
    )


def _kernel(ranks: int, threads: int, memory: int, *phases: RowPhase) -> Row:
    inside = RowPhases(
        phases=phases,
        communication=0.1,
        rank_communication=(0.1,) * ranks,
        imbalance=0.0,
        messages=0.0,
        bytes=0.0,
        collectives=0.0,
        collective_bytes=0.0,
        memory=memory,
        resident=memory,
    )
    return made_row(op="app.hpccg", ranks=ranks, threads=threads, phases=inside)


def _stream(size: int, bandwidth: float | None, ranks: int = 1, threads: int = 2) -> Row:
    return made_row(op=STREAM, bytes=size, ranks=ranks, threads=threads, mpi=None, bandwidth=bandwidth)


def _shares(kernel: Row, *streams: Row) -> dict[str, float] | None:
    found = roof_shares([kernel, *streams])
    assert set(found) <= {id(kernel)}
    return dict(found[id(kernel)]) if found else None


def test_a_share_is_bytes_over_time_over_the_bandwidth() -> None:
    """8 MB in 1 ms are 8 GB/s, of 10 that STREAM has; a phase that moves nothing has no roof."""
    kernel = _kernel(2, 1, 64 * _MIB, _phase("spmv", 1e6, 8e6), _phase("exchange", 1e6, None))
    assert _shares(kernel, _stream(192 * _MIB, 10e9)) == pytest.approx({"spmv": 0.8})
    (told,) = phase_roofs_of([kernel, _stream(192 * _MIB, 10e9)])
    assert (told.op, told.ranks) == ("app.hpccg", 2)
    assert told.shares == pytest.approx({"spmv": 0.8})


@pytest.mark.parametrize(("ranks", "threads"), [(1, 2), (2, 1)])
def test_stream_counts_on_as_many_threads_as_all_ranks_have(ranks: int, threads: int) -> None:
    kernel = _kernel(ranks, threads, 64 * _MIB, _phase("spmv", 1e6, 8e6))
    streams = (
        _stream(192 * _MIB, 5e9, threads=1),
        _stream(192 * _MIB, 10e9),
        _stream(192 * _MIB, 40e9, threads=4),
    )
    assert _shares(kernel, *streams) == pytest.approx({"spmv": 0.8})


@pytest.mark.parametrize(
    ("memory", "share"),
    [
        (1 * _MIB, 0.1),  # of each of two ranks: 2 MiB, as STREAM's small working set
        (200 * _MIB, 0.8),
    ],
)
def test_the_working_set_nearest_in_size_is_the_roof(memory: int, share: float) -> None:
    kernel = _kernel(2, 1, memory, _phase("spmv", 1e6, 8e6))
    found = _shares(kernel, _stream(2 * _MIB, 80e9), _stream(192 * _MIB, 10e9))
    assert found == pytest.approx({"spmv": share})


def test_without_such_a_stream_there_is_no_roof() -> None:
    kernel = _kernel(2, 1, 64 * _MIB, _phase("spmv", 1e6, 8e6))
    assert _shares(kernel) is None
    assert _shares(kernel, _stream(192 * _MIB, 10e9, threads=4)) is None
    assert _shares(kernel, _stream(192 * _MIB, None)) is None  # it failed


def test_an_op_without_phases_or_with_none_that_moves_has_no_roof() -> None:
    stream = _stream(192 * _MIB, 10e9)
    assert roof_shares([made_row(), stream]) == {}
    assert _shares(_kernel(2, 1, _MIB, _phase("force", 1e6, None)), stream) is None
    assert _shares(_kernel(2, 1, _MIB, _phase("spmv", 0.0, 8e6)), stream) is None
