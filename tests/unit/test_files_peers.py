"""The benchmark that holds MPI-IO against IMB-IO and IOR: which of their lines count, what ours is beside."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import pytest

from loaded import load_benchmark
from scripts import script

files = load_benchmark("files_peers")


@pytest.fixture
def setting(tmp_path: Path) -> Any:
    return files.Setting("mpi", 2, tmp_path, (), dict(os.environ))


_IMB = """
while [ "$1" != -msglen ]; do shift; done
time=40
while read -r size; do
    echo "  $size  50  1.00  $time.00  2.00  99.9"
    time=$((time > 10 ? time - 10 : 10))
done < "$2"
"""


@pytest.mark.parametrize(("lines", "expected"), [(1, 40.0), (40, 10.0)])
def test_lines_of_imb_count_from_the_third_on(
    setting: Any, tmp_path: Path, lines: int, expected: float
) -> None:
    program = script(tmp_path / "IMB-IO", _IMB)
    assert files.imb_of(setting, program, "P_Write_Expl", 1024, lines) == expected


def test_a_test_of_imb_that_ends_early_is_told(setting: Any, tmp_path: Path) -> None:
    program = script(tmp_path / "IMB-IO", "echo '  2048  50  1.00  4.00  2.00  99.9'")
    with pytest.raises(SystemExit, match="C_Read_Expl printed 1 lines of 40"):
        files.imb_of(setting, program, "C_Read_Expl", 1024, 40)


_IOR = """
echo "$@" >> "$(dirname "$0")/words"
for time in 9 8 2 2 3 2 2; do
    echo "write 1 1 1 1 1 1 $time 1 1 0"
    echo "read 1 1 1 1 1 1 $((time + 1)) 1 1 0"
done
"""


@pytest.mark.parametrize(
    ("access", "alone", "seconds", "commands"),
    [
        ("write", True, 2, ["-w -i 22"]),
        ("read", True, 3, ["-w", "-r -i 80"]),
        ("read", False, 3, ["-w -r -i 22"]),
    ],
)
def test_the_early_repetitions_of_ior_do_not_count(
    setting: Any,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    access: str,
    alone: bool,
    seconds: int,
    commands: list[str],
) -> None:
    assert files.REPETITIONS == {"write": (22, 2), "read": (80, 30)}
    monkeypatch.setitem(files.REPETITIONS, "read", (80, 4))
    program = script(tmp_path / "ior", _IOR)
    size = 1 << 20
    piece = files.ior_of(setting, program, "file=own", size, access, alone=alone)
    assert piece == pytest.approx(seconds / (files.IOR_BYTES // size) * 1e6)
    said = (tmp_path / "words").read_text().splitlines()
    assert [line.partition("/ior ")[2] for line in said] == commands


def test_writes_of_ior_are_those_of_new_pages(setting: Any) -> None:
    ours = {
        pair.name: pair.ours.args[1][0] for pair in files.ior_pairs(setting, Path("ior"), 65536, steps=True)
    }
    assert ours["IOR write, file=own"] == "mpi.io.write_at.new"
    assert ours["IOR write, file=own, ours over pages that are there"] == "mpi.io.write_at"
    assert ours["IOR read, file=own"] == ours["IOR read, file=own, after each write"] == "mpi.io.read_at"
