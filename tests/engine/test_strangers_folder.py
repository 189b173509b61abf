"""A results folder that somebody else made: nothing that it names is started without being shown."""

from __future__ import annotations

import io
import json
import os
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from commands import TWO_SAMPLES, Steelyard, steelyard_of
from scripts import script
from steelyard.base.errors import InputError, MeasurementError
from steelyard.campaign.started_programs import remember_lines, unknown
from steelyard.cli.consent import ask_to_start
from steelyard.engines.build import Engine, describe, solo_engine
from steelyard.session.api import check_known
from steelyard.system.process import run

Change = Callable[
    [dict[str, Any], Path], str
]  # of campaign.json, to start that program: the line that is shown


@pytest.fixture
def steelyard(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path, own_cache: Path
) -> Steelyard:
    monkeypatch.chdir(tmp_path)
    return steelyard_of(capsys, monkeypatch)


@pytest.fixture
def planted(tmp_path: Path) -> Path:
    """A program that leaves a file, and then does what it stands before."""
    return script(tmp_path / "theirs" / "bin" / "mpiexec", f'touch {tmp_path}/planted; exec "$@"')


def _measured(steelyard: Steelyard, name: str, *words: str) -> Path:
    out = Path(name).absolute()
    said = steelyard("run", "self.spin", *TWO_SAMPLES, "--launches", 2, "--out", out, *words)
    assert said.code == 0, said.err
    return out


def _changed(folder: Path, change: Change, program: Path) -> str:
    path = folder / "campaign.json"
    document = json.loads(path.read_text())
    document.pop("crc", None)  # whoever changes the file can leave its checksum out
    line = change(document, program)
    path.write_text(json.dumps(document))
    return line


def _wrapper(document: dict[str, Any], program: Path) -> str:
    document["plan"]["measure"][0]["wrapper"] = str(program)
    document["points"][0]["env"] = {"run by": str(program)}
    return f"wrapper: {program}"


def _mpi(document: dict[str, Any], program: Path) -> str:
    document["plan"]["measure"][0]["engine"] = "mpi"
    document["plan"]["mpi"] = [str(program)]
    return f"MPI: {program}"


def _engine(document: dict[str, Any], program: Path) -> str:
    document["plan"]["arms"] = {"engine": ["-", str(program)]}
    return f"engine: {program}"


def _preload(document: dict[str, Any], program: Path) -> str:
    document["plan"]["measure"][0]["env"] = {"LD_PRELOAD": str(program)}
    return f"variable: LD_PRELOAD={program}"


def _modules(document: dict[str, Any], program: Path) -> str:
    document["plan"]["measure"][0]["modules"] = ["theirs"]
    return "modules: theirs"


def _settings(document: dict[str, Any], program: Path) -> str:
    """Of a layer below MPI, in the folder where the command is typed: it may name a file to be emptied."""
    del document
    Path("ucx.conf").write_text(f"UCX_LOG_FILE={program}\n")
    return f"settings of UCX: {Path.cwd()}/ucx.conf"


def _arms(document: dict[str, Any], program: Path) -> str:
    document["plan"]["arms"] = {"wrapper": ["-", str(program)]}
    return f"wrapper: {program}"


@pytest.mark.parametrize("change", [_wrapper, _mpi, _engine, _preload, _modules, _settings, _arms])
def test_what_it_names_is_shown_and_not_started(
    steelyard: Steelyard, planted: Path, tmp_path: Path, change: Change
) -> None:
    theirs = _measured(steelyard, "theirs-of-tonight")
    line = _changed(theirs, change, planted)
    said = steelyard("rerun", theirs, "--out", tmp_path / "again")
    assert said.code == 2
    assert f"  {line}\n" in said.err
    assert f"nothing of '{theirs}' was started; if you trust these lines, add --yes" in said.err
    assert not (tmp_path / "planted").exists()
    assert not (tmp_path / "again").exists()
    if change not in (_preload, _modules, _settings):
        steelyard("rerun", theirs, "--out", tmp_path / "again", "--yes")
        assert (tmp_path / "planted").exists()  # so this test can fail


def test_commands_that_read_start_nothing(steelyard: Steelyard, planted: Path, tmp_path: Path) -> None:
    mine, theirs = _measured(steelyard, "mine"), _measured(steelyard, "theirs-of-tonight")
    for change in (_wrapper, _mpi, _preload):
        _changed(theirs, change, planted)
    for words in (
        ("show", theirs),
        ("report", theirs, "-o", tmp_path / "report.html"),
        ("compare", mine, theirs),
        ("check", "--history", mine, "--tonight", theirs),
        ("accept", theirs),
        ("diff", mine, theirs),
        ("export", theirs, "--to", "csv", "--out", tmp_path / "x.csv"),
        ("plot", theirs, "--out", tmp_path / "x.svg"),
        ("plan", "show", "self.spin", "--out", theirs),
    ):
        said = steelyard(*words)
        assert "no such option" not in said.err, words  # so it read the folder
        assert not (tmp_path / "planted").exists(), words


@pytest.mark.parametrize("baseline", ["env.STEEL=a", "theirs"])
def test_check_measures_nothing_again_that_it_has_not_shown(
    steelyard: Steelyard, planted: Path, tmp_path: Path, baseline: str
) -> None:
    """A wrapper of tonight's test cases, and a library that the night of the baseline had preloaded."""
    mine, theirs = _measured(steelyard, "mine"), _measured(steelyard, "before")
    library = f"{planted}/token=x.so"  # shown whole, though it reads like a secret
    for path in (theirs / "records").glob("*.jsonl"):
        job, *others = map(json.loads, path.read_text().splitlines())
        job["settings"]["LD_PRELOAD"] = library
        for record in (job, *others):
            record.pop("crc", None)  # whoever changes a file can leave its checksums out
        path.write_text("".join(f"{json.dumps(record)}\n" for record in (job, *others)))
    if baseline == "theirs":
        tonight, baseline, line = mine, str(theirs), f"variable: LD_PRELOAD={library}"
    else:
        tonight, line = theirs, _changed(theirs, _wrapper, planted)
    words = ("check", "--tonight", tonight, "--baseline", baseline, "--launches", 8)
    said = steelyard(*words, "--out", tmp_path / "again")
    assert (said.code, f"  {line}\n" in said.err) == (2, True), said.err
    assert f"nothing of '{theirs}' was started" in said.err  # whichever of the two folders it is
    assert "STEEL" not in said.err  # the user's own word
    assert not (tmp_path / "planted").exists()
    assert not (tmp_path / "again").exists()


def test_a_resumed_folder_adds_nothing_to_the_command(
    steelyard: Steelyard, planted: Path, tmp_path: Path
) -> None:
    """Its campaign.json may hold test cases that --refine added; they differ from others in size alone."""
    theirs = _measured(steelyard, "theirs-of-tonight")

    def refined(document: dict[str, Any], program: Path) -> str:
        (point,) = document["points"]
        document["points"].append({**point, "point": 1, "refines": 0, "env": {"run by": str(program)}})
        return ""

    _changed(theirs, refined, planted)
    said = steelyard("run", "self.spin", *TWO_SAMPLES, "--launches", 2, "--out", theirs)
    assert said.code == 2
    assert "is none that --refine has added" in said.err
    assert not (tmp_path / "planted").exists()


def test_what_the_user_started_before_is_not_asked_for_even_in_a_copy(
    steelyard: Steelyard, planted: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    mine = _measured(steelyard, "mine", "--wrapper", str(planted), "--env", "LIBRARY=x")
    shutil.copytree(mine, tmp_path / "copy")
    said = steelyard("rerun", tmp_path / "copy", "--out", tmp_path / "again")
    assert said.code == 0, said.err
    assert not unknown([f"wrapper: {planted}", "variable: LIBRARY=x"])
    monkeypatch.setattr("steelyard.campaign.started_programs.kept_folder", _refuse)
    assert unknown([f"wrapper: {planted}"])


@pytest.mark.parametrize(
    "line", ["wrapper: ./wrap.sh 3", "variable: LD_PRELOAD=lib/x.so", "wrapper: sh wrap.sh"]
)
def test_a_file_of_the_same_name_in_another_folder_is_not_known(
    own_cache: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, line: str
) -> None:
    for name in ("mine", "theirs", "empty"):
        (tmp_path / name).mkdir()
    for name in ("mine", "theirs"):
        script(tmp_path / name / "wrap.sh", 'exec "$@"')
        script(tmp_path / name / "lib" / "x.so", "")
    monkeypatch.chdir(tmp_path / "mine")
    remember_lines([line])
    assert not unknown([line])
    monkeypatch.chdir(tmp_path / "theirs")
    assert unknown([line]) == (line,)


def _refuse(*names: str) -> Path:
    raise InputError("another user may write there, and might have said that it is known")


@pytest.mark.parametrize("words", [("rerun", "theirs", "--out", "x"), ("run", "--out", "theirs")])
def test_a_pipe_in_the_place_of_a_campaign_is_named(steelyard: Steelyard, words: tuple[str, ...]) -> None:
    """It is not waited for."""
    Path("theirs").mkdir()
    os.mkfifo("theirs/campaign.json")
    said = steelyard(*words)
    told = "steelyard: theirs/campaign.json is not a regular file; move it away, or give another one\n"
    assert (said.code, said.err) == (2, told)


def test_an_engine_is_asked_where_no_settings_of_a_stranger_are(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    engine = script(tmp_path / "engine", f"pwd > {tmp_path}/where; exit 1")
    with pytest.raises(MeasurementError):
        describe(Engine(str(engine), "solo", None))
    assert (tmp_path / "where").read_text() == "/\n"


def test_an_engine_appends_to_no_link(tmp_path: Path) -> None:
    """Others may have put one there since the file was made, where they may write, too."""
    (tmp_path / "precious").write_text("precious")
    (tmp_path / "out.jsonl").symlink_to(tmp_path / "precious")
    argv = [solo_engine().path, "run", "--out", str(tmp_path / "out.jsonl"), "op=self.empty"]
    done = run(argv, timeout=600)
    assert (done.code != 0, "out.jsonl for records: " in done.err) == (True, True), done.err
    assert (tmp_path / "precious").read_text() == "precious"


class _Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


@pytest.mark.parametrize(("answer", "starts"), [("y\n", True), ("yes\n", True), ("\n", False), ("", False)])
def test_a_terminal_is_asked(
    own_cache: Path, monkeypatch: pytest.MonkeyPatch, answer: str, starts: bool
) -> None:
    shown, line = _Terminal(), "wrapper: env TOKEN=a b"  # whole: a command may hide in it
    monkeypatch.setattr("sys.stdin", _Terminal(answer))
    monkeypatch.setattr("sys.stderr", shown)
    if starts:
        ask_to_start(Path("theirs"), [line], yes=False)
    else:
        with pytest.raises(InputError, match="nothing was started"):
            ask_to_start(Path("theirs"), [line], yes=False)
    assert shown.getvalue().endswith(f"before:\n  {line}\nStart it? [y/N] ")
    with pytest.raises(InputError, match=line):
        check_known(Path("theirs"), [line])
