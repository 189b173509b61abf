"""A path that is no results folder is told for what it is."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from steelyard.base.errors import InputError
from steelyard.records.results_folder import check_results_folder

_HYPERFINE = '{"results": [{"command": "true", "mean": 0.1, "stddev": 0.0, "times": [0.1]}]}'
_GOOGLE = '{"context": {"date": "", "num_cpus": 2}, "benchmarks": []}'
_LIKE = "'steelyard run --like NAME' measures the same test"


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("# OSU MPI Latency Test v7.4\n# Size Latency (us)\n0 0.2\n", ("OSU Micro-Benchmarks wrote", _LIKE)),
        ("#---\n#    Intel(R) MPI Benchmarks 2021.8, MPI-1 part\n", ("Intel MPI Benchmarks wrote", _LIKE)),
        (_HYPERFINE, ("a file that hyperfine wrote", "give a folder that")),
        (_GOOGLE, ("a file that Google Benchmark wrote", "'steelyard load' shows it")),
        ("[[measure]]\nops = ['mpi.bcast']\n", ("a plan", "'steelyard run' measures it")),
        ("<!DOCTYPE html>\n", ("a page", "give the results folder")),
        ("words\n", ("is a file and no results folder", "'steelyard run' wrote, or 'steelyard load'")),
        ("\0\xff", ("is a file and no results folder",)),
        ("", ("is a file and no results folder",)),
    ],
)
def test_a_file_is_told_for_what_it_is(tmp_path: Path, text: str, words: tuple[str, ...]) -> None:
    file = tmp_path / "other"
    file.write_text(text)
    with pytest.raises(InputError, match="no results folder") as raised:
        check_results_folder(file)
    assert all(part in str(raised.value) for part in (*words, f"'{file}'"))


def test_a_file_of_a_results_folder(tmp_path: Path) -> None:
    for name in ("campaign.json", "results.json"):
        (tmp_path / name).write_text("{}")
    with pytest.raises(InputError, match=f"is a file of a results folder; give the folder: {tmp_path}"):
        check_results_folder(tmp_path / "results.json")


def test_nothing_and_what_is_no_file(tmp_path: Path) -> None:
    check_results_folder(tmp_path)
    with pytest.raises(InputError, match="there is no results folder"):
        check_results_folder(tmp_path / "nothing")
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(InputError, match="is a file and no results folder"):
        check_results_folder(tmp_path / "pipe")
