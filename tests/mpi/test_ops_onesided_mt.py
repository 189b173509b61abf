"""One-sided calls of several threads of a rank: one window or one for each, and where threads' places lie."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence
from pathlib import Path

import numpy as np
import pytest

from ends import all_are_refused, all_are_right, ends_of
from points import describe, engine_of, measure
from steelyard.engines.mpi import Mpi
from steelyard.records.schema import End, Lanes, Obs, Phases, Point

_CALLS = (
    "put",
    "get",
    "accumulate",
    "get_accumulate",
    "rput",
    "rget",
    "raccumulate",
    "rget_accumulate",
)
_SINGLES = ("fetch_and_op", "compare_and_swap")
_LAYOUTS = (
    "windows=one target=disjoint",
    "windows=one target=line",
    "windows=thread target=disjoint",
    "windows=thread comms=one",
)
_EPOCHS: tuple[str, ...] = (
    "sync=lock_all complete=flush",
    "sync=lock_shared complete=close",
    "sync=lock complete=flush_local_all",
)
_EPOCHS += ("sync=fence complete=close", "sync=pscw complete=close")
_FORMS = (
    "",
    ".bandwidth calls=3",
    ".bandwidth calls=3 per=call",
    ".bibandwidth calls=3",
)
_WINDOWS = ("create", "shared", "dynamic", "allocate")


def _lines() -> Iterator[str]:
    """Every call with every layout, and every way to open with every form; kinds of windows in turn.

    A swap of 8 bytes ends Open MPI 4.1 where the library has the window's memory: see points.py.
    """
    windows, forms = itertools.cycle(_WINDOWS), itertools.cycle(_FORMS)
    for call in (*_CALLS, *_SINGLES):
        epochs = itertools.cycle(_EPOCHS if call[0] != "r" else _EPOCHS[:3])
        for layout, epoch in zip((*_LAYOUTS, _LAYOUTS[0]), epochs, strict=False):
            form = "" if call in _SINGLES else next(forms)
            window = "create" if call == "compare_and_swap" else next(windows)
            yield f"op=mpi.mt.{call}{form} {epoch} {layout} window={window}{_size(call)}"


def _written() -> Iterator[str]:
    for call, layout in zip(("put", "accumulate", "rput"), _LAYOUTS, strict=False):
        yield f"op=mpi.mt.{call}.bandwidth calls=3 buffer=written {layout}{_size(call)}"
    for sync, windows in (("fence", "one"), ("pscw", "thread")):
        words = f"buffer=same sync={sync} complete=close windows={windows}"
        yield f"op=mpi.mt.put.bibandwidth calls=3 {words} bytes=40"


def _for(mpi: Mpi, lines: Iterator[str]) -> list[str]:
    """All under Open MPI, every fourth under the others, whose ranks spin on cores of threads."""
    return list(itertools.islice(lines, 0, None, 1 if mpi.family == "openmpi" else 4))


def _size(call: str) -> str:
    return "" if call in _SINGLES else " bytes=40"


def _measured(
    tmp_path: Path, mpi: Mpi, ranks: int, threads: int, lines: Sequence[str]
) -> tuple[list[End], list[object]]:
    words = f"threads={threads} method=batch reps=2 rule=fixed count=1"
    records = measure(
        engine_of(mpi),
        ranks,
        threads,
        [f"{line} {words}" for line in lines],
        tmp_path / "out.jsonl",
    )
    return ends_of(records, len(lines)), list(records)


@pytest.mark.parametrize("threads", [1, 2])
def test_every_thread_delivers(tmp_path: Path, mpi: Mpi, threads: int) -> None:
    lines = [*_for(mpi, _lines()), *_written()]
    all_are_right(lines, _measured(tmp_path, mpi, 2, threads, lines)[0])


def _words() -> Iterator[str]:
    """All threads at one word, with every call for which MPI defines what comes of that."""
    epochs, windows = itertools.cycle(_EPOCHS), itertools.cycle(_WINDOWS)
    for call, operator in itertools.product(
        ("accumulate", "get_accumulate", "fetch_and_op"),
        ("sum", "replace", "min", "bxor type=int"),
    ):
        size = _size(call)
        yield f"op=mpi.mt.{call} operator={operator} {next(epochs)} window={next(windows)} target=word{size}"
    yield "op=mpi.mt.get_accumulate operator=no_op bytes=16 target=word"
    yield "op=mpi.mt.raccumulate.bandwidth calls=3 bytes=16 target=word"
    yield "op=mpi.mt.rget_accumulate.bibandwidth calls=3 per=call bytes=16 target=word"
    yield "op=mpi.mt.get.bandwidth calls=3 bytes=16 target=word"
    for swaps in ("always", "never"):
        yield f"op=mpi.mt.compare_and_swap window=create swaps={swaps} target=word"


@pytest.mark.ours
def test_threads_that_share_a_word_come_in_some_order(tmp_path: Path, mpi: Mpi) -> None:
    """A spoilt word is found where a rank has received one; the sentence names a thread that cannot be."""
    lines = _for(mpi, _words())
    plants = [f"{line} plant={rank}" for rank in (0, 1) for line in lines if rank in _receives(line)]
    ends, _ = _measured(tmp_path, mpi, 2, 2, [*lines, *plants])
    for line, end in zip([*lines, *plants], ends, strict=True):
        if "plant" not in line:
            assert (end.status, end.why, end.verified) == ("ok", None, True), line
            continue
        assert (end.status, end.verified) == ("failed", False), line
        assert (end.why or "").startswith(f"wrong: rank {line[-1]}: "), line
        assert "should be" in (end.why or ""), line


def test_more_threads_and_ranks_than_cores(tmp_path: Path, mpi: Mpi) -> None:
    """Four threads of each rank; the third rank has no part in it."""
    if mpi.family == "mpich":
        pytest.skip("threads of MPICH spin on cores that others wait for; Open MPI does this")
    lines = [
        f"op=mpi.mt.{call} {layout}{_size(call)}" for call, layout in zip(_CALLS, _LAYOUTS * 3, strict=False)
    ]
    all_are_right(lines, _measured(tmp_path, mpi, 3, 4, lines)[0])


def test_every_call_has_its_form_for_threads(one_mpi: Mpi) -> None:
    """One row of the table of calls gives both; those of many ranks, a ping-pong and
    loads and stores without a call are for one thread.
    """
    ops = {op.name: op for op in describe(engine_of(one_mpi)).ops if op.family == "one-sided"}
    for_one = (".pattern", ".halo", ".pingpong", "mpi.shared.load", "mpi.shared.store")
    ops = {name: op for name, op in ops.items() if not name.endswith(for_one)}
    alone = {name.removeprefix("mpi.") for name in ops if not name.startswith("mpi.mt.")}
    assert alone == {name.removeprefix("mpi.mt.") for name in ops if name.startswith("mpi.mt.")}
    assert {f"mpi.{call}" for call in (*_CALLS, *_SINGLES)} <= ops.keys()
    for name in alone:
        assert {row.name for row in ops[f"mpi.{name}"].params} < {
            row.name for row in ops[f"mpi.mt.{name}"].params
        }
        assert ops[f"mpi.mt.{name}"].thread_level == "multiple"


def _receives(line: str) -> tuple[int, ...]:
    call = line.split()[0].removeprefix("op=mpi.mt.").partition(".")[0]
    if "bibandwidth" in line or call in (
        "get_accumulate",
        "rget_accumulate",
        *_SINGLES,
    ):
        return (0, 1)
    return (0,) if call in ("get", "rget") else (1,)


@pytest.mark.ours
@pytest.mark.parametrize("rank", [0, 1])
def test_a_bit_flipped_in_one_thread_is_found(tmp_path: Path, mpi: Mpi, rank: int) -> None:
    """What the last of two threads moved is spoilt, and the sentence says that it is that one's."""
    lines = _for(mpi, itertools.islice(_lines(), rank, None, 2))
    ends, _ = _measured(tmp_path, mpi, 2, 2, [f"{line} plant={rank}" for line in lines])
    for line, end in zip(lines, ends, strict=True):
        if rank in _receives(line):
            assert (end.status, end.verified) == ("failed", False), line
            assert (end.why or "").startswith(f"wrong: rank {rank}: thread 1: "), line
            assert "should be" in (end.why or ""), line
        else:
            assert (end.status, end.verified) == ("ok", True), line


def test_a_target_that_is_away_and_what_is_complete_before_it_is_back(tmp_path: Path, mpi: Mpi) -> None:
    """Calls are counted only where the target leaves MPI, at the origin alone, and each at most once."""
    aways = ("computes", "sleeps")
    layouts = (
        "windows=one sync=lock_all complete=flush",
        "windows=thread comms=one sync=lock complete=close",
    )
    lines = [
        f"op=mpi.mt.put bytes=8 away_us=100 target_does={away} {layout}"
        for away in aways
        for layout in layouts
    ]
    lines += ["op=mpi.mt.get bytes=8 target_does=polls", "op=mpi.mt.get bytes=8"]
    threads = 1 if mpi.family == "mpich" else 2  # they spin on cores that others wait for
    ends, records = _measured(tmp_path, mpi, 2, threads, lines)
    assert [(end.status, end.why, end.verified) for end in ends] == [("ok", None, True)] * len(lines)
    counts = {record.point: record.counts for record in records if isinstance(record, Obs)}
    for point in range(4):
        (begun, at_target), (early, _) = (
            [row[0] for row in counts[point][name]] for name in ("begun", "early")
        )
        assert 1 <= begun <= 2 * threads  # of two repetitions
        assert 0 <= early <= begun
        assert at_target == 0
    assert counts[4] == counts[5] == {}


# What cannot be -> words of the sentence.
_REFUSED = {
    "op=mpi.mt.put sync=fence bytes=8": "of locks alone, and sync=fence completes mpi.mt.put by closing",
    "op=mpi.mt.put windows=thread target=line bytes=8": "windows=thread gives each thread memory of its own",
    "op=mpi.mt.rput windows=one target=word bytes=8": "MPI leaves undefined what is there after MPI_Rput",
    "op=mpi.mt.accumulate target=word bytes=72": "of at most 64 bytes, not 72; give --bytes 8",
    "op=mpi.mt.get windows=thread target=word bytes=8": "memory of its own, which target=word has none of",
    "op=mpi.mt.put sync=fence complete=close target_does=sleeps bytes=8": "target_does=sleeps is for locks",
    "op=mpi.mt.rput sync=pscw complete=close bytes=8": "give sync=lock, lock_shared or lock_all",
    "op=mpi.mt.put.bandwidth calls=65536 bytes=1Gi": "memory",
}


@pytest.mark.ours
def test_what_cannot_be_is_refused_in_a_sentence(tmp_path: Path, one_mpi: Mpi) -> None:
    ends, _ = _measured(tmp_path, one_mpi, 2, 2, list(_REFUSED))
    all_are_refused(_REFUSED, ends)


def test_a_record_says_what_all_threads_move_and_when_they_were_done(tmp_path: Path, one_mpi: Mpi) -> None:
    lines = [
        "op=mpi.mt.put bytes=7",
        "op=mpi.mt.get.bibandwidth calls=3 bytes=7",
        "op=mpi.mt.fetch_and_op",
    ]
    lines += ["op=mpi.mt.put bytes=7 windows=thread phases=on"]
    _, records = _measured(tmp_path, one_mpi, 2, 2, lines)
    points = [record for record in records if isinstance(record, Point)]
    assert [(point.role, point.moved_bytes, point.work) for point in points] == [
        ("latency", 14, 2),
        ("bandwidth", 84, 12),
        ("latency", 0, 2),
        ("latency", 14, 2),
    ]
    (phases,) = [record for record in records if isinstance(record, Phases)]
    assert phases.point == 3
    assert [phase.name for phase in phases.phases] == [
        "first thread",
        "middle thread",
        "last thread",
    ]
    assert all(ns > 0 for ns in phases.phases[0].ns[:2])
    (lanes,) = [record for record in records if isinstance(record, Lanes)]
    assert (lanes.point, lanes.reps) == (3, 2)
    assert np.array(lanes.stop_ns).shape == (2, 2)
    assert (np.array(lanes.stop_ns) > np.array(lanes.start_ns)).all()
