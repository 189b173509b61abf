"""Ranks that wait: TCP that blocks and that spins are told apart; a triad beside them, also a wrong one."""

from __future__ import annotations

from pathlib import Path

from campaigns import ended, plan_of, run_plan, setup_of
from points import engine_of, measure
from steelyard.analyses.overview import read_rows
from steelyard.analyses.waiting.model import OVERLOAD, QUEUES, SPINS, waitings
from steelyard.engines.mpi import Mpi
from steelyard.records.schema import End

_LINES = [f"op=mpi.wait.stream bytes=80000 wait={way} rule=fixed count=3" for way in ("recv", "sleep")]


def test_a_receiver_that_blocks_burns_less_than_one_that_spins(tmp_path: Path, one_mpi: Mpi) -> None:
    params = {"wait": ("block", "spin"), "rate": 20.0, "count": 8.0}
    plan = plan_of("sock.tcp", ranks=2, bytes="8", method="open-loop", params=params)
    assert {status for _, status in ended(run_plan(tmp_path, plan, setup_of(one_mpi)))} == {"ok"}
    waits = {one.params["wait"]: one for one in waitings(read_rows(tmp_path).rows)}
    print({way: (one.burnt, one.switches, one.woken.value) for way, one in waits.items()})  # pytest -rP
    assert waits["spin"].way in (SPINS, QUEUES, OVERLOAD)  # the latter two where others hold its core
    assert (waits["block"].switches or 0.0) > (waits["spin"].switches or 0.0)
    assert (waits["spin"].burnt or 0.0) > (waits["block"].burnt or 0.0)


def test_a_triad_beside_a_waiting_rank_is_checked(tmp_path: Path, one_mpi: Mpi) -> None:
    lines = [*_LINES, f"{_LINES[0]} plant=0"]
    records = measure(engine_of(one_mpi), 2, 1, lines, tmp_path / "out.jsonl")
    *right, wrong = (record for record in records if isinstance(record, End))
    assert [(end.status, end.why) for end in right] == [("ok", None)] * 2
    assert "number 9999 of the triad" in (wrong.why or "")
