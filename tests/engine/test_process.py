from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest

from steelyard.base.errors import InputError, MeasurementError
from steelyard.system.process import Child, run

# A launcher whose rank leaves its session, ignores TERM, and writes its pid.
_RANK = """
import os, signal, sys, time
signal.signal(signal.SIGTERM, signal.SIG_IGN)
open(sys.argv[1], "w").write(str(os.getpid()))
time.sleep(60)
"""
_LAUNCHER = f"""
import subprocess, sys, time
subprocess.Popen([sys.executable, "-c", {_RANK!r}, sys.argv[1]], start_new_session=True)
if sys.argv[2] == "stays":
    time.sleep(60)
"""
_TOOL = """
import sys
from steelyard.system.process import Child
with Child(sys.argv[1:]) as child:
    print("up", flush=True)
    child.wait(600)
"""


def _launcher(pid_file: Path, what: str) -> list[str]:
    return [sys.executable, "-c", _LAUNCHER, str(pid_file), what]


def _pid(path: Path) -> int:
    """The pid that the rank writes, waited for."""
    deadline = time.monotonic() + 600
    while time.monotonic() < deadline:
        if path.exists() and (text := path.read_text()):
            return int(text)
        time.sleep(0.01)
    raise AssertionError("the rank never started")


def _runs(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] not in "ZX"
    except OSError:
        return False


def test_where_no_thread_can_be_started_no_process_is(monkeypatch: pytest.MonkeyPatch) -> None:
    """Nobody would end it."""
    started: list[object] = []
    monkeypatch.setattr(subprocess, "Popen", lambda *words, **_: started.append(words))

    def refuse(_: threading.Thread) -> None:
        raise RuntimeError("can't start new thread")

    monkeypatch.setattr(threading.Thread, "start", refuse)
    with pytest.raises(RuntimeError, match="can't start new thread"):
        Child(["sleep", "600"])
    assert started == []


def test_run_keeps_what_was_written() -> None:
    done = run(["sh", "-c", "echo out; echo err >&2; exit 3"])
    assert (done.code, done.out, done.err) == (3, "out\n", "err\n")


def test_run_takes_environment_and_folder(tmp_path: Path) -> None:
    done = run(
        ["sh", "-c", 'echo "$WORD"; pwd'], env={"WORD": "a b", "PATH": os.environ["PATH"]}, cwd=tmp_path
    )
    assert done.out.splitlines() == ["a b", str(tmp_path)]


def test_no_shell_reads_the_arguments() -> None:
    assert run(["printf", "%s", "$(id); *"]).out == "$(id); *"


def test_run_reads_no_stdin_and_much_output() -> None:
    assert run(["sh", "-c", "cat; yes | head -c 3000000"], timeout=600).out == "y\n" * 1500000


@pytest.mark.parametrize("name", ["no-such-program", "/etc/passwd"])
def test_what_cannot_be_started_is_an_input_error(name: str) -> None:
    with pytest.raises(InputError, match=name):
        run([name])


def test_a_timeout_ends_the_process() -> None:
    with pytest.raises(MeasurementError, match=r"'sleep' did not finish within 0\.05 s"):
        run(["sleep", "60"], timeout=0.05)


def test_a_signal_is_a_negative_code() -> None:
    assert run(["sh", "-c", "kill -SEGV $$"]).code == -signal.SIGSEGV


def test_only_the_end_of_the_output_is_kept() -> None:
    with Child(["sh", "-c", "yes | head -c 1000000 >&2; echo last >&2"], keep=1000) as child:
        assert child.wait(600) == 0
    assert len(child.err) == 1000
    assert child.err.endswith("y\nlast\n")


def test_poll_says_whether_it_runs() -> None:
    with Child(["sleep", "60"]) as child:
        assert child.poll() is None
        assert child.wait(0.01) is None
    assert child.poll() == -signal.SIGTERM


@pytest.mark.parametrize("what", ["stays", "dies first"])
def test_no_orphan_is_left(tmp_path: Path, what: str) -> None:
    with Child(_launcher(tmp_path / "pid", what)) as child:
        rank = _pid(tmp_path / "pid")
        assert _runs(rank)
        if what == "dies first":
            child.wait(600)
        child.stop(grace=0.05)
        assert not _runs(rank)


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_no_orphan_is_left_when_we_are_ended(tmp_path: Path, number: signal.Signals) -> None:
    argv = [sys.executable, "-c", _TOOL, *_launcher(tmp_path / "pid", "stays")]
    with subprocess.Popen(argv, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True) as tool:
        assert tool.stdout is not None
        assert tool.stdout.readline() == "up\n"
        rank = _pid(tmp_path / "pid")
        tool.send_signal(number)
        assert tool.wait(600) in (-number, 128 + number)
    assert not _runs(rank)


_COPIES = """
import os
from steelyard.system.process import Child, run
os.register_at_fork(before=lambda: print("copied"))
run(["true"])
print("launch")
with Child(["true"]):
    pass
print("simulation")
with Child(["true"], tidy=False):
    pass
print("removal")
run(["true"], ends_with_us=True)
"""


def test_a_short_command_needs_no_copy_of_this_process() -> None:
    """Which takes 10 ms where this one is large; what may last is told to end with it, which takes a copy."""
    said = run([sys.executable, "-c", _COPIES], timeout=600).out.split()
    assert said == ["launch", "copied", "simulation", "copied", "removal", "copied"]


def test_others_are_left_alone(tmp_path: Path) -> None:
    with subprocess.Popen(["sleep", "60"], start_new_session=True) as other:
        with Child(_launcher(tmp_path / "pid", "stays")) as child:
            _pid(tmp_path / "pid")
            child.stop(grace=0.05)
        assert other.poll() is None
        other.kill()


def test_a_command_that_takes_too_long_takes_nobody_along() -> None:
    """A child that this program had before is neither its mark's nor its session's."""
    with subprocess.Popen(["sleep", "60"], start_new_session=True) as other:
        with pytest.raises(MeasurementError):
            run(["sleep", "60"], timeout=0.05)
        assert other.poll() is None
        other.kill()


def test_the_handlers_are_given_back() -> None:
    before = signal.getsignal(signal.SIGTERM)
    with Child(["true"]) as child:
        child.wait(600)
    assert signal.getsignal(signal.SIGTERM) is before


# What a daemon does: its parent dies, it has a session of its own, and an empty environment.
_DAEMON = f"""
import os, sys
if os.fork() == 0:
    os.setsid()
    if os.fork() == 0:
        os.execve(sys.executable, [sys.executable, "-c", {_RANK!r}, sys.argv[1]], {{}})
    os._exit(0)
os.wait()
"""


def test_what_dropped_its_parent_and_its_environment_is_ended(tmp_path: Path) -> None:
    with Child([sys.executable, "-c", _DAEMON, str(tmp_path / "pid")]) as child:
        assert child.wait(600) == 0
        daemon = _pid(tmp_path / "pid")
        assert _runs(daemon)
    assert not Path(f"/proc/{daemon}").exists()  # nor is it left as a zombie


def test_what_is_there_is_told_before_it_is_ended(tmp_path: Path) -> None:
    seen: list[int] = []
    with Child(_launcher(tmp_path / "pid", "stays"), before_stop=seen.extend) as child:
        rank = _pid(tmp_path / "pid")
    assert {child.pid, rank} <= set(seen)
