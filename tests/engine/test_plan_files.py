"""Plans from files: what is wrong with one is said in a sentence; those that ship can be measured."""

from __future__ import annotations

import functools
from pathlib import Path

import pytest
from msgspec.structs import replace

from steelyard.base.errors import InputError, SteelyardError
from steelyard.campaign.folder import topology_for
from steelyard.engines.build import describe, engine_folder, mpi_engine, solo_engine
from steelyard.engines.description import Ops, ops_of
from steelyard.engines.mpi import choose_mpi
from steelyard.engines.shmem import find_shmems
from steelyard.plan.arguments import asked_plan
from steelyard.plan.plan import Measure, Plan, budget_seconds, read_plan
from steelyard.plan.point_line import point_line
from steelyard.plan.resolve import resolve
from steelyard.system.machine import read_machine


def _file(folder: Path, text: str) -> Path:
    (folder / "p.toml").write_text(text)
    return folder / "p.toml"


def test_a_plan_from_a_file(tmp_path: Path) -> None:
    text = """
        name = "mine"
        launches = 3
        yield = "none"
        mpi = ["openmpi", "mpich"]
        [[measure]]
        ops = ["mpi.i*"]
        ranks = [2, "3,4"]
        bytes = 8
        params = { window = [1, 2], tolerance = 0.01 }
    """
    measure = Measure(
        ops=("mpi.i*",), ranks=(2, "3,4"), bytes=8, params={"window": (1, 2), "tolerance": 0.01}
    )
    assert read_plan(_file(tmp_path, text)) == Plan(
        measure=(measure,), name="mine", launches=3, yield_="none", mpi=("openmpi", "mpich")
    )


def _asked(path: Path, ranks: str | None, *params: str) -> Plan:
    axes = {"bytes": None, "ranks": ranks, "method": None}
    return asked_plan((str(path),), (), axes, None, params)


def test_a_plan_of_kernels_takes_ranks_and_a_class_for_them_alone(tmp_path: Path) -> None:
    messages = Measure(ops=("mpi.pingpong",), ranks=2, bytes=8)
    kernels = Measure(ops=("npb.*",), params={"class": "W", "tolerance": 0.03})
    file = _file(
        tmp_path,
        "[[measure]]\nops = ['mpi.pingpong']\nranks = 2\nbytes = 8\n"
        "[[measure]]\nops = ['npb.*']\nparams = { class = 'W', tolerance = 0.03 }",
    )
    assert _asked(file, None).measure == (messages, kernels)
    changed = replace(kernels, ranks="2,4", params={"class": ("S", "A"), "tolerance": 0.03})
    assert _asked(file, "2,4", "class=S,A").measure == (messages, changed)
    assert _asked(file, "2,4", "class=S", "class=A,S").measure == (messages, changed)
    with pytest.raises(InputError, match="--param cannot be given with a plan"):
        _asked(file, None, "tolerance=1")


def test_options_that_are_given_again_have_the_values_of_both() -> None:
    axes = {"bytes": None, "ranks": None, "method": None}
    params = ("kind=normal", "count=3", "kind=recursive,normal", "count=1,3")
    plan = asked_plan(("pthread.mutex",), (), axes, None, params, ("proc_bind=close", "proc_bind=spread"))
    (measure,) = plan.measure
    assert measure.params == {"kind": ("normal", "recursive"), "count": (3.0, 1.0)}
    assert measure.omp == {"proc_bind": ("close", "spread")}


def test_ranks_are_for_measures_that_name_none(tmp_path: Path) -> None:
    assert [one.ranks for one in _asked(_file(tmp_path, _MEASURE), "4").measure] == ["4"]
    with pytest.raises(InputError, match="--ranks and --class cannot be given with a plan; write it into"):
        _asked(_file(tmp_path, f"{_MEASURE}ranks = 2\n"), "4", "class=S")


_MEASURE = '[[measure]]\nops = ["self.empty"]\n'


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("launchs = 3\n" + _MEASURE, ", line 1: it has no key 'launchs'; did you mean 'launches'?"),
        ("yield_ = 'none'\n" + _MEASURE, "it has no key 'yield_'; did you mean 'yield'?"),
        ("[[mesure]]\nops = ['self.empty']", "no key 'mesure'; did you mean 'measure'?"),
        (_MEASURE + "byts = 8", ", line 3: a [[measure]] has no key 'byts'; did you mean 'bytes'?"),
        (_MEASURE + _MEASURE + "parms = {}", "a [[measure]] has no key 'parms'; did you mean 'params'?"),
        (_MEASURE + "qqqqqqqq = 1", "a [[measure]] has no key 'qqqqqqqq'"),
        (
            "launches = 'three'\n" + _MEASURE,
            ", line 1: launches is 'three', and should be a whole number of 1 or more",
        ),
        ("launches = 0\n" + _MEASURE, ", line 1: launches must be from 1 to 10000"),
        ("yield = 'maybe'\n" + _MEASURE, "yield is 'real' or 'none'"),
        ("mpi = 5\n" + _MEASURE, ", line 1: mpi is 5, and should be names or paths of MPIs"),
        ("[[measure]]\nbytes = 8", ", line 1: this [[measure]] has no ops: names or patterns of ops"),
        (_MEASURE + "[[measure]]\nops = 5", ", line 4: ops is 5, and should be names or patterns of ops"),
        ("[[measure]]\nops = []", ", line 2: ops is empty; leave it out"),
        (_MEASURE + "ranks = 2.5", ", line 3: ranks is 2.5, and should be numbers of ranks: 2"),
        (_MEASURE + "\nparams = 3", ", line 4: params is 3, and should be a table of parameters"),
        ("measure = []", "measure"),
        ("name = 'empty'", ": there is no [[measure]], so nothing to measure"),
        ("launches = ", "is not TOML: "),
        ("[[measure]\nops = []", "is not TOML: "),
        ("launches = 3\nlaunches = 4", "is not TOML: "),
    ],
)
def test_what_is_wrong_with_a_plan_is_one_sentence(tmp_path: Path, text: str, words: str) -> None:
    path = _file(tmp_path, text)
    with pytest.raises(InputError) as raised:
        read_plan(path)
    assert str(raised.value).startswith(f"the plan {path}")
    assert words in str(raised.value)
    assert "\n" not in str(raised.value)


def test_a_plan_that_cannot_be_read(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"there is no plan .*none\.toml; 'steelyard list' names"):
        read_plan(tmp_path / "none.toml")
    with pytest.raises(InputError, match="is not a regular file"):
        read_plan(tmp_path)
    (tmp_path / "latin.toml").write_bytes(b"name = '\xe9'")
    with pytest.raises(InputError, match="is not UTF-8 from byte 8 on"):
        read_plan(tmp_path / "latin.toml")


@functools.lru_cache
def _engines() -> Ops | str:
    """What the engines of this machine can do, or why they cannot be asked."""
    try:
        shmems = find_shmems()
        shmem = describe(mpi_engine(shmems[0])) if shmems else None
        return ops_of(describe(solo_engine()), describe(mpi_engine(choose_mpi(None))), shmem)
    except SteelyardError as error:
        return str(error)


def _shipped() -> list[Path]:
    folders = (engine_folder().parent / "plans", engine_folder().parent / "_plans")
    return [path for folder in folders for path in sorted(folder.glob("*.toml"))]


def _with_folders(plan: Plan) -> Plan:
    """A plan whose measures of files have a folder, as --files gives them one."""
    measures = (
        replace(one, files="/tmp") if one.ops[0].startswith(("file.", "mpi.io.")) else one
        for one in plan.measure
    )
    return replace(plan, measure=tuple(measures))


@pytest.mark.parametrize("path", _shipped(), ids=lambda path: path.stem)
def test_a_plan_that_ships_can_be_resolved(path: Path, tmp_path: Path) -> None:
    ops = _engines()
    if isinstance(ops, str):
        pytest.skip(ops)
    plan = _with_folders(read_plan(path))
    if not ops.shmem and any(name.startswith("shmem.") for one in plan.measure for name in one.ops):
        pytest.skip("no OpenSHMEM was found")
    libraries = ["any", *(["oshmem-any"] if ops.shmem else [])]
    points = resolve(plan, ops, libraries, len(read_machine().cores), topology_for(tmp_path, plan))
    assert plan.name == path.stem
    assert plan.summary
    assert points
    for point in points:
        assert point.op in ops.all
        assert point_line(point, ops, budget_seconds(plan)).startswith(f"point={point.point} op={point.op} ")


def test_the_quick_plan_ships() -> None:
    assert "quick" in {path.stem for path in _shipped()}


def test_names_may_stand_as_one_text(tmp_path: Path) -> None:
    """As sizes and ranks may."""
    plan = read_plan(_file(tmp_path, "mpi = 'mpich, openmpi'\n[[measure]]\nops = 'self.empty,self.clock'"))
    assert plan.mpi == ("mpich", "openmpi")
    assert plan.measure[0].ops == ("self.empty", "self.clock")


def test_ops_with_commas_on_the_command_line() -> None:
    axes = {"bytes": None, "ranks": None}
    (measure,) = asked_plan(("self.empty,self.clock", "self.spin"), (), axes, None, ()).measure
    assert measure.ops == ("self.empty", "self.clock", "self.spin")
