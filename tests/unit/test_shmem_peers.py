"""The benchmark that holds OpenSHMEM's puts, gets and atomics against OSU's: whose number is whose."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from loaded import load_benchmark
from scripts import script

load_benchmark("turns")  # in sys.modules for those that import it
load_benchmark("peers_record")
load_benchmark("peers_like")
peers = load_benchmark("shmem_peers")


@pytest.fixture
def osu(tmp_path: Path) -> Any:
    script(tmp_path / "osu_oshm_put", "printf '# Size  Latency (us)\n8  0.05\n65536  2.25\n'")
    atomics = "printf 'shmem_int_fadd  20.0  0.05\nshmem_int_finc  25.0  0.04\n'"
    script(tmp_path / "osu_oshm_atomics", atomics)
    return peers.Bench("oshmem", tmp_path, SimpleNamespace(argv_prefix=(), environment={}))


def test_numbers_of_osu_are_ns_of_a_call(osu: Any) -> None:
    assert osu.theirs("osu_oshm_put", [("", 65536), ("", 8)]) == pytest.approx([2250.0, 50.0])
    named = [("shmem_int_finc", 0), ("shmem_int_fadd", 0)]
    assert osu.theirs("osu_oshm_atomics", named) == pytest.approx([40.0, 50.0])


def test_what_osu_does_not_print_is_told(osu: Any) -> None:
    with pytest.raises(SystemExit, match=r"nothing of \('', 16\)"):
        osu.theirs("osu_oshm_put", [("", 8), ("", 16)])


def test_ours_is_a_call_of_each_test_in_their_order(osu: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[str] = []

    def rows(words: list[str], mpi: str | None) -> list[dict[str, float]]:
        asked.extend(words)
        return [{"mean": 1000.0}, {"mean": 2000.0}]

    monkeypatch.setattr(peers, "run_rows", rows)
    assert osu.ours(["a", "b"], ["--param", "calls=500"], 500) == [2.0, 4.0]
    assert " ".join(asked) == "--like a --like b --param calls=500 -n 2 --shmem oshmem"
