"""ReFrame, Extra-P and Thicket themselves: they are in an environment of their own, which `make test-all`
makes.
"""

from __future__ import annotations

import json
import os
import subprocess
from pathlib import Path
from typing import Any

import pytest

import steelyard
from flat_rows import made_launch, made_row
from steelyard.analyses.analysis import Made
from steelyard.export.export_input import Export, ExportedFolder
from steelyard.export.formats import FORMATS

pytestmark = pytest.mark.further

_BIN = Path(__file__).parents[2] / "build" / "consumers" / "bin"
_SOURCE = Path(steelyard.__file__).parents[1]
_CHECK = """
import reframe as rfm
from steelyard.adapters.reframe import SteelyardCheck

@rfm.simple_test
class bcast(SteelyardCheck):
    what = "mpi.bcast -n 2 --bytes 8"
"""
_POINT = {
    "point": 0,
    "op": "mpi.bcast",
    "bytes": 8,
    "sized": True,
    "status": "ok",
    "why": None,
    "verified": True,
    "time": 1500.0,
    "bandwidth": 2e9,
}
_BOUNDS = "(-0.1, 0.1, 'us')"


def _consumer(name: str) -> Path:
    """A program of theirs; it is an error, and no reason to skip, if it is missing."""
    path = _BIN / name
    assert path.exists(), f"{path} is missing; type: make build/consumers/installed"
    return path


def _reframe(folder: Path, point: dict[str, Any], reference: str = "") -> tuple[int, str]:
    """Run the check; a script that prints a document stands in for a measurement."""
    program = folder / "bin" / "steelyard"
    program.parent.mkdir()
    document = json.dumps({"points": [point]})
    program.write_text(f"#!/bin/sh\necho \"$@\" >&2\ncat <<'END'\n{document}\nEND\n")
    program.chmod(0o755)
    (folder / "check.py").write_text(_CHECK + reference)
    environ = {
        **os.environ,
        "PATH": f"{program.parent}:{os.environ['PATH']}",
        "PYTHONPATH": str(_SOURCE),
        "HOME": str(folder),
    }
    words = ["-c", "check.py", "-r", "--prefix", "out", "--keep-stage-files"]
    ended = subprocess.run(
        [_consumer("reframe"), *words], cwd=folder, env=environ, capture_output=True, text=True, timeout=600
    )
    return ended.returncode, ended.stdout + ended.stderr


@pytest.mark.parametrize(
    ("more", "value", "code", "words"),
    [
        ({}, None, 0, "P: mpi_bcast_8B_time: 1.5 us"),
        ({}, 1.5, 0, "P: mpi_bcast_8B_bandwidth: 2000"),
        ({}, 1.0, 1, "mpi_bcast_8B_time"),
        ({"status": "failed", "why": "hang: no record for 20s"}, None, 1, "hang: no record for 20s"),
        ({"verified": False}, None, 1, "the answers are wrong"),
        ({"status": "skipped"}, None, 1, "nothing was measured"),
    ],
    ids=["values", "as its reference", "slower than its reference", "failed", "wrong", "skipped"],
)
def test_three_lines_are_a_check_of_reframe(
    tmp_path: Path, more: dict[str, Any], value: float | None, code: int, words: str
) -> None:
    reference = (
        f"    reference = {{'*': {{'mpi_bcast_8B_time': ({value}, {_BOUNDS[1:]}}}}}\n" if value else ""
    )
    ended, text = _reframe(tmp_path, _POINT | more, reference)
    assert ended == code, text
    assert words in text
    (script_words,) = (path.read_text() for path in tmp_path.glob("out/stage/**/rfm_job.err"))
    assert script_words == "run mpi.bcast -n 2 --bytes 8 --to json --out results\n"


_READ = """
import sys
from extrap.fileio.file_reader.jsonlines_file_reader import read_jsonlines_file
found = read_jsonlines_file(sys.argv[1])
(measurements,) = found.measurements.values()
print([p.name for p in found.parameters], [str(c.name) for c in found.callpaths])
print([(c.as_tuple() if hasattr(c, "as_tuple") else tuple(c)) for c in found.coordinates])
print([round(m.median * 1e9) for m in measurements], {m.repetitions for m in measurements})
"""


def test_extra_p_reads_a_measurement_of_each_launch(tmp_path: Path) -> None:
    sizes = (8, 16, 32, 64, 128)
    rows = tuple(
        made_row(
            bytes=size, point=size, launches=tuple(made_launch(i, median=100.0 * size) for i in (1, 2, 3))
        )
        for size in sizes
    )
    file = tmp_path / "a.jsonl"
    file.write_bytes(FORMATS["extrap"](Export((ExportedFolder(Path("mine"), Made(rows)),))))
    ended = subprocess.run(
        [_consumer("python"), "-c", _READ, file], capture_output=True, text=True, timeout=600
    )
    names, places, values = ended.stdout.splitlines() or [ended.stderr, "", ""]
    assert names == "['bytes'] ['mpi.bcast->mpich']", names
    assert places == str([(float(size),) for size in sizes]) or places == str([(size,) for size in sizes])
    assert values == f"{[100 * size for size in sizes]} {{3}}"


_THICKET = """
import sys
import thicket
found = thicket.Thicket.from_caliperreader(sys.argv[1:], disable_tqdm=True)
times = found.dataframe.reset_index()
times = times[times["name"].str.startswith("bytes:")]
print(sorted(found.metadata["ranks"].tolist()), sorted(found.metadata["mpi"].unique()))
print(sorted(times["name"].unique()), [round(ns * 1e9) for ns in sorted(times["time_seconds"])])
thicket.stats.mean(found, ["time_seconds"])
(means,) = (column for column in found.statsframe.dataframe if "time_seconds_mean" in column)
print(sorted(round(ns * 1e9) for ns in found.statsframe.dataframe[means].dropna()))
print(found.statsframe.tree(metric_column=means).count("bytes:"))
"""


def test_thicket_compares_profiles_of_two_numbers_of_ranks(tmp_path: Path) -> None:
    """Regions of the same name are one; ranks tell profiles apart."""
    files = []
    for ranks in (2, 4):
        rows = tuple(
            made_row(bytes=size, point=size, ranks=ranks, median=100.0 * size * ranks) for size in (8, 16)
        )
        files.append(tmp_path / f"{ranks}.cali")
        files[-1].write_bytes(FORMATS["caliper"](Export((ExportedFolder(Path("mine"), Made(rows)),))))
    ended = subprocess.run(
        [_consumer("python"), "-c", _THICKET, *files], capture_output=True, text=True, timeout=600
    )
    assert ended.stdout.splitlines()[-4:] == [
        "[2, 4] ['mpich']",
        "['bytes:16', 'bytes:8'] [1600, 3200, 3200, 6400]",
        "[2400, 4800]",
        "2",
    ], ended.stderr
