"""Tune MPIs: what a sweep over algorithms proposes is written as each library's own file, and measured."""

from __future__ import annotations

import re
import shlex
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

import msgspec
from msgspec import Struct
from msgspec.structs import replace

from steelyard.base.errors import InputError
from steelyard.base.files import make_folder, read_regular, write_given
from steelyard.base.json_text import decode_json
from steelyard.judges.compare.scale import Question
from steelyard.judges.tuning.choices import Choice, choices_of, family_of, is_swept, open_of
from steelyard.judges.tuning.files import WRITERS, TuningFile
from steelyard.judges.tuning.ranges import ranges_of
from steelyard.judges.tuning.verdicts import (
    RECOMMENDED,
    Tuned,
    TunedMpi,
    cases_of,
    judge_cases,
    nothing_to_gain,
    tuned,
)
from steelyard.plan.plan import Plan
from steelyard.plan.remeasure import plan_again, with_secrets
from steelyard.records.campaign_file import UNSET
from steelyard.results.load import Measured
from steelyard.session.compare import compare_folders
from steelyard.session.results import Results

_FACTOR = "wrapper"  # of arms: the same program, run by env(1) with the variables of the file
_MOST_LIBRARY_BYTES = 1 << 28  # with the information for debuggers
_TABLE = re.compile(rb'\{"collective=[^\0]*\}(?=\0)')  # compact JSON, as a string of C
_OF_ALGORITHMS = b"algorithm=MPIR_"  # in the table that a file replaces, and not in those of the device
_AS_TABLE = msgspec.json.Decoder(dict[str, Any])


class Checking(Struct, frozen=True):
    """How a file is measured: launches of each arm, the time for all, what measures a plan into a folder."""

    launches: int
    time_budget: str | None
    measure: Callable[[Plan, Path], Results]


def tune(sweep: Results, folder: Path, checking: Checking) -> Tuned:
    """Write the files of all MPIs of a sweep into `folder`, measure each against none, and judge.

    Raises InputError for a sweep that forces no algorithms, and for a library whose own table is not found.
    """
    mpis = list(dict.fromkeys(row.mpi for row in sweep.rows if row.mpi is not None and is_swept(row)))
    if not mpis:
        raise InputError(
            f"'{sweep.folder}' forces no algorithm of an MPI that reads a file of them; measure the plan "
            "algorithms"
        )
    choices = choices_of(sweep.rows)
    each = {mpi: [choice for choice in choices if choice.mpi == mpi] for mpi in mpis}
    return tuned(
        [
            _tuned_mpi(chosen, sweep.read.measured, folder, checking)
            if chosen
            else nothing_to_gain(mpi, *open_of(sweep.rows, mpi))
            for mpi, chosen in each.items()
        ]
    )


def _tuned_mpi(choices: Sequence[Choice], sweep: Measured, folder: Path, checking: Checking) -> TunedMpi:
    mpi = choices[0].mpi
    name = re.sub(r"[^\w.+-]", "-", mpi)
    check, script = folder / f"check-{name}", folder / f"{name}.sh"
    file = _written(choices, sweep, folder / name, check)
    _withdraw(script, mpi)
    words = shlex.join(("env", *(f"{variable}={value}" for variable, value in file.settings.items())))
    wanted = {choice.point for choice in choices}
    points = [point for point in sweep.campaign.points if point.point in wanted]
    plan = plan_again(sweep.campaign, points, {_FACTOR: (UNSET, words)}, checking.launches)
    plan = replace(with_secrets(plan), name="tune", time_budget=checking.time_budget)
    checking.measure(plan, check)
    compared = compare_folders([check], Question(), by=_FACTOR)
    cases = cases_of(choices, compared)
    verdict, why = judge_cases(cases)
    if verdict == RECOMMENDED:
        lines = (f"export {variable}={shlex.quote(value)}" for variable, value in file.settings.items())
        write_given(script, "\n".join((f"# {mpi}: {why}", *lines, "")).encode())
    return TunedMpi(
        mpi=mpi,
        verdict=verdict,
        why=why,
        file=str(folder / file.name) if file.name else "",
        script=str(script) if verdict == RECOMMENDED else "",
        settings=file.settings,
        launches=compared.launches,
        cases=cases,
    )


def _withdraw(script: Path, mpi: str) -> None:
    """Remove the script of an earlier verdict. Raises InputError for a file of that name that is none."""
    if not script.is_symlink() and not script.exists():
        return
    if script.is_symlink() or not read_regular(script).startswith(f"# {mpi}: ".encode()):
        raise InputError(f"'{script}' is no script of steelyard tune; give --out another folder")
    script.unlink()


def _written(choices: Sequence[Choice], sweep: Measured, path: Path, check: Path) -> TuningFile:
    """Write the file of one MPI, whose name begins with `path`. Raises InputError, also if the folder `check`
    has launches of another file.
    """
    family = family_of(choices[0].mpi)
    ending, write = WRITERS[family]
    table = own_table(sweep, choices[0].mpi) if family == "mpich" else {}
    file = write(ranges_of(choices), path.with_name(path.name + ending).absolute(), table)
    if file.name:
        place, text = path.with_name(file.name), file.text.encode()
        if check.exists() and (not place.exists() or read_regular(place) != text):
            raise InputError(
                f"'{check}' measured another file than this sweep proposes; give --out a free name"
            )
        make_folder(path.parent)
        write_given(place, text)
    return file


def own_table(sweep: Measured, mpi: str) -> Mapping[str, Any]:
    """Find the table of algorithms that an MPICH has in itself, in the libraries that its ranks had loaded.

    Raises InputError if none has it.
    """
    loaded = (
        library.path
        for file in sweep.files
        if file.launch and file.job.mpi and file.job.mpi.name == mpi
        for library in file.launch.libraries
    )
    for name in dict.fromkeys(path for path in loaded if "libmpi" in path):
        tables = _TABLE.findall(read_regular(Path(name), _MOST_LIBRARY_BYTES))
        for table in tables:
            if _OF_ALGORITHMS in table:
                with suppress(msgspec.DecodeError):
                    return decode_json(table, _AS_TABLE)
    raise InputError(f"{mpi} has no table of algorithms that a file could change; leave it out with --mpi")
