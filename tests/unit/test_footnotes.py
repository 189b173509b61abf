"""Long cells of a table that repeat stand once, below it."""

from __future__ import annotations

from steelyard.base.footnotes import with_notes

LONG = "half a round trip, mean of 1000"


def test_a_long_cell_that_repeats_becomes_a_letter() -> None:
    rows = [["x", LONG, "short"], ["y", LONG, "short"], ["z", f"{LONG} more", "short"]]
    lines, notes = with_notes(rows)
    assert lines == [["x", "a", "short"], ["y", "a", "short"], ["z", f"{LONG} more", "short"]]
    assert notes == [("a", LONG)]


def test_code_that_repeats_stays_where_it_stands() -> None:
    rows = [[f"`mpi.put` `{LONG}`"]] * 2
    assert with_notes(rows) == (rows, [])


def test_letters_go_on_after_z() -> None:
    rows = [[f"{LONG} {number}"] for number in range(28)] * 2
    lines, notes = with_notes(rows)
    assert [letter for letter, _ in notes][-3:] == ["z", "aa", "ab"]
    texts = dict(notes)
    assert [[texts[cell] for cell in line] for line in lines] == rows
