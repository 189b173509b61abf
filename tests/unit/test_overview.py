"""The tables of the terminal: what they say, and that every number is whole at 80 columns."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from msgspec.structs import replace as renew

from further import further
from made_plans import PLANS, fakes_of
from make_records import FakePoint, regimes, steady
from overviews import (
    HANG,
    OPS,
    PIPE,
    TERMINAL,
    USUAL,
    A,
    B,
    C,
    D,
    first_lines,
    lines_of,
    made,
    pingpongs,
    read,
)
from steelyard.analyses.analysis import Made
from steelyard.analyses.overview import ReadFolder, _without_mpi, overview_text, shown_items
from steelyard.base.units import format_bytes
from steelyard.cli.run import left_words
from steelyard.plan.plan import read_plan
from steelyard.plan.shipped import shipped_plans
from steelyard.records.schema import End
from steelyard.render.terminal import Paper
from steelyard.rows.row_words import bandwidth_words, value_words

ABSENT = End(point=0, status="skipped", why="needs MPI 4.0, which this MPI does not have")


# ---- every shipped plan ------------------------------------------------------------------------------------


def _disturbed(points: list[FakePoint], mpis: Sequence[str]) -> list[FakePoint]:
    """With all that an engine records, for so many MPIs; some fail, some are skipped, some have modes."""
    found = []
    for i, point in enumerate(points):
        for mpi in mpis if point.mpi else (None,):
            ends = {i % 7: HANG} if i % 11 == 1 else dict.fromkeys(range(9), ABSENT) if i % 13 == 2 else {}
            values = regimes(1e3, 3e3) if i % 17 == 3 else point.values
            found.append(
                FakePoint(
                    **{name: getattr(point, name) for name in FakePoint.__dataclass_fields__}
                    | {"mpi": mpi, "ends": ends, "usual": USUAL, "values": values}
                )
            )
    return found


def _on_mpis() -> Iterator[Any]:
    """Each plan on one MPI, on two and on four; of two plans, one is usual and the other wide."""
    for i, name in enumerate(PLANS):
        for mpis in ((A,), (A, B), (A, B, C, D)):
            is_further = mpis == (A, B) or (mpis == (A,)) == bool(i % 2)
            yield further(name, mpis) if is_further else (name, mpis)


@pytest.mark.parametrize(("name", "mpis"), [*_on_mpis()])
def test_every_number_of_a_shipped_plan_is_whole(tmp_path: Path, name: str, mpis: Sequence[str]) -> None:
    plan = read_plan(shipped_plans()[name])
    points = {
        (point.op, point.bytes, str(point.params)): point
        for measure in plan.measure
        for point in fakes_of(measure)
    }
    folder = made(tmp_path, _disturbed([*points.values()], mpis), launches=2)
    terminal, pipe = overview_text([folder], TERMINAL), overview_text([folder], PIPE)
    assert max(len(line) for line in terminal.splitlines()) <= 80
    assert all(line == line.rstrip() for line in (terminal + pipe).splitlines())
    piped = [field for fields in lines_of(pipe) for field in fields]
    for row in folder.rows:
        if row.median is not None:
            told = bandwidth_words(row) if row.headline == "bandwidth" else value_words(row)
            assert told in terminal
            assert "".join(told.split()) in piped
        if row.sized:
            assert format_bytes(row.bytes) in terminal
    assert "…" not in terminal
    for words in USUAL:
        said = re.search(rf"\b{re.escape(words)}\b", terminal)
        assert said is None or any(words in (*one.params, *one.params.values()) for one in points.values())


# ---- what a table says -------------------------------------------------------------------------------------


def test_one_mpi(tmp_path: Path) -> None:
    text = overview_text([made(tmp_path, pingpongs(A), ops=OPS)], TERMINAL)
    lines = text.splitlines()
    assert lines[0] == f"{A}, 2 ranks on CPUs 0,1 of vm (AMD EPYC 7B13), 6 launches"
    assert lines[2] == "mpi.pingpong: one way, half the round trip"
    headings = lines[3].split()  # between these there may be more
    assert (headings[:3], headings[-1]) == (["bytes", "time", "±"], "bandwidth")
    assert [line.split()[:2] for line in lines[4:7]] == [["0", "B"], ["8", "B"], ["1", "KiB"]]
    assert "params" not in text
    assert "align" not in text


# Ops of which each has a table of its own -> the role of their rows.
APART = {"mpi.bcast": None, "mpi.bandwidth": "bandwidth"}


def test_what_several_tables_share_stands_once_below_them(tmp_path: Path) -> None:
    points = [
        FakePoint(op, regimes(1e3, 3e3), bytes=size, mpi=A, role=role)
        for op, role in APART.items()
        for size in (1, 2, 3)
    ]
    text = overview_text([made(tmp_path, points, launches=3)], Paper(500, is_pipe=False))
    above, _, below = text.partition("\nremarks on several tables\n")
    assert "launches are too few" not in above
    assert "± is above 25 % in all rows of mpi.bcast and mpi.bandwidth: 3 launches are too few" in below


def test_a_sign_in_several_tables_is_explained_once(tmp_path: Path) -> None:
    points = [FakePoint(op, regimes(1e3, 1e6), bytes=8, mpi=A, role=role) for op, role in APART.items()]
    for kept in (1, 2):
        text = overview_text([made(tmp_path / str(kept), points[:kept], launches=3)], Paper(500))
        assert text.count("# > 10x: ") == 1
        assert ("# remarks on several tables\n" in text) == (kept == 2)


def test_p99_stands_with_its_interval_or_not_at_all(tmp_path: Path) -> None:
    """A launch of fewer than 1000 samples says nothing of how far its p99 may be off."""
    points = [FakePoint("mpi.bcast", steady(100.0, count=count), bytes=count) for count in (500, 2000)]
    lines = overview_text([made(tmp_path, points, ops=OPS)], TERMINAL).splitlines()
    heading = next(i for i, line in enumerate(lines) if "p99" in line)
    short, long = lines[heading + 1 : heading + 3]
    column = slice(lines[heading].index("±") + 1, lines[heading].index("p99") + 3)
    assert short[column].split()[-1] == "-"
    assert re.search(r"\d ns ± \d", long[column])


def test_a_parameter_that_the_plan_sets_is_told_and_one_that_differs_is_a_column(tmp_path: Path) -> None:
    points = [
        FakePoint(
            "mpi.bandwidth",
            steady(1e4),
            bytes=size,
            mpi=A,
            params={"window": w, "send": "isend"},
            usual=USUAL,
        )
        for size in (8, 64)
        for w in (1.0, 64.0)
    ]
    text = overview_text([made(tmp_path, points)], PIPE)
    assert "send=isend" in text.splitlines()[0]
    assert text.splitlines()[3].split()[:4] == ["#", "window", "bytes", "bandwidth"]
    assert [fields[:2] for fields in first_lines(text)] == [
        ["1", "8B"],
        ["1", "64B"],
        ["64", "8B"],
        ["64", "64B"],
    ]


def test_a_default_that_rows_differ_in_is_a_column(tmp_path: Path) -> None:
    points = [
        FakePoint("mpi.bcast", steady(1e4), bytes=8, mpi=A, usual=USUAL | {"align": align})
        for align in (0.0, 64.0)
    ]
    text = overview_text([made(tmp_path, points)], PIPE)
    assert [fields[0] for fields in first_lines(text)] == ["0", "64"]
    assert "type" not in text


def test_a_skipped_point_makes_no_parameter_differ(tmp_path: Path) -> None:
    """What the first command of an OSU user did: 4 bytes are no double, and all defaults became a column."""
    points = [
        FakePoint("mpi.allreduce", steady(500.0), bytes=4, mpi=A, ends=dict.fromkeys(range(9), ABSENT)),
        *(FakePoint("mpi.allreduce", steady(500.0), bytes=n, mpi=A, usual=USUAL) for n in (8, 16, 32)),
    ]
    text = overview_text([made(tmp_path, points)], TERMINAL)
    assert [line.split()[:2] for line in text.splitlines()[4:7]] == [["8", "B"], ["16", "B"], ["32", "B"]]
    assert "align" not in text
    assert "mpi.allreduce 4 B with openmpi-4.1.4: skipped: needs MPI 4.0" in text


def test_sizes_that_are_skipped_for_several_reasons_are_named(tmp_path: Path) -> None:
    reasons = {1: "2147483648 bytes are more than 2147483647", 2: "too large"}
    points = [
        FakePoint("mpi.bcast", steady(500.0), bytes=n, mpi=A, ends={1: renew(ABSENT, why=why)})
        for n, why in reasons.items()
    ]
    text = overview_text([made(tmp_path, points, launches=1)], Paper(200, is_pipe=False))
    for size, why in reasons.items():
        assert f"mpi.bcast {size} B with {A}: skipped: {why}" in text


def test_what_is_not_measured_yet_is_counted_and_can_be_resumed(tmp_path: Path) -> None:
    folder = made(tmp_path, pingpongs(A))
    for records in (folder.measured.folder / "records").iterdir():
        lines = records.read_text().splitlines(keepends=True)
        records.write_text("".join(line for line in lines if '"point":2' not in line))
    text = overview_text([read(folder.measured.folder)], Paper(500, is_pipe=False))
    resumes = f"to go on: steelyard run --out {folder.measured.folder}"
    assert f"1 of 3 test cases is not measured yet; {resumes}" in text
    assert "skipped" not in text

    (tmp_path / "batch").mkdir()  # beside what the jobs of --batch measured
    script = tmp_path / "batch" / f"{folder.measured.folder.name}.sh"
    script.touch()
    text = overview_text([read(folder.measured.folder)], Paper(500, is_pipe=False))
    assert f"to go on, submit {script} again" in text


@pytest.mark.parametrize(
    ("budget", "launches", "left"), [("10s", 5, "6 of 15"), ("10s", 3, ""), (None, 5, "")]
)
def test_what_a_budget_left_out_is_said_behind_the_answer(
    tmp_path: Path, budget: str | None, launches: int, left: str
) -> None:
    found = made(tmp_path, pingpongs(A), launches=3).measured
    planned = renew(found.campaign, plan={"launches": launches, "time_budget": budget})
    said = left_words(renew(found, campaign=planned))
    resumes = f"the time budget left out {left} measurements; to go on: steelyard run --out {found.folder}"
    assert list(said) == ([resumes] if left else [])


def test_an_op_that_is_skipped_has_one_line(tmp_path: Path) -> None:
    lost = dict.fromkeys(range(9), ABSENT)
    points = [
        FakePoint(op, steady(500.0), bytes=n, mpi=A, ends=lost if op.endswith("_init") else {})
        for op in ("mpi.bcast", "mpi.bcast_init", "mpi.reduce_init")
        for n in (8, 16, 32)
    ]
    text = overview_text([made(tmp_path, points)], Paper(200, is_pipe=False))
    assert text.count("skipped") == 1
    assert text.splitlines()[-1].startswith(
        f"mpi.bcast_init, mpi.reduce_init with {A}: skipped: needs MPI 4.0"
    )


def test_what_failed_keeps_its_place_and_says_why(tmp_path: Path) -> None:
    points = pingpongs(A, sizes=(0, 8, 64))
    points[1] = FakePoint("mpi.pingpong", steady(200.0), bytes=8, mpi=A, ends=dict.fromkeys(range(9), HANG))
    points[2] = FakePoint("mpi.pingpong", steady(200.0), bytes=64, mpi=A, ends={2: HANG}, usual=USUAL)
    lines = first_lines(overview_text([made(tmp_path, points, ops=OPS)], PIPE))
    assert [fields[0] for fields in lines] == ["0B", "8B", "64B"]
    assert " ".join(lines[1][1:]) == "failed: hang: no sample for 20 s"
    assert lines[2][1].endswith("ns")
    assert "failed in 1 of 6 launches: hang: no sample for 20 s" in " ".join(lines[2])


def test_a_bandwidth_test_is_about_bandwidth_and_a_rate_test_about_rates(tmp_path: Path) -> None:
    points = [
        FakePoint("mpi.bandwidth", steady(1e4), bytes=1000, mpi=A, role="bandwidth"),
        FakePoint("mpi.message_rate", steady(1e6), bytes=8, mpi=A, role="rate", work=500.0),
        FakePoint("npb.cg", steady(1e6), bytes=0, mpi=A, role="kernel", work=1e6),
    ]
    text = overview_text([made(tmp_path, points)], PIPE)
    headings = [line.split()[1:] for line in text.splitlines() if line.startswith("# ") and "±" in line]
    assert headings == [
        ["bytes", "bandwidth", "±", "time"],
        ["bytes", "rate", "±", "time", "bandwidth"],
        ["rate", "±", "time"],
    ]
    firsts = [next(field for field in fields if "/s" in field) for fields in lines_of(text)[:3]]
    assert [first[-3:] for first in firsts] == ["B/s", "k/s", "p/s"]


def test_ops_that_differ_in_the_same_stand_in_one_table(tmp_path: Path) -> None:
    points = [
        FakePoint(op, steady(50.0), bytes=0, mpi=None, ranks=1, threads=threads, params={**params})
        for op, params in (
            ("omp.barrier", {}),
            ("omp.single", {}),
            ("omp.lock", {"use": "one"}),
            ("omp.lock", {"use": "each"}),
        )
        for threads in (1, 2)
    ]
    text = overview_text([made(tmp_path, points)], TERMINAL)
    titles = [line for line in text.splitlines() if line in ("omp.barrier, omp.single", "omp.lock")]
    assert titles == ["omp.barrier, omp.single", "omp.lock"]


def test_nothing_was_measured(tmp_path: Path) -> None:
    lost = dict.fromkeys(range(9), ABSENT)
    text = overview_text([made(tmp_path, [FakePoint("mpi.bcast", steady(1.0), mpi=A, ends=lost)])], TERMINAL)
    assert text.splitlines()[0] == "Nothing was measured."
    assert f"mpi.bcast with {A}: skipped: needs MPI 4.0" in text


def test_one_launch_says_what_its_intervals_are_not(tmp_path: Path) -> None:
    text = overview_text([made(tmp_path, pingpongs(A), launches=1)], Paper(200, is_pipe=False))
    assert text.splitlines()[0].endswith("1 launch (± says nothing about further launches)")


def test_rows_of_fewer_launches_say_so(tmp_path: Path) -> None:
    folder = made(tmp_path, pingpongs(A, sizes=(8, 64)))
    rows = (renew(folder.rows[0], launch_count=4), folder.rows[1])
    text = overview_text([ReadFolder("", folder.measured, Made(rows))], PIPE)
    assert text.splitlines()[0].endswith("4 to 6 launches")
    assert lines_of(text)[0][-4:] == ["4", "of", "6", "launches"]


def test_a_row_of_one_launch_among_others_says_what_its_interval_is_not(tmp_path: Path) -> None:
    folder = made(tmp_path, pingpongs(A, sizes=(8, 64)))
    rows = (renew(folder.rows[0], launch_count=1), folder.rows[1])
    text = overview_text([ReadFolder("", folder.measured, Made(rows))], Paper(200, is_pipe=False))
    assert text.splitlines()[0].endswith("1 to 6 launches (± of one says nothing about further ones)")


def test_what_two_mpis_skip_for_one_reason_is_said_once(tmp_path: Path) -> None:
    lost = dict.fromkeys(range(9), renew(ABSENT, why="unsupported: rank 0: needs MPI 4.0"))
    points = [FakePoint("mpi.bcast_init", steady(1.0), mpi=mpi, ends=lost) for mpi in (A, B)]
    text = overview_text([made(tmp_path, [*points, *pingpongs(A)])], Paper(200, is_pipe=False))
    assert text.splitlines()[-1] == f"mpi.bcast_init with {A} and {B}: skipped: needs MPI 4.0"


def test_an_mpi_that_all_have_is_said_once(tmp_path: Path) -> None:
    points = [*pingpongs(A), FakePoint("self.empty", steady(1.0), bytes=0, mpi=None, ranks=1)]
    assert overview_text([made(tmp_path, points)], TERMINAL).count(A) == 1


def test_a_head_line_says_that_a_named_mpi_took_no_part() -> None:
    for named, said in ((["openmpi"], "without MPI (--engine mpi measures under it)"), ([], "")):
        folder: Any = SimpleNamespace(measured=SimpleNamespace(campaign=SimpleNamespace(plan={"mpi": named})))
        assert _without_mpi([folder]) == said


def test_of_what_is_not_measured_yet_two_sizes_of_an_op_are_grouped(tmp_path: Path) -> None:
    """A plan may have 50,000 test cases; two sizes tell that a table has several."""
    points = [FakePoint("mpi.bcast", steady(1e3), bytes=8 << shift, mpi=A) for shift in range(10)]
    folder = made(tmp_path, points).measured.folder
    for records in (folder / "records").iterdir():
        first = (line for line in records.read_text().splitlines(keepends=True) if not _later(line))
        records.write_text("".join(first))
    found = read(folder)
    assert len(found.rows) == 10
    assert [item.row.bytes for item in shown_items([found])] == [8, 16, 32]


def _later(line: str) -> bool:
    return re.search(r'"point":[1-9]', line) is not None


def test_the_reason_of_a_failure_is_said_once_in_a_table(tmp_path: Path) -> None:
    points = [
        FakePoint("mpi.pingpong", steady(9.0), bytes=n, mpi=A, ends=dict.fromkeys(range(9), HANG))
        for n in (0, 8, 64)
    ]
    text = overview_text([made(tmp_path, points, ops=OPS)], PIPE)
    assert text.count("hang: no sample for 20 s") == 1
    assert text.count("failed: as above") == 2


def test_of_many_test_cases_a_terminal_shows_some_and_all_that_failed(tmp_path: Path) -> None:
    sizes = tuple(8 << k for k in range(20))
    ends = [dict.fromkeys(range(9), HANG) if k in (3, 4) else {} for k in range(20)]
    points = [
        FakePoint(op, steady(9.0), bytes=size, mpi=A, ends=end)
        for op in ("mpi.bcast", "mpi.scan")
        for size, end in zip(sizes, ends, strict=True)
    ]
    folder = made(tmp_path, points, launches=2)
    for most, shown in ((None, 40), (40, 40), (10, 14), (1, 8)):
        lines = overview_text([folder], PIPE, most=most).splitlines()
        cases = [line for line in lines if not line.startswith("#")]
        assert len([line for line in cases if "failed" in line]) == 4
        assert [line.split()[0] for line in cases][-1] == "4MiB"
        assert len(cases) == shown
        left = 40 - shown
        assert any(f"{left} of 40 test cases are not shown" in line for line in lines) == (left > 0)


def test_of_many_test_cases_a_terminal_shows_each_op_at_its_most_threads(tmp_path: Path) -> None:
    """One thread is the least of what is asked, and sizes leave no room for other ops."""
    ops = [f"omp.op{k}" for k in range(12)]
    points = [FakePoint(op, steady(9.0), threads=count) for op in ops for count in (1, 2)]
    folder = made(tmp_path, points, launches=2)
    lines = overview_text([folder], PIPE, most=6).splitlines()
    assert [line.split()[:2] for line in lines if not line.startswith("#")] == [[op, "2"] for op in ops]
    assert any("12 of 24 test cases are not shown" in line for line in lines)
