"""The benchmark of large messages: which ways of a test there are, and what it tells of them."""

from __future__ import annotations

from pathlib import Path

import pytest

from loaded import load_benchmark
from scripts import script

load_benchmark("peers_like")  # which it imports
large = load_benchmark("large_messages")


def test_a_barrier_of_the_library_is_for_collectives_alone(tmp_path: Path) -> None:
    for name in ("osu_bcast", "osu_bw"):
        script(tmp_path / name, "")
    peers = {peer.row.name: peer for peer in large.peers_of(tmp_path, None)}
    ways = {name: [way.name for way in large.ways_of(peer)] for name, peer in peers.items()}
    assert set(ways["osu_bcast"]) - set(ways["osu_bw"]) == {"ours, library-barrier"}


def test_one_launch_has_no_interval_and_is_refused(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """It was measured, for minutes, before it ended in a traceback."""
    monkeypatch.setattr("sys.argv", ["large_messages.py", "--osu", "nowhere", "--launches", "1"])
    with pytest.raises(SystemExit) as ended:
        large.main()
    assert ended.value.code == 2
    assert "--launches is 2 or more: the numbers have intervals" in capsys.readouterr().err


def test_a_ratio_is_that_of_launches_of_one_turn() -> None:
    # the second way takes twice as long in each turn, whatever the machine does meanwhile
    first, second = large.lines_of("osu_bcast", {"one": [1.0, 5.0, 3.0], "two": [2.0, 10.0, 6.0]})
    assert first.startswith("| osu_bcast | one |")
    assert first.endswith("| 1 [1, 1] |")
    assert second.endswith("| 2 [2, 2] |")


def test_a_launch_that_prints_nothing_ends_the_benchmark(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    script(tmp_path / "osu_bcast", "")
    (peer,) = large.peers_of(tmp_path, None)
    monkeypatch.setattr(large, "measure_ours", lambda *_: {})
    with pytest.raises(SystemExit, match="osu_bcast, ours: nothing was printed"):
        large.measure(peer, next(way for way in large.WAYS if way.ours), "some-mpi", None)
