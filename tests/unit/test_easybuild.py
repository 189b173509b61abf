"""EasyBuild itself reads the easyconfig; it is in the environment that `make test-all` makes."""

from __future__ import annotations

import os
import re
import subprocess
from pathlib import Path

import pytest

_ROOT = Path(__file__).parents[2]
_BIN = _ROOT / "build" / "consumers" / "bin"
_MODULES = Path("/usr/lib/x86_64-linux-gnu/modulecmd.tcl")

pytestmark = pytest.mark.further


def _easyconfig(folder: Path) -> Path:
    """As `make recipes` fills it, with the checksum of an archive that nobody reads here."""
    template = _ROOT / "packaging" / "easybuild" / "steelyard-foss-2025b.eb.in"
    text = template.read_text().replace("@VERSION@", "9.9.9").replace("@SHA256@", "0" * 64)
    path = folder / "steelyard-9.9.9-foss-2025b.eb"
    path.write_text(text)
    return path


def _eb(folder: Path, *words: str | Path) -> tuple[int, str]:
    program = _BIN / "eb"
    assert program.exists(), f"{program} is missing; type: make build/consumers/installed"
    if not _MODULES.exists():
        pytest.skip("Environment Modules are not installed")
    home = folder / "modules"
    (home / "libexec").mkdir(parents=True, exist_ok=True)
    if not (home / "libexec" / _MODULES.name).exists():  # where EasyBuild looks for it
        (home / "libexec" / _MODULES.name).symlink_to(_MODULES)
    environ = {
        "PATH": f"{_BIN}{os.pathsep}{os.environ['PATH']}",
        "HOME": str(folder),
        "MODULESHOME": str(home),
        "EASYBUILD_PREFIX": str(folder / "prefix"),
        "EASYBUILD_TMPDIR": str(folder),
        "EASYBUILD_MODULES_TOOL": "EnvironmentModules",
        "EASYBUILD_MODULE_SYNTAX": "Tcl",
        "EASYBUILD_ALLOW_MODULES_TOOL_MISMATCH": "1",
        "EASYBUILD_ALLOW_USE_AS_ROOT_AND_ACCEPT_CONSEQUENCES": "1",
    }
    ended = subprocess.run(
        [program, *words], cwd=folder, env=environ, capture_output=True, text=True, timeout=600
    )
    return ended.returncode, ended.stdout + ended.stderr


def test_easybuild_would_take_it_as_a_contribution(tmp_path: Path) -> None:
    """Its style, and a checksum of each source."""
    code, text = _eb(tmp_path, "--check-contrib", _easyconfig(tmp_path))
    assert code == 0, text
    assert "All contribution checks PASSed!" in text


def test_easybuild_misses_a_checksum(tmp_path: Path) -> None:
    """The check above can fail."""
    path = _easyconfig(tmp_path)
    path.write_text(re.sub(r"        'checksums': \['0+'\],\n", "", path.read_text()))
    code, text = _eb(tmp_path, "--check-contrib", path)
    assert code != 0
    assert "checksum" in text


def test_easybuild_knows_each_dependency(tmp_path: Path) -> None:
    """Its own easyconfigs have them all, down to the compiler."""
    code, text = _eb(tmp_path, "--dry-run", "--robot", _easyconfig(tmp_path))
    assert code == 0, text
    modules = re.findall(r"\(module: (\S+)\)", text)
    assert modules[-1] == "steelyard/9.9.9-foss-2025b"
    assert {"foss/2025b", "Python/3.13.5-GCCcore-14.3.0", "scikit-build-core/0.11.5-GCCcore-14.3.0"} <= {
        *modules
    }
