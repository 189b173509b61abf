"""Every method against simulated ground truth, end to end: the quick form, platforms, failures, bad input."""

from __future__ import annotations

import contextlib
import functools
import math
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Sequence
from pathlib import Path

import msgspec
import pytest

from commands import Said, Steelyard, steelyard_of
from further import further
from steelyard.engines import build as engine
from steelyard.engines.build import describe, solo_engine
from steelyard.engines.description import by_name

_KEYS = {  # tools rest on these
    "op", "method", "bytes", "ranks", "selector", "barrier", "platform", "truth_ns", "estimate_ns",
    "error_pct", "stated_error_ns", "inside_stated_error",
}  # fmt: skip


@pytest.fixture
def steelyard(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> Steelyard:
    return steelyard_of(capsys, monkeypatch)


@pytest.fixture(scope="module")
def simgrid() -> None:
    for program in ("smpicc", "smpirun", "g++"):
        if shutil.which(program) is None:
            pytest.skip(f"nothing can be simulated: there is no {program}")


_CLAIMED = ("epoch", "batch", "barrier")  # methods that the claims of the quick form are about


def _validate(steelyard: Steelyard, *words: str | Path) -> Said:
    return steelyard("validate", "--json", *words)


@pytest.mark.usefixtures("simgrid")
@pytest.mark.parametrize(
    ("selector", "ops", "methods"),
    [
        further("mpich", "mpi.bcast", (*_CLAIMED, "bisected-ack", "trigger", "trigger-ack")),
        ("ompi", "mpi.reduce", _CLAIMED),
        further("ompi", "mpi.allreduce", _CLAIMED),
    ],
)
def test_every_claim_holds_in_the_quick_form(
    steelyard: Steelyard, tmp_path: Path, selector: str, ops: str, methods: Sequence[str]
) -> None:
    out = tmp_path / "a folder, with blanks"
    words = [word for op in ops.split() for word in ("--op", op)]
    words += [word for method in methods for word in ("--method", method)]
    said = _validate(steelyard, *words, "--selector", selector, "--bytes", "8", "--out", out)
    assert said.code == 0, said.out + said.err
    rows = said.document["rows"]
    assert said.document["not_run"] == []
    assert all(row.keys() >= _KEYS for row in rows)
    assert {row["ranks"] for row in rows} == {10, 16, 60}
    assert {row["ranks_per_host"] for row in rows if row["ranks"] == 60} == {4}
    assert {row["noise"] for row in rows} == {False, True}
    claims = {claim["name"]: claim["holds"] for claim in said.document["claims"]}
    for name in (
        "truth-repeats",
        "epoch-exact",
        "epoch-honest",
        "epoch-noise",
        "batch-overlaps",
        "barrier-skews",
    ):
        assert claims[name] is True, name  # the biased ones must show their bias: the test of the test
    assert (out / "validate.json").read_bytes() == msgspec.json.encode(msgspec.json.decode(said.out))


@pytest.mark.usefixtures("simgrid")
@pytest.mark.parametrize(
    ("ops", "ranks"),
    [("bcast scatter", (2, 12, 23)), further("reduce gather", (7, 10)), further("allreduce scan", (5, 18))],
)
def test_without_a_clock_the_path_is_found_at_any_number_of_ranks(
    steelyard: Steelyard, tmp_path: Path, ops: str, ranks: Sequence[int]
) -> None:
    words = [word for op in ops.split() for word in ("--op", f"mpi.{op}")]
    words += [word for name in ("bisected-ack", "trigger", "trigger-ack") for word in ("--method", name)]
    words += ["--ranks", ",".join(map(str, ranks)), "--bytes", "8", "--selector", "ompi"]
    said = _validate(steelyard, "--platform", "topology=flat", *words, "--out", tmp_path)
    assert said.code == 0, said.out + said.err
    rows = said.document["rows"]
    assert {row["ranks"] for row in rows} == set(ranks)
    assert [row for row in rows if abs(row["error_pct"]) > 0.5] == []
    paths = [
        (point["ranks"], point["method"], point["path"]["loops"])
        for file in tmp_path.glob("simulation-*.jsonl")
        for point in map(msgspec.json.decode, file.read_bytes().splitlines())
        if point["record"] == "point" and "path" in point
    ]
    assert len(paths) == len(rows)
    for count, method, loops in paths:
        assert loops <= (4 if method == "trigger-ack" else 2) * math.ceil(math.log2(count)), method


@pytest.mark.usefixtures("simgrid")
def test_jitter_does_not_lengthen_a_path(steelyard: Steelyard) -> None:
    """Half of the shortest round trip, taken off a median, left 6 to 8 % in these simulations."""
    words = [word for op in ("bcast", "reduce") for word in ("--op", f"mpi.{op}")]
    words += [word for name in ("ack", "bisected-ack", "trigger") for word in ("--method", name)]
    words += ["--ranks", "2", "--bytes", "8", "--selector", "mpich"]
    said = _validate(steelyard, "--platform", "topology=flat latency_ns=1000 jitter=0.1 seed=3", *words)
    rows = said.document["rows"]
    assert [row["method"] for row in rows if abs(row["error_pct"]) > 3] == []
    assert len(rows) == 3


@pytest.mark.usefixtures("simgrid")
def test_without_noise_two_runs_agree_to_the_bit(steelyard: Steelyard, tmp_path: Path) -> None:
    platform = tmp_path / "mine.xml"
    platform.write_text(
        """<?xml version='1.0'?>
<!DOCTYPE platform SYSTEM "https://simgrid.org/simgrid.dtd">
<platform version="4.1">
  <cluster id="c" prefix="pc" suffix=".lan" radical="0-10" speed="1Gf" bw="1GBps" lat="5us"/>
</platform>
"""
    )
    words = ("--platform", platform, "--op", "mpi.gather", "--bytes", "8", "--selector", "impi")
    first, second = (_validate(steelyard, *words, "--ranks", "13", "--seed", "4") for _ in range(2))
    assert first.code == 0, first.out + first.err
    assert first.document["rows"] == second.document["rows"]
    assert {row["platform"] for row in first.document["rows"]} == {"mine.xml"}
    assert {row["ranks_per_host"] for row in first.document["rows"]} == {2}  # 13 ranks on 11 hosts
    assert min(row["truth_ns"] for row in first.document["rows"]) > 10000  # its latency is 5 us a link


_TWO_HOSTS = """<?xml version='1.0'?>
<!DOCTYPE platform SYSTEM "https://simgrid.org/simgrid.dtd">
<platform version="4.1">
  <zone id="z" routing="Full">
    <host id="{first}" speed="1Gf"/>
    <host id="{second}" speed="1Gf"/>
    <link id="there" bandwidth="10GBps" latency="{there}"/>
    <link id="back" bandwidth="{bandwidth}" latency="{back}"/>
    <route src="{first}" dst="{second}" symmetrical="NO"><link_ctn id="there"/></route>
    <route src="{second}" dst="{first}" symmetrical="NO"><link_ctn id="back"/></route>
  </zone>
</platform>
"""
_TWO = {"first": "h-0", "second": "h-1", "there": "1us", "back": "1us", "bandwidth": "10GBps"}
_NOTHING_TAKES_TIME = "latency_ns=0 overhead_ns=0 bandwidth=1e300"
_OF_TWO = ("--op", "mpi.bcast", "--selector", "mpich", "-n", "2", "--bytes", "8", "--method", "epoch")


def _two_hosts(folder: Path, **changes: str) -> Path:
    path = folder / "two.xml"
    path.write_text(_TWO_HOSTS.format(**{**_TWO, **changes}))
    return path


@pytest.mark.usefixtures("simgrid")
@pytest.mark.parametrize(
    ("changes", "named"),
    [
        ({}, None),
        ({"back": "9us"}, "asymmetric paths (h-0 to h-1 1.00 us, back 9.00 us)"),
        ({"bandwidth": "10MBps"}, "asymmetric paths (h-0 to h-1 1.00 us, back at another bandwidth)"),
    ],
)
def test_asymmetric_paths_of_a_file_are_seen(
    steelyard: Steelyard, tmp_path: Path, changes: dict[str, str], named: str | None
) -> None:
    said = _validate(steelyard, "--platform", _two_hosts(tmp_path, **changes), *_OF_TWO)
    assert said.code == 0, said.out + said.err
    (row,) = said.document["rows"]
    assert row["asymmetric"] is (named is not None)
    assert (named or "two.xml, mpich: 1 rows") in said.err
    assert row["inside_stated_error"]
    sharp = next(claim["holds"] for claim in said.document["claims"] if claim["name"] == "epoch-sharp")
    assert sharp is (None if named else True)


@pytest.mark.usefixtures("simgrid")
def test_the_certain_error_is_stated_where_words_make_paths_asymmetric(steelyard: Steelyard) -> None:
    said = _validate(steelyard, "--platform", "topology=flat asymmetry=0.5", *_OF_TWO)
    assert said.code == 0, said.out + said.err
    (row,) = said.document["rows"]
    assert row["asymmetric"]
    assert abs(row["error_pct"]) > 5  # an exchange of messages sees nothing of it
    assert row["inside_stated_error"]


@pytest.mark.usefixtures("simgrid")
@pytest.mark.parametrize("topology", ["fat-tree", "torus", "dragonfly"])
def test_platforms_of_words(steelyard: Steelyard, topology: str) -> None:
    words = ("--op", "mpi.bcast", "--bytes", "8", "--ranks", "7", "--selector", "ompi", "--method", "epoch")
    said = _validate(steelyard, "--platform", f"topology={topology} latency_ns=2000", *words)
    assert said.code == 0, said.out + said.err
    (row,) = said.document["rows"]
    assert row["truth_ns"] > 2000
    assert abs(row["error_pct"]) < 1


@pytest.mark.usefixtures("simgrid")
def test_what_takes_too_long_is_listed_and_not_dropped(steelyard: Steelyard) -> None:
    said = _validate(
        steelyard, "--op", "mpi.alltoall", "--bytes", "8", "--ranks", "16", "--selector", "mpich",
        "--platform", "topology=flat", "--time-limit", "1ms",
    )  # fmt: skip
    assert said.code == 0
    assert said.document["rows"] == []
    missing = said.document["not_run"]
    assert {one["kind"] for one in missing} == {"slow"}
    assert {one["method"] for one in missing} >= {"batch", "barrier", "epoch"}
    assert all("too slow" in one["why"] for one in missing)


@pytest.mark.usefixtures("simgrid")
@pytest.mark.parametrize(
    ("words", "why"),
    [
        (
            ("mpi.alltoall", "-n", "13", "--bytes", "64Ki"),
            "alltoall pair algorithm can't be used with non power",
        ),
        (("mpi.bcast", "-n", "2", "--bytes", "8", "--platform", _NOTHING_TAKES_TIME), "the truth is 0 ns"),
    ],
)
def test_a_simulation_that_fails_is_told(steelyard: Steelyard, words: Sequence[str], why: str) -> None:
    said = _validate(
        steelyard,
        *(() if "--platform" in words else ("--platform", "topology=flat")),
        "--method",
        "epoch",
        "--selector",
        "mpich",
        "--op",
        *words,
    )
    assert said.code == 3
    assert said.document["rows"] == []
    assert why in said.document["not_run"][0]["why"]


@pytest.mark.usefixtures("simgrid")
def test_a_slow_network_has_all_its_observations(steelyard: Steelyard, tmp_path: Path) -> None:
    said = _validate(steelyard, "--platform", _two_hosts(tmp_path, there="0.3s", back="0.3s"), *_OF_TWO)
    assert said.code == 0, said.out + said.err
    (row,) = said.document["rows"]
    assert row["count"] == 16  # simulated minutes
    assert row["stated_error_ns"] < 0.03 * row["truth_ns"]


@pytest.mark.usefixtures("simgrid")
def test_a_file_may_be_called_like_words(steelyard: Steelyard, tmp_path: Path) -> None:
    path = _two_hosts(tmp_path).rename(tmp_path / "a=b.xml")
    said = _validate(steelyard, "--platform", path, *_OF_TWO)
    assert said.code == 0, said.out + said.err
    assert said.document["rows"][0]["platform"] == "a=b.xml"


@pytest.mark.usefixtures("simgrid")
@pytest.mark.parametrize(
    ("changes", "complaint"),
    [
        ({"first": "h 0"}, "the host 'h 0' of '"),
        ({"second": "h-0"}, "': Refusing to create a second host named 'h-0'"),
        ({"there": "1parsec"}, "two.xml:7: unknown unit: parsec"),
    ],
)
def test_a_file_that_cannot_be_simulated(
    steelyard: Steelyard, tmp_path: Path, changes: dict[str, str], complaint: str
) -> None:
    said = steelyard("validate", "--platform", _two_hosts(tmp_path, **changes), *_OF_TWO)
    assert said.code == 2
    assert complaint in said.err
    assert len(said.err.splitlines()) == 1


@pytest.mark.usefixtures("simgrid")
@pytest.mark.parametrize(
    ("words", "complaint"),
    [
        (("--op", "mpi.bcats"), "no collective op is called 'mpi.bcats'"),
        (("--method", "tea"), "there is no method 'tea' to validate; give one of"),
        (("--method", "truth"), "there is no method 'truth' to validate"),
        (("--selector", "lam"), "there is no selector 'lam'"),
        (("--ranks", "0"), "at least 1"),
        (("--ranks", "1,16"), "give --ranks 2 or more"),
        (
            ("--platform", "latency=500"),
            "there is no word 'latency'; there are topology, asymmetry, bandwidth",
        ),
        (("--platform", "topology=foo"), "topology=foo is none of flat, fat-tree"),
        (("--platform", "latency_ns=-5"), "'latency_ns=-5' is not of the form"),
        (("--platform", "seed=x"), "'seed=x' is not of the form"),
        (("--platform", "bandwidth=0"), "'bandwidth=0': a link without bandwidth carries nothing"),
        (("--platform", "asymmetry=2"), "give 1 at most"),
        (("--platform", "/dev/null"), "there is no platform '/dev/null'"),
        (("--platform", "no.xml"), "there is no platform 'no.xml'"),
        (("--platform", "hosts="), "is not of the form"),
        (("--platform", engine.__file__), "is no platform file: it has no <platform"),
    ],
)
def test_bad_input(steelyard: Steelyard, words: Sequence[str], complaint: str) -> None:
    said = steelyard("validate", *words)
    assert said.code == 2
    assert complaint in said.err
    assert said.out == ""


def test_without_simgrid_it_says_what_to_install(
    steelyard: Steelyard, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    said = steelyard("validate")
    assert said.code == 2
    assert "there is no smpicc on PATH" in said.err
    assert "libsimgrid-dev" in said.err


def test_outside_the_simulator_the_truth_says_why_it_is_missing() -> None:
    methods = by_name(describe(solo_engine()).methods)
    assert methods["truth"].available is False
    assert "steelyard validate" in (methods["truth"].why_not or "")
    assert all(method.available for name, method in methods.items() if name != "truth")


@pytest.mark.usefixtures("simgrid")
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM], ids=lambda number: number.name)
def test_no_simulation_is_left_when_we_are_ended(tmp_path: Path, number: signal.Signals) -> None:
    out = tmp_path / "out"
    argv = [
        sys.executable,
        "-c",
        "from steelyard.cli.main import main; main()",
        "validate",
        "--out",
        str(out),
    ]
    argv += ["--op", "mpi.alltoall", "--ranks", "200", "--platform", "topology=flat"]  # for minutes
    # What a shell starts in the background ignores SIGINT, and so would all that these tests start.
    hears = functools.partial(signal.signal, signal.SIGINT, signal.SIG_DFL)
    with subprocess.Popen(
        argv, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, preexec_fn=hears
    ) as tool:
        try:
            deadline = time.monotonic() + 600  # it may have to build the simulator first
            while not (seen := _simulating(out)) and time.monotonic() < deadline:
                time.sleep(0.05)
            assert seen  # perhaps the short one that asks for routes, which may have ended since
            tool.send_signal(number)
            assert tool.wait(600) == 128 + number
        finally:
            tool.terminate()  # which ends what it has started
            with contextlib.suppress(subprocess.TimeoutExpired):
                tool.wait(600)
            tool.kill()
    assert not _simulating(out)


def _simulating(out: Path) -> bool:
    """Whether a process works in this folder."""
    for link in Path("/proc").glob("[0-9]*/cwd"):
        with contextlib.suppress(OSError):
            if link.resolve() == out:
                return True
    return False
