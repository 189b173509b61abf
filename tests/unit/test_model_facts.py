"""Sentences of the headline on models of rows whose times are known."""

from __future__ import annotations

import pytest

from macro_rows import row
from steelyard.analyses.analysis import Made
from steelyard.judges.compare.headline import headline
from steelyard.records.campaign_file import Placement
from steelyard.records.kinds import COLLECTIVE, WORK
from steelyard.results.row import Row

_MPI = "openmpi-4.1.4"
_SCATTER = (0.99, 0.995, 1.0, 1.005, 1.01)  # of launches, each in all that it does


def launched(op: str, ns: float, scatter: tuple[float, ...] = _SCATTER, **more: object) -> Row:
    return row(op, _MPI, [one * ns for one in scatter], **more)


def said(*rows: Row) -> list[str]:
    return list(headline({"": Made(rows)}))


def trains(scatter: tuple[float, ...]) -> list[Row]:
    """Messages with L = 900 ns, o of 150 and 250 ns, and a gap of 400 ns."""
    there_and_back, work_ns = 2 * (900 + 150 + 250), 5e3
    train = [
        (1, 0.0, "sender", there_and_back),
        (16, 0.0, "sender", there_and_back + 15 * 400),
        (16, work_ns, "sender", there_and_back + 15 * (work_ns + 150)),
        (16, work_ns, "receiver", there_and_back + 15 * (work_ns + 250)),
    ]
    return [
        launched("self.work", work_ns, params={"work_us": work_ns / 1e3}, role=WORK),
        *(
            launched(
                "mpi.train",
                ns,
                scatter if work and side == "receiver" else _SCATTER,
                bytes=8,
                params={"messages": count, "work_us": work / 1e3, "side": side},
            )
            for count, work, side, ns in train
        ),
    ]


@pytest.mark.parametrize(
    ("scatter", "told"),
    [
        (_SCATTER, "L 900 ns, o of the sender 150 ns, o of the receiver 250 ns, gap 400 ns"),
        ((0.9, 1.0, 1.1, 1.3, 0.8), "o of the sender 150 ns, gap 400 ns"),
    ],
    ids=["all", "one side scatters"],
)
def test_the_parts_of_loggp_that_are_certain_are_told(scatter: tuple[float, ...], told: str) -> None:
    """The trains themselves and the work between messages are told nowhere: they only make the model."""
    assert said(*trains(scatter))[0] == f"LogGP of Open MPI 4.1.4 at 8 B: {told}."


def test_loggp_of_launches_that_differ_says_so() -> None:
    rows = [launched("mpi.train", ns, (0.3, 1.0, 3.0), bytes=8, params={"messages": n, "work_us": 0.0})
            for n, ns in ((1, 2600.0), (16, 2700.0))]  # fmt: skip
    assert "LogGP of Open MPI 4.1.4: launches are too few, or differ too much, to tell L, o or g." in said(
        *rows
    )


@pytest.mark.parametrize(
    ("after", "least", "launches", "is_told"),
    [(4032, 4033, 5, True), (4000, 4033, 5, True), (2048, 4096, 5, False), (4032, 4033, 3, False)],
    ids=["to the byte", "nearly", "far apart", "few launches"],
)
def test_a_change_of_protocol_is_told_where_it_is_located(
    after: int, least: int, launches: int, is_told: bool
) -> None:
    """Between sizes that are far apart a line rises by itself, and few launches jump together by chance."""
    sizes = (8, 500, 1000, after, least, 5000, 6000, 8000)
    rows = [
        launched(
            "mpi.pingpong", (900 if size >= least else 300) + 0.1 * size, _SCATTER[:launches], bytes=size
        )
        for size in sizes
    ]
    told = [line for line in said(*rows) if "protocol" in line]
    where = f"at {least} B" if least - after == 1 else "between 4000 B and 4033 B"
    assert told == ([f"Open MPI 4.1.4: another protocol begins {where}."] if is_told else [])


def test_growth_is_told_at_twice_the_ranks() -> None:
    rows = [
        launched("mpi.bcast", size * ranks.bit_length() * 100.0, ranks=ranks, bytes=size, role=COLLECTIVE)
        for ranks in (2, 4, 8, 16, 32)
        for size in (8, 64)
    ]
    assert "mpi.bcast of Open MPI 4.1.4 on 64 ranks, by its model: 5.60 us at 8 B, 44.8 us at 64 B." in said(
        *rows
    )


def test_several_variants_are_told_with_the_one_fact_that_differs() -> None:
    rows = [
        launched("mpi.pingpong", ns, bytes=8, sized=True, placed=Placement(kind, cpus))
        for ns, kind, cpus in ((261.0, "shared-l3", (0, 1)), (766.0, "same-cpu", (0, 0)))
    ]
    (sentence,) = said(*rows)
    assert sentence.endswith("261 ns (placement shared-l3 0,1) to 766 ns (placement same-cpu 0,0) at 8 B.")
