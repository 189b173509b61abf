"""Fixtures that more than one module of tests needs."""

from __future__ import annotations

import contextlib
import functools
import gc
import os
import shutil
import signal
import tempfile
from collections.abc import Callable
from pathlib import Path

import hypothesis
import pytest

from advice import Advice, record_commands
from commands import steelyard_of
from made_plans import Report, made_report
from steelyard.base.errors import InputError
from steelyard.engines.mpi import Mpi, choose_mpi, find_mpis
from toy_engine import toy as toy

# The same examples each time, however slow the machine: no test fails by chance.
hypothesis.settings.register_profile(
    "repeatable",
    derandomize=True,
    deadline=None,
    database=None,
    suppress_health_check=[hypothesis.HealthCheck.too_slow],
)
hypothesis.settings.load_profile("repeatable")

# A shell without job control starts background work with SIGINT ignored, and nohup ignores SIGHUP.
# That is inherited, so tests that interrupt a program would wait in vain. A handler is not inherited.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)
if signal.getsignal(signal.SIGHUP) is signal.SIG_IGN:
    signal.signal(signal.SIGHUP, lambda _number, _frame: None)


# Open MPI 4 looks at each start for networks that no machine for tests has, and then takes this one.
os.environ.setdefault("OMPI_MCA_pml", "ob1")

_GROUP = "mpi"
_GROUPED = Path(__file__).parent / "mpi"
_NICE = 3  # half the weight of a process that wants the same core; with less, limits of time would be met
_GARBAGE = 20_000  # objects made before Python looks for some; by itself it looks after 700
_FAMILIES = ("openmpi", "mpich", "embedded", "intel")
# Numbers of ranks that stand for all: one, with a core each, and one that is no power of two.
_RANKS = (1, 2, 3)


def pytest_configure(config: pytest.Config) -> None:
    """Give each worker of pytest-xdist a TMPDIR of its own, which all users may write as they may /tmp.

    Launches of Open MPI 4 share a folder of the user there: the last one removes it, and another that begins
    in that moment fails with "File exists".
    """
    if "PYTEST_XDIST_WORKER" in os.environ:
        folder = tempfile.mkdtemp(prefix="w")  # short: sockets lie in it
        Path(folder).chmod(0o1777)
        os.environ["TMPDIR"] = tempfile.tempdir = folder
        config.add_cleanup(lambda: shutil.rmtree(folder, ignore_errors=True))


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_protocol(item: pytest.Item) -> None:
    """What starts no MPI gives way to what does, in another worker, at the same time.

    Ranks wait for each other in loops: one that is without a core keeps the others at it. Who is not root is
    not given the old priority back; groups of MPI come first in their workers, and need not ask for it.
    """
    if "PYTEST_XDIST_WORKER" in os.environ:
        with contextlib.suppress(PermissionError):
            os.setpriority(os.PRIO_PROCESS, 0, 0 if item.path.is_relative_to(_GROUPED) else _NICE)


@pytest.hookimpl(tryfirst=True)
def pytest_pyfunc_call() -> None:
    """Let pytest's variable be the same in each test: where variables differ, programs are asked again."""
    os.environ["PYTEST_CURRENT_TEST"] = "a test"


@pytest.hookimpl(tryfirst=True)  # before pytest-xdist reads the groups
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """What starts an MPI runs in one worker of pytest-xdist, one after the other, for ranks want the cores.

    A module of them that mostly waits, for time limits and for what was killed, names a group of its own. The
    other workers do the rest meanwhile (`--dist loadgroup`), each module in one of them, which makes its
    fixtures once.
    """
    for item in items:
        is_grouped = item.path.is_relative_to(_GROUPED)
        if is_grouped and _is_further(item):
            item.add_marker(pytest.mark.further)
        if item.get_closest_marker("xdist_group") is None:
            item.add_marker(pytest.mark.xdist_group(_GROUP if is_grouped else item.path.stem))


def _is_further(item: pytest.Item) -> bool:
    """Is it the same on another number of ranks, or under one more MPI?

    The first MPI does all. The wheel of MPICH does on two ranks what is not `ours` to do right. The others do
    what is `launching`.
    """
    params: dict[str, object] = item.callspec.params if hasattr(item, "callspec") else {}
    ranks = params.get("ranks", 2)
    if ranks not in _RANKS:
        return True
    first = next((family for family in _FAMILIES if not isinstance(_found(family), str)), None)
    mpi = params.get("mpi", first)
    if mpi == first or item.get_closest_marker("launching") is not None:
        return False
    return item.get_closest_marker("ours") is not None or (mpi, ranks) != ("embedded", 2)


def pytest_collection_finish(session: pytest.Session) -> None:
    """Refuse versions of pytest and pytest-xdist that do not agree on groups: ranks would fight for cores.

    And look for no garbage among 6000 tests: that took a tenth of the time of those that start no process.
    """
    if session.config.getoption("loadgroup", default=False):
        for item in session.items:
            if item.path.is_relative_to(_GROUPED) and "@" not in item.nodeid:
                raise pytest.UsageError("this pytest-xdist cannot group tests; see pyproject.toml")
    gc.collect()
    gc.freeze()
    gc.set_threshold(_GARBAGE)


@functools.lru_cache
def _found(choice: str) -> Mpi | str:
    """The MPI, or why there is none."""
    if choice not in {word for mpi in find_mpis() for word in (mpi.family, mpi.origin)}:
        return f"no {choice} MPI was found"
    try:
        return choose_mpi(choice)
    except InputError as error:
        return str(error)


@pytest.fixture(params=_FAMILIES)
def mpi(request: pytest.FixtureRequest) -> Mpi:
    """Each MPI of this machine in turn, the wheel in this environment (`embedded`) among them."""
    found = _found(request.param)
    if isinstance(found, str):
        pytest.skip(found)
    return found


@pytest.fixture
def one_mpi() -> Mpi:
    """One MPI, of those that are here: for what is ours to do right and not the library's."""
    for family in ("openmpi", "embedded", "mpich", "intel"):  # the first yields where ranks share a core
        if not isinstance(found := _found(family), str):
            return found
    pytest.skip("no MPI was found")


@pytest.fixture(scope="session")
def compiler() -> str:
    """A C compiler."""
    path = shutil.which("cc")
    if path is None:
        pytest.skip("there is no C compiler")
    return path


@pytest.fixture(scope="session")
def report_of(tmp_path_factory: pytest.TempPathFactory) -> Callable[[str], Report]:
    """The report of results as a shipped plan makes them, made once; by its name.

    Modules that use it are one group of pytest-xdist: reports take a second each.
    """

    @functools.cache
    def make(name: str) -> Report:
        return made_report(tmp_path_factory.mktemp("reports"), name)

    return make


@pytest.fixture
def own_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty cache, used instead of the user's."""
    folder = tmp_path / "cache"
    monkeypatch.setenv("STEELYARD_CACHE", str(folder))
    return folder


@pytest.fixture
def advice(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Advice:
    """What types the commands that messages print, in an empty folder."""
    monkeypatch.setenv("COLUMNS", "80")
    monkeypatch.chdir(tmp_path)
    found = Advice(steelyard_of(capsys, monkeypatch))
    record_commands(monkeypatch, found.made)
    return found
