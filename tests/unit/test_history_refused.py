"""What `steelyard check` refuses: stores that are none, and questions without what they need."""

from __future__ import annotations

from pathlib import Path

import pytest

from made_nights import made_night
from steelyard.base.errors import InputError
from steelyard.cli.check import CheckOptions, check


def test_what_is_no_store(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="there is no folder"):
        check(CheckOptions(history=[tmp_path / "none"]))
    with pytest.raises(InputError, match="holds no results"):
        check(CheckOptions(history=[tmp_path]))
    (tmp_path / "empty" / "records").mkdir(parents=True)
    with pytest.raises(InputError, match="no night can be read"):
        check(CheckOptions(history=[tmp_path]))
    with pytest.raises(InputError, match="there is no results folder"):
        check(CheckOptions(history=[tmp_path / "empty"], tonight=tmp_path / "none"))


@pytest.mark.parametrize(
    ("given", "sentence"),
    [
        ({}, "check needs --history DIR, or --tonight DIR and --baseline"),
        ({"baseline": "/opt/mpi"}, "check needs --history DIR, or --tonight DIR and --baseline"),
        (
            {"tonight": "night-00", "baseline": "night-01", "since": "night-00"},
            "give --history, or leave them",
        ),
        ({"tonight": "none", "baseline": "night-01"}, "there is no results folder"),
        (
            {"tonight": "night-00", "baseline": "night-01"},
            "with tonight's MPI, .* the build that was replaced",
        ),
        ({"tonight": "night-00", "baseline": "night-02"}, "with mpich-4.1.0, which is no longer there"),
    ],
)
def test_what_is_missing_without_a_history(tmp_path: Path, given: dict[str, str], sentence: str) -> None:
    for number in range(3):
        made_night(tmp_path, number, mpi="mpich-4.1.0" if number == 2 else "mpich-4.0.2")
    inside = {
        name: tmp_path / word if name == "tonight" else str(tmp_path / word) if "night" in word else word
        for name, word in given.items()
    }
    inside |= {"since": given["since"]} if "since" in given else {}
    with pytest.raises(InputError, match=sentence):
        check(CheckOptions(**inside))  # type: ignore[arg-type]


_QUIET_NIGHTS = 8


@pytest.mark.parametrize(
    ("baseline", "sentence"),
    [
        ("{}/gone", "gone' does not exist"),
        ("{}/steelyard-mpi", "does not exist"),
        ("env.X", "is not of the form"),
    ],
)
def test_a_baseline_that_is_not_there_is_told_before_it_is_needed(
    tmp_path: Path, baseline: str, sentence: str
) -> None:
    """Tonight nothing is suspected, so that nothing would be measured with it."""
    for number in range(_QUIET_NIGHTS):
        made_night(tmp_path, number, mpi="mpich-4.0.2")
    with pytest.raises(InputError, match=sentence):
        check(CheckOptions(history=[tmp_path], baseline=baseline.format(tmp_path)))
