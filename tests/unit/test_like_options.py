"""Options of other suites beside the name of a test: what does the same here is named."""

from __future__ import annotations

from typing import Any

import pytest
import typer

from steelyard.base.errors import InputError
from steelyard.cli.main import app
from steelyard.plan.like import THEIR_OPTIONS, find_like


@pytest.mark.parametrize(
    ("words", "told"),
    [
        ("osu_latency -m 8:64", "sizes are --bytes 8..64"),
        ("osu_latency -m 64", "for -m, sizes are --bytes 1..1Ki"),
        ("osu_latency -i 1000 -x 10", "--rule fixed --param count=N"),
        ("osu_bw -d cuda", "in the memory of the host"),
        ("Allreduce -npmin 2 -msglen FILE", "for -msglen, sizes are --bytes"),
        ("OSU_BCAST --nonsense", "for --nonsense, see steelyard run --help"),
        ("osu_latency H H", "leave H out"),
    ],
)
def test_options_of_another_suite(words: str, told: str) -> None:
    with pytest.raises(
        InputError, match=f"--like names a test, '{words.split()[0]}', without its options"
    ) as raised:
        find_like(words)
    assert told in str(raised.value)
    assert all(f"for {word}, " in str(raised.value) for word in words.split()[1:] if word.startswith("-"))


def test_each_option_names_one_of_ours_or_says_why_there_is_none() -> None:
    assert all(words and not words.endswith((".", ";")) for words in THEIR_OPTIONS.values())


def test_no_option_of_ours_is_called_another_programs() -> None:
    command: Any = typer.main.get_command(app)
    ours = {name for param in command.get_command(None, "run").params for name in param.opts}
    assert "--bytes" in ours
    assert not ours & THEIR_OPTIONS.keys()


@pytest.mark.parametrize("name", ["osu_init", "osu_hello"])
def test_starts_of_a_job_are_those_of_mpi_init(name: str) -> None:
    """Under any MPI: a session, which MPI 4 has, is another thing."""
    assert find_like(name).op == "mpi.first.init"
