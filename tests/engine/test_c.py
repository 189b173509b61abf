"""The engine under the sanitizers: its tests in C and real runs of it; threads under that of threads."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

from cbuild import built
from further import further
from steelyard.engines.build import engine_folder
from steelyard.system.process import Done, run

_SECONDS = 600.0  # far more than it takes, which is some seconds


def _build(preset: str, sanitizers: str, compiler: str, trial: Path) -> Path:
    """The build of a preset, if programs with those sanitizers can be built and run here."""
    (trial / "trial.c").write_text("int main(void) { return 0; }\n")
    flags = [f"-fsanitize={sanitizers}", "-o", str(trial / "trial")]
    for argv in ([compiler, str(trial / "trial.c"), *flags], [str(trial / "trial")]):
        done = run(argv, timeout=600)
        if done.code != 0:
            pytest.skip(f"no sanitizers {sanitizers} here: {done.err.strip().splitlines()[-1]}")
    return built(preset)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory, compiler: str) -> Path:
    """The build of the preset `asan`."""
    return _build("asan", "address,undefined", compiler, tmp_path_factory.mktemp("trial"))


@pytest.fixture(scope="module")
def threads_folder(tmp_path_factory: pytest.TempPathFactory, compiler: str) -> Path:
    """The build of the preset `tsan`."""
    return _build("tsan", "thread", compiler, tmp_path_factory.mktemp("trial"))


def test_the_tests_in_c_are_clean(folder: Path) -> None:
    done = run(["ctest", "--preset", "asan"], cwd=engine_folder().parent, timeout=_SECONDS)
    assert done.code == 0, done.out + done.err
    sources = list((engine_folder().parent / "tests" / "engine").glob("*.c"))
    assert f"100% tests passed, 0 tests failed out of {len(sources)}" in done.out


_ONCE = "rule=fixed count=1 warm_up=brief"  # a kernel computes for seconds, the same each time
_KERNELS = ("ep", "cg", "mg", "ft", "bt", "sp", "lu")


def _solo(folder: Path, *words: str) -> Done:
    environment = os.environ | {"OMP_WAIT_POLICY": "passive"}  # two ranks of two threads share two cores
    return run([folder / "steelyard-solo", *words], env=environment, timeout=_SECONDS)


@pytest.mark.parametrize(
    "words",
    [
        "op=self.empty",
        "op=self.clock method=barrier",
        "op=self.spin ns=1000 rule=median tolerance=0.5 most_seconds=0.2",
        "op=self.fail kind=3",
        "op=self.fail kind=5",
        "op=pthread.mutex threads=1",
        "op=pthread.mutex threads=3",
        "op=pthread.create",
        "op=omp.parallel threads=2",
        "op=omp.barrier threads=3 method=barrier",
        "op=mem.copy bytes=0",
        "op=mem.copy bytes=100",
        "--ranks 2 op=sock.tcp bytes=1000",
        "--ranks 2 op=sock.udp bytes=0",
        "--ranks 2 op=shm.flag bytes=1000",
        "--ranks 2 op=shm.cma.stream bytes=1000",
        f"--ranks 2 op=npb.is threads=2 class=S {_ONCE}",
        *(further(f"--ranks 2 op=npb.{name} threads=2 class=S {_ONCE}") for name in _KERNELS),
    ],
)
def test_a_point_is_clean(folder: Path, words: str) -> None:
    rule = () if "rule=" in words else ("rule=fixed", "count=3")
    done = _solo(folder, "run", "--seed", "1", *words.split(), *rule)
    assert (done.code, done.err) == (0, "")
    records = [json.loads(line) for line in done.out.splitlines()]
    assert records[0]["record"] == "launch"
    assert records.pop()["record"] == "state"  # of the machine, after each point
    status = {"kind=3": "failed", "kind=5": "skipped"}.get(words.split()[-1], "ok")
    assert (records[-1]["record"], records[-1]["status"]) == ("end", status)


@pytest.mark.further  # it takes an engine of its own; races are looked for before a release
@pytest.mark.parametrize(
    "words",
    [
        "op=self.empty",
        "op=pthread.create.chain",
        *(f"op=pthread.{name} threads=2" for name in ("mutex", "rwlock", "spin", "barrier")),
        *(f"op=pthread.{name}.pingpong threads=2" for name in ("mutex", "cond", "sem", "futex")),
        "op=pthread.cond.broadcast threads=3",
        "op=atomic.pingpong threads=2",
        "op=mem.stream.triad threads=2 bytes=64Ki",
    ],
)
def test_threads_race_nowhere(threads_folder: Path, words: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Ours and the system's; a library of OpenMP would have to be built with the sanitizer.

    That locks are taken in one order is not asked: a ping-pong of mutexes goes round in a ring.
    """
    monkeypatch.setenv("TSAN_OPTIONS", "detect_deadlocks=0")
    done = _solo(threads_folder, "run", "--seed", "1", *words.split(), "rule=fixed", "count=3")
    assert (done.code, done.err) == (0, "")
    assert '"status":"ok"' in done.out


def test_many_points_from_a_file_are_clean(folder: Path, tmp_path: Path) -> None:
    lines = [f"point={i} op=self.empty rule=fixed count={i + 1}" for i in range(20)]
    (tmp_path / "points").write_text("\n".join([*lines, "", "  \t", ""]))
    out = tmp_path / "out.jsonl"
    done = _solo(folder, "run", "--points", str(tmp_path / "points"), "--out", str(out))
    assert (done.code, done.out, done.err) == (0, "", "")
    ends = [json.loads(line) for line in out.read_text().splitlines() if '"record":"end"' in line]
    assert [(end["point"], end["count"]) for end in ends] == [(i, i + 1) for i in range(20)]


@pytest.mark.parametrize("command", ["list", "describe", "help"])
def test_what_it_says_of_itself_is_clean(folder: Path, command: str) -> None:
    done = _solo(folder, command)
    assert (done.code, done.err) == (0, "")
    assert "self.empty" in done.out or command == "help"


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        ("run", "there is no test case to measure"),
        ("run op=nonsense", "there is no op 'nonsense'"),
        ("run bytes=8", "a test case needs op=NAME"),
        ("run op=self.empty bytes=8", "self.empty has no size"),
        ("run op=self.empty threads=2", "self.empty runs in one thread, not in 2"),
        ("run op=self.empty threads=0", "threads must be a whole number from 1 to 4096, not '0'"),
        ("run op=self.empty method=bath", "there is no method 'bath'"),
        ("run op=self.empty rule=medium", "there is no stop rule 'medium'"),
        ("run op=self.empty colour=1", "has a parameter 'colour'"),
        ("run op=self.empty rule=fixed count=0", "count must be a number from 1 to"),
        ("run op=self.empty empty", "'empty' is not of the form key=value"),
        ("run op=self.empty --points /no/such", "cannot read the points in /no/such: No such file"),
        ("run op=self.empty --clock sundial", "there is no clock 'sundial'"),
        ("run op=self.empty --cpus none", "'none' is not a list of CPUs"),
        ("run op=self.empty --cpus 0,", "'0,' is not a list of CPUs; write 0 or 0-3,8"),
        ("run op=self.empty --cpus 1023", "CPU 1023 of '1023' is not on this machine, or the control group"),
        ("run op=self.empty --yield maybe", "--yield takes real or none"),
        ("run --nope 1", "there is no option --nope"),
        ("run --seed", "--seed needs a value"),
    ],
)
def test_bad_input_is_one_sentence(folder: Path, words: str, sentence: str) -> None:
    done = _solo(folder, *words.split())
    assert (done.code, done.out) == (2, "")
    assert done.err.startswith("steelyard: rank 0: ")
    assert sentence in done.err
    assert done.err.count("\n") == 1


def test_records_that_cannot_be_written_are_no_crash(folder: Path, tmp_path: Path) -> None:
    done = _solo(folder, "run", "op=self.empty", "--out", str(tmp_path / "no" / "where"))
    assert (done.code, done.out) == (3, "")
    assert "cannot open" in done.err
    assert done.err.count("\n") == 1


def test_a_crash_has_last_words(folder: Path) -> None:
    """For the signal, the rank and the point; the process then dies of the signal."""
    done = _solo(folder, "run", "op=self.fail", "kind=2", "rule=fixed", "point=7")
    assert done.err.startswith("steelyard: rank 0: died of signal 11 in point 7 (self.fail)\n")
    assert done.code == -11


def test_an_exit_in_the_middle_has_last_words(folder: Path) -> None:
    """For the code, who called it, the rank and the point."""
    done = _solo(folder, "run", "op=self.fail", "kind=4", "rule=fixed", "point=7")
    words = "exit was called with code 1 by steelyard-solo in point 7 (self.fail)"
    assert (done.code, done.err) == (1, f"steelyard: rank 0: {words}\n")
