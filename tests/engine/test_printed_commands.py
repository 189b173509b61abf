"""Commands that messages print are typed as printed, in the same folder, and do what was said."""

from __future__ import annotations

import re
import shlex
from collections.abc import Sequence
from pathlib import Path

import pytest

from commands import FIXED, Steelyard, steelyard_of
from steelyard.results.rows import results

_PRINTED = re.compile(r"steelyard (?:run|compare|diff|show) [^;,\n]*")


@pytest.fixture
def steelyard(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> Steelyard:
    monkeypatch.delenv("COLUMNS", raising=False)  # else lines are folded
    return steelyard_of(capsys, monkeypatch)


def _printed(text: str, verb: str) -> Sequence[str]:
    """The words behind `steelyard` of the only command of that verb that a message prints."""
    found = [one for one in dict.fromkeys(_PRINTED.findall(text)) if one.startswith(f"steelyard {verb} ")]
    assert len(found) == 1, (verb, text)
    return shlex.split(found[0])[1:]


@pytest.fixture
def folder(steelyard: Steelyard, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A run of one launch of two test cases, whose name a shell must quote."""
    monkeypatch.chdir(tmp_path)
    out = Path("my results")
    assert steelyard("run", "self.empty", "self.clock", *FIXED, "--out", out).code == 0
    return out


def test_launches_are_added_by_the_command_of_the_warning(steelyard: Steelyard, folder: Path) -> None:
    words = _printed(steelyard("show", folder).err, "run")
    assert steelyard(*words).code == 0
    assert {row.launch_count for row in results(folder)} == {10}


def test_what_is_not_measured_is_measured_by_the_command_below_the_table(
    steelyard: Steelyard, folder: Path
) -> None:
    (record,) = (folder / "records").glob("*.jsonl")
    record.unlink()
    words = _printed(steelyard("show", folder).out, "run")
    assert [row.launch_count for row in results(folder)] == [0, 0]
    assert steelyard(*words).code == 0
    assert [row.launch_count for row in results(folder)] == [1, 1]


def test_the_settings_of_a_repetition_are_compared_by_the_command_that_is_told(
    steelyard: Steelyard, folder: Path
) -> None:
    said = steelyard("rerun", folder, "--out", "again", "--yes")
    assert said.code == 0
    assert steelyard(*_printed(said.out, "diff")).code in (0, 1)


def test_arms_have_the_command_of_their_verdict(
    steelyard: Steelyard, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    words = (
        "run",
        "self.empty",
        "--arms",
        "env.NOTHING_READS_THIS=a,b",
        *FIXED[:-1],
        "2",
        "--out",
        "two arms",
    )
    said = steelyard(*words)
    assert said.code == 0
    assert steelyard(*_printed(said.out, "compare")).code in (0, 1)


def test_a_folder_that_goes_on_takes_no_test_cases_of_others(steelyard: Steelyard, folder: Path) -> None:
    said = steelyard("run", "--out", folder, "--bytes", "8", "--threads", "2")
    assert said.code == 2
    assert "goes on by its own plan; leave --bytes and --threads out, or name what to run, too" in said.err
    assert steelyard("run", "--out", "nowhere").code == 2
