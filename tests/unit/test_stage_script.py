"""`--stage` among users of one host: who prepared what before, and what is run in the end."""

from __future__ import annotations

import hashlib
import os
import shutil
import stat
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, cast

import msgspec
import pytest

from steelyard.base.errors import InputError
from steelyard.campaign import stage as module
from steelyard.campaign.jobs import CampaignSetup
from steelyard.campaign.stage import own_folders, stage_engines
from steelyard.engines.build import Engine
from steelyard.engines.mpi import Mpi
from steelyard.launch.one_process import OneProcess
from steelyard.plan.plan import Measure, Plan
from steelyard.records.campaign_file import PlannedPoint

_MPI = Mpi("m-1", "mpich", "1", None, "/m/mpiexec", None, abi=False, origin="given")
_OTHER, _USER, _SECOND = 64001, 64002, 64003  # user numbers that nobody has
Stage = Callable[[Path, int], Path]
needs_users = pytest.mark.skipif(
    os.geteuid() != 0 or shutil.which("setpriv") is None, reason="only root can be several users, by setpriv"
)


@pytest.fixture
def place() -> Iterator[Path]:
    """A folder that all users may enter, as /tmp is."""
    top = Path("/tmp", f"steelyard-stage-{os.getpid()}")  # pytest's own are closed to others
    top.mkdir()
    top.chmod(0o1777)
    yield top
    shutil.rmtree(top)


@pytest.fixture
def engine(tmp_path: Path) -> Path:
    """A file of several pieces."""
    path = tmp_path / "steelyard-mpi"
    path.write_bytes(b"#!/bin/sh\necho ours\n" + b"#" * 50_000)
    path.chmod(0o700)
    return path


@pytest.fixture
def staged(engine: Path, monkeypatch: pytest.MonkeyPatch) -> Stage:
    """Stage the engine as a user; the path that is to be run."""

    def call(folder: Path, user: int) -> Path:
        is_other = user != os.geteuid()
        prefix = ("setpriv", f"--reuid={user}", f"--regid={user}", "--clear-groups") if is_other else ()
        monkeypatch.setattr(module, "plan_process", lambda *_: OneProcess(prefix, {}))
        monkeypatch.setattr(module, "own_folders", lambda path, _: own_folders(path, user))
        return _stage(engine, folder)

    return call


class _Machine(msgspec.Struct):
    host: str


def _stage(engine: Path, folder: Path) -> Path:
    """Stage the engine below a folder; the path that is to be run."""
    built: dict[str | None, Engine] = {"m-1": Engine(str(engine), "mpi", _MPI)}
    setup = CampaignSetup(built, cast(Any, None), cast(Any, _Machine("here")))
    plan = Plan(measure=(Measure(ops=("mpi.barrier",)),), stage=str(folder))
    points = [PlannedPoint(point=0, op="mpi.barrier", mpi="m-1")]
    return Path(stage_engines(plan, points, setup, lambda _: None).engines["m-1"].path)


def _theirs(path: Path, user: int, mode: int) -> Path:
    path.mkdir()
    os.chown(path, user, user)
    path.chmod(mode)
    return path


def _check_ours(path: Path, user: int, engine: Path) -> None:
    """The right file, in a folder of that user alone."""
    assert path.read_bytes() == engine.read_bytes()
    for part in (path, path.parent, path.parent.parent):
        found = part.lstat()
        assert (found.st_uid, stat.S_IMODE(found.st_mode), stat.S_ISLNK(found.st_mode)) == (
            user,
            0o700,
            False,
        )


def test_a_file_that_is_there_stays(place: Path, staged: Stage, engine: Path) -> None:
    first = staged(place / "a b", os.geteuid())  # a name with a space
    _check_ours(first, os.geteuid(), engine)
    built = first.stat().st_mtime_ns
    assert staged(place / "a b", os.geteuid()) == first
    assert first.stat().st_mtime_ns == built
    first.write_bytes(b"damaged")
    assert staged(place / "a b", os.geteuid()).read_bytes() == engine.read_bytes()
    assert [path.name for path in first.parent.iterdir()] == ["steelyard-mpi"]


def test_a_folder_that_cannot_be_made(staged: Stage) -> None:
    with pytest.raises(
        InputError, match=r"to this host into /proc/x/steelyard-\d+/\w{16}: mkdir: .*; give --s"
    ):
        staged(Path("/proc/x"), os.geteuid())


# Who is quicker by a moment.
_MAKES_IT_FIRST = """#!/bin/sh
case $2 in
*/st/steelyard-*/*)
    /bin/mkdir -p "${{2%/*}}"
    chown {other} "${{2%/*}}"
    echo 'mkdir: cannot create' >&2
    exit 1 ;;
esac
exec /bin/mkdir "$@"
"""


@needs_users
def test_a_folder_that_another_user_makes_meanwhile(
    place: Path, staged: Stage, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It is not used, and the one beside it is."""
    other = tmp_path / "mkdir"
    other.write_text(_MAKES_IT_FIRST.format(other=_OTHER))
    other.chmod(0o700)
    monkeypatch.setenv("PATH", f"{tmp_path}:{os.environ['PATH']}")
    me = os.geteuid()
    assert staged(place / "st", me).parent.parent == place / f"st-{me}"
    assert [*(place / "st" / f"steelyard-{me}").iterdir()] == []


# What PRRTE 3 does at times: the first process gets nothing of what it is sent.
_LOSES_ONCE = """#!/bin/sh
[ -e {mark} ] && exec "$@"
touch {mark}
sleep 1000 | "$@" &
trap 'kill $!' EXIT
sleep 1000
"""


@pytest.mark.parametrize("lost", ["once", "always"])
def test_a_launcher_that_loses_what_it_is_sent(
    lost: str, place: Path, engine: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    launcher = tmp_path / "launcher"
    words = _LOSES_ONCE if lost == "once" else _LOSES_ONCE.replace("[ -e {mark} ]", "false")
    launcher.write_text(words.format(mark=tmp_path / "mark"))
    launcher.chmod(0o700)
    monkeypatch.setattr(module, "plan_process", lambda *_: OneProcess((str(launcher),), {}))
    monkeypatch.setattr(module, "_LOST_SECONDS", 0.3)
    monkeypatch.setattr(module, "_TRIES", 2)
    if lost == "always":
        with pytest.raises(
            InputError,
            match=f"the launcher lost the {module._PIECE} bytes that it was sent; try the launcher alone: ",
        ):
            _stage(engine, place / "stage")
    else:
        path = _stage(engine, place / "stage")
        _check_ours(path, os.geteuid(), engine)
        assert [file.name for file in path.parent.iterdir()] == ["steelyard-mpi"]


def test_a_launcher_that_cannot_reach_the_host(
    place: Path, engine: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    launcher = tmp_path / "launcher"
    launcher.write_text("#!/bin/sh\necho 'Host key verification failed.' >&2; echo =====>&2; exit 255\n")
    launcher.chmod(0o700)
    monkeypatch.setattr(module, "plan_process", lambda *_: OneProcess((str(launcher),), {}))
    said = (
        r": node: launcher cannot reach a host: Host key verification failed; try the launcher alone: /.* ho"
    )
    with pytest.raises(InputError, match=said):
        _stage(engine, place / "stage")


@needs_users
def test_a_folder_from_which_nothing_can_be_run(
    place: Path, engine: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    launcher = tmp_path / "launcher"
    launcher.write_text(f'#!/bin/sh\nmount -t tmpfs -o noexec tmpfs {place} && exec "$@"\n')
    launcher.chmod(0o700)
    if subprocess.run(["unshare", "--mount", str(launcher), "true"], check=False).returncode != 0:
        pytest.skip("this system lets no file systems be mounted")
    monkeypatch.setattr(
        module, "plan_process", lambda *_: OneProcess(("unshare", "--mount", str(launcher)), {})
    )
    with pytest.raises(InputError, match=r"\(noexec\); give --stage a folder there that .* can be run"):
        _stage(engine, place / "stage")


@needs_users
def test_two_users_stage_into_one_folder(place: Path, staged: Stage, engine: Path) -> None:
    first, second = (staged(place / "steelyard", user) for user in (_USER, _SECOND))
    assert first.parents[1] == place / "steelyard" / f"steelyard-{_USER}"
    assert (
        second.parents[1] == place / f"steelyard-{_SECOND}"
    )  # the first user owns, and may rename, the other
    _check_ours(first, _USER, engine)
    _check_ours(second, _SECOND, engine)


def _folder(place: Path, engine: Path) -> None:
    _theirs(place / "steelyard", _OTHER, 0o777)


def _sticky_folder(place: Path, engine: Path) -> None:
    _theirs(place / "steelyard", _OTHER, 0o1777)


def _open_folder(place: Path, engine: Path) -> None:
    _theirs(place / "steelyard", 0, 0o777)  # anybody may rename what is in it


def _link(place: Path, engine: Path) -> None:
    (place / "steelyard").symlink_to(_theirs(place / "theirs", _OTHER, 0o777))
    os.lchown(place / "steelyard", _OTHER, _OTHER)


def _link_to_the_victim(place: Path, engine: Path) -> None:
    """A link that is followed today and may lead elsewhere tomorrow."""
    (place / "steelyard").symlink_to(_theirs(place / "mine", _USER, 0o700))
    os.lchown(place / "steelyard", _OTHER, _OTHER)


def _own_folder(place: Path, engine: Path) -> None:
    """The folder of the user, with the right file, which its owner may exchange."""
    _theirs(place / "steelyard", 0, 0o1777)
    own = _theirs(place / "steelyard" / f"steelyard-{_USER}", _OTHER, 0o777)
    folder = _theirs(own / hashlib.sha256(engine.read_bytes()).hexdigest()[:16], _OTHER, 0o777)
    shutil.copy(engine, folder / "steelyard-mpi")


def _own_link(place: Path, engine: Path) -> None:
    _theirs(place / "steelyard", 0, 0o1777)
    link = place / "steelyard" / f"steelyard-{_USER}"
    link.symlink_to(_theirs(place / "theirs", _OTHER, 0o777))
    os.lchown(link, _OTHER, _OTHER)


@needs_users
@pytest.mark.parametrize(
    "prepare",
    [_folder, _sticky_folder, _open_folder, _link, _link_to_the_victim, _own_folder, _own_link],
)
def test_what_another_user_has_prepared_is_not_used(
    place: Path, staged: Stage, engine: Path, prepare: Callable[[Path, Path], None]
) -> None:
    prepare(place, engine)
    path = staged(place / "steelyard", _USER)
    assert path.parents[1] == place / f"steelyard-{_USER}"
    _check_ours(path, _USER, engine)


@needs_users
def test_nothing_is_made_where_another_users_link_leads(place: Path, staged: Stage, engine: Path) -> None:
    mine = _theirs(place / "mine", _USER, 0o700)
    link = _theirs(place / "steelyard", 0, 0o1777) / f"steelyard-{_USER}"
    link.symlink_to(mine)
    os.lchown(link, _OTHER, _OTHER)
    _check_ours(staged(place / "steelyard", _USER), _USER, engine)
    assert not list(mine.iterdir())


@pytest.mark.parametrize("make", [os.mkfifo, os.mkdir])
def test_what_is_no_file_is_not_read_as_an_engine(
    place: Path, staged: Stage, make: Callable[[Path, int], None]
) -> None:
    """To read a pipe would wait for ever."""
    path = staged(place, os.geteuid())
    path.unlink()
    make(path, 0o700)
    with pytest.raises(InputError, match=r"steelyard-mpi' is no file; give --stage a folder"):
        staged(place, os.geteuid())


@needs_users
def test_both_folders_prepared_are_a_refusal(place: Path, staged: Stage, engine: Path) -> None:
    _folder(place, engine)
    _theirs(place / f"steelyard-{_USER}", _OTHER, 0o777)
    with pytest.raises(InputError, match=rf"belongs to another user \(uid {_OTHER}\); give --stage a folder"):
        staged(place / "steelyard", _USER)
    assert not list(place.rglob("steelyard-mpi"))


def test_the_script_is_posix_shell() -> None:
    if shutil.which("dash") is None:
        pytest.skip("there is no dash, which knows POSIX's language alone")
    checked = subprocess.run(
        ["dash", "-n", "-c", module._SCRIPT], capture_output=True, text=True, check=False
    )
    assert (checked.returncode, checked.stderr) == (0, "")
