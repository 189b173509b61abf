"""Bad input: one sentence with what, where and what to do; exit code 2; nothing written."""

from __future__ import annotations

import json
import os
import sys
import xml.etree.ElementTree as ET
from collections.abc import Sequence
from pathlib import Path

import pytest

import steelyard.campaign.jobs as module
from campaigns import bytes_of
from commands import FIXED, Steelyard, steelyard_of
from scripts import script
from steelyard.cli.main import main
from steelyard.engines.build import ready_mpi_engine, solo_engine
from steelyard.engines.mpi import find_mpis
from steelyard.system.machine import read_machine


@pytest.fixture
def steelyard(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> Steelyard:
    return steelyard_of(capsys, monkeypatch)


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """What one may stumble over: a file, other files, results of another plan or version, broken plans."""
    folder = tmp_path_factory.mktemp("place")
    (folder / "a-file").write_text("precious")
    script(folder / "foreign" / "notes.txt", "precious")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(sys, "argv", ["steelyard", "run", "self.empty", *FIXED, "--out", str(folder / "mine")])
        with pytest.raises(SystemExit):
            main()
    for name in ("old", "old-records"):
        for path in (folder / "mine" / "campaign.json", *(folder / "mine" / "records").iterdir()):
            copy = folder / name / path.relative_to(folder / "mine")
            copy.parent.mkdir(parents=True, exist_ok=True)
            copy.write_bytes(path.read_bytes())
    campaign = folder / "old" / "campaign.json"
    campaign.write_text(json.dumps(json.loads(campaign.read_text()) | {"schema": 2}))
    (records,) = (folder / "old-records" / "records").iterdir()
    records.write_bytes(records.read_bytes().replace(b'"schema":1', b'"schema":2'))
    (folder / "top.toml").write_text("launchs = 2\n[[measure]]\nops = ['self.empty']\n")
    (folder / "inner.toml").write_text("[[measure]]\nopps = ['self.empty']\n")
    (folder / "broken.toml").write_text("launches =\n")
    (folder / "empty-axis.toml").write_text("[[measure]]\nops = ['self.empty']\nranks = []\n")
    (folder / "empty-param.toml").write_text("[[measure]]\nops = ['self.empty']\nparams = {count = []}\n")
    (folder / "outside.toml").write_text("name = '../../x'\n[[measure]]\nops = ['self.empty']\n")
    (folder / "deep.toml").write_text(f"x = {'[' * 10**5}{']' * 10**5}\n")
    os.mkfifo(folder / "pipe.toml")
    return folder


_CPU = read_machine().cpus[0]
_TOO_MANY = str(len(read_machine().cores) + 1)
# Command, and what its one sentence on stderr says: what, where, what to do.
_BAD: tuple[tuple[str, tuple[str, ...]], ...] = (
    ("run self.emty", ("no op 'self.emty'", "did you mean 'self.empty'?", "'steelyard list'")),
    (
        "compare mine",
        ("by mpi there is nothing here", "give a second folder, or measure two values with --arms"),
    ),
    ("compare mine mine", ("'mine' would be compared with itself", "give another folder")),
    ("compare mine nowhere", ("there is no results folder 'nowhere'", "steelyard run")),
    ("compare mine foreign", ("foreign has no results", "give a folder that steelyard run wrote")),
    ("compare mine old", ("has format 2, not 1", "use the steelyard that wrote it")),
    ("compare mine old-records", ("has records format 2", "use the version of steelyard that wrote it")),
    ("compare mine old --by mpi", ("--by compares within one folder", "leave --by out")),
    ("compare mine --by sundial", ("'sundial' is no factor", "mpi, shmem, engine, placement, modules")),
    ("compare mine --by param=count", ("by param.count there is only count=", "give a second folder")),
    ("compare mine --despite weather", ("--despite weather is no condition", "give placement, clock")),
    ("compare mine --least 0", ("--least is a percentage above 0", "not 0")),
    ("weigh", ("no such command 'weigh'", "see 'steelyard -h'")),
    ("show", ("missing argument 'DIR'", "see 'steelyard show -h'")),
    ("run self.empty --nope", ("no such option: --nope", "see 'steelyard run -h'")),
    ("run self.empty --seed", ("option '--seed' requires an argument", "see 'steelyard run -h'")),
    ("run self.empty --json=1", ("option '--json' does not take a value", "see 'steelyard run -h'")),
    ("check", ("check needs --history DIR", "--tonight DIR and --baseline")),
    ("check --history nowhere", ("there is no folder 'nowhere'", "give results folders")),
    ("check --history foreign", ("'foreign' holds no results", "give results folders")),
    ("export mine --to word", ("--to takes no 'word'", "give json, csv")),
    ("export mine --to osu", ("OSU prints no test of what 'mine' holds (self.empty)", "give --to csv")),
    ("export mine --to csv --out a-file/x", ("'a-file/x' cannot be written", "give --out another place")),
    ("export nowhere --to csv", ("there is no results folder 'nowhere'", "steelyard run")),
    ("export foreign --to csv", ("foreign has no results", "give a folder that steelyard run wrote")),
    ("export old --to osu", ("has format 2, not 1", "use the steelyard that wrote it")),
    ("plot mine --to gif", ("--to takes no 'gif'", "give svg, png, pdf")),
    ("plot mine --out picture.gif", ("--to takes no 'gif'", "give svg, png, pdf")),
    ("plot mine --op mpi.bcast", ("--op mpi.bcast is of no op that was measured", "give one of self.empty")),
    ("plot mine --out .", ("'.' cannot be written: Is a directory", "give --out another place")),
    ("plot mine --out /", ("'/' cannot be written: Is a directory", "give --out another place")),
    ("plot mine --out a-file/x.svg", ("'a-file/x.svg' cannot be written", "give --out another place")),
    ("plot nowhere", ("there is no results folder 'nowhere'", "steelyard run")),
    ("run self.empty --to word", ("--to takes no 'word'", "give json, csv")),
    ("run self.empty --to csv --json", ("--json is --to json", "leave it or --to csv out")),
    ("run --like PingPong --to osu", ("--to osu has no PingPong", "give --to imb or csv")),
    ("run omp.barrier --threads many", ("'many' is not a number of threads", "write")),
    (f"run omp.barrier --threads {_TOO_MANY}", ("threads are more than the", "add --oversubscribe")),
    ("run self.empty --bytes 8", ("self.empty has no size", "leave --bytes out")),
    ("run self.empty --out a-file", ("'a-file' is a file", "give --out a name that is free")),
    ("run self.empty --out a-file/x", ("'a-file/x' cannot be written", "give --out another place")),
    ("run self.empty --out foreign", ("'foreign' holds other files", "give --out a name that is free")),
    (
        "run self.empty --out old",
        ("old/campaign.json has format 2, not 1", "use the steelyard that wrote it"),
    ),
    (
        "run self.clock --out mine",
        (
            '\'mine\' holds another campaign: ops is ["self.clock"], there ["self.empty"]',
            "give --out another name",
        ),
    ),
    ("run self.empty --out mine --yield none", ('yield is "none", there "real"', "never overwritten")),
    ("run top.toml", ("top.toml, line 1: it has no key 'launchs'", "did you mean 'launches'?")),
    ("run inner.toml", ("inner.toml, line 2: a [[measure]] has no key 'opps'", "did you mean 'ops'?")),
    ("run broken.toml", ("broken.toml is not TOML", "line 1")),
    ("run none.toml", ("no plan none.toml", "'steelyard list' names")),
    ("run quick --bytes 8 --param a=1", ("--bytes and --param cannot be given with a plan", "quick.toml")),
    ("run quick self.empty", ("self.empty cannot be given with a plan",)),
    ("run", ("run what? Give ops, patterns, a plan or --like",)),
    ("run latency", ("there is no op 'latency'", "did you mean 'mpi.pingpong' or 'mem.latency'?")),
    ("run quik", ("there is no op and no plan 'quik'", "did you mean the plan 'quick'?")),
    ("run osu_latency", ("a test of another suite and no op", "type: steelyard run --like osu_latency")),
    (
        "run --like one_put_all",
        ("'one_put_all' is a test of one-sided operations of another kind", "there is no such op; see"),
    ),
    ("run self.empty --param window", ("--param window is not of the form name=value",)),
    ("run self.spin --param ms=1", ("parameter 'ms'", "did you mean 'ns'?")),
    (
        "run self.empty --rule fixed --param count=2.5",
        ("count of self.empty must be a whole number, not 2.5",),
    ),
    ("run self.empty --launches 1000000000", ("--launches is 10000 at most, not 1000000000",)),
    ("run empty-axis.toml", ("empty-axis.toml", "ranks is empty; leave it out")),
    ("run empty-param.toml", ("empty-param.toml", "count is empty; leave it out")),
    ("run outside.toml", ("outside.toml", "name has letters, digits")),
    ("run deep.toml", ("deep.toml is nested too deeply",)),
    ("run pipe.toml", ("pipe.toml is not a regular file",)),
    ("run self.spin --param ns=1", ("ns of self.spin must be from 200 to", "not 1")),
    ("run self.empty --method bath", ("no method 'bath'", "did you mean 'batch'?")),
    ("run self.empty --rule medium", ("no stop rule 'medium'", "did you mean 'median'?")),
    ("run self.empty --clock sundial", ("no clock 'sundial'", "give one of", "monotonic", "mpi-wtime")),
    ("run self.empty --clock monotonick", ("did you mean 'monotonic'?",)),
    ("run self.empty --sync sundial", ("no synchronisation 'sundial'", "give one of tree, skampi")),
    ("run self.empty --keep some", ("--keep is 'ranks'", "not 'some'")),
    ("run self.empty --paths crooked", ("--paths is 'symmetric' or 'asymmetric'", "not 'crooked'")),
    ("run self.empty --out mine --sync hca3", ("'mine' holds another campaign", "never overwritten")),
    ("run self.empty --yield maybe", ("--yield is 'real' or 'none'",)),
    ("run self.empty --hang-after soon", ("--hang-after: 'soon' is not a duration", "write 90s")),
    ("run self.empty --hang-after 0s", ("--hang-after: '0s' is no time", "give one above 0")),
    ("run self.empty --launcher nosuch --batch slurm", ("there is no launcher 'nosuch'", "srun")),
    (
        "run pthread.mutex --threads 2 --placement here",
        ("the placement 'here' is neither a list of CPUs", "nor one of default, unbound, same, each, all"),
    ),
    (
        "run self.empty --placement 0-99999999999",
        ("the placement '0-99999999999' is neither a list of CPUs", "nor one of default, unbound"),
    ),
    ("run self.empty --placement ٠", ("the placement '٠' is neither a list of CPUs",)),
    (
        f"run pthread.mutex --threads 2 --placement {_CPU},4095",
        ("there is no CPU 4095 here", f"which the placement {_CPU},4095 names", "this machine has"),
    ),
    (
        "run omp.barrier --omp places={4095}",
        ("there is no CPU 4095 here", "which the OpenMP setting places={4095} names", "this machine has"),
    ),
    ("run omp.barrier --omp places={-3}", ("the OpenMP setting places is threads, cores", "not '{-3}'")),
    ("run omp.barrier --omp stacksize=9999999G", ("the OpenMP setting stacksize is", "not '9999999G'")),
    (
        f"run pthread.mutex --threads 2 --placement {_CPU},{_CPU},{_CPU}",
        ("has 3 CPUs, and pthread.mutex on 1 rank of 2 threads has 2 places", "give a CPU for each"),
    ),
    (
        "run self.empty --placement each",
        ("'each' places pairs, and self.empty on 1 rank has 1 place", "give two ranks or two threads"),
    ),
    ("run self.empty self.clock --placement each", ("none of self.empty, self.clock has as many places",)),
    ("run quick --placement each", ("--placement cannot be given with a plan", "quick.toml")),
    ("run self.empty --retry failed", ("measures again what failed in a folder", "give --out DIR")),
    ("run self.empty --retry failed --out new", ("measures again what failed", "give --out DIR")),
    ("run self.empty --time-budget soon", ("--time-budget: 'soon' is not a duration", "write 90s")),
    ("run self.empty --mpi no/such", ("'no/such' does not exist", "give the prefix of an MPI")),
    ("run self.empty --mpi ~nobody-here/mpi", ("~nobody-here/mpi' does not exist",)),
    ("run shmem.put --shmem ~nobody-here/mpi", ("~nobody-here/mpi' holds no oshrun",)),
    ("run ~nobody-here/libmine.so:mine", ("there is no library of ops '~nobody-here/libmine.so'",)),
    ("run self.empty --mpi zzz", ("no MPI is named 'zzz'", "Or give a path")),
    ("run self.empty --mpi ./a-file", ("a-file' is no mpiexec",)),
    ("show nowhere", ("no results folder 'nowhere'", "give one that 'steelyard run' wrote")),
    ("show foreign", ("foreign has no results", "give a folder that steelyard run wrote")),
    ("show old-records", ("has records format 2", "use the version of steelyard that wrote it")),
    ("report nowhere", ("no results folder 'nowhere'", "give one")),
    ("report mine -o foreign", ("foreign is a folder", "give the name of a file")),
    ("report mine -o no/where.html", ("'no/where.html' cannot be written", "give -o another place")),
    ("mpi build zzz", ("no MPI is named 'zzz'", "Or give a path")),
)
_BAD_WITH_MPI: tuple[tuple[str, tuple[str, ...]], ...] = (
    ("run mpi.pingpon -n 2", ("no op 'mpi.pingpon'", "did you mean 'mpi.pingpong'?", "'steelyard list'")),
    ("run zzz*", ("no op 'zzz*'; 'steelyard list' names all",)),
    (
        "run mpi.pingpong --param send=isend,recv=irecv",
        ("names several parameters; write --param send=isend --param recv=irecv",),
    ),
    ("run mpi.pingpong -n 2 --bytes 8q", ("'8q' is not a size", "write bytes as 8, 1Ki")),
    ("run mpi.pingpong -n 2 --bytes 8..4", ("'8..4' runs downwards", "write the smaller size first")),
    (
        "run mpi.pingpong -n 2 --bytes 8,99Ti",
        ("mpi.pingpong of 99 TiB needs more than this machine's memory of", "give smaller sizes"),
    ),
    ("run mpi.pingpong -n 1", ("mpi.pingpong needs 2 ranks, not 1", "give -n 2")),
    ("run mpi.barrier -n none", ("'none' is not a number of ranks", "write whole numbers")),
    (
        f"run mpi.barrier -n {_TOO_MANY}",
        (f"{_TOO_MANY} ranks are more than the", "ask for fewer, or add --oversub"),
    ),
    (
        "run mpi.barrier -n 3 --placement all --oversubscribe",
        ("'all' places pairs, and mpi.barrier on 3 ranks has 3 places", "a list of CPUs for 3"),
    ),
    ("run mpi.barrier --threads 2", ("mpi.barrier runs in one thread", "leave --threads out")),
)


def _refused(steelyard: Steelyard, place: Path, command: Sequence[str], words: tuple[str, ...]) -> None:
    before = bytes_of(place)
    said = steelyard(*command)
    assert said.code == 2
    assert said.out == ""
    assert said.err.startswith("steelyard: ")
    assert said.err.count("\n") == 1
    assert [word for word in words if word not in said.err] == []
    assert bytes_of(place) == before


@pytest.mark.parametrize(("command", "words"), _BAD, ids=[command for command, _ in _BAD])
def test_bad_input(
    steelyard: Steelyard, place: Path, monkeypatch: pytest.MonkeyPatch, command: str, words: tuple[str, ...]
) -> None:
    monkeypatch.chdir(place)
    _refused(steelyard, place, command.split(), words)


@pytest.mark.parametrize(("command", "words"), _BAD_WITH_MPI, ids=[command for command, _ in _BAD_WITH_MPI])
def test_bad_input_for_an_mpi(
    steelyard: Steelyard, place: Path, monkeypatch: pytest.MonkeyPatch, command: str, words: tuple[str, ...]
) -> None:
    if not find_mpis():
        pytest.skip("no MPI was found")
    monkeypatch.chdir(place)
    _refused(steelyard, place, command.split(), words)


def test_results_with_records_of_another_version_are_left_alone(
    steelyard: Steelyard, place: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(place)
    before = bytes_of(place)
    said = steelyard("run", "self.empty", *FIXED, "--out", "old-records")
    assert said.code == 2
    assert "has records format 2" in said.err
    after = bytes_of(place)
    assert {name: after[name] for name in before} == before
    (place / "old-records" / ".lock").unlink(missing_ok=True)


def test_a_missing_compiler(
    steelyard: Steelyard, own_cache: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    mpi = next((found for found in find_mpis() if found.mpicc is not None and not found.abi), None)
    if mpi is None or mpi.mpicc is None:
        pytest.skip("there is no MPI for which an engine is built on demand")
    solo = solo_engine()
    monkeypatch.setattr(module, "solo_engine", lambda tell: solo)
    monkeypatch.setenv("PATH", str(tmp_path / "bin"))
    monkeypatch.delenv("CC", raising=False)
    _refused(
        steelyard,
        tmp_path,
        [
            "run",
            "mpi.barrier",
            "-n",
            "2",
            "--oversubscribe",
            "--mpi",
            mpi.mpicc,
            "--out",
            str(tmp_path / "out"),
        ],
        ("compiler", "install gcc"),
    )


def test_what_no_mpi_here_can_do_is_refused_before_the_first_launch(
    steelyard: Steelyard, tmp_path: Path
) -> None:
    """Ten launches that skip every point would be no answer."""
    mpi = next((mpi for mpi in find_mpis() if mpi.name == "openmpi-4.1.4"), None)
    if mpi is None:
        pytest.skip("there is no Open MPI 4.1.4, which lacks sessions")
    command = ["run", "mpi.session", "--mpi", "openmpi-4.1.4", "--out", str(tmp_path / "out")]
    words = (
        "mpi.session cannot be measured with openmpi-4.1.4: needs MPI 4.0",
        "'steelyard mpi list' names other MPIs",
    )
    _refused(steelyard, tmp_path, command, words)


def test_what_is_refused_or_only_planned_waits_for_no_compiler(
    steelyard: Steelyard, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """An engine for another MPI says what may be asked for."""
    mpis = find_mpis()
    ready = ready_mpi_engine
    if not any(ready(mpi) for mpi in mpis[1:]):
        pytest.skip("there is no engine for a second MPI")

    def built(*_: object) -> None:
        raise AssertionError("an engine would be built")

    monkeypatch.setattr(module, "ready_mpi_engine", lambda mpi: None if mpi == mpis[0] else ready(mpi))
    monkeypatch.setattr(module, "mpi_engine", built)
    monkeypatch.chdir(tmp_path)
    for command, words in (
        ("run mpi.bcast -n 2 --param rot=1", ("has a parameter 'rot'",)),
        ("run mpi.pingpong -n 1", ("mpi.pingpong needs 2 ranks, not 1",)),
        ("run mpi.bcast -n 2 --param root=0.5", ("root of mpi.bcast must be a whole number",)),
    ):
        _refused(steelyard, tmp_path, command.split(), words)
    for command in ("plan show mpi.bcast -n 2", "run mpi.bcast -n 2 --dry-run"):
        assert steelyard(*command.split()).code == 0
    assert not any(tmp_path.iterdir())


def test_list_of_what_there_is_not(steelyard: Steelyard) -> None:
    said = steelyard("list", "self.emty")
    assert (said.code, said.out) == (2, "")
    assert "nothing here is called 'self.emty'; did you mean 'self.empty'? 'steelyard list'" in said.err


@pytest.mark.parametrize("command", ["compare {}", "accept {}", "check --history {}", "check guidelines {}"])
def test_what_gives_no_verdict_says_so_in_the_files_of_verdicts(
    steelyard: Steelyard, tmp_path: Path, command: str
) -> None:
    """A CI system reads them, and verdicts of yesterday may stand there."""
    junit, page = tmp_path / "verdicts.xml", tmp_path / "verdicts.md"
    junit.write_text("<testsuite/>")
    page.write_text("all is well")
    has_page = command.split()[:2] in (["compare", "{}"], ["check", "--history"])
    words = [*command.format(tmp_path / "nowhere").split(), "--junit", junit]
    said = steelyard(*words, *(["--markdown", page] if has_page else []))
    assert said.code == 2
    begins = said.err.strip().removeprefix("steelyard: ").split()[:4]
    (case,) = ET.fromstring(junit.read_bytes()).iter("testcase")
    assert (case[0].tag, case[0].attrib["message"].split()[:4]) == ("error", begins)
    if has_page:
        title, _, sentence = page.read_text().splitlines()[:3]
        assert (title, sentence.split()[:4]) == (f"## steelyard {command.split()[0]}: no verdict", begins)
