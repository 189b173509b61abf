"""Many ranks at once: every layout under every kind of traffic, at odd and prime numbers of ranks."""

from __future__ import annotations

from pathlib import Path

import pytest

from points import engine_of, measure, points_of
from steelyard.engines.build import describe
from steelyard.engines.mpi import Mpi
from steelyard.records.schema import End

_KINDS = ("pingpong", "send", "exchange", "window", "biwindow")
_LAYOUTS = (
    "neighbours",
    "first_last",
    "bisection",
    "matching",
    "round_robin",
    "pair",
    "shift",
    "ring",
    "random_ring",
    "fan_in",
    "fan_out",
    "all",
)
_FIXED = "method=batch reps=1 rule=fixed count=1"


def _ends(engine_mpi: Mpi, ranks: int, lines: list[str], out: Path) -> list[End]:
    records = measure(engine_of(engine_mpi), ranks, 1, lines, out)
    ends = [record for record in records if isinstance(record, End)]
    assert len(ends) == len(lines)
    return ends


@pytest.mark.parametrize("ranks", [2, 3, 4, 5, 7, 8])
def test_every_layout_says_everything_right(tmp_path: Path, mpi: Mpi, ranks: int) -> None:
    own = {
        "round_robin": f" round={ranks - 1}",
        "pair": f" a={ranks - 1} b=0",
        "shift": f" d={ranks // 2}",
        "matching": " seed=7",
    }
    # Two kinds for each layout: other ones at each number of ranks, so that all are met.
    lines = [
        f"op=mpi.pattern.{layout} {_FIXED} bytes=7 kind={_KINDS[(i + ranks + more) % 5]} window=5 buffers=3"
        f"{own.get(layout, '')}"
        for i, layout in enumerate(_LAYOUTS)
        for more in (0, 2)
    ]
    lines += [
        f"op=mpi.pattern.pair {_FIXED} bytes=70000 kind=pingpong a=1 b=1",
        f"op=mpi.pattern.shift {_FIXED} bytes=70000 kind=window d=0",
        f"op=mpi.pattern.ring {_FIXED} bytes=0",
        f"op=mpi.pattern.ring {_FIXED} bytes=70000 kind=sendrecv",
        f"op=mpi.pattern.shift {_FIXED} bytes=7 kind=sendrecv d=0",
        f"op=mpi.pattern.all {_FIXED} bytes=7 kind=sendrecv",
        *(
            f"op=mpi.pattern.{layout} {_FIXED} bytes=70 kind=served window=5 buffers=3"
            for layout in ("fan_in", "fan_out", "all", "ring", "neighbours")
        ),
        *(f"op=mpi.pattern.{name} {_FIXED} bytes=70000 kind=isend" for name in ("ring", "all", "fan_in")),
    ]
    lines = points_of(mpi, ranks, lines)
    for line, end in zip(lines, _ends(mpi, ranks, lines, tmp_path / "out.jsonl"), strict=True):
        assert (end.status, end.why, end.verified) == ("ok", None, True), line


@pytest.mark.ours
def test_a_flipped_bit_is_found_in_messages_that_are_received_one_by_one(
    tmp_path: Path, one_mpi: Mpi
) -> None:
    forms = [(layout, kind) for layout in ("ring", "all") for kind in ("sendrecv", "isend")]
    lines = [f"op=mpi.pattern.{layout} {_FIXED} bytes=24 kind={kind} plant=1" for layout, kind in forms]
    for end in _ends(one_mpi, 3, lines, tmp_path / "out.jsonl"):
        assert (end.status, end.verified) == ("failed", False)
        assert (end.why or "").startswith("wrong: rank 1: byte 23 of block ")


@pytest.mark.ours
@pytest.mark.parametrize("rank", [0, 4])
def test_a_flipped_bit_is_found_in_every_layout(tmp_path: Path, one_mpi: Mpi, rank: int) -> None:
    lines = [
        f"op=mpi.pattern.{layout} {_FIXED} bytes=24 kind=biwindow window=3 buffers=2 plant={rank}"
        for layout in _LAYOUTS
    ]
    waits = {"pair": (4,), "bisection": (4,), "neighbours": (4,), "round_robin": (0,)}  # of 5 ranks
    for layout, end in zip(_LAYOUTS, _ends(one_mpi, 5, lines, tmp_path / "out.jsonl"), strict=True):
        if rank in waits.get(layout, ()) or (layout == "matching" and end.status == "ok"):
            assert end.verified, layout
        else:
            assert (end.status, end.verified) == ("failed", False), layout
            assert (end.why or "").startswith(f"wrong: rank {rank}: byte 23 of block 1"), layout


_REFUSED = {
    "op=mpi.pattern.pair bytes=8 a=1 b=3": "b=3 of mpi.pattern.pair is beyond the last of 3 ranks",
    "op=mpi.pattern.pair bytes=8 a=0.5": "a of mpi.pattern.pair is a whole number, not 0.5",
    "op=mpi.pattern.shift bytes=8 d=7": "d=7 of mpi.pattern.shift is beyond the last of 3 ranks",
    "op=mpi.pattern.round_robin bytes=8 round=4": "round=4 of mpi.pattern.round_robin is none of the",
    "op=mpi.pattern.fan_in bytes=8 kind=sendrecv": "each rank receives as many messages as it sends",
    "op=mpi.pattern.fan_in bytes=1Ti": "more than MPI's int count can say",
    "op=mpi.pattern.ring bytes=1Gi kind=biwindow window=65536 buffers=65536": "no room for a buffer of",
}


@pytest.mark.ours
def test_what_cannot_be_is_refused_in_a_sentence(tmp_path: Path, one_mpi: Mpi) -> None:
    lines = [f"{line} {_FIXED}" for line in (*_REFUSED, "op=mpi.pattern.ring bytes=8")]
    ends = _ends(one_mpi, 3, lines, tmp_path / "out.jsonl")
    for end, why in zip(ends, _REFUSED.values(), strict=False):
        assert end.status == "skipped"
        assert why in (end.why or "")
    assert ends[-1].status == "ok"


# Further victims and what loads the network beside them; the rank that gets something wrong, -1: the last.
_WRONG = (("halo", "put", -1), ("allreduce", "all", 0), ("halo", "all", 1), ("allreduce", "bcast", -1))


@pytest.mark.parametrize("ranks", [7, 8])
def test_a_victim_gets_its_answers_and_aggressors_theirs(tmp_path: Path, one_mpi: Mpi, ranks: int) -> None:
    """Messages one by one too: blocks that are and that are no multiple of a group of messages."""
    op = "op=mpi.pattern.victim rule=fixed bytes=7 traffic_bytes=70"
    lines = [
        *(
            f"{op} count=1 method=batch reps=1 traffic={word}"
            for word in ("all", "bisection", "fan_in", "none", "bcast", "put")
        ),
        *(f"{op.replace('victim', f'victim_{more}')} count=2 reps=1" for more in ("allreduce", "halo")),
        f"{op.replace('victim', 'victim_halo')} count=1 reps=3 traffic=put",
        f"{op} count=40 method=each",
        f"{op} count=3 method=each traffic=fan_in",
        f"{op} count=1 method=batch reps=1 plant=1",
        f"{op} count=1 method=batch reps=1 plant={ranks - 1}",
        *(
            f"{op.replace('victim', f'victim_{victim}')} count=1 plant={rank % ranks} traffic={word}"
            for victim, word, rank in _WRONG
        ),
        f"op=mpi.pattern.ring {_FIXED} bytes=8",
    ]
    *right, victim, aggressor, put, bits, edge, bcast, after = _ends(
        one_mpi, ranks, lines, tmp_path / "out.jsonl"
    )
    assert [(end.status, end.why, end.verified) for end in (*right, after)] == [("ok", None, True)] * 12
    assert "of the bits of all ranks is wrong" in (bits.why or "")
    assert "from rank 0 is " in (edge.why or "")
    assert f"wrong: rank {ranks - 1}: byte 69 of " in (bcast.why or "")
    assert f"wrong: rank {ranks - 1}: byte 69 of block 3 from " in (put.why or "")  # the last of a window
    assert (victim.why or "").startswith("wrong: rank 1: byte 6 of block 0 from rank 0 is ")
    assert (aggressor.why or "").startswith(f"wrong: rank {ranks - 1}: byte 69 of block ")


def test_single_calls_of_victims_need_calls_before_them(one_mpi: Mpi) -> None:
    methods = {op.name: op.methods for op in describe(engine_of(one_mpi)).ops if "victim" in op.name}
    assert {name for name, suits in methods.items() if "barrier" in suits} == {"mpi.pattern.victim"}
    assert methods["mpi.pattern.victim_halo"] == methods["mpi.pattern.victim_allreduce"] == ("batch",)


def test_a_victim_needs_aggressors(tmp_path: Path, one_mpi: Mpi) -> None:
    (end,) = _ends(one_mpi, 3, [f"op=mpi.pattern.victim {_FIXED} bytes=8"], tmp_path / "out.jsonl")
    assert "mpi.pattern.victim needs 4 ranks, there is 3" in (end.why or "")
