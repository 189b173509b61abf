"""Does it work: runs of one-sided calls are counted by what became of them, and shown in 80 columns."""

from __future__ import annotations

from pathlib import Path

import msgspec
import pytest

from flat_rows import made_launch, made_row
from loaded import load_benchmark
from made_plans import made_plan
from make_records import FakePoint, steady, write_folder
from record_lines import text_of, unsealed
from steelyard.analyses.analysis import Made
from steelyard.analyses.rma_support.model import OUTCOMES, Functionality, functionality_of, outcome_of
from steelyard.analyses.rma_support.tables import all_ways_table, functionality_tables
from steelyard.export.export_input import ExportedFolder
from steelyard.export.formats import results_document
from steelyard.records.fields import Params
from steelyard.records.schema import End
from steelyard.render.terminal import Paper, table_text
from steelyard.report import write_report
from steelyard.results.row import NOT_YET, Row
from steelyard.results.rows import results


@pytest.mark.parametrize(
    ("status", "why", "outcome"),
    [
        ("ok", None, "passed"),
        ("failed", "wrong: rank 1: byte 3 of place 0 is 7, should be 9", "wrong"),
        ("failed", "signal 11 (SIGSEGV) on rank 0", "signal"),
        ("failed", "start-up: signal 6 (SIGABRT) on rank 0", "signal"),
        (
            "failed",
            "start-up: mpiexec ended with code 1 before anything was measured: it said nothing",
            "abort",
        ),
        ("failed", "abort: the launch ended with code 1 in the middle of the test case", "abort"),
        ("failed", "mpi: rank 0: MPI_Put: MPI_ERR_RMA_SYNC", "abort"),
        ("failed", "hang: no record for 10s, ended by the watchdog", "hang"),
        ("skipped", "unsupported: rank 0: needs MPI 4.0", "unsupported"),
        ("skipped", "input: rank 0: MPI defines MPI_Win_flush for epochs of locks alone", "unsupported"),
        ("failed", "clock: rank 0: the clock tsc jumped back", None),
        ("skipped", "memory: rank 0: no memory for the state", None),
        ("skipped", "it hung in an earlier launch", None),
        ("skipped", NOT_YET, None),
        ("unfinished", None, None),
    ],
)
def test_what_became_of_a_run(status: str, why: str | None, outcome: str | None) -> None:
    assert outcome_of(made_launch(1, status=status, why=why)) == outcome


def _row(op: str, whys: list[str | None], mpi: str = "a", threads: int = 1, **params: str) -> Row:
    """A row with a launch for each reason; None is a launch that went well."""
    launches = tuple(
        made_launch(i + 1, status="ok" if why is None else "failed", why=why) for i, why in enumerate(whys)
    )
    words = {"sync": "lock", "complete": "flush", "window": "create", **params}
    return made_row(op=op, mpi=mpi, threads=threads, params=words, launches=launches)


_SIGNAL, _WRONG = "signal 11 (SIGSEGV) on rank 0", "wrong: rank 1: byte 0"


def test_runs_of_a_way_are_counted_together_and_runs_is_their_sum() -> None:
    rows = [
        _row("mpi.put", [None, None, _SIGNAL], bytes="8"),
        _row("mpi.put", [_WRONG, None, None], bytes="9"),
        _row("mpi.put", [None], sync="fence", complete="close"),
        _row("mpi.put", [None], threads=4, windows="thread"),
        _row("mpi.put", [None], mpi="b"),
        made_row(op="mpi.bcast", params={"sync": "x"}, launches=(made_launch(1),)),
    ]
    found = functionality_of(rows)
    assert found[0] == Functionality(
        mpi="a", op="mpi.put", sync="lock", complete="flush", window="create", windows="one", threads=1,
        runs=6, passed=4, wrong=1, signal=1,
    )  # fmt: skip
    assert [(one.mpi, one.sync, one.windows, one.threads, one.runs) for one in found[1:]] == [
        ("a", "fence", "one", 1, 1),
        ("a", "lock", "thread", 4, 1),
        ("b", "lock", "one", 1, 1),
    ]
    assert all(one.runs == sum(getattr(one, outcome) for outcome in OUTCOMES) for one in found)


def test_the_matrix_says_what_passed_and_a_second_table_what_did_not() -> None:
    rows = [_row("mpi.put", [None] * 3), _row("mpi.put", [None, _SIGNAL], sync="fence", complete="close")]
    rows += [_row("mpi.get_accumulate", [_WRONG] * 2, window=window) for window in ("create", "shared")]
    tables = functionality_tables(functionality_of(rows))
    matrix, broken = tables
    assert [line.cells for line in matrix.lines] == [
        ("mpi.put", "3/3", "1/2"),
        ("mpi.get_accumulate", "0/4", "-"),
    ]
    assert [line.tone for line in matrix.lines] == ["bad", "bad"]
    assert matrix.notes == ("9 runs: 4 passed, 4 wrong, 1 signal",)
    assert [column.name for column in broken.columns] == [
        "op", "sync", "complete", "window", "runs", "passed", "wrong", "signal",
    ]  # fmt: skip
    assert broken.lines[0].cells == ("mpi.put", "fence", "close", "create", "2", "1", "-", "1")
    assert len(all_ways_table(functionality_of(rows)).lines) == 4
    for table in tables:
        text = table_text(table, Paper(width=80, is_pipe=False))
        assert max(map(len, text.splitlines())) <= 80


def test_calls_of_openshmem_are_counted_by_context_and_threads() -> None:
    """A get that blocks and an atomic complete themselves."""
    words: list[tuple[str, Params, int]] = [
        ("shmem.mt.put", {"context": "default", "complete": "quiet"}, 1),
        ("shmem.mt.put", {"context": "private", "complete": "quiet"}, 2),
        ("shmem.mt.atomic_add", {"context": "private", "type": "ulong"}, 2),
    ]
    rows = [
        made_row(op=op, mpi="s", threads=threads, params=params, launches=(made_launch(1),))
        for op, params, threads in words
    ]
    found = functionality_of(rows)
    assert [(one.op, one.sync, one.complete, one.threads, one.passed) for one in found] == [
        ("shmem.mt.put", "default", "quiet", 1, 1),
        ("shmem.mt.put", "private", "quiet", 2, 1),
        ("shmem.mt.atomic_add", "private", "call", 2, 1),
    ]
    assert not any(one.is_exchange for one in found)
    (matrix,) = functionality_tables(found)
    assert matrix.explained.endswith("by context")
    assert [column.name for column in matrix.columns] == ["op", "threads", "default", "private"]


def test_one_way_alone_makes_no_matrix() -> None:
    assert functionality_tables(functionality_of([_row("mpi.put", [None]), _row("mpi.get", [None])])) == ()


def test_what_died_before_its_record_was_written_is_what_plan_and_defaults_say(tmp_path: Path) -> None:
    """The engine writes the record of a test case after its set-up, in which a library may crash."""
    usual: Params = {"sync": "lock", "complete": "flush", "window": "create"}
    dead = End(point=0, status="failed", why=_SIGNAL)
    points = [
        FakePoint("mpi.put", steady(1e3), usual=usual),
        FakePoint("mpi.put", steady(1e3), params={"sync": "fence"}, ends={1: dead}),
    ]
    folder = write_folder(tmp_path / "out", points, launches=1, ops={"mpi.put": {"params": usual}})
    for file in (folder / "records").iterdir():
        records = [msgspec.json.decode(line) for line in unsealed(file.read_text()).splitlines()]
        kept = [one for one in records if (one["record"], one.get("point")) != ("point", 1)]
        assert len(kept) == len(records) - 1
        file.write_text(text_of(kept))
    found = results_document(ExportedFolder(folder, Made(results(folder))))["functionality"]
    assert [(one["sync"], one["window"], one["runs"], one["passed"], one["signal"]) for one in found] == [
        ("lock", "create", 1, 1, 0),
        ("fence", "create", 1, 0, 1),
    ]
    page = write_report([folder], tmp_path / "report.html").read_text("utf-8")
    assert "Does it work" in page
    assert "All combinations" in page


def test_a_page_has_what_works_under_which_library(tmp_path: Path) -> None:
    """From the made results of a plan, and from one whose run was wrong."""
    load_benchmark("apps_page")
    page = load_benchmark("onesided_page")
    words: Params = {"sync": "fence", "complete": "close", "window": "create"}
    ends = {1: End(point=0, status="failed", why=_WRONG)}
    wrong = FakePoint("mpi.put", steady(1e3), mpi="b", params=words, ends=ends)
    folders = [
        made_plan(tmp_path, "rma-mt"),
        write_folder(tmp_path / "b", [wrong], launches=1, name="rma-mt"),
    ]
    told = "\n".join(page.page([page.read(folder) for folder in folders]))
    assert told.count("### The plan `rma-mt`\n") == 1
    assert "257 runs of ten calls each, every call checked: 256 passed, 1 wrong." in told
    assert "| openmpi-4.1.4 | 2026-11-21 22:00 |  | 128 | 128 | 0 | 0 | 0 | 0 | 0 | 0 |\n" in told
    assert "| `mpi.put`: mpich-4.0.2, openmpi-4.1.4 | 8/8 | 4/4 | 4/4 |\n" in told
    assert "| `mpi.put`: b | - | 0/1 | - |\n" in told
    assert "| b | `mpi.put` | create | wrong | 1 | wrong: rank 1: byte 0 |\n" in told
