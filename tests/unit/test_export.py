"""The formats that other programs read."""

from __future__ import annotations

import csv
import io
import json
import re
import xml.etree.ElementTree as ET
from pathlib import Path

import pytest

from exported_rows import export_row as _row
from exported_rows import export_text as _text
from steelyard.analyses.analysis import Made
from steelyard.base.errors import InputError
from steelyard.export.export_input import Export, ExportedFolder
from steelyard.export.formats import FORMATS, PRINTS
from steelyard.export.suite_tests import OSU
from steelyard.export.suite_text import sentences_on
from steelyard.plan.suites import SUITES
from steelyard.results.row import Row

_WINDOW = {"kind": "window", "window": 64}
_FETCHED = {"sync": "lock_shared", "complete": "flush", "type": "int8"}
_LOCKED = {"sync": "lock", "complete": "close", "window": "create", "type": "int8"}
_OWN = {"avg": 2000.0, "min": 1000.0, "max": 4000.0}


def _without_origin(text: str) -> str:
    return "".join(line for line in text.splitlines(keepends=True) if "# Measured by" not in line)


def test_osu_latency_is_theirs_letter_for_letter() -> None:
    text = _text("osu", _row("mpi.pingpong", 1024, mean=1e6), _row("mpi.pingpong", 1, verified=False))
    assert _without_origin(text) == (
        "\n"
        "# OSU MPI Latency Test v7.4\n"
        "# Datatype: MPI_CHAR.\n"
        "# Size       Avg Latency(us)        Validation\n"
        "1                       1.23              Fail\n"
        "1024                 1000.00              Pass\n"
    )


@pytest.mark.parametrize(
    ("to", "row", "lines"),
    [
        (
            "osu-plain",
            _row("mpi.bandwidth", 8, time=2000.0, bandwidth=6.17e9, headline="bandwidth"),
            ["# OSU MPI Bandwidth Test v7.4", "# Size      Bandwidth (MB/s)", "8                   10000.00"],
        ),
        (
            "osu-full",
            _row("mpi.allreduce", 8, osu=_OWN, params={"type": "float"}),
            [
                "# OSU MPI Allreduce Latency Test v7.4",
                "# Datatype: MPI_FLOAT.",
                "# Size       Avg Latency(us)   Min Latency(us)   Max Latency(us)  Iterations",
                "8                       2.00              1.00              4.00          30",
            ],
        ),
        (
            "osu",
            _row("mpi.barrier", 0, sized=False, osu=_OWN),
            ["# OSU MPI Barrier Latency Test v7.4", "# Avg Latency(us)", "             2.00"],
        ),
        (
            "osu-plain",
            _row("mpi.pattern.bisection", 8, ranks=4, bandwidth=12.34e9, params=_WINDOW),
            [
                "# OSU MPI Multiple Bandwidth / Message Rate Test v7.4",
                "# [ pairs: 2 ] [ window size: 64 ]",
                "# Size                  MB/s        Messages/s",
                "8                   10000.00     1250000000.00",
            ],
        ),
        (  # they print one way, our op is there and back
            "osu-plain",
            _row("mpi.pattern.bisection", 8, params={"kind": "pingpong"}),
            ["# OSU MPI Multi Latency Test v7.4", "8                       0.62"],
        ),
        (
            "osu-full",
            _row("shmem.put", 8, params={"complete": "quiet"}),
            [
                "# OSU OpenSHMEM Put Test v7.4",
                "# Size          Latency (us)",
                "8                       1.23",
            ],
        ),
        (
            "osu",
            _row("shmem.put_nbi.bandwidth", 8, params={"complete": "quiet", "calls": 50}),
            [
                "# OSU OpenSHMEM Put_nb Message Rate Test v7.4",
                "# Size            Messages/s",
                "8                40518638.57",
            ],
        ),
        (
            "osu",
            _row("shmem.atomic_fetch_add", 0, sized=False, params={"type": "longlong", "calls": 1}),
            [
                "# OSU OpenSHMEM Atomic Operation Rate Test v7.4",
                "# Operation              Million ops/s      Latency (us)",
                "shmem_longlong_fadd               0.81              1.23",
            ],
        ),
        (
            "osu-full",
            _row("shmem.fcollect", 8, osu=_OWN, params={"width": "32"}),
            [
                "# OSU OpenSHMEM FCollect Latency Test v7.4",
                "# Size       Avg Latency(us)   Min Latency(us)   Max Latency(us)  Iterations",
                "8                       2.00              1.00              4.00          30",
            ],
        ),
        (
            "osu",
            _row("shmem.barrier", 0, sized=False, osu=_OWN),
            ["# OSU OpenSHMEM Barrier Latency Test v7.4", "# Avg Latency(us)", "             2.00"],
        ),
        (
            "osu",
            _row("mpi.put", 8, params={"sync": "lock_shared", "complete": "flush"}),
            [
                "# OSU MPI_Put Latency Test v7.4",
                "# Window creation: MPI_Win_allocate",
                "# Synchronization: MPI_Win_flush",
                "# Datatype: MPI_CHAR.",
                "# Size          Latency (us)",
                "8                       1.23",
            ],
        ),
        (  # theirs is one of MPI_CHAR
            "osu",
            _row("mpi.fetch_and_op", 0, sized=False, params=_FETCHED),
            [
                "# OSU MPI_Fetch_and_op latency Test v7.4",
                "# Datatype: MPI_CHAR.",
                "# Size          Latency (us)        Validation",
                "1                       1.23            passed",
            ],
        ),
        (
            "osu-plain",
            _row("mpi.get_accumulate", 8, params=_LOCKED),
            [
                "# OSU MPI_Get_accumulate latency Test v7.4",
                "# Window creation: MPI_Win_create",
                "# Synchronization: MPI_Win_lock/unlock",
                "# Size          Latency (us)",
                "8                       1.23",
            ],
        ),
        (
            "osu-plain",
            _row("mpi.iallreduce", 8, osu=_OWN, params={"type": "int8"}),
            [
                "# OSU MPI Non-blocking Allreduce Latency Test v7.4",
                "# Overall = Coll. Init + Compute + MPI_Test + MPI_Wait",
                "# nan: mpi.iallreduce has no work beside it; mpi.overlap.iallreduce measures it.",
                "# Datatype: MPI_CHAR.",
                "# Size           Overall(us)       Compute(us)    Pure Comm.(us)        Overlap(%)",
                "8                        nan               nan              2.00               nan",
            ],
        ),
        (
            "osu-full",
            _row("mpi.ibarrier", 0, sized=False, osu=_OWN),
            [
                "# OSU MPI Non-blocking Barrier Latency Test v7.4",
                ("# Overall(us)       Compute(us)    Coll. Init(us)      MPI_Test(us)      MPI_Wait(us)"
                "    Pure Comm.(us)     Min Comm.(us)     Max Comm.(us)        Overlap(%)"),
                ("          nan               nan               nan               nan               nan"
                "              2.00              1.00              4.00               nan"),
            ],
        ),
        (  # sizes are those of all blocks
            "osu-plain",
            _row("mpi.reduce_scatter_block", 8, ranks=3, osu=_OWN, params={"type": "int8"}),
            ["# OSU MPI Reduce_scatter_block Latency Test v7.4", "24                      2.00"],
        ),
        (
            "osu-plain",
            _row("mpi.neighbor_alltoallv", 8, osu=_OWN, params={"dims": 1}),
            ["# OSU MPI Neighborhood All-to-Allv Latency Test v7.4", "8                       2.00"],
        ),
        (
            "osu-plain",
            _row("mpi.part.pingpong", 8),
            ["# OSU MPI Partitioned Latency Test v7.4", "8                       1.23"],
        ),
        (
            "osu",
            _row("mpi.first.init", 0, sized=False, mean=25e6),
            [
                "# OSU MPI Init Test v7.4",
                "# The time is that of MPI_Init_thread, over launches.",
                "nprocs: 2, min: 25 ms, max: 25 ms, avg: 25 ms",
            ],
        ),
        (
            "imb",
            _row("mpi.pingpong", 1024, mean=2048.0),
            [
                "#---------------------------------------------------",
                "# Benchmarking PingPong ",
                "# #processes = 2 ",
                "#---------------------------------------------------",
                "       #bytes #repetitions      t[usec]   Mbytes/sec",
                "         1024           30         2.05       500.00",
            ],
        ),
        (
            "imb",
            _row("mpi.bcast", 8, osu=_OWN),
            [
                "# Benchmarking Bcast ",
                "       #bytes #repetitions  t_min[usec]  t_max[usec]  t_avg[usec]",
                "            8           30         1.00         4.00         2.00",
            ],
        ),
        (
            "imb",
            _row("mpi.pattern.ring", 8, osu=_OWN, params={"kind": "isend"}),
            [
                "# Benchmarking Exchange ",
                "            8           30         1.00         4.00         2.00         8.00",
            ],
        ),
        (
            "imb",
            _row("mpi.barrier", 0, sized=False, osu=_OWN),
            [
                " #repetitions  t_min[usec]  t_max[usec]  t_avg[usec]",
                "           30         1.00         4.00         2.00",
            ],
        ),
        (
            "imb",
            _row("mpi.iallreduce", 8, osu=_OWN, params={"type": "float"}),
            ["# Benchmarking Iallreduce_pure "],
        ),
        (
            "netpipe",
            _row("mpi.pingpong", 1000, params={"buffer": "same"}),
            ["     1000     8.000     7.273     8.889    1.00"],
        ),
    ],
)  # fmt: skip
def test_tables_have_their_lines(to: str, row: Row, lines: list[str]) -> None:
    text = _text(to, row).splitlines()
    assert [line for line in text if line in lines] == lines, text


# Patterns as tools that read these texts have them: ReFrame's checks, Ramble, PerfKitBenchmarker.
@pytest.mark.parametrize(
    ("to", "pattern", "found"),
    [
        ("osu", r"^8\s+(\S+)", "1.23"),
        ("osu", r"^(8).*Pass", "8"),
        ("osu", r"# OSU.*Test (v[0-9\.]+)", "v7.4"),
        ("osu-plain", r"^#\s+Size\s+(Avg Latency\(us\))\s*$", "Avg Latency(us)"),
        ("osu-plain", r"^8\s+([0-9\.]+)\s*$", "1.23"),
        ("imb", r"^# Benchmarking (\S+)", "PingPong"),
        ("imb", r"# #processes = (\d+)", "2"),
        ("imb", r"^\s+8\s+\d+\s+\d+\.\d+\s+(\d+\.\d+)$", "6.48"),
    ],
)
def test_patterns_of_other_tools_find_the_numbers(to: str, pattern: str, found: str) -> None:
    match = re.search(pattern, _text(to, _row("mpi.pingpong", 8)), re.MULTILINE)
    assert match
    assert match[1] == found


def test_what_has_no_number_is_a_comment_and_nothing_hostile_is_a_line() -> None:
    rows = (
        _row("mpi.pingpong", 8),
        _row("mpi.pingpong", 16, status="failed", why="hang: a\n16 0.01 Pass\x1b[2J"),
        _row("omp.barrier", 0, sized=False, mpi=None),
        _row("mpi.pingpong", 8, mpi="x\n8 0.01 Pass"),
    )
    text = _text("osu", *rows)
    lines = text.splitlines()
    assert [line for line in lines if not line.startswith("#") and line] == [
        "8                       1.23              Pass",
        "8                       1.23              Pass",
    ]
    assert "# left out: omp.barrier: OSU prints no such test" in lines
    assert any("16 B" in line and "failed: hang" in line for line in lines)
    assert "\x1b" not in text
    assert all(line.startswith("# left out: ") for line in text.partition("\n# left out")[2].splitlines()[1:])
    assert len(list(sentences_on(text.encode()))) == 2


def test_rows_are_of_the_test_that_says_most_of_them() -> None:
    start = {"send": "start", "recv": "start"}
    text = _text("osu", _row("mpi.pingpong", 1), _row("mpi.pingpong", 1, params=start))
    assert [line for line in text.splitlines() if "OSU MPI" in line] == [
        "# OSU MPI Latency Test v7.4",
        "# OSU MPI Latency Persistent Test v7.4",
    ]


@pytest.mark.parametrize(
    ("to", "rows", "words"),
    [
        (
            "osu",
            (_row("omp.barrier", 0),),
            "OSU prints no test of what 'mine' holds (omp.barrier);",
        ),
        ("netpipe", (_row("mpi.bcast", 8, osu=_OWN),), "holds (mpi.bcast); give --to csv"),
        (
            "netpipe",
            (_row("mpi.pingpong", 8, params={"buffer": "apart"}),),
            "its netpipe is mpi.pingpong buffer=same, which 'steelyard run --like netpipe' measures",
        ),
        ("osu", (_row("mpi.scan", 8, osu=_OWN),), "OSU prints no test"),
        ("imb", (_row("mpi.pingpong", 8, status="failed", why="hang"),), "has a number"),
    ],
)
def test_a_format_that_can_say_nothing_says_so(to: str, rows: tuple[Row, ...], words: str) -> None:
    with pytest.raises(InputError) as raised:
        _text(to, *rows)
    assert words in str(raised.value)


def test_every_test_that_is_printed_has_a_name_of_ours() -> None:
    names = {row.name for rows in SUITES.values() for row in rows}
    for tests in PRINTS.values():
        assert set(tests) <= names
    assert PRINTS.keys() <= FORMATS.keys()


def test_every_test_of_osu_has_a_text() -> None:
    assert {row.name for row in SUITES[OSU]} == set(PRINTS["osu"])


def test_junit_fails_what_failed_and_passes_what_did_not_converge() -> None:
    hostile = "]]>\x00\x1b<script>&\"'"
    text = _text(
        "junit",
        _row("mpi.pingpong", 8, flag="TIME", flags=("TIME",)),
        _row("mpi.pingpong", 16, status="failed", why=hostile, median=None),
        _row("mpi.pingpong", 32, status="skipped", why="no such call", median=None),
        _row("mpi.pingpong", 64, verified=False),
        _row("mpi.bcast", 8, mpi=hostile),
    )
    suite = ET.fromstring(text)
    assert (suite.get("tests"), suite.get("failures"), suite.get("skipped")) == ("5", "2", "1")
    cases = suite.findall("testcase")
    assert [[child.tag for child in case] for case in cases] == [
        *(["system-out"], ["failure"], ["skipped"], ["failure"], ["system-out"]),
    ]
    assert len({case.get("name") for case in cases}) == 5
    assert "\\x00" in (cases[1][0].get("message") or "")


def test_a_method_is_named_where_it_tells_cases_apart() -> None:
    rows = [
        _row("mpi.pingpong", 8),
        _row("mpi.bcast", 8, method="epoch"),
        _row("mpi.bcast", 16, method="epoch"),
    ]
    for more, name in (([], "mpi.bcast, 8 B"), ([_row("mpi.bcast", 8)], "mpi.bcast, 8 B, method epoch")):
        names = [case.get("name") for case in ET.fromstring(_text("junit", *rows, *more)).iter("testcase")]
        assert names[1] == name


def test_several_folders_are_suites_lists_and_a_column() -> None:
    both = Export(tuple(ExportedFolder(Path(name), Made((_row("mpi.pingpong", 8),))) for name in ("=a", "b")))
    assert len(ET.fromstring(FORMATS["junit"](both)).findall("testsuite")) == 2
    assert [document["out"] for document in json.loads(FORMATS["json"](both))] == ["=a", "b"]
    lines = list(csv.DictReader(io.StringIO(FORMATS["csv"](both).decode())))
    assert [line["folder"] for line in lines] == ["'=a", "b"]
    assert lines[0]["median"] == "1000.0"


@pytest.mark.parametrize("begins", ["=", "+", "-", "@", "\t=", "\r=", "\n=", " =", "＝", "＋", "－", "＠"])
def test_no_cell_is_a_formula(begins: str) -> None:
    """Spreadsheets take the wide forms of these characters for formulas, too."""
    hostile = f"{begins}cmd|' /C calc'!A0"
    row = _row("mpi.pingpong", 8, mpi=hostile, why=hostile, params={hostile: 1.0})
    (line,) = csv.DictReader(io.StringIO(_text("csv", row), newline=""))
    shown = hostile.encode("unicode_escape").decode() if begins[0] < " " else f"'{hostile}"
    assert {line["mpi"], line["why"], line["params"].removesuffix("=1.0")} == {shown}
