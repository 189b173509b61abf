"""A sweep becomes a file, the file is measured beside none, and only a faster one is recommended."""

from __future__ import annotations

import json
import shlex
import shutil
from pathlib import Path
from types import SimpleNamespace

import pytest

from made_sweep import FORCED, MPI, SIZES, US, made_sweep, sweep_of
from make_records import FakePoint, steady, write_folder
from steelyard.base.errors import InputError
from steelyard.cli.tune import TuneOptions
from steelyard.cli.tune import tune as tune_command
from steelyard.judges.tuning.verdicts import (
    NOT_RECOMMENDED,
    NOTHING_TO_GAIN,
    RECOMMENDED,
    tuned_sentences,
)
from steelyard.judges.verdict import CANNOT_TELL
from steelyard.plan.plan import Plan
from steelyard.session.results import Results, read_results
from steelyard.session.tune import Checking, own_table, tune


class _Library:
    """Measures a file as a library that takes `with_file` ns at 1 KiB with it."""

    def __init__(self, with_file: float) -> None:
        self._with_file = with_file
        self.plans: list[Plan] = []

    def measure(self, plan: Plan, folder: Path) -> Results:
        self.plans.append(plan)
        without, with_it = plan.arms["wrapper"]
        arms = {without: (2 * US, 100 * US), with_it: (2 * US, self._with_file)}
        points = [
            FakePoint("mpi.bcast", steady(time, between=0.01, count=30), bytes=size, mpi=MPI)
            for times in arms.values()
            for size, time in zip(SIZES, times, strict=True)
        ]
        return made_sweep(
            folder, points, [{"run by": str(arm)} for arm in arms for _ in SIZES], plan.launches or 1
        )


@pytest.mark.parametrize(
    ("with_file", "verdict", "why"),
    [
        (40 * US, RECOMMENDED, "faster in 1 of 2, same in 1, slower in none"),
        (100 * US, NOT_RECOMMENDED, "the library does not obey the file"),
        (150 * US, NOT_RECOMMENDED, "slower in 1"),
    ],
)
def test_a_file_is_recommended_by_what_came_of_it(
    with_file: float, verdict: str, why: str, tmp_path: Path
) -> None:
    library = _Library(with_file)
    found = tune(sweep_of(tmp_path / "sweep"), tmp_path, Checking(10, "90s", library.measure))
    (mpi,) = found.mpis
    assert (mpi.verdict, why in mpi.why) == (verdict, True), mpi.why
    assert [(one.bytes, one.algorithm) for one in mpi.cases] == [(8, ""), (1024, "binomial")]
    assert Path(mpi.file).read_text().startswith("1 # collectives\n7 # bcast\n")
    script = tmp_path / f"{MPI}.sh"
    assert script.exists() == (verdict == RECOMMENDED)
    if script.exists():
        assert (
            f"export OMPI_MCA_coll_tuned_dynamic_rules_filename={tmp_path / MPI}.rules\n"
            in script.read_text()
        )


def test_the_file_is_measured_by_turns_with_none(tmp_path: Path) -> None:
    library = _Library(40 * US)
    tune(sweep_of(tmp_path / "sweep"), tmp_path, Checking(10, "90s", library.measure))
    (plan,) = library.plans
    assert (plan.launches, plan.time_budget, plan.mpi) == (10, "90s", (MPI,))
    without, words = plan.arms["wrapper"]
    assert without == "-"
    assert shlex.split(str(words))[0] == "env"
    assert all(measure.env == {FORCED: "-"} for measure in plan.measure)  # no algorithm is forced beside it


@pytest.mark.parametrize("what", [["mpi.bcast", "{sweep}"], ["{sweep}", "mpi.bcast"]])
def test_a_sweep_that_is_there_is_named_whatever_is_typed_beside_it(what: list[str], tmp_path: Path) -> None:
    options = TuneOptions([word.format(sweep=tmp_path) for word in what])
    with pytest.raises(InputError, match=rf"'{tmp_path}' is measured already; leave mpi\.bcast out"):
        tune_command(options)


@pytest.mark.parametrize(("launches", "verdict"), [(6, NOTHING_TO_GAIN), (1, CANNOT_TELL)])
def test_a_sweep_that_finds_nothing_measures_nothing(tmp_path: Path, launches: int, verdict: str) -> None:
    def never(_plan: Plan, _folder: Path) -> Results:
        raise AssertionError

    sweep = sweep_of(tmp_path / "sweep", forced=100 * US, launches=launches)
    found = tune(sweep, tmp_path, Checking(10, None, never))
    assert [mpi.verdict for mpi in found.mpis] == [verdict]
    assert (launches > 1) == ("2 of 2 algorithms, each at a size, may be faster" not in found.mpis[0].why)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["sweep"]


def test_results_without_forced_algorithms_are_refused(tmp_path: Path) -> None:
    write_folder(tmp_path / "plain", [FakePoint("mpi.bcast", steady(US, count=10), mpi=MPI)], launches=2)
    library = _Library(US)
    with pytest.raises(InputError, match="forces no algorithm of an MPI"):
        tune(read_results(tmp_path / "plain"), tmp_path, Checking(10, None, library.measure))


def test_a_library_without_a_table_is_refused(tmp_path: Path) -> None:
    sweep = sweep_of(tmp_path / "sweep")
    with pytest.raises(InputError, match="has no table of algorithms that a file could change"):
        own_table(sweep.read.measured, "mpich-5.0.2")


def test_a_folder_that_is_not_there_ismade_sweep(tmp_path: Path) -> None:
    library, out = _Library(40 * US), tmp_path / "out" / "of ten"
    found = tune(sweep_of(tmp_path / "sweep"), out, Checking(10, None, library.measure))
    assert found.verdict == RECOMMENDED
    said = list(tuned_sentences(found))[-1]
    assert shlex.split(said.partition(": ")[2]) == [".", str(out / f"{MPI}.sh")]


def test_launches_of_another_file_and_an_earlier_script_recommend_nothing(tmp_path: Path) -> None:
    sweep, script = sweep_of(tmp_path / "sweep"), tmp_path / f"{MPI}.sh"
    tune(sweep, tmp_path, Checking(10, None, _Library(40 * US).measure))
    assert script.exists()
    shutil.rmtree(tmp_path / f"check-{MPI}")
    found = tune(sweep, tmp_path, Checking(10, None, _Library(150 * US).measure))
    assert (found.verdict, script.exists()) == (NOT_RECOMMENDED, False)
    (tmp_path / f"{MPI}.rules").write_text("another\n")
    with pytest.raises(InputError, match="measured another file than this sweep proposes"):
        tune(sweep, tmp_path, Checking(10, None, _Library(40 * US).measure))


def test_a_script_of_somebody_else_is_not_removed(tmp_path: Path) -> None:
    script = tmp_path / f"{MPI}.sh"
    script.write_text("mine\n")
    with pytest.raises(InputError, match="is no script of steelyard tune"):
        tune(sweep_of(tmp_path / "sweep"), tmp_path, Checking(10, None, _Library(40 * US).measure))
    assert script.read_text() == "mine\n"


def test_a_table_of_algorithms_that_cannot_be_read_is_passed_over(tmp_path: Path) -> None:
    library = tmp_path / "libmpi.so"
    sound = b'{"collective=bcast":{"comm_type=intra":{"algorithm=MPIR_Bcast_intra_binomial":{}}}}'
    broken = b'{"collective=bcast":{algorithm=MPIR_}'
    library.write_bytes(b"\0".join((b"", broken, sound, b"")))
    job = SimpleNamespace(mpi=SimpleNamespace(name="mpich-5.0.2"))
    file = SimpleNamespace(job=job, launch=SimpleNamespace(libraries=[SimpleNamespace(path=str(library))]))
    sweep = SimpleNamespace(files=[file])
    assert own_table(sweep, "mpich-5.0.2") == json.loads(sound)  # type: ignore[arg-type]
