"""Arrival patterns from a file: what is one, what is not, and that a barrier lasts as long as it says."""

from __future__ import annotations

from pathlib import Path

import msgspec
import pytest

from campaigns import plan_of, run_plan, setup_of
from commands import steelyard_of
from steelyard.base.errors import InputError
from steelyard.engines.mpi import Mpi
from steelyard.plan.arrivals import arrival_lines, check_arrivals, read_arrivals
from steelyard.plan.plan import Measure, Value, read_plan
from steelyard.records.read import read_folder

pytestmark = pytest.mark.ours


def _file(folder: Path, text: str) -> Path:
    path = folder / "delays"
    path.write_text(text)
    return path


def test_a_file_is_read(tmp_path: Path) -> None:
    path = _file(tmp_path, "# a program of two ranks\n\n0 12.5\n3,0 # late\n\t0\t0\n")
    delays = read_arrivals(path)
    assert [list(row) for row in delays] == [[0, 12.5], [3, 0], [0, 0]]
    assert arrival_lines(delays) == "0 12500\n3000 0\n0 0\n"
    (tmp_path / "plan.toml").write_text(
        'arrivals = "delays"\n[[measure]]\nops = ["mpi.barrier"]\nparams = { arrival = "file" }\n'
    )
    assert read_plan(tmp_path / "plan.toml").arrivals == delays


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("0 1\n0\n", ("line 2 of the arrivals", "has 1 ranks", "have 2", "one delay per rank")),
        ("0 x\n", ("line 1", "'x', which is not a delay", "microseconds from 0 to 1e+06")),
        ("0 -1\n", ("'-1', which is not a delay",)),
        ("0 2e6\n", ("'2e6', which is not a delay",)),
        ("0 nan\n", ("'nan', which is not a delay",)),
        ("# nothing\n", ("have 0 lines", "a line for each repetition")),
    ],
)
def test_what_is_no_file_of_delays_is_refused_in_a_sentence(
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
    text: str,
    words: tuple[str, ...],
) -> None:
    command = ("run", "mpi.barrier", "--param", "arrival=file", "--arrivals", _file(tmp_path, text))
    said = steelyard_of(capsys, monkeypatch)(*command, "--out", tmp_path / "out")
    assert (said.code, said.out) == (2, "")
    assert said.err.count("\n") <= 3
    for word in words:
        assert word in " ".join(said.err.split())
    assert not (tmp_path / "out").exists()


def test_a_file_that_cannot_be_read_is_named(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"cannot be read \(No such file"):
        read_arrivals(tmp_path / "none")
    (tmp_path / "binary").write_bytes(b"\xff\xfe\x00")
    with pytest.raises(InputError, match="are no text"):
        read_arrivals(tmp_path / "binary")


def test_who_cannot_replay_says_so() -> None:
    check_arrivals(((0, 1),), [("mpi.bcast", 2)])
    check_arrivals(None, [])
    with pytest.raises(InputError, match="give it with --arrivals FILE"):
        check_arrivals(None, [("mpi.bcast", 2)])
    with pytest.raises(InputError, match=r"has 2 ranks and cannot be replayed by mpi\.bcast on 4; give -n 2"):
        check_arrivals(((0, 1),), [("mpi.bcast", 4)])
    with pytest.raises(InputError, match="no op replays the arrivals; add --param arrival=file"):
        check_arrivals(((0, 1),), [])


def test_a_barrier_lasts_as_long_as_the_file_says(tmp_path: Path, mpi: Mpi) -> None:
    """Rank 1 is late in one repetition, rank 0 in the next; in each the barrier lasts that long."""
    late_us = 3000
    plan = plan_of("mpi.barrier", ranks=2, mpi=(mpi.name,))
    params: dict[str, Value | tuple[Value, ...]] = {"arrival": "file", "count": 4}
    measure = Measure(ops=("mpi.barrier",), ranks=2, method="barrier", rule="fixed", params=params)
    plan = msgspec.structs.replace(
        plan, measure=(measure,), arrivals=((0, late_us), (late_us, 0)), launches=1
    )
    run_plan(tmp_path / "out", plan, setup_of(mpi))
    (file,) = read_folder(tmp_path / "out")
    (run,) = file.points
    assert run.end is not None
    assert (run.end.status, run.end.verified) == ("ok", True)
    assert run.point is not None
    assert run.point.params["arrival"] == "file"
    # Ranks may start apart by what the method's own barrier leaves; not by half of the delay.
    for obs in run.obs:
        last = [max(stops) for stops in zip(*obs.stop_ns, strict=True)]
        first = [min(starts) for starts in zip(*obs.start_ns, strict=True)]
        assert all(b - a > late_us * 1000 / 2 for a, b in zip(first, last, strict=True))
