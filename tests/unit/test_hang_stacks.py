"""Where ranks of a hanging launch say that they are."""

from __future__ import annotations

import platform
import shutil
import signal
import subprocess
from pathlib import Path

import pytest

from steelyard.campaign.cause_of_death import LaunchPhase, hang_words, hung_by_itself
from steelyard.campaign.hang_stacks import ask_ranks, read_answers, silent_hosts
from steelyard.cli.progress import stuck_words
from steelyard.engines.build import Engine
from steelyard.records.parts import Place, StuckRank
from steelyard.system.functions import functions_of
from steelyard.system.process import Child

_SAID = """mpiexec: something else
steelyard: rank 1 is in point 3 (mpi.bcast), phase samples, sample 17: poll < fn < PMPI_Bcast < e+0x1a
steelyard: rank 0 is in point 3 (mpi.bcast), phase warm-up, sample 0:\x20
steelyard: rank 2 is in point 3 (mpi.bc"""


def test_answers_are_read_from_between_other_lines() -> None:
    zero, one = read_answers(_SAID, {0: "a", 1: "b", 2: "b"}, Path("/none/e"))
    assert zero == StuckRank(rank=0, host="a", op="mpi.bcast", phase="warm-up", sample=0)
    assert (one.rank, one.host, one.phase, one.sample) == (1, "b", "samples", 17)
    assert one.calls == ("poll", "fn", "PMPI_Bcast", "e+0x1a")
    assert stuck_words(one).startswith("rank 1 on b: samples, sample 17, in poll < fn < PMPI_Bcast")
    assert stuck_words(zero) == "rank 0 on a: warm-up, sample 0, in unknown calls"


def test_hostile_answers_are_shown_and_not_obeyed() -> None:
    said = f"steelyard: rank 0 is in point 1 (\x1b[2J), phase x, sample 1: {'a' * 9000} < \x07b\n"
    (one,) = read_answers(said, {}, Path("e"))
    assert "\x1b" not in one.op
    assert len(one.calls[0]) < 200
    assert one.calls[1] == "\\x07b"


@pytest.mark.parametrize(
    ("silent", "words"),
    [
        ((), ""),
        (("h2",), ", and no rank of h2 answers"),
        (("h2", "h\x1b3"), r", and no rank of h2, h\x1b3 answers"),
        (("a", "b", "c", "d", "e"), ", and no rank of a, b, c, d and 1 more hosts answers"),
    ],
)
def test_hosts_from_which_nothing_came_are_named(silent: tuple[str, ...], words: str) -> None:
    """Of a host, one rank that answers is enough. This host's ranks are looked at, and not only asked."""
    hosts = ("far", platform.node(), *silent, "far")
    places = [Place(rank=rank, host=host) for rank, host in enumerate(hosts)]
    answer = StuckRank(rank=0, host="far", op="mpi.bcast", phase="samples", sample=1)
    assert silent_hosts(places, [answer]) == words
    why = hang_words("60s", ["mpiexec"], LaunchPhase.MEASURING, [], "") + words
    assert hung_by_itself(why)
    assert not hung_by_itself(hang_words("60s", ["mpiexec"], LaunchPhase.STARTING, [], ""))


def test_nobody_is_asked_before_a_launch_has_begun() -> None:
    with Child(["true"]) as child:
        assert ask_ranks(child, None, Engine("e", "solo", None)) == ()


def test_a_signal_reaches_no_process_but_those_of_the_launch() -> None:
    with Child(["sleep", "60"]) as other, Child(["sleep", "60"]) as child:
        assert child.signal([other.pid, child.pid, 1], signal.SIGUSR2) == [child.pid]
        assert child.wait(600) == -signal.SIGUSR2
        assert other.poll() is None


@pytest.mark.skipif(shutil.which("gcc") is None or shutil.which("nm") is None, reason="no compiler")
def test_functions_of_the_engine_have_the_names_of_its_symbols(tmp_path: Path) -> None:
    source, engine = tmp_path / "e.c", tmp_path / "e"
    source.write_text("static __attribute__((noinline)) int inner(int a) { return a * 3; }\n"
                      "int main(int n, char **v) { return inner(n) + (v != 0); }\n")  # fmt: skip
    subprocess.run(["gcc", "-O1", "-o", str(engine), str(source)], check=True)
    said = subprocess.run(["nm", str(engine)], check=True, capture_output=True, text=True).stdout
    place = next(int(line.split()[0], 16) for line in said.splitlines() if line.endswith(" inner"))
    calls = f"e+{place + 1:#x} < libm.so+{place:#x}"
    (one,) = read_answers(
        f"steelyard: rank 0 is in point 1 (x), phase setup, sample 0: {calls}\n", {}, engine
    )
    assert one.calls == ("inner", f"libm.so+{place:#x}")
    subprocess.run(["strip", str(engine)], check=True)
    assert functions_of(engine).names == functions_of(source).names == ()
    engine.write_bytes(engine.read_bytes()[:100])
    assert functions_of(engine).names == ()
