"""The command line, the only module that prints and exits."""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import msgspec
import typer
from rich.console import Console

from steelyard import __version__
from steelyard.arrivals import read_arrivals
from steelyard.asked import asked_plan, shipped_plans
from steelyard.campaign import run_campaign
from steelyard.engine import describe, mpi_engine, solo_engine
from steelyard.errors import InputError, MeasurementError, SteelyardError
from steelyard.folder import default_folder, finished, locked, open_folder, topology_for
from steelyard.jobs import check_openmp, groups_of, setup_for
from steelyard.launch import plan_launch
from steelyard.machine import read_machine
from steelyard.mpi import Mpi, choose_mpi, find_mpis
from steelyard.plan import Plan, read_plan
from steelyard.progress import listening
from steelyard.resolve import resolve
from steelyard.units import parse_counts, parse_seconds, parse_sizes

app = typer.Typer(
    name="steelyard",
    help="Weighs parallel machines: MPI, Pthreads, OpenMP; and says how far each number can be trusted.",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
    context_settings={"help_option_names": ["-h", "--help"]},
)
mpi_app = typer.Typer(help="The MPI implementations found, and engines for them.", no_args_is_help=True)
app.add_typer(mpi_app, name="mpi")

_PLAIN_WIDTH = 110  # of tables where stdout is no terminal: a file or a pipe has no width of its own

if TYPE_CHECKING:
    from collections.abc import Sequence

    from steelyard.checks import Doubt
    from steelyard.row import Row

out = Console(highlight=False, soft_wrap=False, width=None if sys.stdout.isatty() else _PLAIN_WIDTH)
err = Console(stderr=True, highlight=False, soft_wrap=True)

JsonFlag = Annotated[
    bool, typer.Option("--json", help="print one JSON document on stdout and nothing else there")
]


def main() -> None:
    """Run the command line; what is wrong becomes one sentence on stderr and an exit code."""
    try:
        app(prog_name="steelyard")
    except SteelyardError as error:
        err.print(f"steelyard: {error}", markup=False)
        sys.exit(error.exit_code)
    except BrokenPipeError:
        sys.stderr.close()
        sys.exit(0)


def _print_json(document: Any) -> None:
    print(msgspec.json.format(msgspec.json.encode(document), indent=1).decode())  # noqa: T201


def _version(wanted: bool) -> None:
    if wanted:
        out.print(f"steelyard {__version__}")
        raise typer.Exit


@app.callback()
def _common(
    version: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="and no more")
    ] = False,
) -> None:
    del version


# ---- run ----------------------------------------------------------------------------------------------


@app.command()
def run(
    what: Annotated[
        list[str] | None, typer.Argument(metavar="PLAN.toml | OP ...", help="a plan, or ops and patterns")
    ] = None,
    like: Annotated[
        list[str] | None, typer.Option(help="a test of another suite, such as osu_latency; with its sizes")
    ] = None,
    ranks: Annotated[str | None, typer.Option("-n", "--ranks", help="ranks: 2, or 2,4")] = None,
    bytes_: Annotated[str | None, typer.Option("--bytes", help="sizes: 0,8,1Ki..4Mi")] = None,
    method: Annotated[str | None, typer.Option(help="how observations are lined up and timed")] = None,
    rule: Annotated[str | None, typer.Option(help="when there is enough evidence")] = None,
    threads: Annotated[str | None, typer.Option(help="threads of each rank: 2, or 1,2,4")] = None,
    thread_level: Annotated[
        str | None, typer.Option(help="asked of MPI: single, ... multiple; several make a launch each")
    ] = None,
    class_: Annotated[
        str | None, typer.Option("--class", help="of kernels: S,W,A; short for --param class=S,W,A")
    ] = None,
    param: Annotated[list[str] | None, typer.Option("--param", help="k=v, or k=v,w for several")] = None,
    omp: Annotated[
        list[str] | None, typer.Option(help="a setting of OpenMP: wait_policy=active,passive")
    ] = None,
    mpi: Annotated[
        list[str] | None, typer.Option(help="name or path of an MPI; several are interleaved")
    ] = None,
    engine: Annotated[
        str | None,
        typer.Option(help="solo: without MPI, ranks are forks; mpi: what needs none under MPI too"),
    ] = None,
    launches: Annotated[
        int | None, typer.Option(min=1, help="starts of the engine; 10, or as the plan says")
    ] = None,
    placement: Annotated[
        str | None, typer.Option(help="default, unbound, same, each, all, or CPUs: 0,1;0,2; a launch each")
    ] = None,
    oversubscribe: Annotated[
        bool, typer.Option("--oversubscribe", help="allow more ranks than cores")
    ] = False,
    yield_: Annotated[
        str | None, typer.Option("--yield", help="none: sched_yield returns at once, a what-if")
    ] = None,
    clock: Annotated[str | None, typer.Option(help="force a source of stamps")] = None,
    sync: Annotated[str | None, typer.Option(help="how clocks are synchronised: tree, hca3, ...")] = None,
    paths: Annotated[
        str | None, typer.Option(help="asymmetric: state only certain errors of the clocks")
    ] = None,
    arrivals: Annotated[
        Path | None, typer.Option(help="for arrival=file: delays in us, a line a repetition, one a rank")
    ] = None,
    time_budget: Annotated[str | None, typer.Option(help="for the whole run: 90s, 10m")] = None,
    hang_after: Annotated[str | None, typer.Option(help="a launch silent for so long hangs: 60s")] = None,
    seed: Annotated[int | None, typer.Option(min=0, help="for the order of points and launches")] = None,
    out_: Annotated[
        Path | None, typer.Option("--out", help="results folder; taken up again if it is there")
    ] = None,
    json: JsonFlag = False,
) -> None:
    """Measure; a results folder that is there already is gone on with."""
    axes = {"bytes": bytes_, "ranks": ranks, "method": method, "rule": rule}
    axes |= {"thread_level": thread_level, "placement": placement, "engine": engine}
    params = [*(param or []), *([f"class={class_}"] if class_ is not None else [])]
    plan = asked_plan(what or (), like or (), axes, threads, params, omp or [])
    changes = {
        "mpi": tuple(mpi or ()) or plan.mpi,
        "launches": launches or plan.launches,
        "oversubscribe": oversubscribe or plan.oversubscribe,
        "yield_": yield_ or plan.yield_,
        "clock": clock or plan.clock,
        "sync": sync or plan.sync,
        "paths": paths or plan.paths,
        "arrivals": read_arrivals(arrivals) if arrivals else plan.arrivals,
        "time_budget": time_budget or plan.time_budget,
        "hang_after": hang_after or plan.hang_after,
        "seed": plan.seed if seed is None else seed,
    }
    if engine not in (None, "solo", "mpi"):
        raise InputError(f"--engine is 'solo' or 'mpi', not '{engine}'")
    if yield_ not in (None, "real", "none"):
        raise InputError(f"--yield is 'real' or 'none', not '{yield_}'")
    if paths not in (None, "symmetric", "asymmetric"):
        raise InputError(f"--paths is 'symmetric' or 'asymmetric', not '{paths}'")
    plan = msgspec.structs.replace(plan, **changes)
    for duration in (plan.hang_after, plan.time_budget):
        parse_seconds(duration or "0s")
    folder = out_ or default_folder(plan)
    try:
        _measure(plan, folder, json)
    except KeyboardInterrupt:  # before typer sees it, which would end with a code of its own
        raise MeasurementError(
            f"stopped; what was finished is kept, and the same command with --out {folder} goes on with it"
        ) from None


def _measure(plan: Plan, folder: Path, json: bool) -> None:
    from steelyard.report import write_report
    from steelyard.results_files import results_document, write_results
    from steelyard.tables import results_tables

    machine = read_machine()
    setup = setup_for(plan, machine)
    topology = topology_for(folder, plan)
    mpis = [name for name in setup.engines if name is not None]
    points = resolve(plan, setup.ops, mpis, len(machine.cores), topology)
    for group in groups_of(points):  # before anything is written: refuse, or warn of, what shares cores
        check_openmp(group, setup.ops, machine, os.environ)
        plan_launch(
            setup.engines[group.mpi],
            group.ranks,
            group.threads,
            machine,
            oversubscribe=plan.oversubscribe,
            placement=group.placement,
            omp=dict(group.omp),
        )
    campaign = open_folder(folder, plan, points, machine, topology)
    with locked(folder):
        done = len(finished(folder))
        try:
            with listening(err, folder, campaign, plan.launches, done) as listener:
                run_campaign(folder, plan, campaign, setup, listener)
        finally:
            rows, found = _rows_and_doubts(folder)
            write_results(folder, rows, found)
    if json:
        _print_json(results_document(folder, rows, found))
    else:
        for table in results_tables(rows):
            out.print(table)
            out.print()
    report = write_report([folder], folder / "report.html")
    target = err if json else out
    _print_doubts(target, found)
    target.print(f"results: {folder}", markup=False, soft_wrap=True)
    target.print(f"report:  {report}", markup=False, soft_wrap=True)
    if any(row.status == "failed" for row in rows):
        raise typer.Exit(3)


def _rows_and_doubts(folder: Path) -> tuple[tuple[Row, ...], tuple[Doubt, ...]]:
    from steelyard.checks import doubts
    from steelyard.observations import load
    from steelyard.results import rows_of

    measured = load(folder)
    rows = rows_of(measured)
    return rows, doubts(measured, rows)


def _print_doubts(target: Console, found: Sequence[Doubt]) -> None:
    for doubt in found:
        if doubt.severity != "note":
            target.print(f"{doubt.severity}: {doubt.evidence} {doubt.remedy}", markup=False, soft_wrap=True)


# ---- list, doctor, show, report, mpi ------------------------------------------------------------------


@app.command("list")
def list_(json: JsonFlag = False) -> None:
    """Every op, method, stop rule and plan, with why it cannot run here, if so."""
    descriptions = [describe(solo_engine())]
    problem = None
    try:
        descriptions.append(describe(mpi_engine(choose_mpi(None))))
    except SteelyardError as error:
        problem = str(error)
    rows = {op["name"]: op for description in reversed(descriptions) for op in description["ops"]}
    keys = ("name", "family", "class", "summary", "default_method", "methods", "available", "why_not")
    plans = [{"name": name, "summary": read_plan(path).summary} for name, path in shipped_plans().items()]
    if json:
        _print_json(
            {
                "ops": [{key: op[key] for key in keys} for op in rows.values()],
                "methods": descriptions[0]["methods"],
                "stop_rules": descriptions[0]["stop_rules"],
                "sync_algorithms": descriptions[0]["sync_algorithms"],
                "plans": plans,
            }
        )
        return
    for title, entries in (
        ("ops", rows.values()),
        ("methods", descriptions[0]["methods"]),
        ("stop rules", descriptions[0]["stop_rules"]),
        ("synchronisations", descriptions[0]["sync_algorithms"]),
        ("plans", plans),
    ):
        out.print(f"[bold]{title}[/bold]")
        for entry in entries:
            why = f"  (not here: {entry['why_not']})" if entry.get("why_not") else ""
            out.print(f"  {entry['name']:<20} {entry['summary']}{why}", markup=False, soft_wrap=True)
    if problem:
        err.print(f"no mpi.* ops: {problem}", markup=False)


@app.command()
def doctor(json: JsonFlag = False) -> None:
    """This machine: MPIs, cores and caches, clocks, other load; doubts with remedies."""
    from steelyard.doctor import Patient, default_clock, examine, machine_lines
    from steelyard.gauge import gauge_clocks
    from steelyard.settings import read_settings
    from steelyard.watch import Watcher

    watcher = Watcher()
    watcher.look()  # at what others do while we gauge clocks
    machine, settings, mpis = read_machine(), read_settings(), find_mpis()
    clocks, problem = list[dict[str, Any]](), None
    try:
        clocks = gauge_clocks(solo_engine())
    except SteelyardError as error:
        problem = str(error)
    watcher.look_after(1.0)
    busy = watcher.busiest()
    found = examine(Patient(machine, mpis, clocks, problem, settings, busy))
    if json:
        told = {"clock": default_clock(clocks), "clocks": clocks, "doubts": found}
        seen = {"settings": settings, "busy": busy}
        _print_json({"machine": machine, "mpis": mpis, **seen, **told})
        return
    for name, value in machine_lines(machine, clocks):
        out.print(f"{name:<10} {value}", markup=False, soft_wrap=True)
    for mpi in mpis:
        out.print(f"{'mpi':<10} {_mpi_line(mpi)}", markup=False, soft_wrap=True)
    out.print()
    for doubt in found:
        out.print(
            f"{doubt.severity}: {doubt.what}: {doubt.evidence}; {doubt.remedy}", markup=False, soft_wrap=True
        )
    if not found:
        out.print("nothing is doubtful")


def _mpi_line(mpi: Mpi) -> str:
    compiler = mpi.mpicc or ("the embedded engine fits" if mpi.abi else "no mpicc")
    return f"{mpi.name} ({mpi.origin}): {mpi.mpiexec}, {compiler}"


@app.command()
def show(
    folder: Annotated[Path, typer.Argument(metavar="DIR")],
    json: JsonFlag = False,
    csv: Annotated[bool, typer.Option("--csv", help="print the rows as CSV")] = False,
) -> None:
    """The results as a table."""
    from steelyard.results_files import results_csv, results_document
    from steelyard.tables import results_tables

    rows, found = _rows_and_doubts(_results_folder(folder))
    if json:
        _print_json(results_document(folder, rows, found))
    elif csv:
        print(results_csv(rows), end="")  # noqa: T201
    else:
        for table in results_tables(rows):
            out.print(table)
            out.print()
        _print_doubts(out, found)


@app.command()
def report(
    folders: Annotated[list[Path], typer.Argument(metavar="DIR...")],
    output: Annotated[
        Path | None, typer.Option("-o", help="the HTML file; report.html in the first folder")
    ] = None,
) -> None:
    """The results as one HTML file that opens offline."""
    from steelyard.report import write_report

    for folder in folders:
        _results_folder(folder)
    path = output or folders[0] / "report.html"
    try:
        write_report(folders, path)
    except OSError as error:
        raise InputError(f"'{path}' cannot be written: {error.strerror}; give -o another place") from None
    out.print(str(path), markup=False, soft_wrap=True)


def _results_folder(folder: Path) -> Path:
    if not folder.is_dir():
        raise InputError(f"there is no results folder '{folder}'; give one that 'steelyard run' wrote")
    return folder


@app.command()
def validate(
    full: Annotated[bool, typer.Option("--full", help="the whole matrix: hours")] = False,
    ranks: Annotated[str | None, typer.Option("-n", "--ranks", help="ranks: 16,60")] = None,
    platform: Annotated[
        str | None, typer.Option(metavar="FILE|WORDS", help="a platform for SimGrid, or words for ours")
    ] = None,
    op: Annotated[list[str] | None, typer.Option(help="an op or a pattern; may be repeated")] = None,
    method: Annotated[list[str] | None, typer.Option(help="a method; may be repeated")] = None,
    bytes_: Annotated[str | None, typer.Option("--bytes", help="sizes: 8,64Ki")] = None,
    selector: Annotated[
        list[str] | None, typer.Option(help="whose choice of algorithms: mpich, ompi, mvapich2, impi")
    ] = None,
    time_limit: Annotated[str, typer.Option(help="for one simulation")] = "5m",
    seed: Annotated[int, typer.Option(min=0, help="for noise and clocks")] = 1,
    out_: Annotated[Path | None, typer.Option("--out", help="keep records and validate.json there")] = None,
    json: JsonFlag = False,
) -> None:
    """Every method against simulated ground truth; exit code 1 when a claim does not hold."""
    from steelyard.validate import Wishes, check_claims, document, report_lines, user_machine
    from steelyard.validate import validate as simulate_all

    wishes = Wishes(
        full=full,
        ranks=parse_counts(ranks, "ranks") if ranks else None,
        ops=tuple(op) if op else None,
        methods=tuple(method) if method else None,
        sizes=parse_sizes(bytes_) if bytes_ else None,
        selectors=tuple(selector) if selector else None,
        machine=user_machine(platform) if platform else None,
        seed=seed,
    )
    try:
        rows, missing = simulate_all(
            wishes,
            parse_seconds(time_limit),
            out_,
            lambda one: err.print(one.line, markup=False, soft_wrap=True),
        )
    except KeyboardInterrupt:
        kept = f"; the rows so far are in {out_ / 'rows.jsonl'}" if out_ else ""
        raise MeasurementError(f"stopped{kept}") from None
    verdicts = check_claims(rows)
    whole = document(rows, missing, verdicts, wishes)
    if out_ is not None:
        (out_ / "validate.json").write_bytes(msgspec.json.encode(whole))
    if json:
        _print_json(whole)
    else:
        for line in report_lines(rows, missing, verdicts):
            out.print(line, markup=False, soft_wrap=isinstance(line, str))
    if any(one.holds is False for one in verdicts):
        raise typer.Exit(1)
    if any(one.kind == "failed" for one in missing):
        raise typer.Exit(3)


@mpi_app.command("list")
def mpi_list(json: JsonFlag = False) -> None:
    """The MPI implementations found, the default first."""
    mpis = find_mpis()
    if json:
        _print_json({"mpis": mpis})
        return
    for mpi in mpis:
        out.print(_mpi_line(mpi), markup=False, soft_wrap=True)
    if not mpis:
        out.print("none; pip install 'steelyard\\[mpi]', or load your system's MPI module")


@mpi_app.command("build")
def mpi_build(
    name: Annotated[str | None, typer.Argument(metavar="NAME|PATH", help="the default if not given")] = None,
) -> None:
    """Find or build the engine for an MPI, and print where it is."""
    out.print(mpi_engine(choose_mpi(name)).path, markup=False, soft_wrap=True)
