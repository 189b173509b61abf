"""Modules and containers as factors of launches: what is loaded, what reaches the launch, what never a shell.

The function `module` is the test's own, in the form in which shells export functions.
"""

from __future__ import annotations

import os
from pathlib import Path

import msgspec
import pytest

from described import described
from few_ops import METHODS, MPI, RULES, SOLO
from steelyard.base.errors import InputError
from steelyard.campaign.jobs import groups_of, job_name
from steelyard.engines.build import Engine
from steelyard.engines.description import ops_of
from steelyard.engines.mpi import Mpi, choose_mpi, mpi_environment
from steelyard.launch.command import LaunchCommand, plan_launch
from steelyard.launch.request import LaunchRequest
from steelyard.plan.arms import read_arms
from steelyard.plan.plan import Measure, Plan
from steelyard.plan.remeasure import plan_again
from steelyard.plan.resolve import resolve
from steelyard.plan.settings import read_around
from steelyard.records.campaign_file import MODULES, WRAPPER, CampaignFile, PlannedPoint
from steelyard.system.machine import read_machine
from steelyard.system.modules import Loaded, load_modules, module_names

_OPS = ops_of(described(SOLO, METHODS, RULES), described(MPI, METHODS, RULES))
_ENGINE = Engine(
    "/e/steelyard-mpi",
    "mpi",
    Mpi("mpich-5.0.2", "mpich", "5.0.2", None, "/usr/bin/mpiexec", None, abi=False, origin="path"),
)
_MACHINE = msgspec.structs.replace(read_machine("/nowhere"), cores=((0,), (1,)), cpus=(0, 1), online=(0, 1))

# Each module sets a variable of its name; `fails` fails, `silent` fails as old versions did, without a code.
_MODULE = """() {  shift
 for name in "$@"; do
  case "$name" in
   fails) echo "Unable to locate a modulefile for 'fails'" >&2; return 1;;
   silent) echo "ModuleCmd_Load.c(213):ERROR:105" >&2; return 0;;
   mpi/*) PATH="$OWN/$name:$PATH"; LD_LIBRARY_PATH="$OWN/$name/lib"; export PATH LD_LIBRARY_PATH;;
   clean) unset TO_GO;;
   *) echo "loading $name"; export "MODULE_${name%%/*}=${name#*/}" "LOADED=$LOADED:$name";;
  esac
 done
}"""


@pytest.fixture
def _module(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("BASH_FUNC_module%%", _MODULE)
    monkeypatch.setenv("OWN", str(tmp_path))
    monkeypatch.setenv("TO_GO", "there\nit is")
    monkeypatch.delenv("LD_LIBRARY_PATH", raising=False)


@pytest.mark.usefixtures("_module")
def test_what_modules_change() -> None:
    assert load_modules(()) == Loaded()
    assert load_modules(("gcc/12", "ucx/1.16")) == Loaded(
        {"MODULE_gcc": "12", "MODULE_ucx": "1.16", "LOADED": ":gcc/12:ucx/1.16"}
    )
    assert load_modules(("clean",)) == Loaded({}, ("TO_GO",))


@pytest.mark.usefixtures("_module")
@pytest.mark.parametrize(
    ("names", "words"),
    [
        (
            ("gcc/12", "fails"),
            r"'module load gcc/12 fails' failed: Unable to locate a modulefile for 'fails'",
        ),
        (("silent",), r"'module load silent' changed nothing: ModuleCmd_Load"),
    ],
)
def test_modules_that_cannot_be_loaded(names: tuple[str, ...], words: str) -> None:
    with pytest.raises(InputError, match=words) as raised:
        load_modules(names)
    assert "\n" not in str(raised.value)


def test_no_modules_here(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """A bash without a start-up file that defines them: none of those of this system is read."""
    for name in ("BASH_ENV", "BASH_FUNC_module%%", "MODULESHOME", "LMOD_PKG"):
        monkeypatch.delenv(name, raising=False)
    fake = tmp_path / "bash"
    fake.write_text("#!/bin/sh\nexit 87\n")
    fake.chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path), prepend=os.pathsep)
    with pytest.raises(InputError, match="no shell here has the function module"):
        load_modules(("gcc",))


_HOSTILE = ("x;touch M", "$(touch M)", "`touch M`", "-h", "a|b", "x\ny", "*", "'", "a&b", "", "ö", "--", ">M")


@pytest.mark.usefixtures("_module")
@pytest.mark.parametrize("text", _HOSTILE)
def test_hostile_names_of_modules_reach_no_shell(
    text: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    with pytest.raises(ValueError, match="is no name of a module"):
        module_names(text)
    with pytest.raises(InputError, match=r"--modules has .* is no name of a module"):
        read_around({"modules": [text], "wrapper": None})
    with pytest.raises(InputError, match="is no name of a module"):
        choose_mpi(f"module:{text}")
    # the script itself does not read them as code either, should one ever come through
    if text and "\0" not in text:
        load_modules((f"quoted/{text}",))
    assert not (tmp_path / "M").exists()


@pytest.mark.parametrize(
    ("wrapper", "words"),
    [("apptainer 'x", "a quote without its end"), ("a\nb", "control characters"), ("  ", "has no words")],
)
def test_wrappers_that_cannot_be(wrapper: str, words: str) -> None:
    with pytest.raises(InputError, match=rf"--wrapper .*{words}") as raised:
        read_around({"modules": None, "wrapper": [wrapper]})
    assert "\n" not in str(raised.value)


def _launch(**env: str) -> LaunchCommand:
    names = {"modules": MODULES, "wrapper": WRAPPER}
    return plan_launch(
        _ENGINE, _MACHINE, LaunchRequest(2, env={names.get(key, key): value for key, value in env.items()})
    )


@pytest.mark.usefixtures("_module")
def test_a_launch_with_modules_and_in_a_container(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    wrapper = tmp_path / "apptainer"
    wrapper.write_text("#!/bin/sh\n")
    wrapper.chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path), prepend=os.pathsep)
    plain = _launch(modules="-", wrapper="-")
    assert plain == _launch()
    launch = _launch(modules="gcc/12 clean", wrapper="apptainer exec --bind '/a b' mpi.sif", GIVEN="1")
    assert launch.argv_prefix == (*plain.argv_prefix, "apptainer", "exec", "--bind", "/a b", "mpi.sif")
    assert launch.environment == plain.environment | {"MODULE_gcc": "12", "LOADED": ":gcc/12", "GIVEN": "1"}
    assert launch.unset == ("TO_GO",)
    hostile = _launch(wrapper="apptainer exec '$(touch M);x'")
    assert hostile.argv_prefix[-1] == "$(touch M);x"  # one word of the command
    with pytest.raises(InputError, match="there is no nowhere on PATH, the wrapper of the ranks; give"):
        _launch(wrapper="nowhere exec mpi.sif")


def _points(plan: Plan) -> tuple[PlannedPoint, ...]:
    return resolve(plan, _OPS, ("mpich-5.0.2",), cores=4)


_MEASURE = Measure(ops=("mpi.bcast",), ranks=2, bytes=8)


def test_they_are_axes_of_a_plan() -> None:
    measure = msgspec.structs.replace(
        _MEASURE, modules=("-", "gcc/12   ucx"), wrapper="apptainer exec x.sif", env={"A": ("1", "2")}
    )
    points = _points(Plan(measure=(measure,)))
    assert [tuple(point.env.values()) for point in points] == [
        (a, modules, "apptainer exec x.sif") for a in "12" for modules in ("-", "gcc/12 ucx")
    ]
    names = {job_name(1, group) for group in groups_of(points)}
    assert len(names) == 4
    assert all(name.isascii() and "/" not in name for name in names)


@pytest.mark.parametrize(
    ("word", "arms"),
    [
        ("modules=gcc/12,-", ("gcc/12", "-")),
        ("wrapper=-;apptainer exec --bind a,b x.sif", ("-", "apptainer exec --bind a,b x.sif")),
    ],
)
def test_they_are_arms(word: str, arms: tuple[str, ...]) -> None:
    factor = word.partition("=")[0]
    plan = Plan(measure=(_MEASURE,), arms=read_arms(word))
    points = _points(plan)
    assert tuple(point.arm for point in points) == arms
    campaign = CampaignFile(plan=msgspec.to_builtins(Plan(measure=(_MEASURE,))), points=points)
    again = plan_again(campaign, points[:1], read_arms(word), 3)
    assert tuple(point.arm for point in _points(again)) == arms
    with pytest.raises(InputError, match=f"'arms' names the {factor}"):
        _points(msgspec.structs.replace(plan, measure=(msgspec.structs.replace(_MEASURE, **{factor: "x"}),)))
    with pytest.raises(InputError, match="'arms' cannot be used: "):
        _points(msgspec.structs.replace(plan, arms={factor: ("a", "'" if factor == "wrapper" else "$(x)")}))


_FAKE_MPIEXEC = """#!/bin/sh
[ "$LD_LIBRARY_PATH" = "$OWN/mpi/5/lib" ] || exit 127
echo "HYDRA build details:"
echo "    Version:                                 5.0.2"
"""
_FAKE_MPICC = """#!/bin/sh
echo "mpicc for MPICH version 5.0.2"
"""


@pytest.mark.usefixtures("_module")
def test_the_mpi_of_a_module(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """It starts only with what the module sets, as those do that are built against a compiler's libraries."""
    folder = tmp_path / "mpi" / "5"
    folder.mkdir(parents=True)
    for name, text in (("mpiexec", _FAKE_MPIEXEC), ("mpicc", _FAKE_MPICC)):
        (folder / name).write_text(text)
        (folder / name).chmod(0o755)
    mpi = choose_mpi("module:gcc/12 mpi/5")
    assert (mpi.name, mpi.origin, mpi.modules) == ("mpich-5.0.2", "module", ("gcc/12", "mpi/5"))
    assert (mpi.mpiexec, mpi.mpicc) == (str(folder / "mpiexec"), str(folder / "mpicc"))
    environment = mpi_environment(mpi)
    assert environment["PATH"].startswith(f"{folder}:")
    assert (environment["MODULE_gcc"], environment["LD_LIBRARY_PATH"]) == ("12", str(folder / "lib"))
    launch = plan_launch(
        Engine("/e", "mpi", mpi), _MACHINE, LaunchRequest(2, env={MODULES: "ucx/1"}, launcher="mpiexec")
    )
    assert {"MODULE_gcc", "MODULE_ucx", "PATH", "LD_LIBRARY_PATH"} <= launch.environment.keys()
    monkeypatch.setenv("PATH", "/nowhere")
    with pytest.raises(InputError, match=r"there is no mpiexec on PATH; name an MPI's module|cannot be run"):
        choose_mpi("module:gcc/12")
