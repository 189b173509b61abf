"""Every method against simulated ground truth: the quick form end to end, and its parts on made-up rows."""

from __future__ import annotations

import contextlib
import functools
import io
import math
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import msgspec
import numpy as np
import pytest
from rich.console import Console

from commands import Said, Steelyard, steelyard_of
from steelyard.engine import describe, solo_engine
from steelyard.errors import InputError
from steelyard.validate import (
    CLAIMS,
    Machine,
    NotRun,
    Row,
    Simulation,
    Wishes,
    biases,
    check_claims,
    report_lines,
    simulations,
    stated_error,
    user_machine,
)
from steelyard.validate.design import BARRIERS, place_ranks, point_lines
from steelyard.validate.rows import is_inside, skew_counts
from steelyard.validate.simulator import failure_reason

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


# ---- end to end --------------------------------------------------------------------------------------------


_QUICK = ("epoch", "batch", "barrier", "bisected-ack", "trigger", "trigger-ack")  # the quick ones


def _validate(steelyard: Steelyard, *words: str | Path) -> Said:
    return steelyard("validate", "--json", *words)


@pytest.mark.usefixtures("simgrid")
@pytest.mark.parametrize(
    ("selector", "ops"), [("mpich", "mpi.bcast mpi.barrier"), ("ompi", "mpi.reduce mpi.allreduce")]
)
def test_every_claim_holds_in_the_quick_form(
    steelyard: Steelyard, tmp_path: Path, selector: str, ops: str
) -> None:
    out = tmp_path / "a folder, with blanks"
    words = [word for op in ops.split() for word in ("--op", op)]
    words += [word for method in _QUICK for word in ("--method", method)]
    said = _validate(steelyard, *words, "--selector", selector, "--bytes", "8", "--out", out)
    assert said.code == 0, said.out + said.err
    rows = said.document["rows"]
    assert said.document["not_run"] == []
    assert all(row.keys() >= _KEYS for row in rows)
    assert {row["ranks"] for row in rows} == {16, 60}
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
        steelyard, "--op", "mpi.alltoall", "--bytes", "8", "--ranks", "64", "--selector", "mpich",
        "--platform", "topology=flat", "--time-limit", "0",
    )  # fmt: skip
    assert said.code == 0
    assert said.document["rows"] == []
    missing = said.document["not_run"]
    assert {one["kind"] for one in missing} == {"slow"}
    assert {one["method"] for one in missing} >= {"batch", "barrier", "epoch"}
    assert all("too slow" in one["why"] for one in missing)


@pytest.mark.usefixtures("simgrid")
def test_a_simulation_that_fails_is_told(steelyard: Steelyard) -> None:
    said = _validate(
        steelyard, "--op", "mpi.bcast", "--bytes", "8", "--ranks", "4", "--platform", "latnecy_ns=1"
    )
    assert said.code == 3
    assert "latnecy_ns=1" in said.document["not_run"][0]["why"]


@pytest.mark.usefixtures("simgrid")
@pytest.mark.parametrize(
    ("words", "complaint"),
    [
        (("--op", "mpi.bcats"), "no collective op is called 'mpi.bcats'"),
        (("--method", "tea"), "there is no method 'tea' to validate; give one of"),
        (("--method", "truth"), "there is no method 'truth' to validate"),
        (("--selector", "lam"), "there is no selector 'lam'"),
        (("--ranks", "0"), "at least 1"),
        (("--platform", "no.xml"), "there is no platform 'no.xml'"),
        (("--platform", "hosts="), "is not of the form"),
        (("--platform", __file__, "--ranks", "2"), "SimGrid cannot read the platform"),
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
    methods = {method["name"]: method for method in describe(solo_engine())["methods"]}
    assert methods["truth"]["available"] is False
    assert "steelyard validate" in methods["truth"]["why_not"]
    assert all(method["available"] for name, method in methods.items() if name != "truth")


@pytest.mark.usefixtures("simgrid")
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM], ids=lambda number: number.name)
def test_no_simulation_is_left_when_we_are_ended(tmp_path: Path, number: signal.Signals) -> None:
    out = tmp_path / "out"
    argv = [sys.executable, "-c", "from steelyard.cli import main; main()", "validate", "--out", str(out)]
    argv += ["--op", "mpi.alltoall", "--ranks", "200", "--platform", "topology=flat"]  # for minutes
    # What a shell starts in the background ignores SIGINT, and so would all that these tests start.
    hears = functools.partial(signal.signal, signal.SIGINT, signal.SIG_DFL)
    with subprocess.Popen(
        argv, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, preexec_fn=hears
    ) as tool:
        try:
            deadline = time.monotonic() + 300  # it may have to build the simulator first
            while not _simulating(out) and time.monotonic() < deadline:
                time.sleep(0.05)
            assert _simulating(out)
            tool.send_signal(number)
            assert tool.wait(60) in (3, 128 + number)
        finally:
            tool.terminate()  # which ends what it has started
            with contextlib.suppress(subprocess.TimeoutExpired):
                tool.wait(60)
            tool.kill()
    assert not _simulating(out)


def _simulating(out: Path) -> bool:
    """Whether a process works in this folder."""
    for link in Path("/proc").glob("[0-9]*/cwd"):
        with contextlib.suppress(OSError):
            if link.resolve() == out:
                return True
    return False


# ---- the matrix --------------------------------------------------------------------------------------------


def _op(
    name: str, *, sized: bool = True, op_class: str = "collective", available: bool = True
) -> dict[str, Any]:
    methods = ["batch", "barrier", "epoch", "truth"]
    return {
        "name": name, "class": op_class, "sized": sized, "available": available, "methods": methods,
    }  # fmt: skip


_DESCRIPTION = {
    "ops": [
        *(_op(f"mpi.{name}") for name in ("bcast", "alltoall", "scan", "allreduce", "iscan")),
        _op("mpi.barrier", sized=False),
        _op("mpi.pingpong", op_class="p2p"),
        _op("mpi.scan_init", available=False),
    ],
    "methods": [{"name": name, "available": True} for name in ("batch", "barrier", "epoch", "truth")],
}


def test_the_full_matrix_crosses_what_matters() -> None:
    planned = simulations(Wishes(full=True), _DESCRIPTION)
    assert {one.ranks for one in planned} == {2, 4, 16, 60, 64, 256, 1024}
    assert {one.op for one in planned} == {
        f"mpi.{n}" for n in ("bcast", "alltoall", "scan", "allreduce", "barrier")
    }
    assert max(one.ranks for one in planned if one.op == "mpi.scan") == 64
    many = [one for one in planned if one.ranks == 1024]
    assert {one.selector for one in many} == {"default"}
    assert all(one.algorithms for one in many)
    assert {one.op for one in many} == {"mpi.bcast", "mpi.allreduce", "mpi.barrier"}
    assert {one.op for one in planned if one.barrier} == {"mpi.barrier"}  # no method here calls the library's
    assert {one.barrier for one in planned} == {None, *BARRIERS}
    assert {one.machine.name for one in planned} == {
        "flat",
        "fat-tree",
        "torus",
        "dragonfly",
        "flat with noise",
    }
    titles = [(one.title, one.sizes) for one in planned]
    assert len(set(titles)) == len(titles)
    assert all(one.per_host == (4 if one.ranks == 60 else 1) for one in planned)


def test_a_method_that_calls_the_librarys_barrier_meets_all_barriers() -> None:
    ops = [dict(op, methods=[*op["methods"], "library-barrier"]) for op in _DESCRIPTION["ops"]]
    methods = [*_DESCRIPTION["methods"], {"name": "library-barrier", "available": True}]
    planned = simulations(Wishes(full=True), {"ops": ops, "methods": methods})
    crossed = [one for one in planned if one.barrier and one.op == "mpi.bcast"]
    assert {one.barrier for one in crossed} == set(BARRIERS)
    assert {one.methods for one in crossed} == {("library-barrier",)}


def test_wishes_restrict_the_quick_form() -> None:
    wishes = Wishes(ops=("mpi.b*",), methods=("epoch",), ranks=(3,), sizes=(16,), selectors=("impi",))
    planned = simulations(wishes, _DESCRIPTION)
    assert {(one.op, one.sizes) for one in planned} == {("mpi.bcast", (16,)), ("mpi.barrier", (0,))}
    assert {one.methods for one in planned} == {("epoch",)}
    assert {(one.ranks, one.selector) for one in planned} == {(3, "impi")}


def test_truth_and_methods_stand_side_by_side() -> None:
    simulation = Simulation(
        "mpi.bcast", 4, 1, Machine("m"), "mpich", None, (8, 64), ("epoch", "batch"), seed=1
    )
    words = [dict(word.split("=") for word in line.split()) for line in point_lines(simulation)]
    assert [word["method"] for word in words] == ["truth", "epoch", "batch", "truth"] * 2
    assert [word["bytes"] for word in words] == ["8"] * 4 + ["64"] * 4
    assert [word["point"] for word in words] == [str(i) for i in range(8)]
    assert words[2]["reps"] == "32"


def test_ranks_fill_hosts() -> None:
    assert place_ranks(("a", "b", "c"), 5, 2) == ("a", "a", "b", "b", "c")
    with pytest.raises(InputError, match="has 2 hosts and 5 ranks with 2 on each need 3"):
        place_ranks(("a", "b"), 5, 2)


@pytest.mark.parametrize(
    ("code", "text", "reason"),
    [
        (0, "", None),
        (0, "a warning\n", None),
        (
            0,
            "x\nsteelyard: rank 3: 7 is not 8\n[0.1] [root/CRITICAL] y",
            "code 0: steelyard: rank 3: 7 is not 8",
        ),
        (
            0,
            "[0.1] [ker_engine/CRITICAL] Oops! Deadlock detected",
            "code 0: [0.1] [ker_engine/CRITICAL] Oops!",
        ),
        (139, "", "code 139: it said nothing"),
        (1, "first\nlast\n", "code 1: last"),
    ],
)
def test_what_the_simulator_says_is_wrong(code: int, text: str, reason: str | None) -> None:
    said = failure_reason(code, text)
    assert said == reason if reason is None else (said or "").startswith(reason)


def test_words_of_a_platform_that_make_noise() -> None:
    assert user_machine("topology=torus jitter=0.1").noise
    assert not user_machine("topology=torus").noise


# ---- claims and tables on made-up rows ---------------------------------------------------------------------


def _row(**changes: Any) -> Row:
    """A row whose estimate is the truth, 1000 ns; `error` is put on top."""
    error = changes.pop("error", 0.0)
    stated = changes.pop("stated", 10.0)
    known: dict[str, Any] = {
        "op": "mpi.bcast", "method": "epoch", "bytes": 8, "ranks": 16, "selector": "mpich", "barrier": None,
        "platform": "flat", "truth_ns": 1000.0, "noise": False, "asymmetric": False, "ranks_per_host": 1,
        "seed": 1,
        "truth_error_ns": 0.5, "truth_first_ns": 1000.0, "truth_again_ns": 1000.0, "clock_error_ns": 4.0,
        "skew_ns": 1.0, "skew_counts": 3.0, "count": 64, "rejected": 0,
    }  # fmt: skip
    known |= changes
    estimate = known["truth_ns"] + error
    computed = {
        "estimate_ns": estimate,
        "error_pct": 100 * error / known["truth_ns"],
        "stated_error_ns": stated,
        "inside_stated_error": is_inside(error, stated, known["truth_error_ns"]),
        "low_ns": estimate - changes.get("half", 0.5),
        "high_ns": estimate + changes.get("half", 0.5),
    }
    known.pop("half", None)
    return Row(**{**computed, **known})


_HOST4: dict[str, Any] = {"ranks": 60, "ranks_per_host": 4}
_BOUND_ABOVE = _row(method="bounds", low_ns=1030.0)


@pytest.mark.parametrize(
    ("claim", "rows", "holds"),
    [
        ("truth-repeats", [_row(truth_again_ns=1001.0)], True),
        ("truth-repeats", [_row(), _row(truth_again_ns=1020.0)], False),
        ("truth-repeats", [_row(truth_again_ns=1020.0, noise=True)], None),
        ("truth-repeats", [_row(truth_again_ns=None)], None),
        ("epoch-exact", [_row(error=-10.0, stated=1.0)], True),
        ("epoch-exact", [_row(error=15.0, stated=16.0)], True),
        ("epoch-exact", [_row(), _row(error=15.0, stated=1.0)], False),
        ("epoch-exact", [_row(error=15.0, stated=1.0, noise=True)], None),
        ("epoch-honest", [_row()] * 99 + [_row(error=11.0)], True),
        ("epoch-honest", [_row()] * 98 + [_row(error=11.0)] * 2, False),
        ("epoch-sharp", [_row(stated=500.0)], True),
        ("epoch-sharp", [_row(stated=501.0)], False),
        ("epoch-sharp", [_row(stated=3000.0, truth_ns=1e5)], True),
        ("epoch-sharp", [_row(stated=501.0, asymmetric=True)], None),
        ("epoch-in-time", [_row(count=95, rejected=5)], True),
        ("epoch-in-time", [_row(count=90, rejected=10)], False),
        ("epoch-noise", [_row(error=19.0, stated=1.0, noise=True)], True),
        ("epoch-noise", [_row(error=25.0, stated=20.0, truth_error_ns=20.0, noise=True)], True),
        ("epoch-noise", [_row(error=25.0, stated=1.0, noise=True)], False),
        ("batch-overlaps", [_row(method="batch"), _row(method="batch", error=-600.0)], True),
        ("batch-overlaps", [_row(method="batch", error=-400.0)], False),
        ("batch-overlaps", [_row(method="batch", op="mpi.allreduce")], None),
        ("batch-overlaps", [_row(method="batch", ranks=2)], None),
        ("barrier-skews", [_row(method="barrier", error=-80.0, **_HOST4)], True),
        ("barrier-skews", [_row(method="barrier", error=40.0, **_HOST4)], False),
        ("barrier-skews", [_row(method="barrier", error=80.0)], None),
        ("clock-free-exact", [_row(method="trigger", error=-20.0)], True),
        ("clock-free-exact", [_row(method="bisected-ack", error=-21.0)], False),
        ("clock-free-exact", [_row(method="bisected-ack", error=-21.0, **_HOST4)], None),
        ("clock-free-below", [_row(method="bisected-ack", error=-19.0, stated=1.0)], True),
        ("clock-free-exact", [_row(method="trigger", error=-21.0, platform="torus")], None),
        ("clock-free-exact", [_row(method="trigger", error=-21.0, selector="impi")], None),
        ("clock-free-below", [_row(method="trigger", error=1.9, stated=1.0)], True),
        ("clock-free-below", [_row(method="trigger", error=2.1, stated=1.0)], False),
        ("clock-free-below", [_row(method="trigger", error=9.0, stated=1.0, asymmetric=True)], None),
        ("bounds-above", [_row(method="bounds", high_ns=1200.0)], True),
        ("bounds-above", [_row(method="bounds", error=-30.0, stated=1.0, high_ns=980.0)], False),
        ("bounds-below", [_row(method="bounds", low_ns=900.0)] * 19 + [_BOUND_ABOVE], True),
        ("bounds-below", [_row(method="bounds", low_ns=900.0)] * 18 + [_BOUND_ABOVE], False),
    ],
)
def test_claims(claim: str, rows: Sequence[Row], holds: bool | None) -> None:
    verdict = next(one for one in check_claims(rows) if one.name == claim)
    assert verdict.holds is holds
    assert bool(verdict.failing) <= (holds is False)


def test_claims_have_names_of_their_own_and_no_rows_decide_nothing() -> None:
    assert len({claim.name for claim in CLAIMS}) == len(CLAIMS)
    assert {verdict.holds for verdict in check_claims([])} == {None}


def test_failing_rows_come_with_the_worst_first() -> None:
    rows = [_row(error=20.0, stated=1.0), _row(error=-90.0, stated=1.0), _row()]
    verdict = next(one for one in check_claims(rows) if one.name == "epoch-exact")
    assert [row.error_pct for row in verdict.failing] == [-9.0, 2.0]


@pytest.mark.parametrize(
    ("clock", "skew", "stated"), [(None, None, 1.5), (10.0, None, 11.5), (10.0, 3.0, 20.5)]
)
def test_stated_error(clock: float | None, skew: float | None, stated: float) -> None:
    assert math.isclose(stated_error(0.5, 1.0, clock, skew), stated)


def test_skew_counts_as_the_windows_show_and_thrice_at_least() -> None:
    skews = np.linspace(20.0, 40.0, 16)
    scatter = np.tile([-3.0, 1.0, 3.0, -1.0], 4)
    assert 9.5 < skew_counts(5000.0 + 10 * skews + scatter, skews) < 11.0
    assert skew_counts(5000.0 + skews, skews) == 3.0  # grows by less
    assert skew_counts(5000.0 + 100 * scatter, skews) == 3.0  # nothing is sure
    assert skew_counts(5000.0 - 10 * skews, skews) == 3.0
    assert skew_counts(5000.0 + scatter, np.full(16, 7.0)) == 3.0  # no two differ
    assert skew_counts(5000.0 + scatter, None) == 3.0  # a method without a clock
    assert math.isclose(stated_error(0.5, 1.0, 10.0, 3.0, counts=10.0), 41.5)


@pytest.mark.parametrize(
    ("error", "stated", "truth", "inside"),
    [(5.0, 5.0, 0.0, True), (5.1, 5.0, 0.0, False), (-5.0, 3.0, 4.0, True), (7.0, 3.0, 4.0, False)],
)
def test_inside(error: float, stated: float, truth: float, inside: bool) -> None:
    assert is_inside(error, stated, truth) is inside


def test_biases_keep_noise_and_hosts_apart() -> None:
    rows = [_row(error=error, stated=5.0) for error in (-10.0, 0.0, 4.0)]
    rows += [_row(error=100.0, noise=True), _row(error=300.0, **_HOST4)]
    quiet, four, noisy = biases(rows)
    assert (quiet.min_pct, quiet.median_pct, quiet.max_pct) == (-1.0, 0.0, 0.4)
    assert math.isclose(quiet.inside_share, 2 / 3)
    assert (four.ranks_per_host, four.max_pct) == ("4", 30.0)
    assert (noisy.noise, noisy.rows) == (True, 1)


def test_the_tables_say_what_fails_and_what_was_not_run() -> None:
    rows = [_row(error=90.0, stated=1.0)]
    missing = [
        NotRun(
            op="mpi.scan", method=method, bytes=8, ranks=64, selector="ompi", barrier=None, platform="flat",
            why="too slow: not done within 5 s", kind="slow",
        )
        for method in ("batch", "epoch")
    ]  # fmt: skip
    console = Console(width=120, record=True, file=io.StringIO())
    for line in report_lines(rows, missing, check_claims(rows)):
        console.print(line, markup=False, soft_wrap=isinstance(line, str))
    text = console.export_text()
    assert "FAILS epoch-exact" in text
    assert (
        "epoch-exact: mpi.bcast 8 B, 16 ranks, 1 per host, flat, mpich, epoch: 1090.0 ns, truth 1000.0"
        in text
    )
    assert "not run: mpi.scan 8 B, 64 ranks, flat, ompi: too slow: not done within 5 s (2 methods)" in text
