"""What centres run besides benchmarks of MPI, read with its lines or refused with the line."""

from __future__ import annotations

import json

import pytest

from steelyard.base.errors import InputError
from steelyard.readers.files import numbers_of_text

_STREAM = """
STREAM version $Revision: 5.10 $
Number of Threads requested = 2
Function    Best Rate MB/s  Avg time     Min time     Max time
Copy:           23118.1     0.007045     0.006921     0.007182
Triad:          16377.8     0.014779     0.014654     0.014934
-------------------------------------------------------------
Solution Validates: avg error less than 1.000000e-13 on all three arrays
"""
_HPL = """
T/V    : Wall time / encoded variant.
================================================================================
T/V                N    NB     P     Q               Time                 Gflops
--------------------------------------------------------------------------------
WR11C2R4       29184   192     2     2             612.26             2.7064e+01
HPL_pdgesv() start time Thu Nov 26 08:00:00 2026

||Ax-b||_oo/(eps*(||A||_oo*||x||_oo+||b||_oo)*N)=   3.71541310e-03 ...... PASSED
================================================================================
T/V                N    NB     P     Q               Time                 Gflops
--------------------------------------------------------------------------------
WR11C2R4       29184   192     1     4             700.00             2.4000e+01
||Ax-b||_oo/(eps*(||A||_oo*||x||_oo+||b||_oo)*N)=   3.71541310e-03 ...... PASSED
"""
_HPCG = """HPCG-Benchmark
version=3.1
Machine Summary=
Machine Summary::Distributed Processes=2
Global Problem Dimensions=
Global Problem Dimensions::Global nx=208
Global Problem Dimensions::Global ny=104
Global Problem Dimensions::Global nz=104
Benchmark Time Summary::Total=61.5
GB/s Summary::Raw Total B/W=12.5
GFLOP/s Summary::Raw Total=1.75
Final Summary=
Final Summary::HPCG result is VALID with a GFLOP/s rating of=1.625
"""
_MDTEST = """-- started at 11/26/2026 08:00:00 --

mdtest-4.1.0+dev was launched with 2 total task(s) on 1 node(s)
Command line used: mdtest -n 100
1 tasks, 100 files/directories

SUMMARY rate (in ops/sec): (of 2 iterations)
   Operation                      Max            Min           Mean        Std Dev
   ---------                      ---            ---           ----        -------
   Directory creation        24000.250      20000.000      22000.125       2000.125
   Tree removal               1000.000       1000.000       1000.000          0.000
2 tasks, 200 files/directories

SUMMARY rate (in ops/sec): (of 2 iterations)
   Operation     per Rank: Max      Min     Mean      per Iteration: Max        Min       Mean    Std Dev
   ---------               ---      ---     ----                     ---        ---       ----    -------
   File stat             1.000    2.000    3.000                 400.500    200.250    300.375    100.125
-- finished at 11/26/2026 08:00:01 --
"""
_IOR_CSV = """access,bw(MiB/s),IOPS,Latency,block(KiB),xfer(KiB),open(s),wr/rd(s),close(s),total(s)\
,numTasks,iter
write,2934.5000,2936.1200,0.0014,1024.0000,1024.0000,0.0003,0.0014,0.0000,0.0017,2,0
read,6401.2000,7502.1000,0.0005,1024.0000,1024.0000,0.0000,0.0005,0.0000,0.0006,2,0
"""
_IOR_JSON = json.dumps(
    {
        "Version": "4.1.0+dev",
        "tests": [
            {
                "TestID": 0,
                "Results": [
                    [
                        {"access": "write", "bwMiB": 2934.5, "iops": 2936.12},
                        {"access": "read", "bwMiB": 6401.2, "iops": 7502.1},
                        {"access": "remove", "totalTime": 0.001},
                    ]
                ],
            }
        ],
        "summary": [{"operation": "write", "bwMaxMIB": 2934.5}],
    }
)
_NETPIPE = """0: node1
Now starting the main loop
  0:       1 bytes    100 times -->     18.50 Mbps in       0.41 usec
  1:       8  B       100 times -->    148.00 Mbps in       0.43 usecs
"""


@pytest.mark.parametrize(
    ("text", "known"),
    [
        (
            _STREAM,
            [
                (name, column, None, None, value)
                for name, values in (
                    ("Copy", (23118.1, 0.007045, 0.006921, 0.007182)),
                    ("Triad", (16377.8, 0.014779, 0.014654, 0.014934)),
                )
                for column, value in zip(("MB/s", "avg s", "min s", "max s"), values, strict=True)
            ],
        ),
        (
            _HPL,
            [
                ("WR11C2R4 N=29184 NB=192 2x2", "s", None, 4, 612.26),
                ("WR11C2R4 N=29184 NB=192 2x2", "Gflop/s", None, 4, 27.064),
                ("WR11C2R4 N=29184 NB=192 1x4", "s", None, 4, 700.0),
                ("WR11C2R4 N=29184 NB=192 1x4", "Gflop/s", None, 4, 24.0),
            ],
        ),
        (
            _HPCG,
            [
                ("208x104x104", "Gflop/s", None, 2, 1.625),
                ("208x104x104", "raw Gflop/s", None, 2, 1.75),
                ("208x104x104", "raw GB/s", None, 2, 12.5),
                ("208x104x104", "s", None, 2, 61.5),
            ],
        ),
        (
            _MDTEST,
            [
                ("Directory creation", "max ops/sec", None, 1, 24000.25),
                ("Directory creation", "min ops/sec", None, 1, 20000.0),
                ("Directory creation", "mean ops/sec", None, 1, 22000.125),
                *(
                    ("Tree removal", f"{column} ops/sec", None, 1, 1000.0)
                    for column in ("max", "min", "mean")
                ),
                ("File stat", "max ops/sec", None, 2, 400.5),
                ("File stat", "min ops/sec", None, 2, 200.25),
                ("File stat", "mean ops/sec", None, 2, 300.375),
            ],
        ),
        (_IOR_CSV, [("write", "bw(MiB/s)", None, 2, 2934.5), ("read", "bw(MiB/s)", None, 2, 6401.2)]),
        (_IOR_JSON, [("write", "bw(MiB/s)", None, None, 2934.5), ("read", "bw(MiB/s)", None, None, 6401.2)]),
        (
            _NETPIPE,
            [
                ("netpipe", "Mbps", 1, None, 18.5),
                ("netpipe", "us", 1, None, 0.41),
                ("netpipe", "Mbps", 8, None, 148.0),
                ("netpipe", "us", 8, None, 0.43),
            ],
        ),
    ],
    ids=["stream", "hpl", "hpcg", "mdtest", "ior csv", "ior json", "netpipe"],
)
def test_numbers_are_read(text: str, known: list[tuple[object, ...]]) -> None:
    read = numbers_of_text(text)
    assert [
        (number.test, number.column, number.bytes, number.ranks, number.value) for number in read
    ] == known


@pytest.mark.parametrize(
    ("text", "why"),
    [
        (
            _STREAM.replace("Solution Validates", "Failed Validation on array a[]"),
            "line 8 says that STREAM's arrays",
        ),
        (_STREAM[: _STREAM.index("0.014654")], "line 6 has 2 numbers below 4 columns"),
        (_STREAM[: _STREAM.index("934\n")], "line 6 ends amid a number"),
        (_STREAM.replace("23118.1", "23118,1"), "line 5 has '23118,1' where a number belongs, whose decimal"),
        (_HPL.replace("PASSED", "FAILED", 1), "line 9 says that the residual of HPL is too large"),
        (_HPL[: _HPL.index("612.26")], "line 6 has 4 numbers below 6 columns"),
        (_HPL.replace("29184   192", "29184.5 192", 1), "line 6 has '29184.5' where a whole number belongs"),
        (_HPCG[: _HPCG.index("Final Summary::")], "line 1 begins a report of HPCG without 'Final Summary"),
        (
            _HPCG.replace("is VALID with a GFLOP/s rating of=1.625", "is=INVALID."),
            "line 13 says that the result of HPCG",
        ),
        (_MDTEST[: _MDTEST.index("SUMMARY")], "line 3 begins mdtest without its summary"),
        (_MDTEST[: _MDTEST.index("22000.125")], "line 10 has 2 numbers below 4 columns"),
        (_IOR_CSV[: _IOR_CSV.index(",2,0\nread")], "line 2 has 10 fields below 12 columns"),
        (_IOR_JSON[:-30], "no JSON of Google Benchmark or of IOR"),
        (_NETPIPE[: _NETPIPE.index(" usecs")], "line 4 begins as one of NetPIPE and ends otherwise"),
        (_NETPIPE.replace("18.50", "18,50"), "line 3 has '18,50' where a number belongs"),
    ],
)
def test_what_failed_or_was_cut_is_refused_with_its_line(text: str, why: str) -> None:
    with pytest.raises(InputError) as raised:
        numbers_of_text(text)
    assert why in str(raised.value)


@pytest.mark.parametrize(
    ("heading", "unit"),
    [
        ("SUMMARY: (of 1 iterations)", "ops/sec"),
        ("SUMMARY rate: (of 1 iterations)", "ops/sec"),  # releases up to 4.0
        ("SUMMARY rate (in ops/sec): (of 1 iterations)", "ops/sec"),
        ("SUMMARY time: (of 1 iterations)", "s"),
        ("SUMMARY time (in ops/sec): (of 1 iterations)", "s"),
        ("SUMMARY time (in ms/op): (of 1 iterations)", "ms/op"),
    ],
)
@pytest.mark.parametrize("row", ["File creation      ", "File creation     :", "File creation:"])
def test_summaries_of_each_version_of_mdtest(heading: str, unit: str, row: str) -> None:
    lines = (
        "mdtest-3.3.0 was launched with 2 total task(s) on 1 node(s)",
        heading,
        "   Operation          Max    Min   Mean  Std Dev",
        f"   {row}  4.500  1.500  3.000  0.000",
    )
    read = [(number.test, number.column, number.value) for number in numbers_of_text("\n".join(lines))]
    columns = {"max": 4.5, "min": 1.5, "mean": 3.0}
    assert read == [("File creation", f"{column} {unit}", value) for column, value in columns.items()]


def test_all_of_them_in_one_log() -> None:
    texts = (_STREAM, _HPL, _HPCG, _MDTEST, _IOR_CSV, _NETPIPE)
    assert len(numbers_of_text("".join(texts))) == sum(len(numbers_of_text(text)) for text in texts)
