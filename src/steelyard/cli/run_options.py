"""The options of `steelyard run`."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import typer

from steelyard.base.factors import FACTORS
from steelyard.cli.options import (
    JsonFlag,
    MpiNames,
    RetryWord,
    ShmemNames,
    TimeBudget,
    YesFlag,
    launches_option,
)
from steelyard.launch.batch_systems import BATCH_SYSTEMS
from steelyard.launch.launchers import LAUNCHERS

_LAUNCHERS = ", ".join(dict.fromkeys(row.word for row in LAUNCHERS))


@dataclass(frozen=True)
class RunOptions:
    """The options of `steelyard run`; those that are None or empty are left to the plan or the op."""

    what: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="PLAN.toml | OP ...",
            help="a plan: a file, or one that ships; or ops and patterns: mpi.bcast, 'mpi.i*'",
        ),
    ] = None
    like: Annotated[
        list[str] | None,
        typer.Option(
            metavar="NAME,...",
            help="tests of other suites, such as osu_latency, with their sizes, in place of ops",
        ),
    ] = None
    ranks: Annotated[
        str | None,
        typer.Option(
            "-n",
            "--ranks",
            metavar="N,...",
            help=(
                "numbers of ranks; default: 2 for point-to-point ops, all cores for collectives, 1 for "
                "local ops"
            ),
        ),
    ] = None
    bytes_: Annotated[
        str | None,
        typer.Option(
            "--bytes",
            metavar="SIZES",
            help=(
                "sizes: 0,8,1Ki..4Mi; a range doubles and has both ends; Ki is 1024, k 1000; default: the"
                " op's own"
            ),
        ),
    ] = None
    method: Annotated[
        str | None,
        typer.Option(
            metavar="NAME,...",
            help="how ranks start and what is timed; default: the op's own",
        ),
    ] = None
    rule: Annotated[
        str | None,
        typer.Option(metavar="NAME", help="when a test case ends; default: median"),
    ] = None
    hosts: Annotated[
        str | None,
        typer.Option(
            metavar="N,...",
            help="numbers of hosts of an allocation, with as many ranks on each; default: one",
        ),
    ] = None
    ranks_per_host: Annotated[
        str | None,
        typer.Option(
            metavar="N,...",
            help=(
                "in place of --ranks; default with --hosts: 1 for point-to-point ops between hosts, all "
                "cores for collectives"
            ),
        ),
    ] = None
    launcher: Annotated[
        str | None,
        typer.Option(
            metavar="NAME",
            help=(
                f"what starts ranks: {_LAUNCHERS}; default: the batch system's within an allocation if it "
                "starts the MPI, else the MPI's mpiexec"
            ),
        ),
    ] = None
    stage: Annotated[
        str | None,
        typer.Option(
            metavar="DIR",
            help="copy the engine to hosts that share no files, into a folder of yours in this one",
        ),
    ] = None
    threads: Annotated[
        str | None, typer.Option(metavar="N,...", help="numbers of threads of each rank; default: 1")
    ] = None
    thread_level: Annotated[
        str | None,
        typer.Option(
            metavar="LEVEL,...",
            help=(
                "thread level of MPI, each in launches of its own: single, funneled, serialized, multiple; "
                "default: single, with threads funneled"
            ),
        ),
    ] = None
    class_: Annotated[
        str | None,
        typer.Option("--class", metavar="S,W,...", help="classes of kernels; short for --param class=S,W"),
    ] = None
    param: Annotated[
        list[str] | None,
        typer.Option(
            metavar="NAME=VALUE,...",
            help=(
                "a parameter of op, method or rule, as 'steelyard list OP' names them; *: all words or "
                "ranks; may be repeated"
            ),
        ),
    ] = None
    omp: Annotated[
        list[str] | None,
        typer.Option(
            metavar="NAME=VALUE,...",
            help=(
                "a setting of OpenMP, each value in launches of its own: wait_policy, proc_bind, places, "
                "cancellation, max_task_priority, stacksize"
            ),
        ),
    ] = None
    env: Annotated[
        list[str] | None,
        typer.Option(
            metavar="NAME=VALUE",
            help=(
                "a variable of the environment, such as a setting of MPI; may be repeated, each value in "
                "launches of its own; -: without it"
            ),
        ),
    ] = None
    modules: Annotated[
        list[str] | None,
        typer.Option(
            metavar="NAMES",
            help=(
                "modules to load for a launch: 'gcc/12 ucx'; may be repeated, each in launches of its own; "
                "-: none"
            ),
        ),
    ] = None
    wrapper: Annotated[
        list[str] | None,
        typer.Option(
            metavar="COMMAND",
            help=(
                "words before the engine on each rank: 'apptainer exec mpi.sif'; may be repeated, each in "
                "launches of its own; -: none"
            ),
        ),
    ] = None
    files: Annotated[
        list[str] | None,
        typer.Option(
            metavar="DIR,...",
            help=(
                "folders of the file systems to measure, for file.* and mpi.io.*: each in launches of its "
                "own; files are in a folder of their own there, and removed"
            ),
        ),
    ] = None
    mpi: MpiNames = None
    shmem: ShmemNames = None
    engine: Annotated[
        str | None,
        typer.Option(
            metavar="solo|mpi|shmem",
            help=(
                "solo: without MPI, ranks are forks; mpi: under an MPI, even ops that call none; shmem: the "
                "same under an OpenSHMEM"
            ),
        ),
    ] = None
    arms: Annotated[
        str | None,
        typer.Option(
            metavar="FACTOR=A,B",
            help=f"what to compare, in neighbouring launches: {FACTORS}",
        ),
    ] = None
    launches: Annotated[
        int | None,
        launches_option(
            "number of launches; default: 10, or the plan's; with --precision the most: default 200"
        ),
    ] = None
    precision: Annotated[
        str | None,
        typer.Option(
            metavar="PERCENT",
            help="add launches until ± of each time, or of the ratio of rivals, is at most that: 2%",
        ),
    ] = None
    detect: Annotated[
        str | None,
        typer.Option(
            metavar="PERCENT",
            help="with --arms: as many launches as find a difference of that in 80 of 100 cases, if launches "
            "scatter as in --scatter",
        ),
    ] = None
    scatter: Annotated[
        Path | None,
        typer.Option(
            metavar="DIR",
            help="earlier results of this machine, by whose scatter --precision and --detect are planned; "
            "default: the newest beside --out",
        ),
    ] = None
    placement: Annotated[
        str | None,
        typer.Option(
            metavar="PLACES",
            help=(
                "where ranks and threads are, each in launches of its own: default, unbound, same, each, "
                "all, or CPUs: '0,1;0,2'; on two hosts: hosts-each, hosts-all, or names: 'n1,n2'"
            ),
        ),
    ] = None
    oversubscribe: Annotated[
        bool, typer.Option("--oversubscribe", help="allow more ranks and threads than cores")
    ] = False
    refine: Annotated[
        bool,
        typer.Option(
            "--refine", help="measure further sizes around changes of protocol, to the byte, and around bends"
        ),
    ] = False
    yield_: Annotated[
        str | None, typer.Option("--yield", metavar="none", help="a what-if: sched_yield returns at once")
    ] = None
    clock: Annotated[
        str | None,
        typer.Option(
            metavar="NAME",
            help="a timer, sound or not; default: the best that all ranks find sound",
        ),
    ] = None
    sync: Annotated[
        str | None,
        typer.Option(
            metavar="NAME", help="how clocks are synchronised, for methods that need it; default: tree"
        ),
    ] = None
    paths: Annotated[
        str | None,
        typer.Option(
            metavar="asymmetric",
            help="messages may take longer one way than back: state only guaranteed bounds of the clocks",
        ),
    ] = None
    keep: Annotated[
        str | None,
        typer.Option(
            metavar="ranks|sampled|slowest",
            help="timestamps to keep: every rank's (default up to 64 ranks), some ranks' beside values "
            "reduced over all (default for more), or these values alone",
        ),
    ] = None
    arrivals: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE",
            help="for --param arrival=file: a line of delays in us for each repetition, one for each rank",
        ),
    ] = None
    time_budget: TimeBudget = None
    spread: Annotated[
        str | None,
        typer.Option(
            metavar="TIME",
            help="begin launches evenly over that time: 30m, 2h; --time-budget does not count the waits",
        ),
    ] = None
    hang_after: Annotated[
        str | None,
        typer.Option(
            metavar="TIME",
            help="end a launch that writes no record for so long: it hangs; default: 60s",
        ),
    ] = None
    seed: Annotated[
        int | None,
        typer.Option(
            metavar="N",
            min=0,
            help="seed of the order of test cases and launches; default: drawn, and recorded",
        ),
    ] = None
    batch: Annotated[
        str | None,
        typer.Option(
            metavar="NAME",
            help=f"measure in jobs of a batch system, one for each of --hosts: {', '.join(BATCH_SYSTEMS)}",
        ),
    ] = None
    account: Annotated[str | None, typer.Option(metavar="NAME", help="with --batch: who is charged")] = None
    partition: Annotated[
        str | None, typer.Option(metavar="NAME", help="with --batch: the partition or queue")
    ] = None
    time: Annotated[
        str | None,
        typer.Option(metavar="TIME", help="with --batch: the limit of each job; default: from the estimate"),
    ] = None
    batch_words: Annotated[
        list[str] | None,
        typer.Option(
            metavar="WORDS", help="with --batch: words to add to its command: '--constraint=big --qos=high'"
        ),
    ] = None
    dry_run: Annotated[
        bool,
        typer.Option(
            "--dry-run",
            help="measure nothing: print what is planned and how long it takes; with --batch: the scripts",
        ),
    ] = False
    out: Annotated[
        Path | None,
        typer.Option(
            metavar="DIR",
            help="results folder, resumed if it is there, by its own plan if nothing else is named; default: "
            "results/NAME-DATE-TIME",
        ),
    ] = None
    retry: RetryWord = None
    yes: YesFlag = False
    to: Annotated[
        str | None,
        typer.Option(
            metavar="FORMAT",
            help="print on stdout what 'steelyard export --to FORMAT' writes, and nothing else there",
        ),
    ] = None
    json: JsonFlag = False
