"""What a system may do to the program: full disks, closed streams, signals, limits: one sentence each."""

from __future__ import annotations

import os
import re
import resource
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from campaigns import Orphans, watch_orphans
from further import further
from steelyard.cli.start import main

_ARGV = (sys.executable, "-c", "from steelyard.cli.start import main; main()")
_FIXED = ("run", "self.empty", "--rule", "fixed", "--param", "count=2")
_RUN = (*_FIXED, "--launches", "1")


@pytest.fixture
def orphans(monkeypatch: pytest.MonkeyPatch) -> Orphans:
    return watch_orphans(monkeypatch)


@pytest.fixture(scope="module")
def measured(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A results folder."""
    folder = tmp_path_factory.mktemp("adversity") / "out"
    done = _steelyard(*_RUN, "--out", str(folder))
    assert done.returncode == 0, done.stderr
    return folder


def _steelyard(
    *words: str,
    stdout: int = subprocess.PIPE,
    stderr: int = subprocess.PIPE,
    before: Callable[[], None] | None = None,
    env: dict[str, str] | None = None,
    cwd: Path | None = None,
) -> subprocess.CompletedProcess[str]:
    """The command; `before` is what its process does first."""
    return subprocess.run(
        [*_ARGV, *words],
        stdout=stdout,
        stderr=stderr,
        errors="replace",
        preexec_fn=before,
        env=env,
        cwd=cwd,
        timeout=600,
    )


def _says(done: subprocess.CompletedProcess[str], code: int, words: str) -> None:
    """One sentence, at the end of what it said."""
    assert "Traceback" not in done.stderr
    assert done.returncode == code, done.stderr
    assert re.search(words, done.stderr.splitlines()[-1]), done.stderr


# ---- streams -----------------------------------------------------------------------------------------------


def test_a_full_stdout(measured: Path) -> None:
    with Path("/dev/full").open("w") as full:
        _says(_steelyard("show", str(measured), stdout=full.fileno()), 3, "No space left on device")


def test_a_closed_stdout(measured: Path) -> None:
    done = _steelyard("show", str(measured), before=lambda: os.close(1))
    assert (done.returncode, "Traceback" in done.stderr) == (0, False)


@pytest.mark.parametrize("closed", [(2,), (0, 1, 2)])
def test_a_closed_stderr_changes_no_exit_code(measured: Path, closed: tuple[int, ...]) -> None:
    def close() -> None:
        for number in closed:
            os.close(number)

    codes = [
        _steelyard("show", str(folder), before=close).returncode for folder in (measured, measured / "x")
    ]
    assert codes == [0, 2]


def test_a_terminal_that_does_not_say_its_size(measured: Path) -> None:
    """As that of a container or of a script."""
    ours, theirs = os.openpty()
    env = {name: value for name, value in os.environ.items() if name not in ("COLUMNS", "LINES")}
    try:
        codes = [
            _steelyard("show", str(folder), stderr=theirs, env=env).returncode
            for folder in (measured, measured / "x")
        ]
    finally:
        os.close(theirs)
        os.close(ours)
    assert codes == [0, 2]


def test_a_terminal_of_ascii(measured: Path) -> None:
    env = os.environ | {"LC_ALL": "C", "PYTHONIOENCODING": "ascii", "PYTHONUTF8": "0"}
    done = _steelyard("show", str(measured), env=env)
    assert done.returncode == 0
    assert done.stdout.isascii()
    assert "self.empty" in done.stdout


def test_a_folder_that_is_gone(tmp_path: Path) -> None:
    gone = tmp_path / "gone"
    gone.mkdir()
    done = _steelyard(*_RUN, before=gone.rmdir, cwd=gone)
    _says(done, 2, "^steelyard: the folder in which this was typed is gone; go to another one")


# ---- disks -------------------------------------------------------------------------------------------------


@pytest.fixture
def disk() -> Iterator[Callable[[str], Path]]:
    """A file system of a given size, for those who may mount one."""
    folders: list[Path] = []

    def mount(options: str) -> Path:
        folder = Path(tempfile.mkdtemp(prefix="disk-"))
        words = ["mount", "-t", "tmpfs", "-o", options, "tmpfs", str(folder)]
        if shutil.which("mount") is None or subprocess.run(words, capture_output=True).returncode != 0:
            folder.rmdir()
            pytest.skip("only root may mount a file system")
        folders.append(folder)
        return folder

    yield mount
    for folder in folders:
        subprocess.run(["umount", str(folder)], check=True)
        folder.rmdir()


@pytest.mark.parametrize("size", [further("4k"), further("8k"), "16k"])
def test_a_full_disk_is_one_sentence_and_room_is_all_it_takes_to_go_on(
    disk: Callable[[str], Path], size: str
) -> None:
    folder = disk(f"size={size}")
    done = _steelyard(*_FIXED, "--launches", "3", "--out", str(folder / "out"))
    _says(done, 2 if "cannot be written" in done.stderr else 3, "No space left on device")
    subprocess.run(["mount", "-o", "remount,size=16m", str(folder)], check=True)
    done = _steelyard(*_FIXED, "--launches", "3", "--out", str(folder / "out"))
    assert done.returncode == 0, done.stderr


def test_a_disk_that_may_only_be_read(disk: Callable[[str], Path]) -> None:
    folder = disk("size=16m")
    assert _steelyard(*_RUN, "--out", str(folder / "out")).returncode == 0
    subprocess.run(["mount", "-o", "remount,ro", str(folder)], check=True)
    done = _steelyard(*_FIXED, "--launches", "2", "--out", str(folder / "out"))
    _says(done, 2, "cannot be written: Read-only file system")
    subprocess.run(["mount", "-o", "remount,rw", str(folder)], check=True)


def test_results_that_cannot_be_replaced(measured: Path, tmp_path: Path) -> None:
    folder = shutil.copytree(measured, tmp_path / "out")
    (folder / "results.json").unlink()
    (folder / "results.json").mkdir()
    _says(_steelyard(*_RUN, "--out", str(folder)), 2, r"results\.json.*Is a directory")


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("x" * 300, "File name too long"),
        ("bad-\udcff", "control characters"),
        ("a\x1bb", "control characters"),
    ],
)
def test_names_that_are_no_names(tmp_path: Path, name: str, words: str) -> None:
    _says(_steelyard(*_RUN, "--out", str(tmp_path / name)), 2, words)


# ---- limits ------------------------------------------------------------------------------------------------


def test_few_open_files() -> None:
    done = _steelyard(
        "mpi", "build", "embedded", before=lambda: resource.setrlimit(resource.RLIMIT_NOFILE, (8, 8))
    )
    assert "did you mean" not in done.stderr
    _says(done, 3, "cannot be started: Too many open files|found")


def test_no_home(tmp_path: Path) -> None:
    env = {
        key: value for key, value in os.environ.items() if key not in ("XDG_CACHE_HOME", "STEELYARD_CACHE")
    }
    done = _steelyard("mpi", "list", env=env | {"HOME": ""})
    _says(done, 2, "no home folder for the cache; set STEELYARD_CACHE")


@pytest.mark.parametrize("words", ["list", "list --json", "show {}", "show {} --json", "report {}"])
def test_a_reader_that_leaves_is_no_answer(words: str, measured: Path) -> None:
    """Behind `| head -1`: not 1, by which `compare` says that something is slower, and not 0."""
    reader, writer = os.pipe()
    os.close(reader)
    try:
        done = _steelyard(*words.format(measured).split(), stdout=writer)
    finally:
        os.close(writer)
    said = [line for line in done.stderr.splitlines() if not line.startswith("building ")]
    assert (done.returncode, said) == (128 + signal.SIGPIPE, [])


@pytest.mark.parametrize(
    ("words", "code", "made"),
    [
        (" ".join(_RUN) + " --out {new}", 0, "results.json"),
        ("show {measured}", 0, None),
        ("report {measured} -o {new}/r.html", 0, "r.html"),
        ("show {new}/nowhere", 2, None),
    ],
)
def test_a_stderr_that_nobody_reads_ends_nothing(
    measured: Path, tmp_path: Path, words: str, code: int, made: str | None
) -> None:
    new = tmp_path / "new"
    if made == "r.html":
        new.mkdir()
    reader, writer = os.pipe()
    os.close(reader)
    try:
        done = _steelyard(*words.format(new=new, measured=measured).split(), stderr=writer)
    finally:
        os.close(writer)
    assert done.returncode == code
    assert code != 0 or "self.empty" in done.stdout or made == "r.html"
    assert made is None or (new / made).stat().st_size > 0


# ---- signals -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("after", [0.04, further(0.08), 0.16, further(0.3), 0.4, further(0.7), 1.0])
def test_an_interruption_at_any_instant_is_a_sentence(after: float, orphans: Orphans, tmp_path: Path) -> None:
    # Nobody can catch anything before our code is there.
    code = "from steelyard.cli.start import main; print('begun', flush=True); main()"
    argv = [sys.executable, "-c", code, *_RUN, "--out", str(tmp_path / "out")]
    with subprocess.Popen(argv, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as tool:
        assert tool.stdout is not None
        assert tool.stdout.readline() == "begun\n"
        time.sleep(after)
        tool.send_signal(signal.SIGINT)
        _, err = tool.communicate(timeout=600)
    assert "Traceback" not in err
    assert tool.returncode in (0, 130)  # 0: it was faster
    assert tool.returncode == 0 or err.splitlines()[-1].startswith("steelyard: stopped")
    assert orphans() == []


def test_the_second_interruption_ends_it_at_once(orphans: Orphans, tmp_path: Path) -> None:
    """While the launch is being ended: exit code 130, no traceback, nothing left running."""
    words = ["run", "self.empty", "--rule", "fixed", "--param", "count=1e7", "--out", str(tmp_path / "out")]
    with subprocess.Popen([*_ARGV, *words], stderr=subprocess.PIPE, text=True) as tool:
        _await_launch(tmp_path / "out")
        tool.send_signal(signal.SIGINT)
        assert tool.stderr is not None
        heard = next(line for line in tool.stderr if "Ctrl-C again ends it at once" in line)
        tool.send_signal(signal.SIGINT)  # not before: of two at once the kernel makes one
        err = heard + tool.communicate(timeout=600)[1]
    assert (tool.returncode, "Traceback" in err) == (130, False)
    deadline = time.monotonic() + 600
    while orphans() and time.monotonic() < deadline:
        time.sleep(0.05)
    assert orphans() == []


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGHUP])
def test_a_signal_ends_it_with_its_own_code(number: signal.Signals, orphans: Orphans, tmp_path: Path) -> None:
    words = ["run", "self.empty", "--rule", "fixed", "--param", "count=1e7", "--out", str(tmp_path / "out")]
    with subprocess.Popen([*_ARGV, *words], stderr=subprocess.PIPE, text=True) as tool:
        _await_launch(tmp_path / "out")
        tool.send_signal(number)
        _, err = tool.communicate(timeout=600)
    assert (tool.returncode, "Traceback" in err, orphans()) == (128 + number, False, [])
    assert (tmp_path / "out" / "results.json").is_file()


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_a_signal_that_meets_a_destructor_is_not_forgotten(number: signal.Signals) -> None:
    program = f"""
import os, time
import steelyard.cli.main
from steelyard.cli import start

class Dying:
    def __del__(self):
        os.kill(os.getpid(), {int(number)})
        for _ in range(1000): pass

def command():
    with start.stopped_by_exception():
        try:
            Dying()
            time.sleep(60)
        except KeyboardInterrupt:
            raise SystemExit(130)

steelyard.cli.main.main = command
start.main()
"""
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=600)
    assert (done.returncode, done.stderr) == (128 + number, "")


def _await_launch(folder: Path) -> None:
    deadline = time.monotonic() + 600
    while time.monotonic() < deadline:
        if any(b'"launch"' in path.read_bytes() for path in folder.glob("records/*.jsonl")):
            return
        time.sleep(0.01)
    raise AssertionError("it never began to measure")


def test_the_entry_point_is_light() -> None:
    """Else an interruption while modules are imported would meet nobody."""
    code = "import sys, steelyard.cli.start; print(*sys.modules)"
    loaded = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout
    assert not {"typer", "rich", "msgspec", "numpy"} & set(loaded.split())
    assert main.__module__ == "steelyard.cli.start"


def test_a_folder_whose_name_is_not_utf8(tmp_path: Path) -> None:
    """Results are refused there in a sentence; elsewhere they are measured, also with such a TMPDIR."""
    odd = tmp_path / os.fsdecode(b"caf\xe9")
    odd.mkdir()
    done = _steelyard(*_RUN, cwd=odd)
    assert (done.returncode, list(odd.iterdir())) == (2, [])
    assert r"caf\udce9/results/" in done.stderr
    assert "give --out a place with a plain name, with the whole path" in done.stderr
    environment = {**os.environ, "TMPDIR": str(odd)}
    done = _steelyard(*_RUN, "--out", str(tmp_path / "out"), env=environment, cwd=odd)
    assert done.returncode == 0, done.stderr
