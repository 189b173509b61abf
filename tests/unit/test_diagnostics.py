"""How what checks have found is put together and shown: causes, wrapping, what is left out."""

from __future__ import annotations

import io
import sys

import pytest

from steelyard.base.diagnostic import ERROR, NOTE, WARNING, Check, Diagnostic, diagnose
from steelyard.cli.show import tell_diagnostics
from steelyard.diagnostics.machine import CHECKS as DOCTORS
from steelyard.diagnostics.results import CHECKS
from steelyard.diagnostics.text import diagnostic_text


def _row(name: str, severity: str = WARNING, cause: tuple[str, ...] = ()) -> Check[set[str]]:
    """A check that finds its own name."""

    def find(seen: set[str]) -> str | None:
        return f"{name} was seen." if name in seen else None

    return Check(name, severity, name.title(), find, "", "Act.", cause)


ROWS = (
    _row("noise"),
    _row("tail", cause=("heat", "noise")),
    _row("modes", cause=("noise",)),
    _row("hint", NOTE),
    _row("failed"),
)


def _found(*names: str) -> tuple[Diagnostic, ...]:
    return diagnose(ROWS, set(names))


def test_what_has_a_cause_that_was_found_names_it() -> None:
    assert {one.name: one.cause for one in _found("noise", "tail")} == {"noise": None, "tail": "noise"}
    assert {one.name: one.cause for one in _found("tail", "modes")} == {"tail": None, "modes": None}


def test_warnings_of_one_cause_are_one() -> None:
    (text,) = diagnostic_text(_found("noise", "tail", "modes"))
    assert text == "warning: Noise. noise was seen. This may be why: tail, modes. Act."
    assert len(list(diagnostic_text(_found("tail", "modes")))) == 2


def test_notes_are_for_who_asks() -> None:
    assert not list(diagnostic_text(_found("hint")))
    assert list(diagnostic_text(_found("hint"), notes=True)) == ["note: Hint. hint was seen. Act."]


_LONG = Diagnostic(
    name="x",
    severity=ERROR,
    what="A title",
    evidence="mpi.bcast 8 B of openmpi-4.1.4 took 12 % (" + "many words " * 30 + ").",
    why="No room for this.",
    remedy="Do something about it.",
)


class _Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


@pytest.mark.parametrize("width", [40, 80, 120])
def test_a_terminal_has_paragraphs(width: int, monkeypatch: pytest.MonkeyPatch) -> None:
    paper = _Terminal()
    monkeypatch.setattr(sys, "stderr", paper)
    monkeypatch.setenv("COLUMNS", str(width))
    tell_diagnostics([_LONG])
    first, *rest = paper.getvalue().splitlines()
    assert first.startswith("error: A title. mpi.bcast")
    assert rest
    assert all(len(line) <= width for line in (first, *rest))
    assert all(line.startswith("  ") and not line.startswith("   ") for line in rest)
    assert "No room" not in paper.getvalue()


@pytest.mark.parametrize("columns", [None, "0", "1", "40"])
def test_a_file_or_a_pipe_has_a_line_for_each(
    columns: str | None, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """`grep '^warning'` finds a finding with its evidence, whatever the width of some terminal is."""
    monkeypatch.delenv("COLUMNS", raising=False)
    if columns is not None:
        monkeypatch.setenv("COLUMNS", columns)
    tell_diagnostics([_LONG, _LONG], "later")
    lines = capsys.readouterr().err.splitlines()
    assert lines == [f"error: later: {_LONG.what}. {_LONG.evidence} {_LONG.remedy}"] * 2


@pytest.mark.parametrize("rows", [CHECKS, DOCTORS])
def test_tables_are_whole(rows: tuple[Check[object], ...]) -> None:
    names = [row.name for row in rows]
    assert len(set(names)) == len(names)
    for row in rows:
        assert all(text.endswith(".") for text in (row.why, row.remedy) if isinstance(text, str)), row.name
        assert row.what[0].isupper(), row.name
        assert not row.what.endswith("."), row.name
        assert set(row.caused_by) <= set(names), row.name
        assert not row.find.__name__.startswith("_"), row.name


def test_nobody_is_to_end_a_process_that_nobody_saw() -> None:
    """The two checks of who else ran have remedies of their own."""
    remedies = {row.name: str(row.remedy) for row in CHECKS}
    assert "End" in remedies["busy-neighbour"]
    assert "End" not in remedies["busy-unnamed"]


def test_what_the_rows_of_tables_say_is_not_said_again_below_them() -> None:
    (text,) = diagnostic_text(_found("failed"), below_tables=True)
    assert "was seen" not in text
    assert text.endswith("The rows say how. Act.")
    assert "was seen" in next(diagnostic_text(_found("failed")))
