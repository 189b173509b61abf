"""The benchmark that counts warnings: its commands are those of the pages, and it finds what they said."""

from __future__ import annotations

import shlex

import pytest

from loaded import load_benchmark
from pages import commands, words_of

quiet = load_benchmark("quiet_commands")
# Options that the benchmark may give otherwise than the page, to end in time and in a place of its own.
_OWN = ("--time-budget", "--out", "--class", "--launches", "--bytes", "--placement")
_PAGES = ("README.md", "docs/tutorial.md", "docs/howto.md")


def _asked(words: list[str]) -> frozenset[str]:
    """What is measured, without the options that are the benchmark's own."""
    left = list[str]()
    skip = False
    for word in words:
        if not skip and word not in _OWN:
            left.append(word)
        skip = word in _OWN
    return frozenset(left)


def test_there_are_twenty_commands_of_the_pages() -> None:
    typed = {_asked(words_of(one)) for one in commands("steelyard") if one.page in _PAGES}
    if not typed:
        pytest.skip("no docs beside this package")
    asked = [_asked(shlex.split(command)) for command in quiet.COMMANDS]
    assert len(quiet.COMMANDS) == len(set(quiet.COMMANDS)) == 20
    unknown = [command for command, words in zip(quiet.COMMANDS, asked, strict=True) if words not in typed]
    assert unknown == []


def test_shares_are_all_commands_once() -> None:
    parts = [quiet.share_of(quiet.COMMANDS, f"{i}/3") for i in (1, 2, 3)]
    assert sorted(command for part in parts for command in part) == sorted(quiet.COMMANDS)
    for wrong in ("0/3", "4/3", "x", "1"):
        with pytest.raises(ValueError, match=r".*"):
            quiet.share_of(quiet.COMMANDS, wrong)


_ERR = """launch 1 of 2: 2 ranks
  warning: 'loop' (pid 17) took 50 % of a CPU
warning: Other processes ran where the ranks did. 'loop' (pid 17) took 50 %.
note: something
"""
_OUT = """     8B  210ns  2.0%  38.1MB/s
    64B  230ns   50%  38.1MB/s  noisy: only 3 launches
"""


def test_what_cries_is_counted_and_a_process_is_named() -> None:
    heard = quiet.heard_of("run mpi.pingpong", 0, _OUT, _ERR)
    assert (len(heard.warnings), len(heard.cries)) == (2, 1)
    assert quiet.is_named(heard, 17)
    assert not quiet.is_named(heard, 1)
    first, *rest = quiet.lines_of(heard)
    assert first == "2 warnings, 1 remarks, exit code 0: steelyard run mpi.pingpong"
    assert len(rest) == 3
    silent = quiet.heard_of("run mpi.pingpong", 0, _OUT.splitlines()[0], "note: x\n")
    assert (silent.warnings, silent.cries) == ((), ())


def test_a_loop_runs_where_it_is_put_and_ends() -> None:
    cpu = min(quiet.os.sched_getaffinity(0))
    before = quiet.os.sched_getaffinity(0)
    with quiet.disturbed(cpu) as pid:
        assert quiet.os.sched_getaffinity(pid) == {cpu}
        assert quiet.os.sched_getaffinity(0) == before
    assert not quiet.Path(f"/proc/{pid}").exists()
