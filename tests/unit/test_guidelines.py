"""Guidelines: which rows are held against each other, what is said of them, and how often falsely."""

from __future__ import annotations

import re
from collections.abc import Sequence
from types import ModuleType
from typing import Any

import pytest
from msgspec.structs import replace

from flat_rows import made_row, row_launch
from loaded import load_benchmark
from steelyard.base.errors import InputError
from steelyard.base.units import parse_sizes
from steelyard.cli.guidelines import GuidelineOptions, planned_guidelines
from steelyard.engines.build import engine_folder
from steelyard.judges.guidelines.cases import find_cases
from steelyard.judges.guidelines.knobs import knob_words
from steelyard.judges.guidelines.table import COMPOSITION, GUIDELINES, MOCK
from steelyard.judges.guidelines.tables import guideline_sentences, guideline_tables, judged_guidelines
from steelyard.judges.guidelines.verdicts import (
    GUIDELINES_HELD,
    HOLDS,
    VIOLATED,
    Asked,
    check_guidelines,
)
from steelyard.judges.verdict import CANNOT_TELL, verdict_document, verdicts_junit
from steelyard.plan.plan import Measure
from steelyard.render.terminal import Paper, table_text
from steelyard.results.row import Row

LAUNCHES = 12


def _row(op: str, times: float | Sequence[float], size: int = 8, **keys: Any) -> Row:
    """A row whose launches took so long: one time is what each takes, a little more from one to the next."""
    each = [times * (1 + 0.001 * i) for i in range(LAUNCHES)] if isinstance(times, float | int) else times
    launches = tuple(row_launch(number, time) for number, time in enumerate(each, 1))
    return made_row(op=op, bytes=size, mpi="openmpi-4.1.4", launches=launches, **keys)


def _said(*rows: Row) -> dict[str, tuple[str, float]]:
    found = check_guidelines(rows, Asked())
    return {f"{one.words} {one.bytes}": (one.verdict, round(one.ratio or 0, 2)) for one in found.points}


# ---- the table ---------------------------------------------------------------------------------------------


def test_each_mock_up_of_the_engine_is_a_guideline() -> None:
    text = (engine_folder() / "ops/mpi/mock/rows.h").read_text("utf-8")
    mocks = {f"{MOCK}{of}_by_{by}" for of, by in re.findall(r"^MOCK\((\w+), (\w+),", text, re.MULTILINE)}
    assert len(mocks) >= 30
    assert {row.right.op for row in GUIDELINES if row.kind == COMPOSITION} == mocks


def test_no_two_guidelines_have_the_same_words() -> None:
    words = [row.words for row in GUIDELINES if not row.unless]  # those stand in for a mock-up's
    assert len(set(words)) == len(words)


def test_a_guideline_holds_an_op_against_another_one() -> None:
    for row in GUIDELINES:
        assert (row.left.op, dict(row.left.params)) != (row.right.op, dict(row.right.params)), row.words
        if row.kind == COMPOSITION:
            assert row.right.op.startswith(f"{MOCK}{row.left.op.removeprefix('mpi.')}_by_"), row.words


# ---- which rows are held against each other ----------------------------------------------------------------


def test_a_collective_is_held_against_its_mock_ups_and_forms() -> None:
    found = _said(
        _row("mpi.gather", 2000.0),
        _row("mpi.gatherv", 1000.0),
        _row("mpi.mock.gather_by_messages", 2000.0),
        _row("mpi.mock.gatherv_by_messages", 1500.0),
    )
    assert found == {
        "Gather <= Isend + Irecv 8": (HOLDS, 1.0),
        "Gatherv <= Isend + Irecv 8": (HOLDS, 0.67),
        "Gather <= Gatherv 8": (VIOLATED, 2.0),
    }


def test_worse_at_powers_of_two() -> None:
    """A size, and a number of ranks, that take longer than the next ones; those around are well."""
    slow = {1024: 9000.0, 1536: 3000.0, 2048: 9000.0, 3072: 6000.0}
    rows = [_row("mpi.allreduce", time, size) for size, time in slow.items()]
    found = check_guidelines(rows, Asked())
    bad = [(one.bytes, one.what) for one in found.points if one.verdict == VIOLATED]
    assert bad == [(1024, "of 1.5 KiB"), (2048, "of 3 KiB")]
    ranks = [_row("mpi.allreduce", time, ranks=count) for count, time in ((4, 9000.0), (5, 3000.0))]
    (only,) = check_guidelines(ranks, Asked()).points
    assert (only.verdict, only.ranks, only.what) == (VIOLATED, 4, "on 5 ranks")


def test_costs_of_ranks_that_do_nothing() -> None:
    rows = [_row("mpi.pingpong", time, ranks=count) for count, time in ((2, 300.0), (8, 900.0))]
    (only,) = check_guidelines(rows, Asked()).points
    assert (only.verdict, only.ranks, only.what) == (VIOLATED, 8, "among 2 ranks")
    assert only.remedy == "start no ranks that only wait, or let them yield"


def test_a_call_that_its_parts_beat() -> None:
    found = check_guidelines([_row("mpi.bcast", 100.0, 8), _row("mpi.bcast", 1000.0, 32)], Asked())
    said = {one.kind: (one.verdict, round(one.ratio or 0, 2), one.times) for one in found.points}
    assert said == {"larger size": (HOLDS, 0.1, 1), "split": (VIOLATED, 2.5, 4)}


@pytest.mark.parametrize(
    "keys",
    [
        {"ranks": 8},
        {"method": "barrier"},
        {"mpi": "mpich-4.0.2"},
        {"size": 16},
        {"env": {"A": "1"}},
        {"params": {"counts": "zipf"}, "asked": ("counts",)},
        {"thread_level": "multiple"},
    ],
)
def test_what_was_measured_otherwise_is_no_other_side(keys: dict[str, Any]) -> None:
    mpi = keys.pop("mpi", None)
    other = _row("mpi.gatherv", 100.0, **keys)
    if mpi:
        other = made_row(op="mpi.gatherv", mpi=mpi, launches=other.launches)
    assert find_cases([_row("mpi.gather", 100.0), other]) == ([], [])


def test_parameters_make_the_sides_of_messages() -> None:
    rows = [
        _row("mpi.pingpong", 300.0, params={"send": "send", "recv": "recv"}),
        _row("mpi.pingpong", 200.0, params={"send": "ssend", "recv": "recv"}, asked=("send",)),
        _row("mpi.pingpong", 100.0, params={"send": "isend", "recv": "irecv"}, asked=("send", "recv")),
        _row("mpi.pingpong", 300.0, params={"send": "start", "recv": "start"}, asked=("send", "recv")),
    ]
    assert _said(*rows) == {
        "Send <= Ssend 8": (VIOLATED, 1.5),
        "Start + Wait <= Isend, Irecv + Wait 8": (VIOLATED, 3.0),
    }


def test_the_mock_up_stands_for_the_other_collective() -> None:
    plain = [_row("mpi.reduce", 200.0), _row("mpi.allreduce", 100.0)]
    assert [case.guideline.words for case in find_cases(plain)[0]] == ["Reduce <= Allreduce"]
    both = [*plain, _row("mpi.mock.reduce_by_allreduce", 150.0)]
    assert [case.right.op for case in find_cases(both)[0]] == ["mpi.mock.reduce_by_allreduce"]


def test_sides_of_launches_that_were_begun_again_are_no_pair() -> None:
    left, right = _row("mpi.gather", 200.0), _row("mpi.gatherv", 100.0)
    others = tuple(replace(one, began_unix_ns=1000 + (one.launch == 3)) for one in right.launches)
    mine = tuple(replace(one, began_unix_ns=1000) for one in left.launches)
    (case,), _ = find_cases([replace(left, launches=mine), replace(right, launches=others)])
    assert len(case.ratios()) == LAUNCHES - 1


# ---- what is said ------------------------------------------------------------------------------------------


def test_within_the_tolerance_nothing_is_violated() -> None:
    rows = [_row("mpi.gather", 1040.0), _row("mpi.gatherv", 1000.0)]
    assert _said(*rows) == {"Gather <= Gatherv 8": (HOLDS, 1.04)}
    (strict,) = check_guidelines(rows, Asked(tolerance=0.01)).points
    assert strict.verdict == VIOLATED


def test_too_few_launches_say_how_many_are_needed() -> None:
    rows = [_row("mpi.gather", [2000.0, 2001.0, 2002.0]), _row("mpi.gatherv", [1000.0, 999.0, 998.0])]
    found = check_guidelines(rows, Asked())
    (only,) = found.points
    assert (only.verdict, only.launches_needed, only.low, only.high) == (CANNOT_TELL, 7, None, None)
    notes = [note for table in guideline_tables(found) for note in table.notes]
    assert any(note.endswith("needs 7 launches at least.") for note in notes)


def test_what_a_library_lacks_is_said() -> None:
    why = "needs MPI 4.0"
    lost = _row("mpi.bcast_init", [], status="skipped", why=why, median=None)
    rows = [_row("mpi.bcast", 100.0), _row("mpi.ibcast", 100.0), lost]
    found = check_guidelines(rows, Asked())
    assert found.missing == ("Bcast_init's Start + Wait <= Bcast, 8 B (mpi.bcast_init: needs MPI 4.0)",)
    assert [one.words for one in found.points] == ["Bcast <= Ibcast + Wait"]


def test_a_folder_without_guidelines_is_refused() -> None:
    with pytest.raises(InputError, match="no guideline can be checked here; measure both sides"):
        check_guidelines([_row("mpi.gather", 100.0)], Asked())


def test_sentences_say_by_how_much_and_what_to_do() -> None:
    found = check_guidelines(
        [
            _row("mpi.allreduce", 3000.0, role="collective"),
            _row("mpi.mock.allreduce_by_reduce_bcast", 1000.0),
        ],
        Asked(),
    )
    first, last = guideline_sentences(found)
    assert first == (
        "openmpi-4.1.4: Allreduce <= Reduce + Bcast is violated at 8 B: the left side takes 3 times as long. "
        "To do: compose it: Reduce + Bcast; or set OMPI_MCA_coll_tuned_use_dynamic_rules=1 "
        "OMPI_MCA_coll_tuned_allreduce_algorithm=2 (nonoverlapping)."
    )
    assert last == "Guidelines: 1 case: 1 violated."
    document = verdict_document(found)
    assert (document["schema"], document["verdict"], document["family"]) == (1, VIOLATED, 1)
    assert b'failures="1"' in verdicts_junit("t", GUIDELINES_HELD, judged_guidelines(found), strict=False)


def test_tables_fit_a_terminal() -> None:
    rows = [_row("mpi.allreduce", 9000.0, 1024, ranks=128), _row("mpi.allreduce", 3000.0, 1536, ranks=128)]
    rows += [_row("mpi.mock.allreduce_by_reduce_scatter_block_allgather", 500.0, 1024, ranks=128)]
    rows += [_row("mpi.allreduce", 3000.0, 1024, ranks=4)]
    tables = list(guideline_tables(check_guidelines(rows, Asked())))
    assert len(tables) == 2
    for table in tables:
        assert max(map(len, table_text(table, Paper(80, is_pipe=False)).splitlines())) <= 80


def test_a_knob_is_named_only_where_the_library_has_one() -> None:
    mpich = knob_words("mpich-5.0.2", "bcast", "scatter_allgather")
    assert mpich.startswith("MPIR_CVAR_BCAST_INTRA_ALGORITHM=")
    assert knob_words("openmpi-4.1.4", "alltoallw") == ""
    assert knob_words("other-1", "bcast") == ""
    assert knob_words(None, "bcast") == ""


# ---- what is measured --------------------------------------------------------------------------------------


def test_the_shipped_plan_measures_both_sides_beside_each_other() -> None:
    plan = planned_guidelines(GuidelineOptions())
    for row in GUIDELINES:
        if row.kind == COMPOSITION:
            family = row.right.op.partition("_by_")[0] + "_by_*"
            (measure,) = (one for one in plan.measure if family in one.ops)
            assert measure.ops[0] == row.left.op
            assert measure.beside


def _measured(*what: str, **more: Any) -> tuple[Measure, ...]:
    return planned_guidelines(GuidelineOptions(what=list(what), **more)).measure


def test_ops_choose_what_of_the_plan_is_measured() -> None:
    assert [one.ops[0] for one in _measured("mpi.gather")] == ["mpi.gather"]
    messages = [one.ranks for one in _measured("mpi.pingpong", ranks="8") if one.ops == ("mpi.pingpong",)]
    assert messages == [2, 2, "8"]  # also among ranks that do nothing
    assert [one.ops[0] for one in _measured("mpi.put")] == ["mpi.put", "mpi.bandwidth"]
    (gather,) = _measured("mpi.gather", bytes_="8", ranks="3")
    assert (gather.ranks, parse_sizes(str(gather.bytes))) == ("3", (8,))


@pytest.mark.parametrize(
    ("what", "more", "sentence"),
    [
        (
            "mpi.gahter",
            {},
            "no guidelines of 'mpi.gahter', and no results folder of that name; give",
        ),
        ("mpi.gather", {"launches": 20_000}, "launches must be from 1 to 10000"),
        ("mpi.gather", {"time_budget": "soon"}, "soon"),
        ("none.toml", {}, "there is no plan none.toml"),
    ],
)
def test_what_cannot_be_measured(what: str, more: dict[str, Any], sentence: str) -> None:
    with pytest.raises(InputError, match=re.escape(sentence)):
        _measured(what, **more)


# ---- false alarms ------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def aa() -> ModuleType:
    return load_benchmark("aa_guidelines")


@pytest.mark.parametrize("left", [1.0, 1.05])
def test_a_library_that_is_right_by_construction_is_not_blamed(aa: ModuleType, left: float) -> None:
    """The core of benchmarks/aa_guidelines.py: 1 % and two alarms at most."""
    assert aa.alarms(aa.checks(15, 15, 0.05, left)) <= 2


def test_a_slow_call_is_found_in_the_same_noise(aa: ModuleType) -> None:
    (found,) = aa.checks(1, 20, 0.01, 1.0, {"mpi.gather": 4.0})
    bad = {one.left for one in found.points if one.verdict == VIOLATED}
    assert bad == {"mpi.gather"}


def test_the_page_says_each_reason_once_with_its_cases() -> None:
    load_benchmark("apps_page")
    missing = (
        "A <= B, 8 B (mpi.a: no: x)",
        "A <= B, 1 KiB (mpi.a: no: x)",
        "C <= D (mpi.c: no: x)",
        "E <= F (e: y)",
    )
    told = list(load_benchmark("guidelines_page")._by_reason(missing))
    assert told == [("no: x", "A <= B, 8 B, 1 KiB; C <= D"), ("y", "E <= F")]


def test_what_helps_is_told_once_with_the_mpis_of_which_it_is_told(aa: ModuleType) -> None:
    page = load_benchmark("guidelines_page")
    (found,) = aa.checks(1, 20, 0.01, 1.0, {"mpi.gather": 4.0})
    points = tuple(replace(one, mpi=mpi) for mpi in ("a-1", "b-2") for one in found.points)
    lines = list(page._todo(replace(found, points=points)))
    assert {mpis for _, mpis, _ in lines} == {"a-1, b-2"}
    assert len(lines) == len({one.words for one in points if one.verdict == VIOLATED})
    assert all(words.startswith("Gather <= ") for words, *_ in lines)
    assert {(words, helps) for words, _, helps in lines} >= {
        ("Gather <= Allgather", "compose it: Allgather"),
        ("Gather <= Gatherv", "call MPI_Gatherv with equal counts"),
    }
