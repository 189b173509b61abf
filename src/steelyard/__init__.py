"""Benchmarks for MPI, OpenSHMEM, Pthreads, OpenMP and files, for Python programs.

`measure`, `read`, `load`, `compare`, `accept`: nothing prints. A mistake is an `InputError` in one sentence;
what goes on comes as events.
"""

from __future__ import annotations

TYPE_CHECKING = False  # as checkers know it: `typing` takes longer to import than all else that is here

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path
    from typing import Unpack

    import polars

    from steelyard.base.errors import InputError, MeasurementError, SteelyardError
    from steelyard.judges.accept import Acceptance
    from steelyard.judges.compare.verdicts import Verdicts
    from steelyard.session.events import OnEvent
    from steelyard.session.requested_plan import MeasureOptions
    from steelyard.session.results import Results

__version__ = "0.1.0"
__all__ = [
    "InputError",
    "MeasurementError",
    "Results",
    "SteelyardError",
    "accept",
    "compare",
    "load",
    "measure",
    "read",
]


def measure(
    what: str | Path | Sequence[str] = (),
    out: str | Path | None = None,
    *,
    on_event: OnEvent | None = None,
    retry_failed: bool = False,
    trusted: bool = False,
    scatter: str | Path | None = None,
    **settings: Unpack[MeasureOptions],
) -> Results:
    """Measure ops or a plan as `steelyard run` does, and return the results.

    `what` is a plan (a file that ends in .toml, or the name of one that ships), or ops and patterns:
    "mpi.pingpong", ["mpi.bcast", "mpi.i*"]. `out` is the results folder, which goes on if it is there, by its
    own plan if `what` is left out; by default it is results/NAME-DATE-TIME. `settings` are the options of
    `steelyard run`: `bytes="0,8,1Ki..4Mi"`, `ranks=2`, `params={"window": [1, 64]}`, `launches=10`.

    `on_event` hears of each event of `steelyard.session.events`, also while ranks run: it should be quick.
    `retry_failed` measures again what failed in the folder. A folder may name programs to start, such as a
    wrapper; those that this user never started are refused unless it is `trusted`. `scatter` is a results
    folder by whose scatter `precision` and `detect` are planned.

    An exception of `on_event` and Ctrl-C (KeyboardInterrupt) end the ranks; what was finished is kept, and
    the same call goes on there. A test case that fails is a row with the status "failed", and no exception.

    Raises InputError for what cannot be measured here, for wrong types and for a folder that holds something
    else or is in use; MeasurementError if the measurement cannot go on.
    """
    from steelyard.session.api import measure_asked

    return measure_asked(what, out, on_event, retry_failed, trusted, scatter, settings)


def read(folder: str | Path) -> Results:
    """Read a results folder, which may still be measured into, and run the diagnostics.

    Raises InputError for a folder that is none or damaged.
    """
    from steelyard.session.api import read_asked

    return read_asked(folder)


def load(folders: str | Path | Sequence[str | Path], rows: str = "cases") -> polars.DataFrame:
    """Results folders as a tidy table of polars; the unit of a column is in its name.

    `rows`: "cases", a row for each test case and MPI, over all launches; "launches", one for each launch of
    them; "samples", one for each sample, in ns per operation, in the order taken. The columns are always the
    same but for those of parameters, `param_NAME`: docs/reference/columns.md has them with their units.

    Raises InputError for a folder that is none or damaged, for other `rows`, and where polars is missing
    (`pip install 'steelyard[table]'`).
    """
    from steelyard.session.api import load_asked

    return load_asked(folders, rows)


def compare(
    *folders: str | Path | Results,
    by: str | None = None,
    against: str | None = None,
    despite: str | Sequence[str] = (),
    quantile: float | None = None,
    least: float = 2.0,
    margin: float = 5.0,
    false_alarm: float = 1.0,
) -> Verdicts:
    """Compare results folders with the first, or the arms of one folder, as `steelyard compare` does.

    `by` is the factor within one folder: "mpi", "env.NAME", "param.NAME", ...; by default what its plan
    compares. `against` names the arm that the others are compared with, or "best". `despite` are conditions
    that may differ: "placement", "clock", "transport", "yields". `quantile`, such as 0.99, is compared in
    place of each launch's median. `least` (the least difference that matters), `margin` (what may be
    ignored) and `false_alarm` (comparisons of equals that may say slower or faster) are per cents.

    `points` of the answer has for each test case `verdict` ("slower", "faster", "same" or "cannot tell"),
    `ratio` (the time of B over that of A) and `low`..`high`, its interval, which holds for all test cases
    together.

    Raises InputError for folders that are none, or cannot be compared.
    """
    from steelyard.session.api import compare_asked

    percentages = {"least": least, "margin": margin, "false_alarm": false_alarm}
    return compare_asked(folders, by, against, despite, quantile, percentages)


def accept(
    folder: str | Path | Results,
    reference: str | Path | Results | None = None,
    limits: str | Path | None = None,
) -> Acceptance:
    """Judge whether a machine is well, from a folder of the plan "acceptance", which `measure` measures.

    `reference` is a folder of the same plan, of this machine before or one of its kind; `limits` a site's own
    limits, in TOML. The answer has `verdict` ("well", "not well" or "cannot tell"), `why` in a sentence, and
    `topics`, each with a verdict of its own, evidence and a remedy.

    Raises InputError for a folder that is none, or its own reference, and for limits that cannot be read.
    """
    from steelyard.session.api import accept_asked

    return accept_asked(folder, reference, limits)


def __getattr__(name: str) -> object:
    """Import a class when it is asked for: the command line starts without statistics, and Ctrl-C in the
    first instants meets little of Python.
    """
    if name == "Results":
        from steelyard.session.results import Results

        return Results
    if name in __all__:
        from steelyard.base import errors

        return getattr(errors, name)
    raise AttributeError(f"module 'steelyard' has no attribute '{name}'")
