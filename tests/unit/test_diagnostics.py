"""How what checks have found is put together and shown: causes, wrapping, what is left out."""

from __future__ import annotations

import pytest

from steelyard.base.diagnostic import ERROR, NOTE, WARNING, Check, Diagnostic, diagnose
from steelyard.checks import CHECKS
from steelyard.cli.console import err
from steelyard.cli.show import tell_diagnostics
from steelyard.doctor import CHECKS as DOCTORS
from steelyard.show.diagnostics import diagnostic_text


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
)


def _found(*names: str) -> tuple[Diagnostic, ...]:
    return diagnose(ROWS, set(names))


def test_what_has_a_cause_that_was_found_names_it() -> None:
    assert {one.name: one.cause for one in _found("noise", "tail")} == {"noise": None, "tail": "noise"}
    assert {one.name: one.cause for one in _found("tail", "modes")} == {"tail": None, "modes": None}


def test_warnings_of_one_cause_are_one() -> None:
    (text,) = diagnostic_text(_found("noise", "tail", "modes"), 200)
    assert text == "warning: Noise. noise was seen. This may be why: tail, modes. Act."
    assert len(list(diagnostic_text(_found("tail", "modes"), 200))) == 2


def test_notes_are_for_who_asks() -> None:
    assert not list(diagnostic_text(_found("hint"), 80))
    assert list(diagnostic_text(_found("hint"), 80, notes=True)) == ["note: Hint. hint was seen. Act."]


@pytest.mark.parametrize("width", [40, 80, 120])
def test_paragraphs_are_wrapped(width: int) -> None:
    long = Diagnostic(
        name="x",
        severity=ERROR,
        what="A title",
        evidence="mpi.bcast 8 B of openmpi-4.1.4 (" + "many words " * 30 + ").",
        why="No room for this.",
        remedy="Do something about it.",
    )
    (text,) = diagnostic_text([long], width)
    first, *rest = text.splitlines()
    assert first.startswith("error: A title. mpi.bcast")
    assert all(len(line) <= width for line in (first, *rest))
    assert all(line.startswith("  ") and not line.startswith("   ") for line in rest)
    assert "No room" not in text


def test_a_folder_of_several_is_named_and_a_unit_stays_with_its_number() -> None:
    one = Diagnostic(
        name="x", severity=ERROR, what="T", evidence="It took 12 % of it.", why="", remedy="Act."
    )
    for width in range(24, 40):
        (text,) = diagnostic_text([one], width, where="later")
        assert text.startswith("error: later: T.")
        assert "12 %" in text


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


@pytest.mark.parametrize("columns", ["0", "1", "7"])
def test_no_width_is_too_small_for_findings(
    columns: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("COLUMNS", columns)
    err.cache_clear()
    one = Diagnostic(
        name="a", severity="error", what="It broke", evidence="It did.", why="", remedy="Mend it."
    )
    tell_diagnostics([one])
    err.cache_clear()
    assert capsys.readouterr().err.split() == ["error:", "It", "broke.", "It", "did.", "Mend", "it."]
