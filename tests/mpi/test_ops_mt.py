"""Several threads of each rank in MPI at once: every op of them, in many numbers of ranks and of threads."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import msgspec
import numpy as np
import pytest

from campaigns import plan_of, run_plan, setup_of
from points import describe, engine_of, measure, points_once
from steelyard.engines.mpi import Mpi, choose_mpi
from steelyard.records.read import read_folder
from steelyard.records.schema import End, Lanes, Obs, Phases
from steelyard.results.phases import summarise

_CHANNELS = ("pingpong", "pingping", "sendrecv", "bandwidth", "bibandwidth")


def _lines(mpi: Mpi) -> list[str]:
    """A point of each op of the family, and of each way to tell threads apart."""
    ops = [op for op in describe(engine_of(mpi)).ops if op.family == "mt"]
    assert len(ops) > 25
    assert {op.thread_level for op in ops} == {"multiple"}
    lines = [f"op={op.name} bytes=24" if op.sized else f"op={op.name}" for op in ops]
    lines += [f"op=mpi.mt.{name} bytes=9 channel=tags" for name in _CHANNELS]
    lines += ["op=mpi.mt.pingpong bytes=9 channel=tags match=any_source", "op=mpi.mt.pingpong bytes=100001"]
    lines += ["op=mpi.mt.pingpong bytes=9 match=any recv=irecv", "op=mpi.mt.allreduce bytes=24 operator=user"]
    lines += ["op=mpi.mt.short bytes=8 other_bytes=3", "op=mpi.mt.pingpong bytes=8 phases=on"]
    return lines


def _ends(tmp_path: Path, mpi: Mpi, ranks: int, threads: int, lines: Sequence[str]) -> list[End]:
    lines = [f"{line} threads={threads} method=batch reps=2 rule=fixed count=1" for line in lines]
    records = measure(engine_of(mpi), ranks, threads, lines, tmp_path / "out.jsonl")
    return sorted((record for record in records if isinstance(record, End)), key=lambda end: end.point)


@pytest.mark.parametrize(
    ("ranks", "threads"), [(1, 2), (2, 1), (2, 2), (3, 2), (4, 2), (5, 2), (7, 2), (8, 2)]
)
def test_all_threads_get_what_they_should(tmp_path: Path, mpi: Mpi, ranks: int, threads: int) -> None:
    lines = _lines(mpi) if ranks < 3 else points_once(mpi, _lines(mpi))
    ends = _ends(tmp_path, mpi, ranks, threads, lines)
    for line, end in zip(lines, ends, strict=True):
        if end.status == "skipped":
            assert ranks == 1, (line, end.why)
            assert "needs 2 ranks" in (end.why or "")
        else:
            assert (end.status, end.why, end.verified) == ("ok", None, True), line


@pytest.mark.ours
@pytest.mark.parametrize("rank", [0, 1])
def test_a_bit_flipped_in_one_thread_is_found(tmp_path: Path, mpi: Mpi, rank: int) -> None:
    """What the last of two threads received is spoilt."""
    lines = points_once(mpi, _lines(mpi))
    ends = _ends(tmp_path, mpi, 2, 2, [f"{line} plant={rank}" for line in lines])
    receives_at = {"reduce": 0, "gather": 0, "gatherv": 0, "bcast": 1, "exscan": 1, "bandwidth": 1}
    receives_at |= {"message_rate": 1}
    for line, end in zip(lines, ends, strict=True):
        name = line.split()[0].removeprefix("op=mpi.mt.")
        if name == "barrier" or receives_at.get(name, rank) != rank:
            assert (end.status, end.verified) == ("ok", True), line
            continue
        assert (end.status, end.verified) == ("failed", False), line
        assert (end.why or "").startswith(f"wrong: rank {rank}: "), line
        if name not in ("serve", "short"):
            assert "thread 1: " in (end.why or ""), line


def test_long_messages_of_other_threads_are_checked(tmp_path: Path, one_mpi: Mpi) -> None:
    """Rank 2 receives nothing else, in both of its other threads; the last message is spoilt."""
    long = "op=mpi.mt.short bytes=8 other_bytes=100001 other_to=third"
    tmp_path.joinpath("few").mkdir()
    good, bad = _ends(tmp_path, one_mpi, 3, 3, [long, f"{long} plant=2"])
    assert (good.status, good.verified) == ("ok", True)
    assert (bad.status, bad.verified) == ("failed", False)
    assert (bad.why or "").startswith("wrong: rank 2: ")
    (few,) = _ends(tmp_path.joinpath("few"), one_mpi, 2, 2, [long])
    assert few.status == "skipped"
    assert "other_to=third sends long messages to rank 2; give 3 ranks, not 2" in (few.why or "")


def test_what_is_promised_of_a_communicator_is_kept_with_what_the_library_has(
    tmp_path: Path, mpi: Mpi
) -> None:
    words = ("no_any_tag", "no_any_source", "exact_length", "allow_overtaking")
    ends = _ends(tmp_path, mpi, 2, 2, [f"op=mpi.mt.bandwidth bytes=9 assert={word}" for word in words])
    for word, end in zip(words, ends, strict=True):
        assert (end.status, end.why, end.verified) == ("ok", None, True), word
        assert end.hint is not None
        assert (end.hint.key, end.hint.asked) == (f"mpi_assert_{word}", "true")
        assert end.hint.has in (None, "true", "false")


def test_how_alike_threads_are_served(tmp_path: Path, one_mpi: Mpi) -> None:
    """Stamps of when the first thread is done, half of them, the last; only if asked for."""
    words = "op=mpi.mt.pingpong bytes=8 threads=2 method=batch reps=1 rule=fixed count=4"
    lines = [f"{words} phases=on", words]
    records = measure(engine_of(one_mpi), 2, 2, lines, tmp_path / "out.jsonl")
    found = [record for record in records if isinstance(record, Phases)]
    assert {record.point for record in found} == {0}
    row = summarise(found, 1)
    assert row is not None
    first, middle, last = row.phases
    assert (first.name, middle.name, last.name) == ("first thread", "middle thread", "last thread")
    assert first.calls == middle.calls == last.calls == 1  # and not the untimed repetition before a short one
    assert first.median > 0
    assert middle.median == 0  # half of two threads is the first
    assert last.median >= 0
    took = [
        np.subtract(one.stop_ns, one.start_ns) for one in records if isinstance(one, Obs) and one.point == 0
    ]
    inside = [np.sum([phase.ns for phase in one.phases], axis=0) for one in found]
    assert all((chunk.sum(axis=1) >= spent).all() for chunk, spent in zip(took, inside, strict=True))
    (lanes,) = (record for record in records if isinstance(record, Lanes))
    assert (lanes.point, lanes.reps) == (0, 4)  # of the samples, and of nothing before them
    stops = np.array(lanes.stop_ns)
    assert stops.shape == (2, 2)
    assert (stops > np.array(lanes.start_ns)).all()
    assert (stops.max(axis=1) <= np.sum(inside, axis=0)).all()  # each rank's last thread in each sample


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        ("channel=tags match=any_tag", "give channel=comms"),
        ("channel=tags match=any", "give channel=comms"),
        ("assert=exact_length channel=tags", "with channel=tags no thread has one; give channel=comms"),
        ("assert=no_any_tag match=any", "assert=no_any_tag is not true of match=any; give match=exact"),
        ("send=bsend", "one buffer for the whole process, not one for each of 2 threads; give another call"),
    ],
)
def test_what_threads_cannot_share_is_refused(
    tmp_path: Path, one_mpi: Mpi, words: str, sentence: str
) -> None:
    (end,) = _ends(tmp_path, one_mpi, 2, 2, [f"op=mpi.mt.pingpong bytes=8 {words}"])
    assert end.status == "skipped"
    assert sentence in (end.why or "")


_HANGS = "sendrecv"  # MPICH 5.0.2 waits for ever in MPI_Sendrecv on a communicator of a stream
_STREAMS = [f"op=mpi.mt.{name} bytes=9 channel=streams" for name in _CHANNELS if name != _HANGS]


@pytest.mark.further
def test_each_thread_has_a_stream_where_the_library_reserves_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    # its own mpi.h has streams, the header of the standard ABI has not
    mpi = msgspec.structs.replace(choose_mpi("embedded"), abi=False)
    (refused,) = _ends(tmp_path, mpi, 2, 2, _STREAMS[:1])
    assert refused.status == "skipped"
    assert "give --env MPIR_CVAR_CH4_RESERVE_VCIS=2" in (refused.why or "")
    monkeypatch.setenv("MPIR_CVAR_CH4_RESERVE_VCIS", "2")
    planted = [*_STREAMS, f"{_STREAMS[0]} plant=1"]
    again = tmp_path / "again"
    again.mkdir()
    *ends, last = _ends(again, mpi, 2, 2, planted)
    assert [(end.status, end.why, end.verified) for end in ends] == [("ok", None, True)] * len(_STREAMS)
    assert last.status == "failed"


# MPICH 5.0.2 dies in other calls on a thread communicator
_THREADCOMM = "channel=threadcomm bytes=9"
_THREADCOMMS = [f"op=mpi.mt.{name} {_THREADCOMM}" for name in _CHANNELS if name != "sendrecv"]
_NOT_THREADCOMM = [
    f"op=mpi.mt.sendrecv {_THREADCOMM}",
    *(f"{_THREADCOMMS[0]} {words}" for words in ("send=ssend", "recv=start", "match=any_tag", "match=any")),
]


@pytest.mark.further
@pytest.mark.parametrize(("ranks", "threads"), [(2, 1), (2, 2), (3, 3)])
def test_each_thread_has_a_rank_in_a_thread_communicator(tmp_path: Path, ranks: int, threads: int) -> None:
    mpi = msgspec.structs.replace(choose_mpi("embedded"), abi=False)
    sound = [*_THREADCOMMS, f"{_THREADCOMMS[0]} send=isend recv=irecv", f"{_THREADCOMMS[0]} buffer=same"]
    lines = [*sound, *_NOT_THREADCOMM, f"{_THREADCOMMS[0]} plant=1"]
    ends = _ends(tmp_path, mpi, ranks, threads, lines)
    count = len(sound)
    assert [(end.status, end.why, end.verified) for end in ends[:count]] == [("ok", None, True)] * count
    assert {end.status for end in ends[count:-1]} == {"skipped"}
    assert all("dies in other calls" in (end.why or "") for end in ends[count:-1])
    assert ends[-1].status == "failed"


@pytest.mark.parametrize(("line", "since"), [(_STREAMS[0], "4.1"), (_THREADCOMMS[0], "4.2")])
def test_a_library_without_an_extension_of_mpich_says_so(
    tmp_path: Path, one_mpi: Mpi, line: str, since: str
) -> None:
    (end,) = _ends(tmp_path, one_mpi, 2, 2, [line])
    why = "the standard ABI of MPI has none" if one_mpi.abi else f"which MPICH alone has, from {since} on"
    assert (end.status, why in (end.why or "")) == ("skipped", True)


def test_the_level_is_asked_for_and_a_lower_one_refused(tmp_path: Path, mpi: Mpi) -> None:
    """Nobody names it: multiple; somebody names a lower one: the point is skipped and says why."""
    plan = plan_of("mpi.mt.pingpong", ranks=2, mpi=(mpi.name,))
    for level, status, words in (
        (None, "ok", ""),
        ("funneled", "skipped", "was provided MPI_THREAD_FUNNELED; give --thread-level multiple"),
    ):
        measure = msgspec.structs.replace(plan.measure[0], bytes=8, threads=2, thread_level=level)
        out = tmp_path / str(level)
        run_plan(out, msgspec.structs.replace(plan, measure=(measure,)), setup_of(mpi))
        ((file, run),) = [(file, run) for file in read_folder(out) for run in file.points]
        assert run.end is not None
        assert file.launch is not None
        assert file.launch.mpi is not None
        assert file.launch.mpi.thread_level == (level or "multiple")
        assert run.end.status == status
        assert words in (run.end.why or "")
