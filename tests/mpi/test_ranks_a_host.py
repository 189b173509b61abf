"""The plan ranks-a-host over two virtual hosts: every number of ranks is measured between them, and told."""

from __future__ import annotations

from pathlib import Path

import pytest

from hosts import hosts
from on_hosts import skip_without_hosts, steelyard_on
from steelyard.analyses.overview import read_rows
from steelyard.analyses.ranks_a_host.model import host_links

pytestmark = [pytest.mark.ours, pytest.mark.further, pytest.mark.xdist_group("waits")]


def test_the_plan_is_measured_between_two_hosts(tmp_path: Path) -> None:
    skip_without_hosts()
    out = tmp_path / "out"
    asked = ["run", "ranks-a-host", "--hosts=2", "--ranks-per-host=1,2", "--launches=2", "--mpi=openmpi"]
    asked += ["--time-budget=20s", f"--out={out}"]
    with hosts(2) as bed:
        done = steelyard_on(bed, *asked, seconds=240)
        shown = steelyard_on(bed, "show", str(out))
    assert done.code == 0, done.out + done.err
    rows = read_rows(out).rows
    assert {(row.status, row.verified) for row in rows} == {("ok", True)}
    links = host_links(rows)
    assert [(link.params["kind"], link.bytes) for link in links] == [
        ("pingpong", 8),
        *(("window", size) for size in (8, 65536, 2**20)),
        *(("biwindow", size) for size in (65536, 2**20)),
    ]
    assert all([number.per_host for number in link.numbers] == [1, 2] for link in links)
    assert all(number.of_line is not None for link in links for number in link.numbers)
    assert "full from here" in shown.out or "Nothing tells" in shown.out
    print(shown.out)  # pytest -rP
