"""Libraries of ops that a user might compile."""

from __future__ import annotations

from pathlib import Path

from steelyard.engines.build import engine_folder, header_folder
from steelyard.system.process import run

OWN_OPS = Path(__file__).parent.parent / "data" / "own_ops.c"
EXAMPLES = engine_folder().parent / "examples" / "own"
_SECONDS = 600


def build_library(compiler: str, source: Path, library: Path, *words: str) -> Path:
    """Compile a C file as a library of ops; `words` are further options."""
    given = ["-O1", "-Wall", "-Wextra", "-Werror", "-fPIC", "-shared", "-pthread", f"-I{header_folder()}"]
    argv = [compiler, *given, "-o", str(library), str(source), *words]  # libraries after what needs them
    done = run(argv, timeout=_SECONDS)
    assert done.code == 0, done.err
    return library
