"""Where the program begins: what is said where memory is too small to load what it needs."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

import steelyard
from steelyard.cli import start
from steelyard.cli.start import _lacks_memory, stopped_by_exception, stopped_gently

_LOADER = "libx.so: failed to map segment from shared object"


def _wrapped(message: str) -> ImportError:
    """As numpy says it: an error of its own, from the loader's."""
    try:
        try:
            raise ImportError(message)
        except ImportError as error:
            raise ImportError("Importing the C-extensions failed") from error
    except ImportError as error:
        return error


@pytest.mark.parametrize(
    ("error", "lacks"),
    [
        (ImportError(_LOADER), True),
        (_wrapped(_LOADER), True),
        (_wrapped("libx.so: cannot open shared object file"), False),
        (ImportError("No module named 'x'"), False),
    ],
)
def test_a_library_without_room_is_told_from_a_missing_one(error: ImportError, lacks: bool) -> None:
    assert _lacks_memory(error) == lacks


def test_little_is_imported_before_an_interruption_is_heard() -> None:
    """Until then Python has a traceback for it."""
    code = (
        "import sys; sys.path.insert(0, sys.argv[1]); sys.argv[0] = 'steelyard'; before = set(sys.modules); "
    )
    code += "import steelyard.cli; print(*sorted(set(sys.modules) - before - {'__future__'})); "
    code += "import signal; print(signal.getsignal(signal.SIGINT).name)"
    source = str(Path(steelyard.__file__).parents[1])
    done = subprocess.run([sys.executable, "-I", "-S", "-c", code, source], capture_output=True, text=True)
    assert done.stdout.split() == ["steelyard", "steelyard.cli", "SIG_DFL"], done.stderr


@pytest.fixture
def ours() -> Iterator[None]:
    """Ctrl-C as the program has it from its beginning."""
    before = signal.signal(signal.SIGINT, start._stop_at_once)
    yield
    signal.signal(signal.SIGINT, before)


@pytest.mark.usefixtures("ours")
def test_the_first_interruption_asks_and_the_second_ends(capfd: pytest.CaptureFixture[str]) -> None:
    with stopped_by_exception():
        with stopped_gently() as is_asked:
            assert not is_asked()
            os.kill(os.getpid(), signal.SIGINT)
            assert is_asked()
            assert "after this test case; Ctrl-C again ends it at once" in capfd.readouterr().err
            with pytest.raises(KeyboardInterrupt):
                os.kill(os.getpid(), signal.SIGINT)
        assert signal.getsignal(signal.SIGINT) is start._stop_at_once


@pytest.mark.usefixtures("ours")
def test_outside_the_first_interruption_ends() -> None:
    with stopped_by_exception():
        with stopped_gently():
            pass
        with pytest.raises(KeyboardInterrupt):
            os.kill(os.getpid(), signal.SIGINT)
