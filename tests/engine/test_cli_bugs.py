"""A bug of ours is never a verdict: exit code 70, one sentence, and a file that can be sent."""

from __future__ import annotations

import json
import os
import stat
import subprocess
import sys
from pathlib import Path

import pytest

from steelyard.cli.internal_error import BUG_CODE
from steelyard.cli.option_tables import commands

# Arguments with which a command gets as far as its own code.
_ENOUGH = {
    "load": ["x"],
    "show": ["x"],
    "report": ["x"],
    "plot": ["x"],
    "export": ["x", "--to", "csv"],
    "compare": ["x"],
    "diff": ["x", "y"],
    "rerun": ["x"],
}
# Replace the work of all commands; each is run in a fork, as its own process.
_PLANT = """
import inspect, json, os, sys, threading, time
import steelyard.cli.options as options
from steelyard.cli.start import main

real = options.add_command

def planted(app, name, its_options, work, **more):
    def bad(_):
        {raises}
    bad.__doc__ = inspect.getdoc(work)
    real(app, name, its_options, bad, **more)

options.add_command = planted
for words in json.loads(sys.argv[1]):
    pid = os.fork()
    if pid == 0:
        sys.argv[1:] = words
        main()
    print(json.dumps([words, os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])]), flush=True)
"""


def _codes(raises: str, calls: list[list[str]], cache: Path) -> tuple[dict[str, int], str]:
    """The exit code of each command, and what all said."""
    done = subprocess.run(
        [sys.executable, "-c", _PLANT.format(raises=raises), json.dumps(calls)],
        capture_output=True,
        text=True,
        env=os.environ | {"STEELYARD_CACHE": str(cache)},
        check=True,
        timeout=600,
    )
    return {" ".join(words): code for words, code in map(json.loads, done.stdout.splitlines())}, done.stderr


def test_a_bug_in_any_command_has_a_code_of_its_own(tmp_path: Path) -> None:
    calls = [[*name.split(), *_ENOUGH.get(name, [])] for name in commands()]
    assert len(calls) > 15
    codes, said = _codes('raise KeyError("token=hunter2")', calls, tmp_path)
    assert codes == {" ".join(words): BUG_CODE for words in calls}
    assert BUG_CODE == 70
    lines = said.splitlines()
    assert len(lines) == len(calls)
    reports = sorted(tmp_path.glob("steelyard-bug-*.txt"))
    assert len(reports) == len(calls)
    for line in lines:
        assert line.startswith("steelyard: this is a bug in steelyard and no verdict: KeyError: 'token=***'")
        assert any(f"send '{path}' to its authors" in line for path in reports)
    for path in reports:
        text = path.read_text()
        assert stat.S_IMODE(path.stat().st_mode) == 0o600
        assert "hunter2" not in text
        assert "Traceback" in text
        assert "command: steelyard " in text
        assert "msgspec" in text


@pytest.mark.parametrize(
    ("raises", "code"),
    [
        ("raise RecursionError", BUG_CODE),
        ("raise EOFError", BUG_CODE),
        ("raise ValueError('x')", BUG_CODE),
        ("raise ImportError('no such module')", BUG_CODE),
        ("assert False", BUG_CODE),
        ("threading.Thread(target={}.pop, args=('x',)).start(); time.sleep(99)", BUG_CODE),
        ("sys.exit('words')", BUG_CODE),
        ("raise MemoryError", 3),
        ("raise KeyboardInterrupt", 130),
        ("raise BrokenPipeError", 141),
    ],
)
def test_only_a_verdict_ends_with_1(tmp_path: Path, raises: str, code: int) -> None:
    codes, said = _codes(raises, [["list"]], tmp_path)
    assert codes == {"list": code}
    assert "Traceback" not in said
    assert len(said.splitlines()) == (0 if code == 141 else 1)


def test_where_nothing_can_be_kept_the_report_is_said(tmp_path: Path) -> None:
    code = "import tempfile; tempfile.tempdir = '/nowhere'; raise KeyError('x')"
    codes, said = _codes(code, [["list"]], Path("/dev/null/cache"))
    assert codes == {"list": BUG_CODE}
    assert "send this to its authors:" in said
    assert said.rstrip().endswith("KeyError: 'x'")


def test_a_full_disk_keeps_no_part_of_a_report(tmp_path: Path) -> None:
    """No file may have a byte: they are created all the same."""
    code = "import resource; resource.setrlimit(resource.RLIMIT_FSIZE, (0, 0)); raise KeyError('x')"
    codes, said = _codes(code, [["export", "x", "--to", "csv"], ["report", "x"]], tmp_path)
    assert set(codes.values()) == {BUG_CODE}
    assert said.count("send this to its authors:") == 2
    assert not list(tmp_path.glob("steelyard-bug-*"))


@pytest.mark.parametrize(
    "bad", ["session.measure.measure_rounds", "cli.progress._Shower.__call__", "records.follow.Tail.advance"]
)
def test_the_results_folder_keeps_the_report_of_a_run(tmp_path: Path, bad: str) -> None:
    """Of a bug before the launches, in what hears of them, and while one runs."""
    program = """
import pkgutil, sys
where, _, name = sys.argv.pop(1).rpartition(".")
def bad(*_, **__): raise KeyError("x")
setattr(pkgutil.resolve_name(f"steelyard.{where}"), name, bad)
from steelyard.cli.start import main
main()
"""
    words = [bad, "run", "self.empty", "--launches", "1", "--out", str(tmp_path / "out")]
    done = subprocess.run([sys.executable, "-c", program, *words], capture_output=True, text=True)
    assert done.returncode == BUG_CODE, done.stderr
    (report,) = (tmp_path / "out").glob("steelyard-bug-*.txt")
    assert str(report) in done.stderr
    assert "Traceback" not in done.stderr
    assert "KeyError: 'x'" in report.read_text()
