"""Noise: what the engine's ops count, and what results make of it."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import pytest

from campaigns import plan_of, run_plan, setup_of
from steelyard.analyses.analysis import Made
from steelyard.analyses.core_noise.tables import core_tables
from steelyard.base.errors import InputError
from steelyard.engines.build import Engine, solo_engine
from steelyard.export.export_input import Export, ExportedFolder
from steelyard.export.formats import FORMATS
from steelyard.launch.command import plan_launch
from steelyard.launch.request import LaunchRequest
from steelyard.records.read import read_records
from steelyard.records.schema import End, Obs
from steelyard.report import write_report
from steelyard.results.core_noise import (
    LENGTH_NAMES,
)
from steelyard.results.facets import Cores
from steelyard.results.load import load
from steelyard.results.rows import rows_of
from steelyard.rows.figure_groups import Shown, group_items
from steelyard.rows.pictures.noise import noise_charts
from steelyard.system.machine import read_machine
from steelyard.system.process import run

# ---- the engine's ops --------------------------------------------------------------------------------------


def _solo() -> Engine:
    try:
        return solo_engine()
    except InputError as error:
        pytest.skip(str(error))


def _measure(engine: Engine, out: Path, ranks: int, *words: str) -> tuple[list[Obs], End]:
    launch = plan_launch(engine, read_machine(), LaunchRequest(ranks, oversubscribe=True))
    command = [*launch.argv_prefix, engine.path, "run", *launch.engine_args, "--out", str(out), *words]
    done = run(command, env=os.environ | launch.environment, timeout=600)
    assert done.code == 0, done.err
    records = read_records(out).records
    (end,) = (record for record in records if isinstance(record, End))
    return [record for record in records if isinstance(record, Obs)], end


def test_each_quantum_of_time_counts_its_units(tmp_path: Path) -> None:
    chunks, end = _measure(_solo(), tmp_path / "out", 1, "op=noise.ftq", "rule=fixed", "count=200")
    assert (end.status, end.verified, end.count) == ("ok", True, 200)
    units = [count for chunk in chunks for count in chunk.counts["units"][0]]
    took = [b - a for chunk in chunks for a, b in zip(chunk.start_ns[0], chunk.stop_ns[0], strict=True)]
    assert len(units) == 200
    assert min(units) >= 1
    assert min(took) >= 250_000  # never shorter than the quantum, whatever else runs


def test_detours_are_what_is_lost_and_no_more(tmp_path: Path) -> None:
    words = ("op=noise.selfish", "rule=fixed", "count=100", "spin_us=500")
    chunks, end = _measure(_solo(), tmp_path / "out", 1, *words)
    assert (end.status, end.verified) == ("ok", True)
    for chunk in chunks:
        assert set(chunk.counts) == {*LENGTH_NAMES, "lost_ns", "longest_ns"}
        for i in range(chunk.count):
            one = {name: rows[0][i] for name, rows in chunk.counts.items()}
            detours = sum(one[name] for name in LENGTH_NAMES)
            took = chunk.stop_ns[0][i] - chunk.start_ns[0][i]
            assert took >= 500_000
            assert one["longest_ns"] <= one["lost_ns"] <= took
            assert (detours == 0) == (one["lost_ns"] == 0)


@pytest.mark.parametrize("op", ["noise.fwq", "noise.ftq", "noise.selfish"])
def test_the_check_can_fail(tmp_path: Path, op: str) -> None:
    _, end = _measure(_solo(), tmp_path / "out", 1, f"op={op}", "rule=fixed", "count=2", "plant=0")
    assert end.status == "failed"
    assert end.why is not None
    assert end.why.startswith("wrong: rank 0")


def test_a_threshold_below_a_reading_of_the_clock_is_refused(tmp_path: Path) -> None:
    words = ("op=noise.selfish", "rule=fixed", "count=2", "threshold_ns=50")
    _, end = _measure(_solo(), tmp_path / "out", 1, *words)
    if end.status == "ok":
        pytest.skip("this clock is read in less than 17 ns")
    assert end.status == "skipped"
    assert "set threshold_ns to" in (end.why or "")


# ---- results and report ------------------------------------------------------------------------------------


def test_results_tables_and_pictures(tmp_path: Path) -> None:
    plan = plan_of("noise.*", params={"count": 300.0})
    run_plan(tmp_path / "out", plan, setup_of())
    measured = load(tmp_path / "out")
    rows = {row.op: row for row in rows_of(measured)}
    assert set(rows) == {"noise.fwq", "noise.ftq", "noise.selfish"}
    for row in rows.values():
        (core,) = row.get(Cores).cores
        assert 0 <= core.share < 1
        assert core.per_second * core.seconds == pytest.approx(sum(core.lengths.values()))
        (table,) = core_tables([row])
        assert [line.cells[1] for line in table.lines] == ["0"]
    assert "0:" in FORMATS["csv"](Export((ExportedFolder(tmp_path, Made(tuple(rows.values()))),))).decode()
    items = [Shown(row, point, "") for row, point in zip(rows_of(measured), measured.points, strict=True)]
    titles: list[Any] = [plot.title for group in group_items(items) for plot in noise_charts(group)]
    assert (
        sum("periodic losses" not in title for title in titles) == 6
    )  # a busy machine leaves gaps: no spectrum
    page = write_report([tmp_path / "out"], tmp_path / "page.html").read_text()
    assert "noise of each core" in page
