"""Texts of other suites, as these print them, are read whole or refused with the line."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
import typer

from bounds import bounded
from steelyard.base.errors import InputError
from steelyard.cli.load import LoadOptions, load
from steelyard.readers.files import numbers_of_text, read_printed

_OSU = """
# OSU MPI Latency Test v7.4
# Datatype: MPI_CHAR.
# Size       Avg Latency(us)        Validation
1                       1.23              Pass
1024                    2.00              Pass
"""
_OSU_FULL = """
# OSU MPI Allreduce Latency Test v7.4
# Datatype: MPI_CHAR.
# Size       Avg Latency(us)   Min Latency(us)   Max Latency(us)  Iterations
4                       2.00              1.00              4.00        1000
"""
_OSU_BARRIER = """
# OSU MPI Barrier Latency Test v7.4
# Avg Latency(us)
             2.50
"""
_IMB = """
#---------------------------------------------------
# Benchmarking PingPong
# #processes = 2
#---------------------------------------------------
       #bytes #repetitions      t[usec]   Mbytes/sec
            0         1000         0.25         0.00
         1024         1000         0.75      1365.33

#----------------------------------------------------------------
# Benchmarking Allreduce
# #processes = 4
#----------------------------------------------------------------
       #bytes #repetitions  t_min[usec]  t_max[usec]  t_avg[usec]
            8         1000         1.00         3.00         2.00
"""
_NPB = """
 CG Benchmark Completed.
 Class           =                        A
 Size            =                    14000
 Time in seconds =                     0.36
 Total processes =                        4
 Mop/s total     =                  4156.76
 Verification    =               SUCCESSFUL
"""
_IOR = """
access    bw(MiB/s)  IOPS       Latency(s)  block(KiB) xfer(KiB)  open(s)    wr/rd(s)   close(s)   iter
------    ---------  ----       ----------  ---------- ---------  --------   --------   --------   ----
write     2934.50    2936.12    0.001362    1024.00    1024.00    0.000316   0.001362   0.000021   0
read      6401.20    7502.10    0.000533    1024.00    1024.00    0.000045   0.000533   0.000003   0

Summary of all tests:
Operation   Max(MiB)   Min(MiB)  Mean(MiB)     StdDev   Max(OPs)   Min(OPs)  Mean(OPs)
write        2934.50    2934.50    2934.50       0.00    2936.12    2936.12    2936.12
read         6401.20    6401.20    6401.20       0.00    7502.10    7502.10    7502.10
"""
_NETPIPE = "      1     0.040     0.039     0.041    0.20\n      8     0.320     0.310     0.330    0.20\n"
_GOOGLE = json.dumps(
    {
        "context": {},
        "benchmarks": [
            {
                "name": "BM_x/8",
                "run_type": "iteration",
                "real_time": 12.5,
                "cpu_time": 12.4,
                "time_unit": "ns",
            },
            {"name": "BM_x/8_mean", "run_type": "aggregate", "real_time": 12.5, "time_unit": "ns"},
            {"name": "BM_fails/8", "run_type": "iteration", "error_occurred": True, "real_time": 0.0},
        ],
    }
)


@pytest.mark.parametrize(
    ("text", "told"),
    [
        (_OSU, [("MPI Latency Test", "Avg Latency(us)", 1, None, 1.23, 5), (..., ..., 1024, None, 2.0, 6)]),
        (
            _OSU_FULL,
            [
                ("MPI Allreduce Latency Test", column, 4, None, value, 5)
                for column, value in (("Avg Latency(us)", 2), ("Min Latency(us)", 1), ("Max Latency(us)", 4))
            ],
        ),
        (_OSU_BARRIER, [("MPI Barrier Latency Test", "Avg Latency(us)", None, None, 2.5, 4)]),
        (
            _IMB,
            [
                ("PingPong", "t[usec]", 0, 2, 0.25, 7),
                ("PingPong", "Mbytes/sec", 0, 2, 0.0, 7),
                ("PingPong", "t[usec]", 1024, 2, 0.75, 8),
                ("PingPong", "Mbytes/sec", 1024, 2, 1365.33, 8),
                ("Allreduce", "t_min[usec]", 8, 4, 1.0, 15),
                ("Allreduce", "t_max[usec]", 8, 4, 3.0, 15),
                ("Allreduce", "t_avg[usec]", 8, 4, 2.0, 15),
            ],
        ),
        (_NPB, [("cg.A", "Time in seconds", None, 4, 0.36, 5), ("cg.A", "Mop/s total", None, 4, 4156.76, 7)]),
        (_IOR, [("write", "bw(MiB/s)", None, None, 2934.5, 4), ("read", "bw(MiB/s)", None, None, 6401.2, 5)]),
        (
            _NETPIPE,
            [
                ("netpipe", column, size, None, value, line)
                for line, size, values in (
                    (1, 1, (0.04, 0.039, 0.041, 0.2)),
                    (2, 8, (0.32, 0.31, 0.33, 0.2)),
                )
                for column, value in zip(
                    ("Gbit/s", "Gbit/s, least", "Gbit/s, most", "us"), values, strict=True
                )
            ],
        ),
        (_GOOGLE, [("BM_x/8", "real_time (ns)", None, None, 12.5, 1)]),
    ],
    ids=["osu", "osu -f", "osu without sizes", "imb", "npb", "ior", "netpipe", "google benchmark"],
)
def test_numbers_are_read_with_their_lines(text: str, told: list[tuple[object, ...]]) -> None:
    found = [
        (one.test, one.column, one.bytes, one.ranks, one.value, one.line) for one in numbers_of_text(text)
    ]
    assert len(found) == len(told)
    for mine, theirs in zip(found, told, strict=True):
        assert all(value == known for value, known in zip(mine, theirs, strict=True) if known is not ...)


_CONSOLE = """2026-11-26T08:00:00+00:00
Running ./bench
***WARNING*** CPU scaling is enabled, the benchmark real time measurements may be noisy
-------------------------------------------------------------
Benchmark                   Time             CPU   Iterations
-------------------------------------------------------------
BM_x/8                   12.5 ns         12.4 ns     56000000 items_per_second=80M/s
BM_y/real_time           3.25 ms         0.10 ms          215
BM_y_mean                3.25 ms         0.10 ms            3
BM_fails             ERROR OCCURRED: 'no memory'
"""
_OSU_IBARRIER = """
# OSU MPI Non-blocking Barrier Latency Test v7.4
# Overall = Coll. Init + Compute + MPI_Test + MPI_Wait

# Overall(us)       Compute(us)    Pure Comm.(us)        Overlap(%)
         4.13              2.91              2.52             51.35
"""
_IMB_IBARRIER = """
# Benchmarking Ibarrier
# #processes = 1
 #repetitions t_ovrl[usec] t_pure[usec]  t_CPU[usec]   overlap[%]
            5         0.12         0.05         0.04         0.00
            1            5         0.09         0.03         0.04         0.00
"""
# Name, text, and how many numbers are in it.
_TAKEN = [
    ("a mark of UTF-8", "\ufeff" + _OSU.lstrip(), 2),
    ("old line ends of the Macintosh", _IMB.replace("\n", "\r"), 7),
    ("no end of the last line", _OSU.rstrip("\n"), 2),
    ("a table of IMB without an end of its last line", _IMB.rstrip("\n"), 7),
    ("the same test again", _OSU + _OSU, 4),
    ("a size for which IMB had no memory", _IMB + "  4194304 out-of-mem.; needed X= 3 GB\n", 7),
    ("a size whose count overflows", _IMB + "  4194304 int-overflow.; The production rank*size\n", 7),
    ("words of OSU between its lines", _OSU.replace("1024  ", "# a word\n\n[n1:7] UCX WARN x\n1024  "), 2),
    ("an older OSU", _OSU.replace("MPI Latency Test v7.4", "MPI-CUDA Latency Test v5.9"), 2),
    ("pairs and a window", _OSU.replace("# Datatype", "# [ pairs: 1 ] [ window size: 64 ]\n# Datatype"), 2),
    ("NPB with threads", _NPB.replace("Total processes", "Total threads  "), 2),
    ("NPB that knows no answer", _NPB.replace("SUCCESSFUL", "NOT PERFORMED"), 2),
    ("IOR that removes", _IOR.replace("\n\nSummary", "\nremove - - - - - - - - 0\n\nSummary"), 2),
    ("an IOR that was cut behind its lines", _IOR[: _IOR.index("Max(MiB)")], 2),
    ("Google Benchmark on a console", _CONSOLE, 2),
    ("Google Benchmark behind warnings", "***WARNING*** scaling\n" + _GOOGLE, 1),
    ("Google Benchmark indented", json.dumps(json.loads(_GOOGLE), indent=2), 1),
    ("comments in np.out", "# NetPIPE\n" + _NETPIPE, 8),
    ("a barrier of OSU in the background", _OSU_IBARRIER, 4),
    ("a barrier of IMB, with sizes below no heading", _IMB_IBARRIER, 8),
    ("all of them", _OSU + _NPB + _IMB + _IOR + _CONSOLE, 2 + 2 + 7 + 2 + 2),
]  # fmt: skip


@pytest.mark.parametrize(("text", "numbers"), [case[1:] for case in _TAKEN], ids=[case[0] for case in _TAKEN])
def test_what_users_have_is_read(text: str, numbers: int, tmp_path: Path) -> None:
    path = tmp_path / "file"
    path.write_bytes(text.encode())
    assert len(read_printed(path)) == numbers
    path.write_bytes(text.removeprefix("\ufeff").encode("utf-16"))  # as PowerShell redirects it
    assert len(read_printed(path)) == numbers


def test_several_suites_in_one_log_are_read_whatever_stands_between_them() -> None:
    noise = "srun: job 17 queued\n[node1:42] a warning of UCX\n"
    found = numbers_of_text("\r\n".join([*noise.splitlines(), *(_OSU + noise + _IMB + _NPB).splitlines()]))
    assert len(found) == 2 + 7 + 2


@pytest.mark.parametrize(
    ("text", "why"),
    [
        (
            _OSU.replace("1.23 ", "1,23 "),
            "line 5 has '1,23' where a number belongs, whose decimal sign is a comma",
        ),
        (_OSU[: _OSU.index("2.00")], "line 6 has 1 field below 3 columns"),
        (_OSU.replace("1024 ", "1e3 "), "line 6 has '1e3' where a whole number belongs"),
        (_OSU.replace("2.00", "inf"), "line 6 has a number that is none"),
        ("\n".join(_OSU.splitlines()[:3]), "line 2 begins a table of OSU without headings"),
        ("\n".join(_OSU.splitlines()[:4]), "no table of OSU"),
        (_IMB[: _IMB.index("1365.33")], "line 8 has 3 fields below 4 columns"),
        (_NPB.replace(" Mop/s total", " Mops"), "line 2 begins a summary of NPB without 'Mop/s total'"),
        (_IOR[: _IOR.index("0.000003")], "line 5 has 8 fields below 10 columns"),
        (_NETPIPE + "16 0.6\n", "line 3 has 2 fields below 5 columns"),
        (_GOOGLE[:-5], "no JSON of Google Benchmark"),
        ("nothing of all this\n", "no table of OSU"),
        (
            _OSU[: _OSU.index("00              Pass\n", _OSU.index("1024"))],
            "line 6 has 2 fields below 3 columns",
        ),
        (
            _IMB.rstrip("\n") + "\n   16  1000  1.00  3.00  2.",
            "line 16 ends amid a number, for 2.00 above has more",
        ),
        (
            _OSU.replace("2.00              Pass", "2.00              Fail"),
            "line 6 has the validation 'Fail'",
        ),
        (_NPB.replace("SUCCESSFUL", "UNSUCCESSFUL"), "line 8 says that the verification was not successful"),
        (_NPB.replace("0.36", "******"), "line 5 has '******' where a number belongs"),
        (_OSU + "1024  3.00  Pass\n", "line 7 has 1024 bytes again"),
        (_OSU.replace("1.23", "1_000.23"), "line 5 has '1_000.23' where a number belongs"),
        (_OSU.replace("1.23", "1.000,23"), "line 5 has '1.000,23' where a number belongs, whose decimal"),
        (_OSU.replace("1.23", "1'000.23"), "line 5 has '1'000.23' where a number belongs"),
        (_OSU.replace("1.23", "\u0661.23"), "line 5 has '\u0661.23' where a number belongs"),
        (_CONSOLE[: _CONSOLE.index("0.10 ms          215")], "line 8 ends amid a benchmark"),
        (_GOOGLE + _GOOGLE, "no JSON of Google Benchmark"),
        (
            _IOR.replace("2934.50    2936.12", "2934,50    2936,12"),
            "line 4 has '2934,50' where a number belongs",
        ),
        ("# OSU MPI Latency Test v7.4\n# Size\n8\n", "no table of OSU"),  # with a number
        ("", "no table of OSU"),
    ],
)
def test_what_is_cut_or_in_another_locale_is_refused_with_its_line(text: str, why: str) -> None:
    with pytest.raises(InputError) as raised:
        numbers_of_text(text)
    assert why in str(raised.value)


@pytest.mark.parametrize(("line", "numbers"), [("\n", 2), (" \t\n", 2)])
def test_blank_lines_take_no_more_than_others(line: str, numbers: int) -> None:
    with bounded():
        assert len(numbers_of_text(50_000 * line + _OSU)) == numbers


def test_files_stand_side_by_side_and_say_that_they_have_no_interval(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    before, after = tmp_path / "before", tmp_path / "after"
    before.write_text(_OSU)
    after.write_text(_OSU.replace("2.00", "3.00"))
    load(LoadOptions(paths=[before, after]))
    text = capsys.readouterr().out
    assert "has no interval" in " ".join(text.replace("#", "").split())
    assert "1.5" in next(line for line in text.splitlines() if "1 KiB" in line or "1KiB" in line)
    assert "several times" not in text
    load(LoadOptions(paths=[after], json=True))
    assert [one["value"] for one in json.loads(capsys.readouterr().out)[str(after)]] == [1.23, 3.0]
    with pytest.raises((InputError, typer.Exit), match="given twice"):
        load(LoadOptions(paths=[after, after]))


def test_what_a_file_has_of_several_runs_is_their_median_and_said_to_be(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    once, twice = Path("once"), Path("twice")
    once.write_text(_OSU)
    twice.write_text(_OSU + _OSU.replace("2.00", "3.00"))
    load(LoadOptions(paths=[once, twice]))
    text = " ".join(capsys.readouterr().out.replace("#", "").split())
    assert "1KiB 2 2.5 1.25" in text
    assert "What twice has several times, as of several runs, is their median." in text
