from __future__ import annotations

import hashlib
import json
import os
import re
import shlex
import shutil
from pathlib import Path

import msgspec
import pytest

import steelyard.engines.compile as compile_module
from scripts import script
from steelyard import __version__
from steelyard.base.errors import InputError, MeasurementError
from steelyard.engines.build import (
    Engine,
    describe,
    engine_folder,
    mpi_engine,
    solo_engine,
)
from steelyard.engines.compile import Kind, build_commands, engine_sources
from steelyard.engines.mpi import Mpi
from steelyard.system.process import run
from toy_engine import TOY_FILES


def _names(folder: Path, kind: Kind) -> set[str]:
    return {str(path.relative_to(folder)) for path in engine_sources(folder, kind)}


def test_each_engine_has_its_sources(toy: Path) -> None:
    assert _names(toy, "common") == {"base/version.c"}
    both = {"main.c", "base/version.c"}
    assert _names(toy, "solo") == both | {"team/team_solo.c", "team/disseminate.c"}
    assert _names(toy, "shmem") == both | {"team/team_shmem.c", "team/disseminate.c", "ops/shmem/put.c"}
    of_mpi = {name for name in TOY_FILES if name.endswith(".c") and ("_mpi.c" in name or "ops/mpi/" in name)}
    assert _names(toy, "mpi") == both | of_mpi


def test_the_solo_engine_is_built_once(toy: Path, own_cache: Path, compiler: str) -> None:
    engine = solo_engine()
    built = Path(engine.path).stat().st_mtime_ns
    description = describe(engine)
    assert (description.engine, description.version) == ("solo", __version__)
    assert solo_engine() == engine
    assert Path(engine.path).stat().st_mtime_ns == built
    assert [path.name for path in (own_cache / "engines").glob("*/*")].count("steelyard-solo") == 1


def test_a_changed_source_gives_a_new_engine(toy: Path, compiler: str) -> None:
    before = solo_engine()
    (toy / "team" / "team.h").write_text("const char *team_kind(void); /* changed */\n")
    assert solo_engine().path != before.path


def test_a_build_is_announced_once_and_leaves_the_engine_and_its_log(
    toy: Path, own_cache: Path, compiler: str
) -> None:
    said: list[str] = []
    engine = solo_engine(said.append)
    solo_engine(said.append)
    told = ("what all engines have in common", "the engine for what needs no MPI")
    assert len(said) == len(told)
    for line, what in zip(said, told, strict=True):
        assert re.fullmatch(rf"building {what} \(once, about \d+ s\)", line)
    assert _kept(engine) == {"steelyard-solo", "build.log", "sha256", ".lock"}


def _kept(engine: Engine) -> set[str]:
    return {path.name for path in Path(engine.path).parent.iterdir()}


def _wrapper(folder: Path, compiler: str) -> str:
    """An mpicc around this compiler, with an MPI that has a header and no library."""
    folder.mkdir(exist_ok=True)
    (folder / "mpi.h").write_text("enum { MPI_VERSION = 4 };\n")
    shows = f'[ "$1" = -show ] && {{ echo {compiler} -I{folder}; exit; }}'
    return str(script(folder / "mpicc", f'{shows}\nexec {compiler} -I{folder} "$@"'))


def test_what_engines_have_in_common_is_compiled_once(
    toy: Path, tmp_path: Path, own_cache: Path, compiler: str
) -> None:
    said: list[str] = []
    solo_engine(said.append)
    (common,) = own_cache.glob("engines/*/common.o")
    built = common.stat().st_mtime_ns
    for name in ("one", "other"):
        wrapper = _wrapper(tmp_path / name, compiler)
        assert describe(mpi_engine(_mpi(abi=False, mpicc=wrapper), said.append)).engine == "mpi"
    assert [line.partition(" (")[0] for line in said] == [
        "building what all engines have in common",
        "building the engine for what needs no MPI",
        *["building the engine for mpich-5.0.2"] * 2,
    ]
    assert common.stat().st_mtime_ns == built
    logs = [path.read_text() for path in own_cache.glob("engines/*/build.log")]
    assert sorted(log.count("base/version.c") for log in logs) == [0, 0, 0, 1]


@pytest.mark.parametrize("option", ["-m64", "-O1", "-fno-plt"])
def test_a_wrapper_that_changes_code_has_a_common_part_of_its_own(
    toy: Path, tmp_path: Path, own_cache: Path, compiler: str, option: str
) -> None:
    if run([compiler, option, "-x", "c", "-c", os.devnull, "-o", tmp_path / "o"], timeout=600).code != 0:
        pytest.skip(f"{compiler} has no {option} here")
    solo_engine()
    mpi_engine(_mpi(abi=False, mpicc=_wrapper(tmp_path / "mpi", f"{compiler} {option}")))
    assert len([*own_cache.glob("engines/*/common.o")]) == 2


# Who compiled the common part at installation, and what the sources have since -> is it used?
@pytest.mark.parametrize(
    ("version", "added", "used"),
    [("{name} {release}", "", True), ("gcc {release}\nmore", "", True), ("gcc 2.95", "", False),
     ("{name} {release}", "/* more */", False)],
)  # fmt: skip
def test_the_common_part_of_the_installation_is_used_where_it_is_the_same(
    toy: Path, tmp_path: Path, own_cache: Path, compiler: str, version: str, added: str, used: bool
) -> None:
    made = Path(solo_engine().path)
    first = run([compiler, "--version"], timeout=600).out.partition("\n")[0]
    name, _, release = first.partition(" ")
    (common,) = own_cache.glob("engines/*/common.o")
    shutil.move(common, tmp_path / "installed")
    (tmp_path / "installed" / "common.txt").write_text(version.format(name=name, release=release) + "\n")
    (tmp_path / "bin").mkdir()
    shutil.copy(made, tmp_path / "bin" / "steelyard-solo")
    (toy / "base" / "version.h").write_text(TOY_FILES["base/version.h"] + added + "\n")
    wrapper = _wrapper(tmp_path / "mpi", compiler)
    assert describe(mpi_engine(_mpi(abi=False, mpicc=wrapper))).engine == "mpi"
    assert len([*own_cache.glob("engines/*/common.o")]) == (0 if used else 1)


# A compiler that waits for a second one to have begun: a build that starts one after the other fails.
_WAITS = """
case "$*" in *--version*) exec cc --version;; *base/*) exec cc "$@";; *" -c "*) ;; *) exec cc "$@";; esac
touch {folder}/began.$$
for i in $(seq 200); do [ $(ls {folder} | wc -l) -ge 2 ] && exec cc "$@"; sleep 0.1; done
exit 1
"""


def test_several_files_are_compiled_at_once(
    toy: Path, tmp_path: Path, compiler: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "began").mkdir()
    monkeypatch.setenv("CC", str(script(tmp_path / "cc-waits", _WAITS.format(folder=tmp_path / "began"))))
    monkeypatch.setattr(compile_module, "_cores", lambda: 2)
    assert describe(solo_engine()).engine == "solo"


def test_an_engine_for_each_mpi(toy: Path, mpi: Mpi) -> None:
    if mpi.mpicc is None:
        pytest.skip(f"{mpi.name} has no mpicc")
    engine = mpi_engine(mpi)
    assert describe(engine).engine == "mpi"
    assert mpi_engine(mpi) == engine


def test_a_failed_build_is_one_sentence_and_a_log(toy: Path, compiler: str) -> None:
    (toy / "main.c").write_text("int main(void) { return wrong; }\n")
    with pytest.raises(
        InputError, match=r"could not be built with .*'wrong' undeclared|.wrong. undeclared"
    ) as raised:
        solo_engine()
    log = Path(str(raised.value).rpartition("all in ")[2].rstrip(")"))
    assert log.read_text().startswith(f"$ {compiler.rpartition('/')[2]} ")
    assert {path.name for path in log.parent.iterdir()} == {log.name, ".lock"}


def _mpi(**changes: object) -> Mpi:
    mpi = Mpi("mpich-5.0.2", "mpich", "5.0.2", None, "/p/bin/mpiexec", "/p", abi=True, origin="given")
    return msgspec.structs.replace(mpi, **changes)


def test_the_prebuilt_engine_is_for_the_standard_abi_only(toy: Path, tmp_path: Path) -> None:
    prebuilt = script(tmp_path / "bin" / "steelyard-mpi", "exit 0")
    assert mpi_engine(_mpi()) == Engine(str(prebuilt), "mpi", _mpi())
    with pytest.raises(InputError, match=r"mpich-5.0.2 has no mpicc beside /p/bin/mpiexec"):
        mpi_engine(_mpi(abi=False))


def test_an_mpicc_of_another_mpi_beside_the_mpiexec(toy: Path, tmp_path: Path) -> None:
    script(tmp_path / "one" / "mpicc", "exit 0")
    with pytest.raises(InputError, match=r"one/mpicc is not of mpich-5.0.2, whose mpiexec is beside it"):
        mpi_engine(_mpi(abi=False, mpiexec=str(tmp_path / "one" / "mpiexec")))


@pytest.mark.parametrize("name", ["OMPI_CC", "MPICH_CC", "I_MPI_CC"])
def test_a_variable_that_names_no_compiler(
    toy: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    wrapper = str(script(tmp_path / "one" / "mpicc", f'echo "${{{name}:-missingcc}} -O2"'))
    with pytest.raises(InputError, match="needs a C compiler, 'missingcc', and there is none; install gcc"):
        mpi_engine(_mpi(abi=False, mpicc=wrapper))
    monkeypatch.setenv(name, "nonexistcc -g")
    with pytest.raises(
        InputError, match=f"{name} names the compiler 'nonexistcc', and there is none; correct"
    ):
        mpi_engine(_mpi(abi=False, mpicc=wrapper))


def test_a_prebuilt_engine_is_used_for_the_sources_that_it_was_built_from(
    toy: Path, tmp_path: Path, compiler: str
) -> None:
    """Whatever their times are: a checkout makes files newer, and a copy may keep an old time."""
    prebuilt = script(tmp_path / "bin" / "steelyard-solo", "exit 0")
    source, built = toy / "team" / "team.h", prebuilt.stat().st_mtime_ns
    os.utime(source, ns=(built + 10**9, built + 10**9))
    assert solo_engine().path == str(prebuilt)
    before = source.read_text()
    source.write_text(before.replace("team_kind(void)", "team_kind( void )"))
    os.utime(source, ns=(built - 10**9, built - 10**9))
    assert solo_engine().path != str(prebuilt)
    source.write_text(before)
    (toy / "base" / "more.c").write_text("int more(void);\n")
    assert solo_engine().path != str(prebuilt)


def test_an_engine_is_built_anew_when_a_library_has_come(
    toy: Path, tmp_path: Path, compiler: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The one in the cache, and that of the installation unless it has it or none can be built."""
    before = solo_engine()
    header = tmp_path / "include" / "ucp" / "api" / "ucp.h"
    header.parent.mkdir(parents=True)
    header.write_text("/* UCX */")
    monkeypatch.setenv("CPATH", str(tmp_path / "include"))
    assert solo_engine().path != before.path
    prebuilt = script(tmp_path / "bin" / "steelyard-solo", "exit 0")
    assert solo_engine().path == str(prebuilt)
    (tmp_path / "installed" / "libraries.txt").write_text("libfabric\n")
    assert solo_engine().path != str(prebuilt)
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.delenv("CC", raising=False)
    assert solo_engine().path == str(prebuilt)


@pytest.mark.parametrize("name", ["steelyard-solo", "sha256"])
def test_an_engine_that_others_could_write_is_built_anew(
    toy: Path, own_cache: Path, compiler: str, name: str
) -> None:
    before = os.umask(0)
    try:
        path = Path(solo_engine().path)
        assert [file.stat().st_mode & 0o777 for file in (path, path.parent, path.with_name("sha256"))] == (
            [0o700] * 3
        )
        path.write_text("#!/bin/sh\nexit 5\n")
        path.with_name("sha256").write_text(hashlib.sha256(path.read_bytes()).hexdigest())
        assert run([solo_engine().path], timeout=600).code == 5  # ours alone: it is believed
        path.with_name(name).chmod(0o707)
        assert describe(solo_engine()).engine == "solo"
    finally:
        os.umask(before)


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
    [
        ("echo oops >&2; exit 3", "failed with code 3: oops"),
        (
            "echo 'e: error while loading shared libraries: libgomp.so.1: cannot open it' >&2; exit 127",
            "needs libgomp.so.1, which is not on this system; install it .*libgomp1",
        ),
        (
            'echo "e: /lib/libgomp.so.1: version \\`GOMP_5.0\' not found (required by e)" >&2; exit 1',
            "needs GOMP_5.0, and /lib/libgomp.so.1 is too old to have it; put a newer one",
        ),
        ("exit 9", "failed with code 9: it said nothing"),
        ("echo no json", "is no description of an engine: JSON"),
        ("echo {}", "missing required field `engine`"),
    ],
)
def test_an_engine_that_does_not_describe_itself(tmp_path: Path, text: str, sentence: str) -> None:
    engine = Engine(str(script(tmp_path / "engine", text)), "solo", None)
    with pytest.raises(MeasurementError, match=sentence):
        describe(engine)


def test_an_engine_is_asked_once_while_it_and_the_variables_stay_the_same(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    said = '{"engine":"%s","version":"0","ops":[],"methods":[],"stop_rules":[]}'
    asked = tmp_path / "asked"

    def engine(name: str) -> Engine:
        path = script(tmp_path / "new", f"echo >> {asked}; echo '{said % name}'").replace(tmp_path / "engine")
        return Engine(str(path), "solo", None)

    first = engine("first")
    assert [describe(first).engine, describe(first).engine] == ["first", "first"]
    assert len(asked.read_text().splitlines()) == 1
    assert describe(engine("again")).engine == "again"
    monkeypatch.setenv("OMP_NUM_THREADS", "3")
    assert describe(first).engine == "again"
    assert len(asked.read_text().splitlines()) == 3


@pytest.mark.parametrize("kind", ["solo", "mpi", "shmem"])
def test_cmake_builds_the_same(tmp_path: Path, kind: Kind) -> None:
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
        f"-DSTEELYARD_OSHCC={fake}",
    ]
    done = run(argv, timeout=600)
    assert done.code == 0, done.err
    ours = build_commands(engine_folder(), kind, ["cc"], Path("out")).compile
    flags = {word for word in ours[0] if word.startswith("-") and word not in ("-o", "-c")}
    own = ("solo-objects.dir", "steelyard-solo.dir") if kind == "solo" else (f"steelyard-{kind}.dir",)
    targets = (*own, "common-objects.dir")
    ours_alone = {"-DSTEELYARD_MPI=1", "-DSTEELYARD_SHMEM=1"}
    compiled = set()
    for entry in json.loads((tmp_path / "b" / "compile_commands.json").read_text()):
        words = shlex.split(entry["command"])
        if any(target in entry["command"] for target in targets):
            compiled.add(entry["file"])
            # Warnings, and what makes bytes the same in any folder.
            extra = ("-W", "-frandom-seed=")
            theirs = {word for word in words[1:] if word.startswith("-") and not word.startswith(extra)}
            is_common = "common-objects.dir" in entry["command"]  # and does not ask which engine it is in
            assert not (is_common and re.search("STEELYARD_(MPI|SHMEM)", Path(entry["file"]).read_text()))
            unasked = ours_alone if is_common else set()
            assert theirs - {"-o", "-c", "-I/fake/include"} == flags - unasked
    assert compiled == {word for command in ours for word in command if word.endswith(".c")}


def test_what_a_wrapper_adds_is_compiled_in() -> None:
    """Records say it, and nothing is said of a compiler that adds nothing."""
    for added in ((), ("-ffast-math", "-O0")):
        first = build_commands(engine_folder(), "mpi", ["cc"], Path("out"), added=added).compile[0]
        assert ('-DSTEELYARD_ADDED="-ffast-math -O0"' in first) == bool(added)
        assert any("STEELYARD_ADDED" in word for word in first) == bool(added)
