"""Collectives: every choice of every parameter, verified; what is refused; and what a flipped bit shows."""

from __future__ import annotations

from pathlib import Path

import pytest

from points import describe, engine_of, measure, points_of, points_once
from steelyard.engines.mpi import Mpi
from steelyard.records.schema import End, Obs, Point

_FAMILIES = ("coll", "neighbour", "mock")

# Points, and how many ranks they need. Between them they have every word of every parameter.
_CHOICES = (
    ("mpi.allreduce inplace=yes operator=sum type=complex", 1),
    ("mpi.allreduce operator=user", 1),
    ("mpi.iallreduce operator=prod type=int groups=2", 2),
    ("mpi.allreduce operator=min type=long arrival=ramp delay_us=20", 1),
    ("mpi.reduce operator=max type=float roots=rotate", 1),
    ("mpi.reduce operator=user type=int roots=rotate inplace=yes groups=2 split=cyclic", 2),
    ("mpi.ireduce operator=land type=bool root=1", 2),
    ("mpi.reduce_scatter operator=user type=float counts=zipf", 1),
    ("mpi.reduce_scatter operator=lor type=int counts=heavy inplace=yes", 1),
    ("mpi.reduce_scatter type=int8 counts=whole", 1),
    ("mpi.ireduce_scatter operator=prod type=complex counts=random seed=7", 1),
    ("mpi.reduce_scatter_block operator=band type=byte inplace=yes", 1),
    ("mpi.reduce_scatter_block operator=user type=long arrival=late late_rank=0 delay_us=20", 1),
    ("mpi.scan operator=bor type=long inplace=yes", 1),
    ("mpi.allreduce operator=user type=short", 1),
    ("mpi.scan operator=sum type=int8", 1),
    ("mpi.allreduce operator=minloc type=double_int", 1),
    ("mpi.scan operator=maxloc type=int_int", 1),
    ("mpi.allreduce type=float16", 1),
    ("mpi.reduce type=bfloat16", 1),
    ("mpi.reduce operator=min type=int8", 1),
    ("mpi.scan operator=user arrival=ramp_down delay_us=20", 1),
    ("mpi.exscan operator=user inplace=yes type=int", 1),
    ("mpi.iexscan operator=bxor type=byte groups=3 split=cyclic", 3),
    ("mpi.exscan operator=lxor type=bool", 1),
    ("mpi.bcast roots=rotate type=complex arrival=random delay_us=20", 1),
    ("mpi.ibcast root=1 type=char", 2),
    ("mpi.gather inplace=yes roots=rotate type=double", 1),
    ("mpi.scatter inplace=yes root=1 type=bool", 2),
    ("mpi.iscatter roots=rotate inplace=yes type=float", 1),
    ("mpi.gatherv inplace=yes counts=heavy roots=rotate", 1),
    ("mpi.igatherv counts=zipf type=long root=1", 2),
    ("mpi.scatterv counts=random seed=3 roots=rotate inplace=yes", 1),
    ("mpi.allgather inplace=yes groups=2", 2),
    ("mpi.allgatherv counts=zipf inplace=yes type=int", 1),
    ("mpi.iallgatherv counts=heavy groups=2 split=cyclic", 2),
    ("mpi.alltoall inplace=yes groups=2", 2),
    ("mpi.alltoallv counts=zipf arrival=random delay_us=20", 1),
    ("mpi.alltoallv inplace=yes", 1),
    ("mpi.ialltoallw counts=random type=double groups=2", 2),
    ("mpi.alltoallw counts=heavy", 1),
    ("mpi.reduce_local operator=user type=double", 1),
    ("mpi.reduce_local operator=prod type=complex", 1),
    ("mpi.barrier groups=2 split=cyclic arrival=late delay_us=20", 2),
    ("mpi.neighbor_allgather topology=ring", 2),
    ("mpi.neighbor_allgatherv topology=random degree=1 counts=zipf", 2),
    ("mpi.ineighbor_allgather topology=cart periodic=no dims=1 radius=2 type=int", 2),
    ("mpi.neighbor_alltoall topology=cart dims=3 arrival=late delay_us=20", 2),
    ("mpi.neighbor_alltoallv topology=random degree=2 seed=4 counts=heavy", 3),
    ("mpi.ineighbor_alltoallv topology=cart counts=random groups=2", 4),
    ("mpi.neighbor_alltoallw topology=ring counts=zipf", 2),
    ("mpi.allreduce buffers=3 align=8 pages=small", 1),
    ("mpi.bcast roots=rotate buffers=2 align=1", 1),
    ("mpi.ialltoallv buffers=4 counts=zipf align=4095", 1),
    ("mpi.reduce_scatter buffers=2 counts=heavy inplace=yes arrival=ramp delay_us=20", 1),
    ("mpi.mock.reduce_by_gather_reduce_local operator=user type=int roots=rotate", 1),
    ("mpi.mock.reduce_by_reduce_scatter_block_gather operator=user type=int8 roots=rotate buffers=2", 1),
    ("mpi.mock.reduce_by_reduce_scatter_gatherv operator=user type=short groups=2 split=cyclic", 2),
    ("mpi.mock.reduce_by_halves operator=max type=float root=1", 2),
    ("mpi.mock.allreduce_by_allgather_reduce_local operator=user", 1),
    ("mpi.mock.allreduce_by_reduce_scatter_block_allgather operator=user type=long groups=2", 2),
    ("mpi.mock.reduce_scatter_block_by_alltoall_reduce_local operator=user type=int", 1),
    ("mpi.mock.reduce_scatter_by_reduce_scatterv operator=user type=int8 counts=zipf", 1),
    ("mpi.mock.reduce_scatter_by_allreduce operator=user type=float counts=heavy", 1),
    ("mpi.mock.scan_by_exscan_reduce_local operator=user type=int groups=2", 2),
    ("mpi.mock.exscan_by_scan_sendrecv operator=user", 1),
    ("mpi.mock.bcast_by_scatter_allgather roots=rotate", 1),
    ("mpi.mock.bcast_by_scatterv_allgatherv roots=rotate type=int", 1),
    ("mpi.mock.bcast_by_allgatherv roots=rotate type=complex buffers=2", 1),
    ("mpi.mock.gather_by_reduce roots=rotate type=double", 1),
    ("mpi.mock.gather_by_messages roots=rotate", 1),
    ("mpi.mock.gatherv_by_messages counts=heavy root=1 type=int", 2),
    ("mpi.mock.scatter_by_messages roots=rotate groups=2", 2),
    ("mpi.mock.scatter_by_bcast root=1 type=complex", 2),
    ("mpi.mock.allgatherv_by_gatherv_bcast counts=zipf", 1),
    ("mpi.mock.alltoallv_by_messages counts=random groups=2 split=cyclic", 2),
)
# May be missing on a machine: see test_cache.py, test_buffers.c; needs a file: see test_arrivals.py.
_ELSEWHERE = ("pages=huge", "node=near", "node=far", "arrival=file")
# Of MPI 4: in persistent form, broken for some in MPICH 4.0, and with large counts.
_OF_MPI_4 = (
    ("mpi.allreduce_init operator=user inplace=yes groups=2", 2),
    ("mpi.bcast_init roots=rotate arrival=random delay_us=20", 1),
    ("mpi.reduce_init roots=rotate operator=user type=int", 1),
    ("mpi.alltoallv_init counts=zipf", 1),
    ("mpi.scatterv_init counts=heavy roots=rotate inplace=yes", 1),
    ("mpi.reduce_scatter_init buffers=3 counts=zipf", 1),
    ("mpi.neighbor_alltoallv_init topology=random degree=1 counts=random", 2),
    ("mpi.bcast_c type=contiguous", 1),
    ("mpi.alltoall_c type=last_first", 1),
)
_REFUSED = (
    ("mpi.bcast root=2 bytes=8", "root=2 is no rank among 2; choose one from 0 to 1"),
    ("mpi.bcast root=1 groups=2 bytes=8", "root=1 is no rank among 1"),
    ("mpi.barrier groups=3", "groups=3 need as many ranks, there are 2; ask for fewer groups"),
    ("mpi.barrier arrival=file", "arrival=file replays delays from a file; give --arrivals FILE"),
    ("mpi.barrier arrival=late late_rank=2", "late_rank=2 is no rank among 2"),
    ("mpi.allreduce operator=band bytes=8", "MPI does not define operator=band for type=double"),
    ("mpi.scan operator=sum type=char bytes=8", "MPI does not define operator=sum for type=char"),
    ("mpi.reduce operator=user type=bool bytes=8", "there is no operator=user for type=bool"),
    ("mpi.reduce_local operator=max type=complex bytes=16", "does not define operator=max for type=complex"),
    ("mpi.allreduce align=4 bytes=8", "align=4 of mpi.allreduce is no multiple of an element's 8 bytes"),
    ("mpi.reduce_local align=9 bytes=8", "align=9 of mpi.reduce_local is no multiple of an element's 8"),
    ("mpi.reduce_local bytes=7", "7 bytes are no multiple of 8"),
    ("mpi.gather type=int bytes=6", "takes type=int: 6 bytes are no multiple of 4; choose another size"),
    ("mpi.alltoallv inplace=yes counts=zipf bytes=8", "use counts=even"),
    ("mpi.neighbor_alltoall topology=random degree=2 bytes=8", "degree=2 needs more ranks than 2"),
    ("mpi.neighbor_alltoall groups=2 bytes=8", "a group of one rank has no neighbours"),
    ("mpi.allgatherv bytes=1Gi type=byte counts=zipf", "2147483648"),
)
_NARROW = "this MPI has no numbers of type="  # of 16 bits, which MPICH has, but not through the standard ABI
# Points on two ranks in which rank 0 receives something although the root, as a rule, does not.
_PLANTED = (
    "mpi.bcast roots=rotate",
    "mpi.scatter inplace=yes",
    "mpi.scatterv inplace=yes counts=heavy",
    "mpi.allreduce operator=user inplace=yes",
    "mpi.allreduce operator=land type=bool",
    "mpi.reduce roots=rotate operator=prod type=complex",
    "mpi.exscan groups=1 inplace=yes operator=bxor type=byte",
    "mpi.allgather inplace=yes",
    "mpi.alltoallw counts=random inplace=no",
    "mpi.allgather groups=2",
    "mpi.alltoall buffers=3 align=5",
    "mpi.neighbor_allgatherv topology=ring counts=random",
)


def _lines(points: tuple[tuple[str, int], ...]) -> list[str]:
    return [
        f"op={words} rule=fixed count=1 method=batch reps=1"
        f"{'' if 'barrier' in words.split()[0] else ' bytes=48'}"
        for words, _ in points
    ]


@pytest.mark.parametrize("ranks", [5, 7, 8])
def test_every_collective_gives_right_answers_on_more_ranks(tmp_path: Path, mpi: Mpi, ranks: int) -> None:
    """In each form, as test_ops.py does on up to 4."""
    engine = engine_of(mpi)
    ops = [op for op in describe(engine).ops if op.family in _FAMILIES and op.available]
    lines = points_of(mpi, ranks, _lines(tuple((op.name, 1) for op in ops)))
    records = measure(engine, ranks, 1, lines, tmp_path / "out.jsonl")
    ends = [record for record in records if isinstance(record, End)]
    assert [(end.status, end.why) for end in ends] == [("ok", None)] * len(lines)


@pytest.mark.parametrize("ranks", [1, 2, 3, 4, 5, 7, 8])
def test_every_choice_gives_right_answers(tmp_path: Path, mpi: Mpi, ranks: int) -> None:
    engine = engine_of(mpi)
    available = {op.name for op in describe(engine).ops if op.available}
    points = _CHOICES + tuple(point for point in _OF_MPI_4 if point[0].split()[0] in available)
    least_of = dict(zip(_lines(points), (least for _, least in points), strict=True))
    lines = points_of(mpi, ranks, [*least_of])
    records = measure(engine, ranks, 1, lines, tmp_path / "out.jsonl")
    ends = {record.point: record for record in records if isinstance(record, End)}
    assert ends.keys() == set(range(len(lines)))
    for index, line in enumerate(lines):
        end, least = ends[index], least_of[line]
        if _NARROW in (end.why or ""):
            continue
        assert (end.status, end.verified) == (("ok", True) if ranks >= least else ("skipped", False)), (
            line,
            end.why,
        )


def test_every_word_is_tried(one_mpi: Mpi) -> None:
    """The table above has each word of each parameter that a collective has."""
    engine = engine_of(one_mpi)
    choices = (*_CHOICES, *_OF_MPI_4)
    tried = {word for words, _ in choices for word in words.split()[1:]} | {*_ELSEWHERE}
    for op in describe(engine).ops:
        if op.family not in _FAMILIES:
            continue
        for param in op.params:
            for word in param.words:
                usual = word == param.default
                assert usual or f"{param.name}={word}" in tried, (op.name, param.name, word)


_ROLES = {
    *("call", "latency", "bandwidth", "rate", "collective"),
    *("pattern", "overlap", "kernel", "noise", "instrument", "work", "fault", "file"),
}


def test_an_op_says_of_what_it_is_a_form_and_what_its_value_is(one_mpi: Mpi) -> None:
    engine = engine_of(one_mpi)
    ops = {op.name: op for op in describe(engine).ops}
    assert {op.role for op in ops.values()} == _ROLES
    forms = {name: (op.base, op.form, op.role) for name, op in ops.items()}
    assert forms["mpi.bcast"] == ("mpi.bcast", "blocking", "collective")
    assert forms["mpi.ibcast"] == ("mpi.bcast", "nonblocking", "collective")
    assert forms["mpi.neighbor_alltoallw_init"] == ("mpi.neighbor_alltoallw", "persistent", "collective")
    assert forms["mpi.overlap.ibcast"] == ("mpi.overlap.bcast", "nonblocking", "overlap")
    assert forms["mpi.mt.bcast"] == ("mpi.mt.bcast", "blocking", "collective")
    assert forms["mpi.pingpong"] == ("mpi.pingpong", "blocking", "latency")
    # each form but the blocking one has its fellow of the same role, or is an overlap, which has none
    for name, (base, form, role) in forms.items():
        assert form == "blocking" or role == "overlap" or forms[base] == (base, "blocking", role), name
    layers = {(op.role, op.layer) for op in ops.values() if op.layer}
    for role in ("latency", "bandwidth"):
        assert [op.name for op in ops.values() if (op.role, op.layer) == (role, "mpi")] == [
            {"latency": "mpi.pingpong", "bandwidth": "mpi.bandwidth"}[role]
        ]
        assert {(role, layer) for layer in ("shared memory", "pipe", "network")} < layers


def test_a_record_says_what_the_number_of_a_point_is(tmp_path: Path, one_mpi: Mpi) -> None:
    lines = [
        f"op={words} rule=fixed count=3"
        for words in (
            "mpi.ibcast method=batch",
            "mpi.pingpong method=batch",
            "mpi.bcast method=ack",
            "mpi.scan method=trigger-ack",
        )
    ]
    records = measure(engine_of(one_mpi), 2, 1, lines, tmp_path / "out.jsonl")
    said = [(r.base, r.form, r.role, r.layer, r.nature, r.bound) for r in records if isinstance(r, Point)]
    assert said == [
        ("mpi.bcast", "nonblocking", "collective", None, "throughput, not latency", None),
        ("mpi.pingpong", "blocking", "latency", "mpi", None, None),
        ("mpi.bcast", "blocking", "collective", None, "a lower bound", "lower"),
        ("mpi.scan", "blocking", "collective", None, "the time along one path", None),
    ]


@pytest.mark.ours
def test_what_cannot_be_is_refused_in_a_sentence(tmp_path: Path, one_mpi: Mpi) -> None:
    lines = [f"op={words} rule=fixed count=1" for words, _ in _REFUSED]
    records = measure(engine_of(one_mpi), 2, 1, lines, tmp_path / "out.jsonl")
    ends = [record for record in records if isinstance(record, End)]
    for end, (words, sentence) in zip(ends, _REFUSED, strict=True):
        assert end.status == "skipped", words
        assert sentence in (end.why or ""), words


@pytest.mark.ours
@pytest.mark.parametrize("rank", [0, 1])
def test_a_flipped_bit_is_found_with_every_choice(tmp_path: Path, mpi: Mpi, rank: int) -> None:
    lines = [f"op={words} bytes=48 rule=fixed count=1 method=barrier plant={rank}" for words in _PLANTED]
    lines = points_once(mpi, lines)
    records = measure(engine_of(mpi), 2, 1, lines, tmp_path / "out.jsonl")
    ends = [record for record in records if isinstance(record, End)]
    for end, words in zip(ends, _PLANTED, strict=True):
        if rank == 0 and "exscan" in words:
            assert end.status == "ok"
            continue
        assert (end.status, end.verified) == ("failed", False), words
        assert (end.why or "").startswith(f"wrong: rank {rank}: "), words


def test_nobody_leaves_before_the_late_rank_has_come(tmp_path: Path, one_mpi: Mpi) -> None:
    """A barrier lasts at least as long as the last rank lets the others wait, on every rank."""
    delay_us = 3000
    lines = [
        f"op=mpi.barrier rule=fixed count=3 method=barrier arrival={pattern} delay_us={delay_us}"
        for pattern in ("late", "ramp", "ramp_down", "random")
    ]
    lines.append("op=mpi.barrier rule=fixed count=3 method=barrier")
    records = measure(engine_of(one_mpi), 2, 1, lines, tmp_path / "out.jsonl")
    # Rank 0 may start later than rank 1 by what the method's own barrier leaves; not by half of the delay.
    for record in records:
        if isinstance(record, Obs) and record.point < 4:
            last = [max(stops) for stops in zip(*record.stop_ns, strict=True)]
            first = [min(starts) for starts in zip(*record.start_ns, strict=True)]
            assert all(b - a > delay_us * 1000 / 2 for a, b in zip(first, last, strict=True))


def test_mpich_4_forgets_the_sends_of_a_rank_that_receives_nothing(tmp_path: Path, mpi: Mpi) -> None:
    """MPICH 4.0 takes the first receive count for the whole, and there is none: what verification finds."""
    if mpi.family != "mpich" or not mpi.version.startswith("4.0."):
        pytest.skip("of MPICH 4.0")
    line = "op=mpi.neighbor_alltoallw topology=random degree=1 bytes=8 rule=fixed count=1 method=barrier"
    records = measure(engine_of(mpi), 3, 1, [line], tmp_path / "out.jsonl")
    (end,) = (record for record in records if isinstance(record, End))
    assert (end.status, end.verified) == ("failed", False)
    assert "byte 0 of block 0 from rank 0 is 0xa5" in (end.why or "")


def test_a_method_that_follows_the_root_is_refused_where_it_is_another(tmp_path: Path, one_mpi: Mpi) -> None:
    others = ("root=1", "roots=rotate", "groups=2", "arrival=late")
    lines = [f"op=mpi.bcast bytes=8 method=bisected-ack rule=fixed count=2 {more}" for more in ("", *others)]
    records = measure(engine_of(one_mpi), 2, 1, lines, tmp_path / "out.jsonl")
    first, *ends = (record for record in records if isinstance(record, End))
    assert first.status == "ok"
    assert [end.status for end in ends] == ["skipped"] * len(others)
    for end in ends:
        assert "the method bisected-ack needs rank 0 as the root and one group" in (end.why or "")
