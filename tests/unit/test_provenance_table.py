"""What launches were measured with, in the report."""

from __future__ import annotations

import re
from pathlib import Path

import msgspec

from make_records import FakePoint, steady, write_folder
from record_lines import unsealed
from steelyard.records.parts import Library
from steelyard.records.read import read_folder
from steelyard.report import write_report
from steelyard.report.provenance import provenance_table


def _with(folder: Path, **settings: object) -> None:
    """Give the launch record of each file further settings."""
    for file in (folder / "records").iterdir():
        lines = [msgspec.json.decode(line) for line in unsealed(file.read_text()).splitlines()]
        lines = [{**line, **settings} if line["record"] == "launch" else line for line in lines]
        file.write_bytes(b"".join(msgspec.json.encode(line) + b"\n" for line in lines))


def test_settings_and_libraries_are_in_the_report(tmp_path: Path) -> None:
    write_folder(tmp_path, [FakePoint("mpi.bcast", steady(1e3), bytes=8)], launches=2)
    libraries = [
        Library(path="", build_id="f2e699928e92265d"),
        Library(path="/opt/libmpi.so.1", hash="e5fc83ef6f85f438"),
        Library(path="/opt/libx.so"),
    ]
    mpi = {"library": "x", "cvars": {"EAGER": 4096, "BTL": ""}}
    _with(tmp_path, environment={"UCX_TLS": "tcp\x1b[2J"}, libraries=msgspec.to_builtins(libraries), mpi=mpi)
    table = provenance_table(read_folder(tmp_path))
    assert [line.cells for line in table.lines] == [
        ("mpich-4.0.2", "MPI", "BTL", "empty"),
        ("mpich-4.0.2", "MPI", "EAGER", "4096"),
        ("mpich-4.0.2", "environment", "UCX_TLS", "tcp\\x1b[2J"),
        ("mpich-4.0.2", "library", "libmpi.so.1", "e5fc83ef6f85"),
        ("mpich-4.0.2", "library", "the engine", "f2e699928e92"),
    ]
    write_report([tmp_path], tmp_path / "report.html")
    page = (tmp_path / "report.html").read_text()
    assert "Settings of MPI, environment, libraries" in page
    assert "e5fc83ef6f85" in page
    assert re.search(r">seed</td><td[^>]*>1<", page)
