"""What other suites print, as they print it."""

from __future__ import annotations

import json

OSU = """
# OSU MPI Latency Test v7.4
# Datatype: MPI_CHAR.
# Size       Avg Latency(us)        Validation
1                       1.23              Pass
1024                    2.00              Pass
"""
OSU_FULL = """
# OSU MPI Allreduce Latency Test v7.4
# Datatype: MPI_CHAR.
# Size       Avg Latency(us)   Min Latency(us)   Max Latency(us)  Iterations
4                       2.00              1.00              4.00        1000
"""
OSU_BARRIER = """
# OSU MPI Barrier Latency Test v7.4
# Avg Latency(us)
             2.50
"""
IMB = """
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
NPB = """
 CG Benchmark Completed.
 Class           =                        A
 Size            =                    14000
 Time in seconds =                     0.36
 Total processes =                        4
 Mop/s total     =                  4156.76
 Verification    =               SUCCESSFUL
"""
IOR = """
access    bw(MiB/s)  IOPS       Latency(s)  block(KiB) xfer(KiB)  open(s)    wr/rd(s)   close(s)   iter
------    ---------  ----       ----------  ---------- ---------  --------   --------   --------   ----
write     2934.50    2936.12    0.001362    1024.00    1024.00    0.000316   0.001362   0.000021   0
read      6401.20    7502.10    0.000533    1024.00    1024.00    0.000045   0.000533   0.000003   0

Summary of all tests:
Operation   Max(MiB)   Min(MiB)  Mean(MiB)     StdDev   Max(OPs)   Min(OPs)  Mean(OPs)
write        2934.50    2934.50    2934.50       0.00    2936.12    2936.12    2936.12
read         6401.20    6401.20    6401.20       0.00    7502.10    7502.10    7502.10
"""
NETPIPE_FILE = (
    "      1     0.040     0.039     0.041    0.20\n      8     0.320     0.310     0.330    0.20\n"
)
GOOGLE = json.dumps(
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
GOOGLE_CONSOLE = """2026-11-26T08:00:00+00:00
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
OSU_IBARRIER = """
# OSU MPI Non-blocking Barrier Latency Test v7.4
# Overall = Coll. Init + Compute + MPI_Test + MPI_Wait

# Overall(us)       Compute(us)    Pure Comm.(us)        Overlap(%)
         4.13              2.91              2.52             51.35
"""
IMB_IBARRIER = """
# Benchmarking Ibarrier
# #processes = 1
 #repetitions t_ovrl[usec] t_pure[usec]  t_CPU[usec]   overlap[%]
            5         0.12         0.05         0.04         0.00
            1            5         0.09         0.03         0.04         0.00
"""
STREAM = """
STREAM version $Revision: 5.10 $
Number of Threads requested = 2
Function    Best Rate MB/s  Avg time     Min time     Max time
Copy:           23118.1     0.007045     0.006921     0.007182
Triad:          16377.8     0.014779     0.014654     0.014934
-------------------------------------------------------------
Solution Validates: avg error less than 1.000000e-13 on all three arrays
"""
HPL = """
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
HPCG = """HPCG-Benchmark
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
MDTEST = """-- started at 11/26/2026 08:00:00 --

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
IOR_CSV = """access,bw(MiB/s),IOPS,Latency,block(KiB),xfer(KiB),open(s),wr/rd(s),close(s),total(s)\
,numTasks,iter
write,2934.5000,2936.1200,0.0014,1024.0000,1024.0000,0.0003,0.0014,0.0000,0.0017,2,0
read,6401.2000,7502.1000,0.0005,1024.0000,1024.0000,0.0000,0.0005,0.0000,0.0006,2,0
"""
IOR_JSON = json.dumps(
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
NETPIPE_LINES = """0: node1
Now starting the main loop
  0:       1 bytes    100 times -->     18.50 Mbps in       0.41 usec
  1:       8  B       100 times -->    148.00 Mbps in       0.43 usecs
"""

# Name -> text.
TEXTS = {name: text for name, text in globals().items() if name.isupper()}
