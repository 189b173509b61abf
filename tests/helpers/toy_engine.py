"""A toy of an engine, for tests of what builds engines."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

import steelyard.engines.build as module
from steelyard.engines.build import (
    engine_folder,
)

_MAIN = """
#include <stdio.h>
#include "base/version.h"
#include "team/team.h"
int main(void)
{
    printf("{\\"engine\\":\\"%s\\",\\"version\\":\\"%s\\",", team_kind(), version());
    puts("\\"ops\\":[],\\"methods\\":[],\\"stop_rules\\":[]}");
    return 0;
}
"""


TOY_FILES = {
    "main.c": _MAIN,
    "base/version.h": "const char *version(void);",
    "base/version.c": '#include "base/version.h"\nconst char *version(void) { return STEELYARD_VERSION; }',
    "team/team.h": "const char *team_kind(void);",
    "team/team_solo.c": '#include "team/team.h"\nconst char *team_kind(void) { return "solo"; }',
    "team/team_mpi.c": '#include "team/team.h"\n#include <mpi.h>\n'
    'const char *team_kind(void) { return MPI_VERSION && STEELYARD_MPI ? "mpi" : ""; }',
    "team/team_shmem.c": "#include <shmem.h>",
    "team/disseminate.c": "int disseminate(void); int disseminate(void) { return 0; }",
    "ops/shmem/put.c": "#include <shmem.h>",
    "ops/mpi/p2p/pair.c": "#include <mpi.h>\nint p2p(void); int p2p(void) { return MPI_VERSION; }",
    "ops/mpi/self.c": "#include <mpi.h>\nint self(void); int self(void) { return MPI_VERSION; }",
    "comm/comm_mpi.c": "#include <mpi.h>\nint comm(void); int comm(void) { return MPI_VERSION; }",
}


@pytest.fixture
def toy(tmp_path: Path, own_cache: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An engine of a few lines, built by the real rule and flags; no prebuilt one, an empty cache."""
    folder = tmp_path / "engine"
    for name, text in TOY_FILES.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text + "\n")
    shutil.copy(engine_folder() / "build.json", folder)
    monkeypatch.setattr(module, "engine_folder", lambda: folder)
    monkeypatch.setattr(module, "scripts_folder", lambda: tmp_path / "bin")
    monkeypatch.setattr(module, "installed_engine", lambda: tmp_path / "installed")
    shutil.copytree(folder, tmp_path / "installed")
    (tmp_path / "installed" / "libraries.txt").write_text("libfabric\nucx\n")
    return folder
