"""Run simulations in parallel on the available cores, each with a time limit."""

from __future__ import annotations

import os
import tempfile
import threading
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path

import msgspec

from steelyard.base.errors import InputError
from steelyard.base.files import make_folder, open_to_append
from steelyard.system.process import signals_as_exceptions
from steelyard.validate.design import SimulatedMachine, Simulation, Wishes, simulations
from steelyard.validate.rows import Comparison, NotRun, rows_of_simulation
from steelyard.validate.simulator import (
    Ran,
    Simulator,
    asymmetry,
    describe_simulated,
    find_simulator,
    read_platform,
    simulate,
)


@dataclass(frozen=True, slots=True)
class Finished:
    """One simulation of `total` has ended, the `number`th."""

    number: int
    total: int
    simulation: Simulation
    ran: Ran
    rows: tuple[Comparison, ...]
    missing: tuple[NotRun, ...]

    @property
    def line(self) -> str:
        """One line of progress."""
        words = f"{len(self.rows)} rows" if self.rows else "no rows"
        if self.missing:
            words += f", {len(self.missing)} not run: {self.missing[0].why}"
        return f"[{self.number}/{self.total}] {self.simulation.title}: {words} ({self.ran.seconds:.1f} s)"


_WAKE_SECONDS = 0.2  # the longest delay of a Ctrl-C
_Worked = tuple[int, Ran, tuple[Comparison, ...], tuple[NotRun, ...]]
PartListener = Callable[[Finished], None]


def validate(
    wishes: Wishes, limit_seconds: float, out: Path | None, listener: PartListener
) -> tuple[tuple[Comparison, ...], tuple[NotRun, ...]]:
    """Simulate the chosen matrix; return the rows, and what was not run. `out` keeps the records.

    `limit_seconds` is for one simulation. Raises InputError without a simulator or for impossible choices.
    """
    with signals_as_exceptions(), _folder(out) as folder:
        simulator = find_simulator()
        planned = simulations(wishes, describe_simulated(simulator, folder))
        planned = _fit(planned, wishes.machine, simulator)
        return _run_all(simulator, planned, folder, limit_seconds, listener)


def _run_all(
    simulator: Simulator,
    planned: Sequence[Simulation],
    folder: Path,
    limit_seconds: float,
    listener: PartListener,
) -> tuple[tuple[Comparison, ...], tuple[NotRun, ...]]:
    rows: dict[int, tuple[Comparison, ...]] = {}
    missing: dict[int, tuple[NotRun, ...]] = {}
    stop = threading.Event()

    def work(index: int) -> _Worked:
        records = folder / f"simulation-{index + 1:04}.jsonl"
        ran = simulate(simulator, planned[index], records, limit_seconds, stop)
        found, lost = rows_of_simulation(planned[index], records, ran)
        return index, ran, found, lost

    pool = ThreadPoolExecutor(max_workers=len(os.sched_getaffinity(0)))
    try:
        futures = [pool.submit(work, index) for index in range(len(planned))]
        for number, future in enumerate(_as_completed(futures), start=1):
            index, ran, rows[index], missing[index] = future.result()
            with open_to_append(folder / "rows.jsonl") as kept:  # finished rows stay if this is interrupted
                kept.write(msgspec.json.Encoder().encode_lines(rows[index]))
            listener(Finished(number, len(planned), planned[index], ran, rows[index], missing[index]))
    finally:  # Ctrl-C or SIGTERM: running ones are ended, waiting ones dropped
        stop.set()
        pool.shutdown(cancel_futures=True)
    order = sorted(rows)
    return tuple(row for i in order for row in rows[i]), tuple(one for i in order for one in missing[i])


def _as_completed(futures: Sequence[Future[_Worked]]) -> Iterator[Future[_Worked]]:
    """Yield the futures as they finish. A signal that another thread received takes effect at the next
    waking.
    """
    pending = set(futures)
    while pending:
        done, pending = wait(pending, timeout=_WAKE_SECONDS, return_when=FIRST_COMPLETED)
        yield from done


def _fit(
    planned: Sequence[Simulation], machine: SimulatedMachine | None, simulator: Simulator
) -> tuple[Simulation, ...]:
    """Adapt the matrix to a platform of the user's, before anything runs: more ranks on a host if hosts are
    few, and which paths among the used hosts are asymmetric, as far as SimGrid knows. Raises InputError.
    """
    if machine is None:
        return tuple(planned)
    hosts = len(read_platform(simulator, machine, max(one.hosts for one in planned)))
    if machine.file is not None:
        planned = [replace(one, per_host=max(one.per_host, -(-one.ranks // hosts))) for one in planned]
    known = machine.asymmetry
    seen = {
        hosts: replace(machine, asymmetry=known or asymmetry(simulator, machine, hosts))
        for hosts in {one.hosts for one in planned}
    }
    return tuple(replace(one, machine=seen[one.hosts]) for one in planned)


@contextmanager
def _folder(out: Path | None) -> Iterator[Path]:
    """Provide a folder for records: the user's, or a temporary one."""
    if out is None:
        with tempfile.TemporaryDirectory(prefix="steelyard-validate-") as temporary:
            yield Path(temporary)
        return
    try:
        make_folder(out)
        if any(out.glob("simulation-*")):
            raise InputError(f"'{out}' holds another validation; give --out a new folder")
    except OSError as error:
        raise InputError(f"'{out}' cannot be made: {error.strerror}; give --out another folder") from None
    yield out
