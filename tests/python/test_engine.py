from __future__ import annotations

import json
import os
import shlex
import shutil
from pathlib import Path

import msgspec
import pytest

import steelyard.engine as module
from conftest import script
from steelyard import __version__
from steelyard.engine import (
    Engine,
    build_command,
    describe,
    engine_folder,
    engine_sources,
    mpi_engine,
    read_build,
    solo_engine,
)
from steelyard.errors import InputError, MeasurementError
from steelyard.mpi import Mpi
from steelyard.process import run

_MAIN = """
#include <stdio.h>
#include "team/team.h"
int main(void)
{
    printf("{\\"engine\\":\\"%s\\",\\"version\\":\\"%s\\"}", team_kind(), STEELYARD_VERSION);
    return 0;
}
"""
_FILES = {
    "main.c": _MAIN,
    "team/team.h": "const char *team_kind(void);",
    "team/team_solo.c": '#include "team/team.h"\nconst char *team_kind(void) { return "solo"; }',
    "team/team_mpi.c": '#include "team/team.h"\n#include <mpi.h>\n'
    'const char *team_kind(void) { return MPI_VERSION && STEELYARD_MPI ? "mpi" : ""; }',
    "ops/mpi_p2p.c": "#include <mpi.h>\nint p2p(void); int p2p(void) { return MPI_VERSION; }",
    "kernels/cg_mpi.c": "#include <mpi.h>\nint cg(void); int cg(void) { return MPI_VERSION; }",
}


@pytest.fixture
def toy(tmp_path: Path, own_cache: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An engine of a few lines, built by the real rule and flags; no prebuilt one, an empty cache."""
    folder = tmp_path / "engine"
    for name, text in _FILES.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text + "\n")
    shutil.copy(engine_folder() / "build.json", folder)
    monkeypatch.setattr(module, "engine_folder", lambda: folder)
    monkeypatch.setattr(module, "scripts_folder", lambda: tmp_path / "bin")
    return folder


def _names(folder: Path, kind: module.Kind) -> set[str]:
    return {str(path.relative_to(folder)) for path in engine_sources(folder, kind)}


def test_each_engine_has_its_sources(toy: Path) -> None:
    assert _names(toy, "solo") == {"main.c", "team/team_solo.c"}
    assert _names(toy, "mpi") == set(_FILES) - {"team/team_solo.c", "team/team.h"}


def test_the_solo_engine_is_built_once(toy: Path, own_cache: Path, compiler: str) -> None:
    engine = solo_engine()
    built = Path(engine.path).stat().st_mtime_ns
    assert describe(engine) == {"engine": "solo", "version": __version__}
    assert solo_engine() == engine
    assert Path(engine.path).stat().st_mtime_ns == built
    assert [path.name for path in (own_cache / "engines").glob("*/*")].count("steelyard-solo") == 1


def test_a_changed_source_gives_a_new_engine(toy: Path, compiler: str) -> None:
    before = solo_engine()
    (toy / "team" / "team.h").write_text("const char *team_kind(void); /* changed */\n")
    assert solo_engine().path != before.path


def test_an_engine_for_each_mpi(toy: Path, mpi: Mpi) -> None:
    if mpi.mpicc is None:
        pytest.skip(f"{mpi.name} has no mpicc")
    engine = mpi_engine(mpi)
    assert describe(engine)["engine"] == "mpi"
    assert mpi_engine(mpi) == engine


def test_a_failed_build_is_one_sentence_and_a_log(toy: Path, compiler: str) -> None:
    (toy / "main.c").write_text("int main(void) { return wrong; }\n")
    with pytest.raises(
        InputError, match=r"could not be built with .*'wrong' undeclared|.wrong. undeclared"
    ) as raised:
        solo_engine()
    log = Path(str(raised.value).rpartition("all in ")[2].rstrip(")"))
    assert log.read_text().startswith(f"$ {compiler.rpartition('/')[2]} ")
    assert not [path for path in log.parent.iterdir() if path != log]


def _mpi(**changes: object) -> Mpi:
    mpi = Mpi("mpich-5.0.2", "mpich", "5.0.2", None, "/p/bin/mpiexec", "/p", abi=True, origin="given")
    return msgspec.structs.replace(mpi, **changes)


def test_the_prebuilt_engine_is_for_the_standard_abi_only(toy: Path, tmp_path: Path) -> None:
    prebuilt = script(tmp_path / "bin" / "steelyard-mpi", "exit 0")
    assert mpi_engine(_mpi()) == Engine(str(prebuilt), "mpi", _mpi())
    with pytest.raises(InputError, match=r"mpich-5.0.2 has no mpicc beside /p/bin/mpiexec"):
        mpi_engine(_mpi(abi=False))


def test_a_prebuilt_engine_older_than_its_sources_is_not_used(
    toy: Path, tmp_path: Path, compiler: str
) -> None:
    prebuilt = script(tmp_path / "bin" / "steelyard-solo", "exit 0")
    assert solo_engine().path == str(prebuilt)
    later = prebuilt.stat().st_mtime_ns + 10**9
    os.utime(toy / "main.c", ns=(later, later))
    assert solo_engine().path != str(prebuilt)


def test_a_cache_that_cannot_be_made(toy: Path, monkeypatch: pytest.MonkeyPatch, compiler: str) -> None:
    monkeypatch.setenv("STEELYARD_CACHE", str(toy / "main.c"))
    with pytest.raises(InputError, match=r"cannot be made: .*; set STEELYARD_CACHE to another folder"):
        solo_engine()


def test_a_missing_wrapper_is_an_input_error(toy: Path) -> None:
    with pytest.raises(InputError, match="'/p/bin/mpicc' does not exist"):
        mpi_engine(_mpi(abi=False, mpicc="/p/bin/mpicc"))


def test_no_compiler(toy: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.delenv("CC", raising=False)
    with pytest.raises(InputError, match="no C compiler"):
        solo_engine()


@pytest.mark.parametrize(
    ("text", "sentence"),
    [("echo oops >&2; exit 3", "failed with code 3: oops"), ("echo no json", "did not print JSON")],
)
def test_an_engine_that_does_not_describe_itself(tmp_path: Path, text: str, sentence: str) -> None:
    engine = Engine(str(script(tmp_path / "engine", text)), "solo", None)
    with pytest.raises(MeasurementError, match=sentence):
        describe(engine)


@pytest.mark.parametrize("kind", ["solo", "mpi"])
def test_cmake_builds_the_same(tmp_path: Path, kind: module.Kind) -> None:
    """The same files with the same flags, but for warnings and what a compiler wrapper adds by itself."""
    root = engine_folder().parent
    if shutil.which("cmake") is None or not (root / "CMakeLists.txt").is_file():
        pytest.skip("there is no cmake, or this is not a checkout")
    fake = script(tmp_path / "mpicc", "echo cc -I/fake/include -L/fake/lib -lmpi")
    argv = [
        "cmake",
        "-S",
        str(root),
        "-B",
        str(tmp_path / "b"),
        f"-DSTEELYARD_MPICC={fake}",
        "-DBUILD_TESTING=OFF",
    ]
    done = run(argv, timeout=600)
    assert done.code == 0, done.err
    ours = build_command(engine_folder(), kind, ["cc"], Path("out"))
    flags = {
        word
        for word in ours
        if word.startswith("-") and word not in ("-o", *read_build(engine_folder()).link)
    }
    targets = {"solo": ("solo-objects.dir", "steelyard-solo.dir"), "mpi": ("steelyard-mpi.dir",)}[kind]
    compiled = set()
    for entry in json.loads((tmp_path / "b" / "compile_commands.json").read_text()):
        words = shlex.split(entry["command"])
        if any(target in entry["command"] for target in targets):
            compiled.add(entry["file"])
            theirs = {word for word in words[1:] if word.startswith("-") and not word.startswith("-W")}
            assert theirs - {"-o", "-c", "-I/fake/include"} == flags
    assert compiled == {word for word in ours if word.endswith(".c")}
