"""Commands that messages print are typed as printed, in the same folder, and do what was said.

Each place of the package that composes a command is named by a test that types what it composed.
"""

from __future__ import annotations

import errno
import itertools
import os
import shlex
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from advice import FOLDER, Advice, launches, named_by_tests, places, raising, sources, types
from commands import FIXED, Said
from scripts import script
from steelyard.base.errors import InputError, StoppedError
from steelyard.campaign import lock
from steelyard.campaign import run as launching
from steelyard.records.campaign_file import read_campaign
from steelyard.session import measure as rounds
from steelyard.session import results


def test_each_place_that_composes_a_command_has_a_test() -> None:
    assert places(sources()) == named_by_tests()


# ---- what is left to measure -------------------------------------------------------------------------------


@types("diagnostics/results/launches.py: one_launch", "diagnostics/results/launches.py: few_launches")
def test_launches_are_added(advice: Advice) -> None:
    advice.measure()
    one = advice.reported("One launch")
    assert advice.steelyard("run", "--out", FOLDER, "--launches", "2").code == 0
    few = advice.reported("Few launches")
    assert advice.type("diagnostics/results/launches.py: few_launches", few).code == 0
    assert launches() == [10, 10]
    advice.type("diagnostics/results/launches.py: one_launch", one)


def _words(said: Said) -> str:
    """What stands on stdout, without its lines."""
    return " ".join(said.out.replace("#", " ").split())


@types("cli/run.py: left_words")
def test_what_a_budget_left_out_is_measured(advice: Advice, monkeypatch: pytest.MonkeyPatch) -> None:
    """More launches than a second has; the command goes on for another second. The screen is low."""
    monkeypatch.setenv("LINES", "4")
    said = advice.measure("--launches", "300", "--time-budget", "1s")
    assert "the time budget left out" in _words(said)
    before = sum(launches())
    assert advice.type("cli/run.py: left_words", said).code == 0
    assert sum(launches()) > before


@types("judges/accept/measurement.py: Weighed")
def test_an_acceptance_has_more_launches(advice: Advice) -> None:
    place = "judges/accept/measurement.py: Weighed"
    assert advice.steelyard("run", "noise.fwq", *FIXED, "--out", FOLDER).code == 0
    said = advice.steelyard("accept", FOLDER)
    assert "One launch does not say what the next one loses." in _words(said)
    assert "Give it more launches" in _words(said)  # perhaps by a topic before it, on a busy machine
    assert advice.type(place, said, "accept", more="--help").code == 0
    assert advice.type(place, said).code == 0
    assert launches() == [5]
    assert "One launch does not say" not in _words(advice.steelyard("accept", FOLDER))


@types("judges/accept/measurement.py: Weighed")
def test_what_is_left_for_an_acceptance_is_measured(advice: Advice) -> None:
    advice.measure("--launches", "5")
    next((Path(FOLDER) / "records").glob("*.jsonl")).unlink()
    said = advice.steelyard("accept", FOLDER)
    words = _words(said)
    assert "2 of 10 measurements are left: the run was stopped" in words
    assert "To go on: steelyard run --out" in words
    assert advice.type("judges/accept/measurement.py: Weighed", said).code == 0
    assert launches() == [5, 5]
    assert "To go on: " not in advice.steelyard("accept", FOLDER).out


@types("judges/accept/limits.py: _how")
def test_what_a_limit_is_about_is_measured(advice: Advice, tmp_path: Path) -> None:
    advice.measure()
    limits = tmp_path / "site.toml"
    limits.write_text('[[limit]]\nwhat = "copy"\nop = "mem.copy"\nbytes = "1Ki"\nranks = 1\nbelow = "1s"\n')
    said = advice.steelyard("accept", FOLDER, "--limits", limits)
    words = "--rule fixed --param count=2 --launches 5 --out copies"
    assert advice.type("judges/accept/limits.py: _how", said, more=words).code == 0
    assert "copy      well" in advice.steelyard("accept", "copies", "--limits", limits).out


@types("analyses/overview.py: _resuming")
def test_what_is_not_measured_yet_is_measured(advice: Advice) -> None:
    advice.measure()
    next((Path(FOLDER) / "records").glob("*.jsonl")).unlink()
    said = advice.steelyard("show", FOLDER)
    assert launches() == [0, 0]
    assert advice.type("analyses/overview.py: _resuming", said).code == 0
    assert launches() == [1, 1]


@types(
    "diagnostics/results/records.py: not_measured",
    "diagnostics/results/records.py: missing",
    "diagnostics/results/records.py: cut",
)
def test_what_was_lost_is_measured_again(advice: Advice) -> None:
    advice.measure("--launches", "3")
    first, second, third = sorted((Path(FOLDER) / "records").glob("*.jsonl"))
    third.unlink()
    assert launches() == [2, 2]
    advice.type(
        "diagnostics/results/records.py: not_measured", advice.reported("Launches that were not measured")
    )
    first.unlink()
    advice.type("diagnostics/results/records.py: missing", advice.steelyard("show", FOLDER))
    assert launches() == [3, 3]
    second.write_bytes(second.read_bytes()[:-9])  # of the record with which the launch ends
    assert advice.type("diagnostics/results/records.py: cut", advice.reported("Cut records")).code == 0
    assert launches() == [3, 3]


@types("diagnostics/results/records.py: _again")
def test_what_is_damaged_is_measured_again(advice: Advice) -> None:
    advice.measure()
    (path,) = (Path(FOLDER) / "records").glob("*.jsonl")
    path.write_text(path.read_text().replace('"count":2', '"count":3', 1))
    assert advice.type("diagnostics/results/records.py: _again", advice.reported("Damaged records")).code == 0
    assert launches() == [1, 1]
    assert "damaged" not in advice.steelyard("show", FOLDER).out


@types("diagnostics/results/records.py: _again")
def test_a_launch_that_lost_no_number_is_measured_again_without_its_file(advice: Advice) -> None:
    advice.measure()
    (path,) = (Path(FOLDER) / "records").glob("*.jsonl")
    lines = path.read_text().splitlines(keepends=True)
    path.write_text("".join(line for line in lines if '"record":"watch"' not in line))
    said = advice.reported("Damaged records")
    assert launches() == [1, 1]
    assert "their launches, once they are deleted" in said.out
    path.unlink()
    assert advice.type("diagnostics/results/records.py: _again", said).code == 0
    assert launches() == [1, 1]
    assert "damaged" not in advice.steelyard("show", FOLDER).out


@types("cli/progress.py: _Shower")
def test_what_a_time_budget_left_out_is_measured(advice: Advice) -> None:
    said = advice.measure("--launches", "300", "--time-budget", "0.1s", code=0)
    before = sum(launches())
    assert advice.type("cli/progress.py: _Shower", said).code == 0
    assert sum(launches()) > before


@types("session/refine.py: measure_rounds")
def test_what_a_time_budget_left_of_refining_is_measured(advice: Advice) -> None:
    sized = ("mem.copy", "--bytes", "8,64", *FIXED, "--out", FOLDER)
    said = advice.steelyard("run", *sized, "--refine", "--time-budget", "1ms")
    assert said.code == 0, said.err
    again = advice.type("session/refine.py: measure_rounds", said, more="--time-budget 9s")
    assert again.code == 0
    assert "refining: a change is seen in a series of" in again.err


# ---- what failed or was stopped ----------------------------------------------------------------------------


def _failing_once(tmp_path: Path, words: str, code: int) -> str:
    """A wrapper that says words and ends with a code, and the second time lets pass."""
    text = f'if [ -e {tmp_path}/tried ]; then exec "$@"; fi; touch {tmp_path}/tried; {words} exit {code}'
    return str(script(tmp_path / "wrapper", text))


@types("cli/run.py: finish", "judges/accept/answers.py: _found")
def test_what_failed_is_measured_again(advice: Advice, tmp_path: Path) -> None:
    for place, words in (
        ("cli/run.py: finish", ()),
        ("judges/accept/answers.py: _found", ("accept", FOLDER)),
    ):
        said = advice.measure("--wrapper", _failing_once(tmp_path, "", 7), code=3)
        assert launches() == [0, 0]
        said = advice.steelyard(*words) if words else said
        assert advice.type(place, said).code == 0
        assert launches() == [1, 1]
        shutil.rmtree(FOLDER)
        (tmp_path / "tried").unlink()


@types("campaign/run.py: _watch")
def test_what_a_batch_system_ended_goes_on(advice: Advice, tmp_path: Path) -> None:
    words = 'echo "slurmstepd: error: *** JOB 7 ON n1 CANCELLED AT 2026-11-25 DUE TO TIME LIMIT ***" >&2;'
    said = advice.measure("--wrapper", _failing_once(tmp_path, words, 143), code=3)
    assert advice.type("campaign/run.py: _watch", said).code == 0
    assert launches() == [1, 1]


_OPTIONS = (
    *("--seed", "7", "--hang-after", "50s", "--clock", "monotonic", "--keep", "slowest", "--yield", "none"),
    *("--env", "A=1 2", "--env", "API_TOKEN=hunter2", "--omp", "wait_policy=passive", "--time-budget", "9s"),
    *("--paths", "asymmetric"),
)


@types("diagnostics/results/outcomes.py: _alone")
def test_what_failed_is_measured_alone_with_all_that_the_run_had(
    advice: Advice, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    advice.measure(
        *_OPTIONS,
        "--wrapper",
        f"sh {shlex.quote(str(script(tmp_path / 'wrap it', 'exit 7')))}",
        code=3,
    )
    said = advice.steelyard("show", FOLDER)
    assert "set API_TOKEN in the environment, and measure it alone:" in " ".join(said.err.split())
    monkeypatch.setenv("API_TOKEN", "hunter2")
    assert advice.type("diagnostics/results/outcomes.py: _alone", said, more="--out alone").code == 3
    whole, alone = read_campaign(Path(FOLDER)), read_campaign(Path("alone"))
    assert alone.points == whole.points[:1]
    assert alone.seed == whole.seed == 7
    plans = [
        {key: one.plan[key] for key in one.plan if key not in ("measure", "name")} for one in (whole, alone)
    ]
    assert plans[0] == plans[1]


@types("cli/run.py: _stopped_words")
def test_a_run_that_was_stopped_goes_on(advice: Advice, monkeypatch: pytest.MonkeyPatch) -> None:
    with monkeypatch.context() as stopped:
        stopped.setattr(rounds, "measure_rounds", raising(KeyboardInterrupt))
        said = advice.measure(code=StoppedError.exit_code)
    assert advice.type("cli/run.py: _stopped_words", said).code == 0
    assert launches() == [1, 1]


@types("cli/main.py: main")
@pytest.mark.parametrize(("number", "code"), [(errno.ENOSPC, 3), (errno.EACCES, 2)])
def test_a_run_goes_on_when_it_can_write(
    advice: Advice, monkeypatch: pytest.MonkeyPatch, number: int, code: int
) -> None:
    with monkeypatch.context() as full:
        full.setattr(rounds, "measure_rounds", raising(OSError(number, os.strerror(number))))
        said = advice.measure(code=code)
    assert advice.type("cli/main.py: main", said).code == 0
    assert launches() == [1, 1]


# ---- folders that are not as they should be ----------------------------------------------------------------


@types("campaign/folder.py: _check_same")
def test_a_folder_of_another_campaign_goes_on_by_its_own(advice: Advice) -> None:
    advice.measure()
    said = advice.measure("--env", "A=b", code=2)
    assert advice.type("campaign/folder.py: _check_same", said).code == 0


@types("campaign/lock.py: _check_owner")
@pytest.mark.skipif(os.geteuid() != 0, reason="only root gives a file away")
def test_a_lock_of_another_user_is_removed(advice: Advice) -> None:
    advice.measure()
    path = Path(FOLDER) / ".lock"
    os.chown(path, 65534, -1)
    said = advice.steelyard("run", "--out", FOLDER)
    path.unlink()
    assert advice.type("campaign/lock.py: _check_owner", said).code == 0


@types("campaign/lock.py: _write")
def test_a_lock_is_written_when_there_is_room(advice: Advice, monkeypatch: pytest.MonkeyPatch) -> None:
    with monkeypatch.context() as full:
        full.setattr(lock, "_write", _on_full(lock._write))
        said = advice.measure(code=2)
    assert advice.type("campaign/lock.py: _write", said).code == 0
    assert launches() == [1, 1]


def _on_full(write: Callable[[Any, bytes, Path], None]) -> Callable[[Any, bytes, Path], None]:
    """Writes into a file of a disk that is full in place of the one that it is given."""

    class Full:
        def truncate(self, _: int) -> None: ...

        def write(self, _: bytes) -> None:
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    return lambda _file, text, folder: write(Full(), text, folder)


def _remove(which: str) -> None:
    records = Path(FOLDER, "records")
    if which == "folder":
        shutil.rmtree(records)
    for path in records.glob("*.jsonl"):
        path.unlink()


# What misses it first: the job's first record, the reader of a growing file, the next launch, the results.
@pytest.mark.parametrize("which", ["folder", "all"])
@pytest.mark.parametrize(
    ("where", "name", "number"),
    [
        (launching, "append_records", 2),
        (launching.Tail, "advance", 4),
        (launching, "create_records", 2),
        (results, "read_results", 1),
    ],
)
@types("campaign/lock.py: _check_records")
def test_records_that_are_removed_meanwhile_are_measured_again(
    advice: Advice, monkeypatch: pytest.MonkeyPatch, where: Any, name: str, number: int, which: str
) -> None:
    calls, real = itertools.count(1), getattr(where, name)

    def removing(*given: Any, **named: Any) -> Any:
        if next(calls) == number:
            _remove(which)
        return real(*given, **named)

    with monkeypatch.context() as meanwhile:
        meanwhile.setattr(where, name, removing)
        said = advice.measure("--launches", "2", code=3)
    assert "moved or removed while it was measured" in said.err
    assert advice.type("campaign/lock.py: _check_records", said).code == 0
    assert launches() == [2, 2]


@types("campaign/lock.py: _check_in_place")
def test_a_folder_that_was_moved_goes_on_where_it_was(
    advice: Advice, monkeypatch: pytest.MonkeyPatch
) -> None:
    def move(*_: object) -> None:
        Path(FOLDER).rename("elsewhere")
        raise InputError("records cannot be read")

    with monkeypatch.context() as moved:
        moved.setattr(rounds, "measure_rounds", move)
        said = advice.measure(code=3)
    shutil.rmtree(FOLDER, ignore_errors=True)
    Path("elsewhere").rename(FOLDER)
    assert advice.type("campaign/lock.py: _check_in_place", said).code == 0
    assert launches() == [1, 1]
