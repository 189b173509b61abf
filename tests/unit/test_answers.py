"""What analyses answer in the headline: the reader's words, and no number wider than its claim."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import msgspec
import pytest

from macro_rows import row
from steelyard.analyses.analysis import Made
from steelyard.analyses.congestion.answers import congestion_answers
from steelyard.analyses.congestion.model import NOT_SLOWED, SLOWED, Congestion
from steelyard.analyses.effective_bisection.answers import effective_bisection_answers
from steelyard.analyses.effective_bisection.model import EffectiveBisection
from steelyard.analyses.incast.answers import incast_answers
from steelyard.analyses.incast.model import CANNOT_TELL, COLLAPSES, HOLDS, Incast, Senders
from steelyard.analyses.layers.answers import layer_answers
from steelyard.analyses.layers.model import COSTS, ENGINE, NOT_SEEN, SAVES, LayerCost
from steelyard.analyses.object_memory.answers import object_memory_answers
from steelyard.analyses.object_memory.model import GIVES_BACK, LEAKS, ObjectMemory
from steelyard.analyses.open_loop.answers import open_loop_answers
from steelyard.analyses.open_loop.model import Knee, Load, OpenLoop
from steelyard.analyses.waiting.answers import neighbour_answers, waiting_answers
from steelyard.analyses.waiting.model import BLOCKS, QUEUES, SPINS, Waiting
from steelyard.analyses.waiting.neighbours import WaitingNeighbour
from steelyard.judges.compare.headline import headline
from steelyard.results.facets import LibraryHints
from steelyard.stats import Interval

_MPI = "openmpi-4.1.4"
_TOO_FEW = "launches are too few, or differ too much"


def _span(value: float, half: float = 0.1) -> Interval:
    return Interval(value, value * (1 - half), value * (1 + half))


def _wait(ns: float, way: str, burnt: float, half: float = 0.1, mpi: str | None = _MPI) -> Waiting:
    return Waiting(
        op="mpi.pingpong" if mpi else "sock.tcp",
        mpi=mpi,
        bytes=8,
        placement=None,
        env={},
        params={} if mpi else {"wait": "block"},
        wait=ns,
        woken=_span(5e3, half),
        came=_span(1e9 / ns),
        p99=None,
        burnt=burnt,
        system=None,
        switches=0.0,
        yields=0.0,
        cycles=None,
        energy=None,
        way=way,
    )


def _neighbour(ratio: Interval, placement: str | None) -> WaitingNeighbour:
    return WaitingNeighbour(
        mpi=_MPI, bytes=8, placement=placement, env={}, alone=1e9, beside=1e9, ratio=ratio
    )


def _layer(cost: Interval, verdict: str, layer: str = "OMPI_MCA_mpi_param_check", **more: Any) -> LayerCost:
    usual: dict[str, Any] = {"op": "mpi.pingpong", "value": "1", "params": {}, "env": {}, "method": "batch"}
    team = {"ranks": 2, "threads": 1, "placement": None, "launches": 9, "mpi": _MPI, "bytes": 8}
    return LayerCost(
        **(usual | team | more), sized=True, layer=layer, without=200.0, cost=cost, verdict=verdict
    )


def _victim(impact: Interval, traffic: str, verdict: str) -> Congestion:
    return Congestion(
        op="mpi.pattern.victim_halo",
        mpi=_MPI,
        bytes=8,
        ranks=4,
        method="each",
        placement=None,
        env={},
        params={},
        traffic=traffic,
        quiet=1.0,
        loaded=2.0,
        impact={"p50": impact},
        verdict=verdict,
    )


def _incast(verdict: str, half: float = 0.05) -> Incast:
    numbers = tuple(
        Senders(
            senders=count,
            time=_span(1e6),
            rate=_span(rate, half),
            relative=_span(0.3) if count > 1 else None,
            of_line=0.97 if count > 1 else None,
            even=None,
            again=None,
        )
        for count, rate in ((1, 1e9), (3, 1.2e9), (7, 0.36e9))
    )
    return Incast(
        op="mpi.pattern.fan_in",
        mpi=_MPI,
        bytes=65536,
        method="barrier",
        env={},
        params={},
        numbers=numbers,
        verdict=verdict,
    )


def _memory(op: str, held: Interval, left: float, verdict: str, ranks: int = 2) -> ObjectMemory:
    return ObjectMemory(
        op=f"mpi.memory.{op}",
        mpi=_MPI,
        ranks=ranks,
        bytes=8 if op == "unexpected" else None,
        placement=None,
        env={},
        params={},
        held=held,
        left=_span(left),
        resident=None,
        locked=None,
        peer=_span(8.0) if ranks > 2 else None,
        further=None,
        verdict=verdict,
    )


def _bisection(half: float) -> EffectiveBisection:
    rate = _span(3.1e9, half)
    return EffectiveBisection(
        mpi=_MPI,
        bytes=1 << 20,
        ranks=4,
        method="batch",
        params={},
        seeds=10,
        launches=3,
        rate=rate,
        least=(1, 3e9),
        most=(2, 3.2e9),
    )


def _loop(knees: tuple[Knee, ...], closed: Load | None, *loads: Load) -> OpenLoop:
    return OpenLoop(
        op="mpi.pingpong",
        mpi=_MPI,
        bytes=8,
        ranks=2,
        placement=None,
        env={},
        params={},
        due={},
        loads=loads,
        closed=closed,
        knees=knees,
    )


_CLOSED = Load(offered=None, came=_span(1e6), quantiles={})
ANSWERS = [
    (
        open_loop_answers(
            [
                _loop((Knee("p50", 3e5, 1e6), Knee("p99", 3e6, None), Knee("p99.9", None, 1e4)), _CLOSED),
                _loop((Knee("p50", 3e5, 1e6),), None),
            ]
        ),
        (
            "Messages of mpi.pingpong 8 B of Open MPI 4.1.4, offered at a rate: p50 begins to rise between "
            "300 k/s and 1.00 M/s; p99 not shown to rise up to 3.00 M/s; p99.9 higher already at 10.0 k/s, "
            "each by its own 95 % interval."
        ),
    ),
    (
        open_loop_answers(
            [_loop((), _CLOSED, Load(offered=1e4, came=_span(4e3), quantiles={"p50": _span(2e6)}))]
        ),
        (
            "Messages of mpi.pingpong 8 B of Open MPI 4.1.4, offered at a rate: p50 is 2.00 ms already "
            "at 10.0 k/s: messages queue; offer fewer."
        ),
    ),
    (
        waiting_answers([_wait(1e4, SPINS, 0.98), _wait(1e9, SPINS, 1.0), _wait(1e3, QUEUES, 1.0)]),
        (
            "A rank of Open MPI 4.1.4 that waits 10.0 us to 1.00 s for a message spins: 98 to 100 % of a "
            "core, and learns of it after 5.00 us."
        ),
    ),
    (
        waiting_answers([_wait(1e9, SPINS, 0.6, half=0.5)]),
        (
            "A rank of Open MPI 4.1.4 that waits 1.00 s for a message spins: 60 % of a core (others had "
            "the rest)."
        ),
    ),
    (
        waiting_answers([_wait(1e9, BLOCKS, 0.01, half=0.5, mpi=None)]),
        "A rank of sock.tcp that waits 1.00 s for a message sleeps: 1 % of a core.",
    ),
    (
        waiting_answers([_wait(1e9, CANNOT_TELL, 0.01)]),
        "A rank of Open MPI 4.1.4: cannot tell how it waits.",
    ),
    (
        neighbour_answers([_neighbour(_span(1.98, 0.02), "same-cpu 0,0"), _neighbour(_span(1.1, 0.5), None)]),
        (
            "STREAM beside a waiting rank of Open MPI 4.1.4 takes 1.98 (1.94 to 2.02) times as long "
            "(same-cpu 0,0) as beside a sleeping one; cannot tell in 1 of 2."
        ),
    ),
    (
        neighbour_answers([_neighbour(_span(1.1, 0.5), None)]),
        f"STREAM beside a waiting rank of Open MPI 4.1.4: {_TOO_FEW}, to tell what it loses.",
    ),
    (
        layer_answers(
            [
                _layer(Interval(12.0, 10.0, 15.0), COSTS),
                _layer(Interval(1.0, -3.0, 5.0), NOT_SEEN, op="mpi.allreduce"),
            ]
        ),
        (
            "The check of arguments of Open MPI 4.1.4 adds 12.0 ns (10.0 ns to 15.0 ns) to mpi.pingpong 8 B; "
            "is not seen in mpi.allreduce 8 B (at most 5.00 ns), each by its own 95 % interval."
        ),
    ),
    (
        layer_answers([_layer(Interval(12.0, 10.0, 15.0), COSTS, "LD_PRELOAD", value="/opt/x/libtool.so")]),
        (
            "The preloaded library libtool.so of Open MPI 4.1.4 adds 12.0 ns (10.0 ns to 15.0 ns) to "
            "mpi.pingpong 8 B."
        ),
    ),
    (
        layer_answers([_layer(Interval(-9.0, -10.0, -8.0), SAVES, ENGINE, value="/opt/x/steelyard-abi")]),
        "The engine steelyard-abi of Open MPI 4.1.4 saves 9.00 ns (8.00 ns to 10.0 ns) of mpi.pingpong 8 B.",
    ),
    (
        layer_answers([_layer(Interval(9.0, 8.0, 10.0), COSTS, "run by", value="bwrap --dev-bind / /")]),
        "The wrapper bwrap of Open MPI 4.1.4 adds 9.00 ns (8.00 ns to 10.0 ns) to mpi.pingpong 8 B.",
    ),
    (
        layer_answers([_layer(Interval(5.0), CANNOT_TELL)]),
        "The check of arguments of Open MPI 4.1.4: one launch cannot tell what it adds to 1 test case.",
    ),
    (
        congestion_answers(
            [
                _victim(_span(3.1), "all", SLOWED),
                _victim(_span(4.0, 0.7), "put", SLOWED),
                _victim(_span(1.0, 0.02), "bcast", NOT_SLOWED),
            ]
        ),
        (
            "victim_halo of Open MPI 4.1.4 takes up to 3.10 (2.79 to 3.41) times as long beside all: "
            "slowed in 2 of 3, not slowed in 1, each by its own 95 % interval."
        ),
    ),
    (
        congestion_answers([_victim(_span(1.1, 0.5), "all", CANNOT_TELL)]),
        "victim_halo of Open MPI 4.1.4: cannot tell in 1 of 1.",
    ),
    (
        incast_answers([_incast(COLLAPSES)]),
        (
            "1 to 7 senders of 64 KiB to one, Open MPI 4.1.4: up to 1.20 GB/s, with 3, 97 % of the line; "
            "that of 7 collapses to 30 % (27 % to 33 %) of the best of fewer."
        ),
    ),
    (
        incast_answers([_incast(HOLDS)]),
        (
            "1 to 7 senders of 64 KiB to one, Open MPI 4.1.4: up to 1.20 GB/s, with 3, 97 % of the line; "
            "the rate holds."
        ),
    ),
    (
        incast_answers([_incast(CANNOT_TELL, half=0.6)]),
        (
            "1 to 7 senders of 64 KiB to one, Open MPI 4.1.4: cannot tell whether the rate of 7 holds, "
            "without more launches."
        ),
    ),
    (
        object_memory_answers(
            [
                _memory("comm_dup", _span(12000.0), 1024.0, LEAKS),
                _memory("unexpected", _span(300.0), 0.0, GIVES_BACK),
                _memory("type", _span(300.0, 0.9), 0.0, CANNOT_TELL),
            ]
        ),
        (
            "Open MPI 4.1.4 keeps 11.72 KiB for a communicator, 300 B for an unexpected message of 8 B; "
            "leaks 1 KiB (922 B to 1.1 KiB) for a communicator; gives all back in 1 of 3 test cases; "
            "cannot tell of a leak in 1, each by its own 95 % interval."
        ),
    ),
    (
        object_memory_answers(
            [_memory("comm_dup", Interval(8000.0), 0.0, CANNOT_TELL, ranks) for ranks in (2, 4)]
        ),
        (
            "Open MPI 4.1.4 on 4 ranks keeps 7.812 KiB for a communicator (8 B a peer); "
            "cannot tell of a leak in 2 of 2 test cases."
        ),
    ),
    (
        object_memory_answers([_memory("type", _span(300.0, 0.9), 0.0, CANNOT_TELL)]),
        "Open MPI 4.1.4: cannot tell what it keeps; cannot tell of a leak in 1 of 1 test case.",
    ),
    (
        effective_bisection_answers([_bisection(0.05)]),
        (
            "Effective bisection bandwidth of Open MPI 4.1.4, 4 ranks: 3.10 GB/s (2.94 GB/s to 3.25 "
            "GB/s) at 1 MiB; "
            "the mean of 10 drawn matchings."
        ),
    ),
    (
        effective_bisection_answers([_bisection(0.4)]),
        (
            "Effective bisection bandwidth of Open MPI 4.1.4, 4 ranks: launches or draws are too few, "
            "or differ too "
            "much, to tell it."
        ),
    ),
]


@pytest.mark.parametrize(("answers", "said"), ANSWERS, ids=range(len(ANSWERS)))
def test_an_answer(answers: Iterable[str], said: str) -> None:
    assert list(answers) == [said]


def test_rows_without_settings_are_told_beside_settings() -> None:
    times = [200.0, 201.0, 202.0]
    first = row("mpi.first.message", _MPI, times)
    set_ = [row("mpi.first.job", _MPI, times, env={"OMPI_MCA_mpi_preconnect_mpi": on}) for on in "-1"]
    assert "mpi.first.message 201 ns" in headline({"": Made([first, *set_])})[1]


def test_answers_head_a_run_and_their_rows_are_told_once() -> None:
    times = [200.0, 201.0, 202.0, 203.0, 204.0, 205.0]
    layer = "OMPI_MCA_mpi_param_check"
    rows = [
        row("mpi.pingpong", _MPI, times, bytes=8, env={layer: "0"}),
        row("mpi.pingpong", _MPI, [one + 12 for one in times], bytes=8, env={layer: "1"}),
        row("mpi.bcast", _MPI, times, bytes=8),
    ]
    first, second = headline({"": Made(rows)})
    assert first.startswith("The check of arguments of Open MPI 4.1.4 adds 12.0 ns (")
    assert "mpi.bcast 202 ns" in second
    refused = msgspec.structs.replace(rows[1], facets=(*rows[1].facets, LibraryHints(refused=(layer,))))
    (cost,) = [answer for answer in headline({"": Made([rows[0], refused])}) if "check" in answer]
    assert cost.endswith(
        "was not put in: the library does not know the variable, or has another value for it."
    )
