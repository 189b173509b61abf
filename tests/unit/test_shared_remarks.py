"""What most rows of a table share is said once, below it; what few have stays in their rows."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from flat_rows import made_launch as launch
from flat_rows import made_row as row
from steelyard.results.row import Row
from steelyard.rows.row_words import remarks
from steelyard.rows.shared_remarks import Remarks, of_several, told_once


def told(rows: Sequence[Row], owners: Sequence[str] = (), launches: int = 0) -> Remarks:
    return told_once(rows, [remarks(one, launches) for one in rows], owners or [""] * len(rows))


def unclosed(count: int, of: int) -> Row:
    """A row of launches of which some ended badly."""
    endings = ("closing: hang",) * count + (None,) * (of - count)
    return row(launches=tuple(launch(i, ending=why) for i, why in enumerate(endings)), launch_count=of)


WIDE = {"ci_high": 1660.0}


@pytest.mark.parametrize(
    ("rows", "note"),
    [
        (
            [row(flags=("NOISY",), slow_share=share) for share in (0.1, 0.3, 0.2)],
            "10 to 30 % of samples took over 3 x the median in all rows.",
        ),
        (
            [row(**WIDE)] * 3 + [row()] * 2,
            "± is above 25 % in 3 of 5 rows: 5 launches are too few, and more make it narrower.",
        ),
        ([row(launch_count=9, **WIDE)] * 3, "Launches differ, and ± is above 25 %, in all rows."),
        ([unclosed(2, 2)] * 3, "All launches ended badly, after they had measured, in all rows."),
        (
            [unclosed(1, 5), unclosed(2, 5), unclosed(1, 5), row()],
            "1 to 2 of 5 launches ended badly, after they had measured, in 3 of 4 rows.",
        ),
        (
            [row(layer="shared memory", transport=name) for name in ("shm", "shm", "sysv, cma")],
            "Messages went by shm or sysv, cma in all rows.",
        ),
    ],
)
def test_what_most_rows_share_is_a_note(rows: list[Row], note: str) -> None:
    found = told(rows)
    assert found.notes == (note,)
    assert not any(found.texts)


def test_what_happened_within_launches_is_no_remark() -> None:
    """The interval of several launches is made of their medians, and of one launch it is what it is."""
    flags = [
        row(flag=flag, flags=(flag,), launch_count=count)
        for flag in ("TIME", "UNSETTLED")
        for count in (1, 6)
    ]
    assert told(flags) == Remarks(("",) * 4, ())


def test_what_few_rows_have_stays_in_them() -> None:
    found = told([unclosed(1, 6), unclosed(1, 6), *[row()] * 3])
    assert found.notes == ()
    assert found.texts == ("1/6 launches ended badly",) * 2 + ("",) * 3


def test_a_single_row_keeps_its_remark() -> None:
    assert told([unclosed(1, 6)]).texts == ("1/6 launches ended badly",)


def test_each_rival_has_its_own_note() -> None:
    found = told([unclosed(1, 6), row()] * 3, ["a", "b"] * 3)
    assert found.notes == ("a: 1 of 6 launches ended badly, after they had measured, in all rows.",)


def test_rows_with_fewer_launches_are_counted() -> None:
    found = told([row(launch_count=2)] * 3 + [row(launch_count=3)] * 3, ["a"] * 3 + ["b"] * 3, launches=3)
    assert found.notes == ("a: only 2 launches in all rows.",)


@pytest.mark.parametrize(
    ("placement", "advice"), [("0|1|2|3", ": try --yield none"), ("0-1|0-1|0-1|0-1", ""), (None, "")]
)
def test_yielding_is_of_the_library_and_said_once(placement: str | None, advice: str) -> None:
    rows = [row(yields_per_op=count, mpi="mpich-5.0.2", placement=placement) for count in (3.4, 1700.0)]
    found = told(rows, ["mpich-5.0.2"] * 2)
    sentence = "mpich-5.0.2 calls sched_yield 3.4 to 1700 times per operation here, by all ranks together"
    assert (found.texts, found.notes) == (("", ""), (f"{sentence}{advice}.",))


def test_what_happens_once_is_not_said_to_happen_1_times() -> None:
    (note,) = told([row(yields_per_op=1.0, mpi="a", placement=None)] * 2, ["a"] * 2).notes
    assert note == "a calls sched_yield once per operation here, by all ranks together."


def test_what_several_tables_share_names_them_and_counts_all_their_rows() -> None:
    wide = told([row(**WIDE)] * 3)
    some = told([row(**WIDE)] * 3 + [row()])
    other = told([unclosed(2, 2)] * 3)
    found = of_several([("mpi.bcast", wide.shared), ("mpi.reduce", some.shared), ("mpi.scan", other.shared)])
    assert found == {
        (
            "few",
            "",
        ): "± is above 25 % in 6 of 7 rows of mpi.bcast and mpi.reduce: 5 launches are too few, and more "
        "make it narrower."
    }


def test_a_library_that_yields_everywhere_is_named_with_its_tables_once() -> None:
    counts = {"x": 3.0, "y": 8.0, "z": 5.0}
    each = [
        (title, told([row(yields_per_op=count, mpi="a", placement="0|1|2|3")]))
        for title, count in counts.items()
    ]
    (note,) = of_several((title, found.shared) for title, found in each).values()
    where = "in x, y and z, by all ranks together"
    assert note == f"a calls sched_yield 3 to 8 times per operation {where}: try --yield none."


def test_tables_beyond_those_that_a_note_names_are_counted() -> None:
    wide = told([row(**WIDE)] * 3).shared
    (note,) = of_several((str(i), wide) for i in range(9)).values()
    assert "in all rows of 0, 1, 2, 3, 4, 5 and 3 more: " in note
