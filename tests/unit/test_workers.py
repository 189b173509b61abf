"""Work that several processes share: the same answer as one has, whatever becomes of them, and none is left.

In programs of their own, for a process that runs tests may have threads, and does not fork then.
"""

from __future__ import annotations

import json
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest

from steelyard.system.process_stat import process_stat

_BEGIN = """
import json, os, signal, sys, threading, time
from steelyard.base.errors import InputError
from steelyard.system.workers import mapped
os.sched_getaffinity = lambda _: {0, 1, 2}  # on whatever machine this runs
me, folder = os.getpid(), sys.argv[1]
"""


def _said(program: str, folder: Path) -> Any:
    """What a program prints, as JSON."""
    done = subprocess.run(
        [sys.executable, "-c", _BEGIN + program, str(folder)], capture_output=True, text=True, timeout=600
    )
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def test_all_things_in_their_order_by_several_processes(tmp_path: Path) -> None:
    program = """
plus = 10  # a fork knows what this process knows
found = mapped(lambda one: (one + plus, os.getpid()), range(8), 1.0)
pids = {pid for _, pid in found}
print(json.dumps([[one for one, _ in found], len(pids), me in pids]))
"""
    assert _said(program, tmp_path) == [list(range(10, 18)), 3, False]


@pytest.mark.parametrize(
    "why",
    [
        "seconds = 0.1",
        "things = [1]",
        "os.sched_getaffinity = lambda _: {5}",
        "threading.Thread(target=time.sleep, args=(5,), daemon=True).start()",
    ],
)
def test_one_process_does_alone_what_is_not_to_be_shared(why: str, tmp_path: Path) -> None:
    program = f"""
seconds, things = 1.0, [1, 2, 3]
{why}
print(json.dumps([pid == me for pid in mapped(lambda _: os.getpid(), things, seconds)]))
"""
    assert set(_said(program, tmp_path)) == {True}


def test_an_error_is_raised_where_the_work_was_asked_for(tmp_path: Path) -> None:
    program = """
def work(one):
    if one == 2:
        raise InputError(f"{one} is broken; give another")
    return one
try:
    mapped(work, range(4), 1.0)
except InputError as error:
    print(json.dumps(str(error)))
"""
    assert _said(program, tmp_path) == "2 is broken; give another"


def test_what_a_killed_fork_leaves_is_done_here(tmp_path: Path) -> None:
    program = """
def work(one):
    if one == 2 and os.getpid() != me:
        os.kill(os.getpid(), signal.SIGKILL)
    return one, os.getpid() == me
print(json.dumps(mapped(work, range(4), 1.0)))
"""
    assert _said(program, tmp_path) == [[one, True] for one in range(4)]


_WAITS = """
def work(one):
    open(os.path.join(folder, str(os.getpid())), "w").close()
    time.sleep(60)
mapped(work, range(3), 1.0)
"""


@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGTERM, signal.SIGINT])
def test_no_fork_outlives_its_parent(number: signal.Signals, tmp_path: Path) -> None:
    program = [sys.executable, "-c", _BEGIN + _WAITS, str(tmp_path)]
    with subprocess.Popen(program, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as parent:
        _wait_until(lambda: len(list(tmp_path.iterdir())) == 3)
        forks = [int(path.name) for path in tmp_path.iterdir()]
        assert all(map(_is_alive, forks))
        parent.send_signal(number)
        parent.wait(600)
    _wait_until(lambda: not any(map(_is_alive, forks)))


def _is_alive(pid: int) -> bool:
    stat = process_stat(pid)
    return stat is not None and stat.state != "Z"  # what has ended may wait for who takes it over


def _wait_until(holds: Any) -> None:
    deadline = time.monotonic() + 600
    while not holds():
        assert time.monotonic() < deadline
        time.sleep(0.02)


def test_where_a_fork_failed_is_passed_with_its_error(tmp_path: Path) -> None:
    program = """
def deep(one): raise ValueError(one)
try:
    mapped(lambda one: deep(one), [1, 2, 3], 1.0)
except ValueError as error:
    print(json.dumps([error.args, "in deep" in "".join(error.__notes__)]))
"""
    assert _said(program, tmp_path) == [[1], True]


def test_an_error_that_cannot_be_passed_is_met_again(tmp_path: Path) -> None:
    program = """
class Odd(Exception):
    def __init__(self, one, two): super().__init__("said")
def work(one): raise Odd(1, 2)
try:
    mapped(work, [1, 2, 3], 1.0)
except Odd as error:
    print(json.dumps(str(error)))
"""
    assert _said(program, tmp_path) == "said"


_HEIR = """
from pathlib import Path
from steelyard.system.workers import inherited_by
with inherited_by((Path(folder) / "cleared").touch):
    print(open(f"/proc/{me}/task/{me}/children").read())
    END
"""


@pytest.mark.parametrize(
    ("end", "clears"),
    [("pass", False), ("raise SystemExit(7)", False), ("os._exit(7)", True), ("os.kill(me, 9)", True)],
)
def test_a_fork_clears_up_after_its_parent_alone(end: str, clears: bool, tmp_path: Path) -> None:
    """Whoever reads what the program says does not wait for the fork, nor is it ended with the program."""
    program = _BEGIN + _HEIR.replace("END", end)
    with subprocess.Popen(
        [sys.executable, "-uc", program, str(tmp_path)], stdout=subprocess.PIPE, start_new_session=True
    ) as one:
        heir = int(one.communicate(timeout=600)[0])
    deadline = time.monotonic() + 600
    while (stat := process_stat(heir)) and stat.state != "Z" and time.monotonic() < deadline:
        time.sleep(0.01)
    assert stat is None or stat.state == "Z"
    assert (tmp_path / "cleared").exists() is clears
