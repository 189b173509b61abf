"""Names that are paths: what readers are shown of them, and what machines read."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from msgspec.structs import replace

from make_records import FakePoint, steady, write_folder
from steelyard.judges.compare.arms import rivals_by
from steelyard.judges.compare.scale import Question
from steelyard.judges.compare.tables import verdict_sentences, verdict_table, with_short_names
from steelyard.judges.compare.verdicts import compare
from steelyard.judges.verdict import verdict_document
from steelyard.results.rows import results
from steelyard.rows.short_names import named_shortly, short_names


@pytest.mark.parametrize(
    ("names", "short"),
    [
        (["openmpi-4.1.4", "mpich-5.0.2"], ["openmpi-4.1.4", "mpich-5.0.2"]),
        (["/opt/mpi/before", "/opt/mpi/now"], ["before", "now"]),
        (["/w/a/build/steelyard-mpi", "/w/b/build/steelyard-mpi"], ["a", "b"]),
        (["/w/a/build", "/w/b/build", "/w/c"], ["a/build", "b/build", "c"]),
        (["m-1+/w/a/e", "m-1+/w/b/e", "m-1"], ["m-1+a", "m-1+b", "m-1"]),
        (["m-1@/opt/x", "m-1@/opt/y"], ["m-1@x", "m-1@y"]),
        (["-", "/opt/lib/libslow.so"], ["-", "libslow.so"]),
        (["X=/a/lib:/usr/lib", "X=/b/lib:/usr/lib", "X unset"], ["X=a", "X=b", "X unset"]),
        (["/results/a/", "/results/b"], ["a", "b"]),
        (["-", "gcc/12 ucx/1.16", "gcc/13 ucx/1.16"], ["-", "gcc/12 ucx/1.16", "gcc/13 ucx/1.16"]),
        (["gcc/12", "ucx/1.16"], ["gcc/12", "ucx/1.16"]),
        (["-", "bwrap --dev-bind / / --cap-drop ALL"], ["-", "bwrap --dev-bind / / --cap-drop ALL"]),
        (["/opt/a/run -x", "/opt/b/run -x"], ["/opt/a/run -x", "/opt/b/run -x"]),
        (["/a/x", "x"], ["/a/x", "x"]),  # alike, were they shorter
        (["/"], ["/"]),
        ([], []),
    ],
)
def test_the_shortest_part_of_a_path_that_tells_it_from_others(names: list[str], short: list[str]) -> None:
    assert short_names(names) == dict(zip(names, short, strict=True))


def test_rows_have_short_names_and_json_the_whole(tmp_path: Path) -> None:
    builds = ["m-1@/opt/before/mpi", "m-1@/opt/now/mpi"]
    points = [FakePoint("mpi.bcast", steady(ns), mpi=mpi) for ns, mpi in ((100.0, "m-1"), (200.0, "m-2"))]
    made = results(write_folder(tmp_path / "out", points, launches=10))
    rows = [replace(row, mpi=name) for row, name in zip(made, builds, strict=True)]
    assert [row.mpi for row in named_shortly([rows])[0]] == ["m-1@before", "m-1@now"]
    set_so = [
        replace(row, env={"LD_PRELOAD": value}) for row, value in zip(rows, ("-", "/a/b.so"), strict=True)
    ]
    assert [row.env["LD_PRELOAD"] for row in named_shortly([set_so])[0]] == ["-", "b.so"]
    found = compare(rivals_by(rows, "mpi"), True, Question())
    assert json.loads(json.dumps(verdict_document(found)))["arms"] == builds
    shown = with_short_names(found)
    assert verdict_table(shown, 0.05).title == "m-1@now against m-1@before"
    assert verdict_sentences(shown, 0.05)[0].startswith("mpi.bcast: m-1@now is slower than m-1@before")
