"""The page on models of MPIs: what its folders share stands once, what each has in a table."""

from __future__ import annotations

from pathlib import Path

from loaded import load_benchmark
from make_records import FakePoint, steady, write_folder


def test_each_folder_has_a_line_and_the_machine_one(tmp_path: Path) -> None:
    sizes = [FakePoint("mpi.pingpong", steady(1e3 + size, count=60), bytes=size) for size in (8, 64, 1024)]
    folders = [write_folder(tmp_path / name, sizes, launches) for name, launches in (("a", 3), ("b", 2))]
    load_benchmark("apps_page")
    lines = "\n".join(load_benchmark("models_page").page(folders)).splitlines()
    assert sum(line.startswith("- **Where.**") for line in lines) == 1
    table = lines[lines.index("| folder | when | load |") + 2 :][:2]
    assert [line.split(" | ")[0] for line in table] == ["| `a`", "| `b`"]
    assert "3 launches of 3 test cases, of which 3 ran" in table[0]
    assert "2 launches of 3 test cases, of which 3 ran" in table[1]
