"""The same one-sided call by several libraries, from rows whose times are known."""

from __future__ import annotations

import pytest

from macro_rows import row
from steelyard.analyses.one_sided.model import QUESTIONS, OneSidedQuestion, question_name, questions_of
from steelyard.analyses.one_sided.pictures import one_sided_charts
from steelyard.analyses.one_sided.tables import one_sided_tables
from steelyard.records.campaign_file import Placement
from steelyard.records.fields import Params
from steelyard.render.chart import Curve
from steelyard.render.terminal import Paper, table_text
from steelyard.results.row import Row

_FACTORS = (1.0, 1.01, 0.99, 1.02, 0.98, 1.0)  # of launches: the same for all that take turns
_OPEN, _SHMEM = "openmpi-4.1.4", "oshmem-4.1.4"


def _row(op: str, ns: float, library: str | None = None, size: int = 8, **more: object) -> Row:
    sized = {"bytes": size, "sized": True, "params": {}}
    return row(op, library, [ns * factor for factor in _FACTORS], **{**sized, **more})


_ROWS = (
    _row("mpi.put.pingpong", 900.0, _OPEN, params={"window": "allocate"}),
    _row("mpi.put.pingpong", 600.0, _OPEN, params={"window": "shared"}),
    _row("shmem.pingpong", 400.0, _SHMEM),
    _row("shm.put.pingpong", 100.0),
    _row("ucx.put.pingpong", 300.0, transport="posix"),
)


def _one(*rows: Row) -> OneSidedQuestion:
    (found,) = questions_of(rows)
    return found


def test_ratios_are_to_the_fastest_and_each_library_has_its_fastest_way() -> None:
    found = _one(*_ROWS)
    assert (found.name, found.bytes, found.threads, found.calls) == ("put until it is seen", 8, 1, 1)
    assert [(one.library, one.ways) for one in found.answers] == [
        ("stores to shared memory", 1),
        ("UCX", 1),
        (_SHMEM, 1),
        (_OPEN, 2),
    ]
    assert [one.ratio for one in found.answers] == pytest.approx([1.0, 3.0, 4.0, 6.0])
    assert found.answers[-1].params == {"window": "shared"}
    assert (found.answers[0].low, found.answers[0].high) == (None, None)
    for one in found.answers[1:]:  # launches differ alike, so their ratios do not
        assert [one.low, one.high] == pytest.approx([one.ratio, one.ratio])


@pytest.mark.parametrize(
    "rows",
    [
        (),
        _ROWS[:2],  # one library in two ways
        (_ROWS[0], _row("mpi.put.pingpong", 500.0, "mpich-4.0.2")),  # other tables compare MPIs
        (_ROWS[0], _row("shm.flag", 50.0)),  # a message, and no one-sided call
        (_ROWS[0], _row("shm.put.pingpong", 100.0, size=64)),  # of another size
        (_ROWS[0], _row("shm.put.pingpong", 100.0, status="failed")),
    ],
)
def test_there_is_no_question_without_libraries_of_two_kinds(rows: tuple[Row, ...]) -> None:
    assert questions_of(rows) == ()


def test_threads_and_calls_in_flight_are_questions_of_their_own() -> None:
    flight = {"calls": 64}
    rows = [
        _row(f"{kind}{many}put{form}.bandwidth", 100.0, library, params=flight, threads=1 + len(many) // 4)
        for kind, form, library in (("mpi", "", _OPEN), ("shmem", "_nbi", _SHMEM))
        for many in (".", ".mt.")
    ]
    assert [(one.threads, one.calls, len(one.answers)) for one in questions_of(rows)] == [
        (1, 64, 2),
        (2, 64, 2),
    ]


def test_libraries_are_compared_at_the_same_places_and_on_as_many_ranks() -> None:
    here, there = (Placement(kind, cpus) for kind, cpus in (("smt", (0, 1)), ("other-socket", (0, 8))))
    rows = [
        _row("mpi.put", 100.0, _OPEN, placed=here),
        _row("mpi.put", 300.0, _OPEN, placed=there),
        _row("mpi.put", 50.0, _OPEN, ranks=4),
        _row("shm.put", 200.0, placed=there),
        _row("shm.put", 10.0),
    ]
    found = _one(*rows)
    assert (found.ranks, found.placement) == (2, "other-socket 0,8")
    assert [(one.time, one.ways) for one in found.answers] == [(200.0, 1), (300.0, 1)]


@pytest.mark.parametrize(("op", "kept"), [("put", 1), ("put.bandwidth", 1), ("get", 2)])
def test_a_put_that_is_done_at_the_origin_alone_is_no_answer(op: str, kept: int) -> None:
    way: Params = {"sync": "lock_all", "window": "allocate", "calls": 1}
    rows = [
        _row(f"mpi.{op}", 500.0, _OPEN, params={**way, "complete": "flush"}),
        _row(f"mpi.{op}", 100.0, _OPEN, params={**way, "complete": "flush_local"}),
        _row(f"shm.{op}", 200.0),
    ]
    (answer,) = (one for one in _one(*rows).answers if one.library == _OPEN)
    assert answer.ways == kept


@pytest.mark.parametrize(
    ("op", "name"),
    [
        ("mpi.put", "put"),
        ("ofi.mt.get", "get"),
        ("shmem.atomic_fetch_add", "fetch and add"),
        ("mpi.rput", None),
        ("mem.copy", None),
        ("own", None),
    ],
)
def test_ops_of_a_question(op: str, name: str | None) -> None:
    assert question_name(op) == name
    assert name is None or name in QUESTIONS


def test_the_table_has_a_line_for_each_library_and_says_what_carried_it() -> None:
    (table,) = one_sided_tables(questions_of(_ROWS))
    text = table_text(table, Paper())
    assert table.title == "one-sided: put until it is seen"
    for words in ("3.000", "6.000", "best of 2 ways: mpi.put.pingpong, shared", "by posix", "bytes 8 B"):
        assert words in text, text


def test_a_picture_has_a_colour_for_each_library_and_needs_two_sizes() -> None:
    assert one_sided_charts(questions_of(_ROWS)) == []
    larger = [
        _row(op, 1e4, library, size=4096)
        for op, library in (("mpi.put.pingpong", _OPEN), ("shm.put.pingpong", None))
    ]
    (chart,) = one_sided_charts(questions_of([*_ROWS, *larger]))
    assert chart.title == "put until it is seen"
    assert [key.label for key in chart.legend] == ["stores to shared memory", "UCX", _SHMEM, _OPEN]


def test_what_is_not_compared_is_not_in_one_picture() -> None:
    rows = [
        _row(op, float(size), library, size=size, params={"calls": calls})
        for op, library in (("mpi.put.bandwidth", _OPEN), ("shm.put.bandwidth", None))
        for size in (8, 64)
        for calls in (1, 16)
    ]
    charts = one_sided_charts(questions_of(rows))
    assert [chart.title for chart in charts] == ["puts in flight", "puts in flight, 16 in flight"]
    for chart in charts:
        assert [mark.x for mark in chart.marks if isinstance(mark, Curve)] == [[8.0, 64.0]] * 2
    (table,) = one_sided_tables(questions_of(rows))
    text = table_text(table, Paper(80, is_pipe=False))
    assert max(map(len, text.splitlines())) <= 80
