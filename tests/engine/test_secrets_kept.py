"""No secret of a command line is kept or shown, and launches get it all the same."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from commands import FIXED, Steelyard, steelyard_of
from scripts import script

_SECRETS = ("hunter2", "swordfish", "xyzzy")
_PLAIN = "OMPI_MCA_btl_openib_pkey=0x8001"


@pytest.fixture
def steelyard(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path, own_cache: Path
) -> Steelyard:
    monkeypatch.chdir(tmp_path)
    return steelyard_of(capsys, monkeypatch)


@pytest.fixture
def words(tmp_path: Path) -> tuple[str, ...]:
    """A run with secrets: by name, in a value and in arguments of a wrapper, which keeps what it gets."""
    got = tmp_path / "got"
    wrapper = script(tmp_path / "wrapper", f'echo "$API_TOKEN $NET $2" >> {got}\nshift 2\nexec "$@"')
    given = ("--env", "API_TOKEN=hunter2", "--env", "NET=http://me:swordfish@host", "--env", _PLAIN)
    return ("self.spin", *FIXED, *given, "--wrapper", f"{wrapper} --password xyzzy")


def _kept(folder: Path) -> list[str]:
    """The files of a folder, or their names, that have a secret."""
    files = [path for path in folder.rglob("*") if path.is_file()]
    assert files
    texts = {path: f"{path} {path.read_text(errors='replace')}" for path in files}
    return [str(path) for path, text in texts.items() if any(secret in text for secret in _SECRETS)]


def _shows(said: object) -> bool:
    return any(secret in str(said) for secret in _SECRETS)


def test_a_run_its_resumption_and_its_repetition(
    steelyard: Steelyard, words: tuple[str, ...], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    out, got = tmp_path / "out", tmp_path / "got"
    said = steelyard("run", *words, "--out", out)
    assert said.code == 0, said.err
    assert got.read_text() == "hunter2 http://me:swordfish@host xyzzy\n"
    assert not _shows(said)
    assert _kept(out) == []
    text = (out / "campaign.json").read_text()
    for shown in ('"API_TOKEN": "***"', "http://***@host", "--password ***", _PLAIN, "API_TOKEN=***"):
        assert shown in text
    at = words.index("--launches") if "--launches" in words else len(words)
    words = (*words[:at], *words[at + 2 :])
    more = steelyard("run", *words, "--launches", "2", "--out", out)  # takes it up again, with its secrets
    assert (more.code, got.read_text().count("hunter2")) == (0, 2), more.err
    again = steelyard("run", *words, "--launches", "2", "--out", out)
    assert "all was measured before" in again.err
    for reads in (("show", out), ("show", out, "--json"), ("export", out, "--to", "csv"), ("diff", out, out)):
        assert not _shows(steelyard(*reads))
    refused = steelyard("rerun", out, "--out", tmp_path / "again")
    assert (refused.code, "results do not keep secrets" in refused.err) == (2, True)
    assert _kept(out) == []


def test_a_repetition_takes_secrets_from_the_environment(
    steelyard: Steelyard, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    out = tmp_path / "out"
    assert steelyard("run", "self.spin", *FIXED, "--env", "API_TOKEN=hunter2", "--out", out).code == 0
    assert "set API_TOKEN in the environment" in steelyard("rerun", out, "--out", tmp_path / "a").err
    monkeypatch.setenv("API_TOKEN", "swordfish")
    said = steelyard("rerun", out, "--out", tmp_path / "again")
    assert said.code == 0, said.err
    assert not _shows(said)
    assert _kept(tmp_path / "again") == []


@pytest.mark.parametrize(
    "more",
    [
        ("--dry-run",),
        ("--dry-run", "--json"),
        ("--dry-run", "--batch", "slurm"),
        ("--mpi", "nothing?token=hunter2", "--engine", "mpi"),
        ("--env", "no value of token: hunter2"),
        ("--env", "API_TOKEN=swordfish"),
        ("--hosts", "3"),
    ],
)
def test_dry_runs_and_errors(steelyard: Steelyard, words: tuple[str, ...], more: tuple[str, ...]) -> None:
    said = steelyard("run", *words, *more)
    assert not _shows(said)


def test_a_script_of_a_batch_system_has_them_and_is_for_its_user_alone(
    steelyard: Steelyard, words: tuple[str, ...], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What stands in for the batch system runs the script at once."""
    bin_ = tmp_path / "bin"
    script(bin_ / "sbatch", f'cp -p "$(for last; do :; done; echo "$last")" {tmp_path}/script; echo 1')
    script(bin_ / "scontrol", "echo JobState=FAILED")
    monkeypatch.setenv("PATH", str(bin_), prepend=os.pathsep)
    steelyard("run", *words, "--batch", "slurm", "--out", tmp_path / "jobs")
    (kept,) = (tmp_path / "jobs").rglob("*.sh")
    assert kept.stat().st_mode & 0o777 == 0o700
    assert all(secret in kept.read_text() for secret in _SECRETS)


@pytest.mark.parametrize("option", ["--env", "--arms"])
def test_values_that_results_could_not_tell_apart_are_refused(steelyard: Steelyard, option: str) -> None:
    given = (
        ("--env", "API_TOKEN=a", "--env", "API_TOKEN=b")
        if option == "--env"
        else ("--arms", "env.API_TOKEN=a,b")
    )
    said = steelyard("run", "self.spin", *given)
    assert (said.code, "results could not tell apart" in said.err) == (2, True), said.err
