"""Lay a compiler for an old glibc: the gcc of here with the headers, stubs and start files of zig's wheel.

python old_glibc.py ARCHITECTURE FOLDER writes FOLDER/toolchain.cmake, for an engine of that architecture.
Machine code is gcc's, and libgomp stays the system's, for both are what is measured. zig compiles a few lines
of glibc.
"""

from __future__ import annotations

import os
import platform
import re
import shutil
import subprocess
import sys
import tomllib
import zipfile
from pathlib import Path

import ziglang

GLIBC = "2.28"  # that of RHEL 8, and of the wheels of numpy and MPICH
_LIBRARIES = ("m", "pthread", "dl", "rt", "util", "resolv")
_USED_HEADERS = ("rdma", "ucp", "ucs", "uct")  # of the libraries in engine/build.json, in /usr/include
_HEADERS = {
    "x86_64": ("x86-linux-any", "x86-linux-gnu"),
    "aarch64": ("aarch64-linux-any", "aarch64-linux-gnu"),
}
_PROJECT = Path(__file__).parents[2] / "pyproject.toml"


def compiler(architecture: str) -> str:
    """The gcc that compiles for an architecture, by the names of Debian."""
    return "gcc" if architecture == platform.machine() else f"{architecture}-linux-gnu-gcc"


def _output(*typed: str, **more: str) -> str:
    done = subprocess.run(typed, env=os.environ | more, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        sys.exit(f"{' '.join(typed)} failed: {done.stderr}")
    return done.stdout + done.stderr


def _linked(architecture: str, folder: Path) -> list[Path]:
    """The files of glibc with which zig links an empty program."""
    source = folder / "empty.c"
    source.write_text("int main(void) { return 0; }\n")
    typed = [sys.executable, "-m", "ziglang", "build-exe", str(source), "-lc", "-fPIE", "--verbose-link"]
    typed += ["-target", f"{architecture}-linux-gnu.{GLIBC}", f"-femit-bin={folder / 'empty'}"]
    typed += ["-fno-compiler-rt", "-fno-ubsan-rt"]  # gcc has its own, and zig would compile them for a minute
    cache = str(folder / "zig")
    said = _output(*typed, "--cache-dir", cache, "--global-cache-dir", cache).split()
    return [Path(word) for word in {*said} if re.search(r"/zig/.*/(S?crt1\.o|lib\w+\.(so\.\d+|a))$", word)]


def _lay_headers(architecture: str, include: Path) -> None:
    headers = Path(ziglang.__file__).parent / "lib" / "libc" / "include"
    of_kernel, of_glibc = _HEADERS[architecture]
    for name in ("any-linux-any", of_kernel, "generic-glibc", of_glibc):
        shutil.copytree(headers / name, include, dirs_exist_ok=True)
    for name in _USED_HEADERS:
        if (source := Path("/usr/include", name)).is_dir():
            shutil.copytree(source, include / name, dirs_exist_ok=True)


def _lay_libraries(linked: list[Path], gcc: str, lib: Path) -> None:
    lib.mkdir()
    for path in linked:
        shutil.copy(path, lib)
    for name in _LIBRARIES:
        (stub,) = lib.glob(f"lib{name}.so.*")
        (lib / f"lib{name}.so").symlink_to(stub.name)
    (lib / "libc.so").write_text("GROUP ( libc.so.6 libc_nonshared.a AS_NEEDED ( libld.so.2 ) )\n")
    for name in ("crti.o", "crtn.o"):  # of any glibc: they ask for nothing of it
        shutil.copy(_output(gcc, f"-print-file-name={name}").strip(), lib)


def _lay_mpi(architecture: str, folder: Path) -> Path:
    """Unpack the wheel of MPICH for an architecture, and return the prefix in it."""
    with _PROJECT.open("rb") as file:
        needs = tomllib.load(file)["build-system"]["requires"]
    (mpich,) = [need for need in needs if need.startswith("mpich")]
    typed = [sys.executable, "-m", "pip", "download", "--quiet", "--no-deps", "--only-binary", ":all:"]
    _output(*typed, "--platform", f"manylinux_2_28_{architecture}", "--dest", str(folder), mpich)
    (wheel,) = folder.glob("mpich-*.whl")
    zipfile.ZipFile(wheel).extractall(folder)
    (prefix,) = folder.glob("mpich-*.data/data")
    return prefix


def lay(architecture: str, folder: Path) -> None:
    """Write the compiler into a folder that is made anew, if nothing else is in it."""
    gcc, toolchain = compiler(architecture), folder / "toolchain.cmake"
    if folder.exists() and any(folder.iterdir()) and not toolchain.is_file():
        sys.exit(f"{folder} holds no compiler that was laid before; give another folder, or remove it")
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    toolchain.touch()  # what is laid halfway may be laid anew
    _lay_headers(architecture, folder / "include")
    _lay_libraries(_linked(architecture, folder), gcc, folder / "lib")
    # The libgomp of here may ask for a newer glibc; the one that the engine meets does not. The files of
    # glibc name the folder where they were compiled: that does not belong into an engine.
    link = "-Wl,--allow-shlib-undefined,--strip-debug"
    # zig's headers know their glibc from the command line: without it they hide what came after 2.0.
    of_glibc = f"-D__GLIBC_MINOR__={GLIBC.partition('.')[2]} -Werror=implicit-function-declaration"
    place = f'-isystem "{folder}/include" {of_glibc} -B "{folder}/lib" -L "{folder}/lib"'
    (folder / "gcc").write_text(f'#!/bin/sh\nexec {gcc} {place} {link} "$@"\n')
    (folder / "gcc").chmod(0o755)
    toolchain.write_text(
        f"set(CMAKE_SYSTEM_NAME Linux)\nset(CMAKE_SYSTEM_PROCESSOR {architecture})\n"
        f'set(CMAKE_C_COMPILER "{folder}/gcc")\n'
        f'set(CMAKE_FIND_ROOT_PATH "{folder}")\nset(CMAKE_FIND_ROOT_PATH_MODE_INCLUDE ONLY)\n'
        f'set(STEELYARD_MPI_ABI "{_lay_mpi(architecture, folder)}" CACHE PATH "")\n'
    )


if __name__ == "__main__":
    lay(sys.argv[1], Path(sys.argv[2]).resolve())
