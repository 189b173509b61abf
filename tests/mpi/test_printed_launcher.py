"""The launcher alone, as a failed start advises it, does what the launch did before it failed."""

from __future__ import annotations

import platform
import re
import shlex
import subprocess
from pathlib import Path

import pytest

from advice import FOLDER, Advice
from commands import FIXED
from scripts import script
from steelyard.engines.mpi import Mpi

pytestmark = pytest.mark.launching


def test_the_launcher_alone_starts_as_many(advice: Advice, mpi: Mpi, tmp_path: Path) -> None:
    """Whatever the launch had: two ranks on a core each, a wrapper, a variable."""
    wrapper = script(tmp_path / "wrap", 'case "$1" in *steelyard-*) exit 7 ;; esac; exec "$@"')
    words = ("--wrapper", wrapper, "--env", "A=b c", "--mpi", mpi.mpiexec, "--oversubscribe")
    assert advice.steelyard("run", "mpi.barrier", "-n", "2", *FIXED, *words, "--out", FOLDER).code == 3
    said = advice.steelyard("show", FOLDER).err
    (command,) = re.findall("try the launcher alone: ([^;]*);", said)
    done = subprocess.run(shlex.split(command), capture_output=True, text=True, timeout=600)
    assert done.returncode == 0, done.stderr
    assert done.stdout.split() == [platform.node()] * 2
