"""Files that killed launches leave behind: of MPI libraries, their launchers and the engine.

Such a file is a launch's own if one of its processes has it mapped or open, or is named in it as the owner of
a session, and if it was not there before the launch. A name, an owner and a time alone would not say so: /tmp
and /dev/shm may be shared with containers and hosts whose processes are not seen here. It is removed after
the launch if it has a name that these libraries give, and no process uses it. Ranks may be killed before
anybody looked at them. What they left in /dev/shm is new, and the kernel knows that no process has it open,
in whatever container: whoever shares memory does.
"""

from __future__ import annotations

import contextlib
import itertools
import os
import platform
import re
import shutil
import time
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from pathlib import Path
from stat import S_ISVTX

from msgspec import Struct

from steelyard.base.files import is_open_nowhere, read_text, real_path
from steelyard.base.private_folders import weak_spot
from steelyard.system.launch_processes import process_state

_SHARED, _TEMPORARY = Path("/dev/shm"), Path("/tmp")  # noqa: S108 (where the libraries put them)
_TEMPORARY_NAMED = ("TMPDIR", "TEMP", "TMP")  # the variables that say another place
_PROCESS = r"[1-9]\d*"
_ENDPOINT = rf":{os.getuid()}:\d+"  # libfabric's end of a name: the user, and a number of its own
# Names of files, and of session folders of Open MPI, with the place of a pid between the dots. Those of
# shared memory are in engine/base/leftovers.c, too: a rank that is ended removes them itself. Users may have
# files there as well, such as one that is named by the time of day.
_SHARED_NAMES = (
    r"mpich_shm_.*",
    r"mpich_shar_tmp.*",  # MPICH 4
    r"ucx_shm_posix_.*",
    r"vader_segment\..*",  # Open MPI 4
    r"sm_segment\..*",  # Open MPI 5
    rf"steelyard-{_PROCESS}-[0-9a-f]+({_ENDPOINT})?",  # the probe's line, and messages through libfabric
    rf"{_PROCESS}{_ENDPOINT}",  # libfabric's shm in an MPI
)
_NAMES = re.compile(
    "|".join(
        (
            *_SHARED_NAMES,
            r"hydra_hwloc_xmlfile_.*",
            r"ompi\.[^/]*/pid\..*",  # Open MPI 4
            r"prterun\..*",  # Open MPI 5: its launcher's sessions, `prterun.HOST.PID.UID`
            rf"ompi\.{_PROCESS}",  # ... and those of PyPI's
            r"ompi\.[^/]*/jf\.0/\d+",  # ... and its ranks' own, where their launcher had died before
        )
    )
)
_DEEPEST = 3  # parts of such a name
_WORD = 0xFFFFFFFF  # 32 bits
_LOOK_SECONDS = 0.1  # between looks while ranks start: some ms of a core, before anything is measured


class LeftFile(Struct, frozen=True):
    """A file or folder by its path and by its numbers, which no other one has while it is there."""

    path: str
    device: int
    inode: int


class LauncherPid(Struct, frozen=True):
    """The first process of a launch."""

    launcher: int


class Leftovers:
    """What a launch must not leave: `own`. `note` hears of its launcher, and of each file when it is seen
    first.

    `others` are files that are nobody's to remove: those that are there before the launch. So are those that
    were not changed since an instant (Unix time).
    """

    def __init__(
        self,
        note: Callable[[Sequence[LeftFile | LauncherPid]], None] = lambda _: None,
        others: Collection[LeftFile] | None = None,
        since_ns: int = 0,
    ) -> None:
        """Take what is there now as others', unless they are given."""
        self.own: set[LeftFile] = set()
        self._note = note
        self._others = frozenset(_there_now(_places()) if others is None else others)
        self._since_ns = since_ns
        self._launchers = list[int]()
        self._next = 0.0
        self._is_settled = False

    def began(self, launcher: int) -> None:
        """Hear who the launcher is: its session is known by its pid, even if it is gone before a look."""
        self._launchers.append(launcher)
        self._note([LauncherPid(launcher)])

    def look(self, pids: Iterable[int]) -> None:
        """See what processes of the launch use."""
        paths = _used_by(pids) | {path for pid in self._launchers for path in _sessions_of(pid)}
        recent = (path for path in sorted(paths) if _changed_ns(path) >= self._since_ns)
        files = filter(None, map(_identified, recent))
        new = [file for file in files if file not in self._others and file not in self.own]
        self.own.update(new)
        if new:
            self._note(new)

    def look_if_due(self, pids: Callable[[], Iterable[int]], *, began: bool) -> None:
        """Look now and then until ranks have begun to measure, and then once: later it would disturb them."""
        if self._is_settled or (not began and time.monotonic() < self._next):
            return
        self._is_settled = began
        self.look(pids())
        self._next = time.monotonic() + _LOOK_SECONDS

    def forgotten(self) -> Iterator[LeftFile]:
        """List shared memory that is new and that no process has: of ranks that were killed before a look."""
        for file in _there_now((_SHARED,)):
            path = Path(file.path)
            is_new = file not in self._others and _changed_ns(path) >= self._since_ns
            if is_new and is_open_nowhere(path):
                yield file

    def __enter__(self) -> Leftovers:
        return self

    def __exit__(self, *_: object) -> None:
        """Remove what the launch has left, and what its ranks made after the last look."""
        self.look(())
        remove_left({*self.own, *self.forgotten()})


def remove_left(files: Collection[LeftFile]) -> list[Path]:
    """Remove those that are still there and that no process uses; return what was removed."""
    places = _places()
    named = [file for file in files if _launch_file(file.path, places) == Path(file.path)]
    there = [one for one in named if _identified(Path(one.path)) == one]
    used = _used_by(int(entry.name) for entry in Path("/proc").glob("[0-9]*")) if there else set()
    removed = []
    for path in (Path(one.path) for one in there):
        if path not in used and not _is_session_of_a_process(path):
            with contextlib.suppress(OSError):
                shutil.rmtree(path) if path.is_dir() else path.unlink()
                removed.append(path)
                for above in itertools.takewhile(lambda one: one not in places, path.parents):
                    above.rmdir()  # of sessions; the last one takes it along, as Open MPI does
    return removed


def _identified(path: Path) -> LeftFile | None:
    """Find the numbers of a file of our user, where nobody else can put another in its place, or a link or
    a folder of his on the way to it.
    """
    try:
        stat, folder, spot = path.lstat(), path.parent.lstat(), weak_spot(path.parent)
    except OSError:
        return None
    is_shared = folder.st_uid in (0, os.geteuid()) and folder.st_mode & S_ISVTX  # as /tmp is
    is_safe = spot is None or (spot[0] == path.parent and is_shared)
    is_ours = stat.st_uid == os.geteuid() and real_path(path.parent) == path.parent
    return LeftFile(str(path), stat.st_dev, stat.st_ino) if is_ours and is_safe else None


def _places() -> set[Path]:
    """List the folders where libraries put such files, by their real names, which the kernel tells.

    Python's `tempfile.gettempdir` tries the folder with a file, which stays where this process is killed.
    """
    named = (Path(os.environ[name]) for name in _TEMPORARY_NAMED if os.environ.get(name))
    return {real_path(place) for place in (_SHARED, _TEMPORARY, *named)}


def _there_now(places: Iterable[Path]) -> Iterator[LeftFile]:
    for place in places:
        with contextlib.suppress(OSError):
            paths = (*place.iterdir(), *place.glob("ompi.*/pid.*"), *place.glob("ompi.*/jf.0/*"))
            named = (path for path in paths if _launch_file(str(path), (place,)) == path)
            yield from filter(None, map(_identified, named))


def _launch_file(name: str, places: Iterable[Path]) -> Path | None:
    """Find the file or session folder of a launch that `name` is, or is in; None for any other name."""
    for place in places:
        if not name.startswith(f"{place}/"):
            continue
        parts = name.removeprefix(f"{place}/").split("/")[:_DEEPEST]
        for count in range(1, len(parts) + 1):
            if _NAMES.fullmatch("/".join(parts[:count])):
                return place.joinpath(*parts[:count])
    return None


def _is_session_of_a_process(path: Path) -> bool:
    """Is this the folder `pid.4711` or `prterun.HOST.4711.UID` of a running process?"""
    parts = path.name.split(".")
    pid = parts[-2] if parts[0] == "prterun" and len(parts) > 2 else parts[-1]
    return path.is_dir() and pid.isdigit() and process_state(int(pid)) not in (None, "Z", "X")


def _used_by(pids: Iterable[int]) -> set[Path]:
    """Find the files and session folders of launches in which processes have anything mapped or open."""
    places = _places()
    names = {name for pid in pids for name in _open_in(pid)}
    return {path for name in names if (path := _launch_file(name, places)) is not None}


def _sessions_of(launcher: int) -> Iterator[Path]:
    """List the session folders that a launcher of this host would make, as far as they are there."""
    host, user = platform.node(), os.geteuid()
    for place, name in itertools.product(_places(), {host, host.partition(".")[0]}):
        for session in (
            f"ompi.{name}.{user}/pid.{launcher}",
            f"ompi.{name}.{user}/jf.0/{_first_job(name, launcher)}",
            f"prterun.{name}.{launcher}.{user}",
            f"ompi.{launcher}",
        ):
            if (place / session).is_dir():
                yield place / session


def _first_job(host: str, launcher: int) -> int:
    """Number the first job of Open MPI 5's launcher as its ranks do: 1, and above it 16 bits that Jenkins's
    one-at-a-time hash gives the launcher's name, its halves by exclusive or.
    """
    number = 0
    for byte in f"prterun-{host}-{launcher}".encode():
        number = (number + byte) * 1025 & _WORD
        number ^= number >> 6
    number = number * 9 & _WORD
    number = (number ^ number >> 11) * 32769 & _WORD
    return ((number ^ number >> 16) & 0xFFFF) << 16 | 1


def _changed_ns(path: Path) -> int:
    try:
        return path.lstat().st_mtime_ns
    except OSError:
        return 0


def _open_in(pid: int) -> Iterator[str]:
    """List the files that a process has mapped or opened."""
    process = Path(f"/proc/{pid}")
    for line in read_text(process / "maps").splitlines():
        if "/" in line:
            yield line[line.index("/") :]
    with contextlib.suppress(OSError):
        for descriptor in (process / "fd").iterdir():
            with contextlib.suppress(OSError):
                yield str(descriptor.readlink())
