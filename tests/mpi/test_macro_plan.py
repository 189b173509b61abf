"""Micro against macro: the shipped plan, from its first launch to its report."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from commands import steelyard_of
from steelyard.analyses.best_arms import CANNOT_TELL
from steelyard.engines.mpi import find_mpis
from steelyard.plan.shipped import shipped_plans

pytestmark = pytest.mark.xdist_group("waits")


def test_the_plan_from_its_first_launch_to_its_report(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """One launch under two MPIs, class S, few sizes: all tables, in the document and in the report."""
    families = {mpi.family: mpi for mpi in reversed(find_mpis()) if mpi.mpicc}
    if len(families) < 2:
        pytest.skip("there are not two MPIs")
    text = shipped_plans()["micro-vs-macro"].read_text("utf-8")
    for pattern, instead in (
        (r'^bytes = ".*"', 'bytes = "1,1Ki,64Ki"'),
        (r"^params = ", "rule = 'fixed'\nparams = "),
        (r"tolerance = 0.03", "count = 4"),
        (r'"npb\.\*"', '"npb.is", "npb.cg"'),
    ):
        text, count = re.subn(pattern, instead, text, flags=re.MULTILINE)
        assert count
    plan, out = tmp_path / "plan.toml", tmp_path / "out"
    plan.write_text(text, "utf-8")
    mpis = [word for mpi in list(families.values())[:2] for word in ("--mpi", mpi.name)]
    said = steelyard_of(capsys, monkeypatch)(
        "run", plan, *mpis, "--class", "S", "--launches", "1", "--out", out, "--json"
    )
    assert said.code == 0
    macro = said.document["macro"]
    lines = macro["lines"]
    assert [(line["test"], line["bytes"], len(line["figures"]), bool(line["tcp"])) for line in lines] == [
        *(("ping-pong", size, 2, True) for size in (1, 1024, 65536)),
        *(("stream", size, 2, True) for size in (1, 1024, 65536)),
        ("npb.is", 0, 2, False),
        ("npb.cg", 0, 2, False),
    ]
    assert {line["params"]["class"] for line in lines[-2:]} == {"S"}
    assert len(macro["models"]) == 2
    assert [(one["kernel"], one["predicted"]["value"] > 0) for one in macro["predictions"]] == [
        *[("npb.is", True)] * 2,
        *[("npb.cg", True)] * 2,
    ]
    assert {one["figure"] for one in macro["agreements"]} == {"latency", "throughput", "stream", "model"}
    assert {one["verdict"] for one in macro["agreements"]} == {CANNOT_TELL}  # one launch cannot
    page = (out / "report.html").read_text("utf-8")
    for title in ("Micro against macro", "LogGP of each MPI", "communication predicted from messages"):
        assert f">{title}" in page
