"""Variables of the environment as axes, what is excluded from a product, and plans that include others."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import msgspec
import pytest

from described import described
from few_ops import METHODS, MPI, RULES, SOLO
from steelyard.base.errors import InputError
from steelyard.base.secret import MASK
from steelyard.campaign.jobs import groups_of, job_name
from steelyard.engines.description import ops_of
from steelyard.plan.arguments import asked_plan
from steelyard.plan.plan import Measure, Plan, differences, plan_document, read_plan
from steelyard.plan.remeasure import with_secrets
from steelyard.plan.resolve import resolve
from steelyard.plan.settings import Settings, read_env_words, settings_axis
from steelyard.records.campaign_file import PlannedPoint

_OPS = ops_of(described(SOLO, METHODS, RULES), described(MPI, METHODS, RULES))
_TWO = ("openmpi-4.1.4", "mpich-5.0.2")


def _points(mpis: tuple[str, ...] = ("mpich-5.0.2",), **keys: Any) -> tuple[PlannedPoint, ...]:
    measure: dict[str, Any] = {"ops": ("mpi.bcast",), "ranks": 2, "bytes": 8} | keys
    return resolve(Plan(measure=(Measure(**measure),)), _OPS, mpis, cores=4)


@pytest.mark.parametrize(
    ("mpi", "names"),
    [
        ("openmpi-4.1.4", {"OMPI_MCA_btl", "UCX_TLS"}),
        ("mpich-5.0.2@/opt/a-b", {"MPIR_CVAR_X", "UCX_TLS"}),
        ("intel-2021.18", {"MPIR_CVAR_X", "I_MPI_ADJUST_BCAST", "UCX_TLS"}),
        ("mvapich-3.0", {"OMPI_MCA_btl", "MPIR_CVAR_X", "I_MPI_ADJUST_BCAST", "UCX_TLS"}),  # who knows
        (None, {"UCX_TLS"}),
    ],
)
def test_a_setting_is_for_the_mpi_that_reads_it(mpi: str | None, names: set[str]) -> None:
    own: Settings = {"OMPI_MCA_btl": ("tcp,self", "-"), "MPIR_CVAR_X": "1", "I_MPI_ADJUST_BCAST": "2"}
    given: Settings = {**own, "UCX_TLS": "t"}
    found = settings_axis(given, (), (), mpi)
    assert {name for one in found for name in one} == names
    assert len(found) == (2 if "OMPI_MCA_btl" in names else 1)


def test_mpis_are_crossed_with_their_own_settings_alone() -> None:
    env = {"OMPI_MCA_a": ("x", "y"), "MPIR_CVAR_b": ("1", "2", "3")}
    found = [(point.mpi, *point.env.values()) for point in _points(_TWO, env=env)]
    ours, theirs = [(_TWO[0], value) for value in "xy"], [(_TWO[1], value) for value in "123"]
    assert found == [*ours, *theirs]


def test_settings_stand_beside_arms() -> None:
    measure = Measure(ops=("mpi.bcast",), ranks=2, bytes=8, env={"UCX_TLS": ("tcp", "shm")})
    points = resolve(Plan(measure=(measure,), arms={"mpi": _TWO}), _OPS, _TWO, cores=4)
    assert {(point.arm, point.env["UCX_TLS"]) for point in points} == {
        (mpi, tls) for mpi in _TWO for tls in ("tcp", "shm")
    }


def test_variables_of_the_command_line() -> None:
    words = ["OMPI_MCA_btl=tcp,self", "A=", "OMPI_MCA_btl=self,vader", "OMPI_MCA_btl=tcp,self", "B=a=b;$(c)"]
    assert read_env_words(words) == {
        "OMPI_MCA_btl": ("tcp,self", "self,vader"),
        "A": "",
        "B": "a=b;$(c)",  # no shell ever reads it
    }
    (measure,) = asked_plan(("mpi.bcast",), (), {"bytes": None}, None, (), (), ["A=1"]).measure
    assert measure.env == {"A": "1"}


@pytest.mark.parametrize(
    ("word", "sentence"),
    [
        ("UCX_TLS", "--env UCX_TLS is not of the form NAME=VALUE, as in --env UCX_TLS=tcp,self"),
        ("=1", "--env =1 is not of the form"),
        ("a b=1", "--env 'a b' is no variable"),
        ("A;rm=1", "is no variable that a launch can be given; a name has letters, digits and _"),
        ("STEELYARD_CHILD=1", "--env 'STEELYARD_CHILD' is no variable"),
        ("A=\x1b[2J", r"--env A has control characters in '\\x1b\[2J'"),
        ("A=a\nb", "has control characters"),
        ("A=\0", "has control characters"),
    ],
)
def test_hostile_variables_are_refused(word: str, sentence: str) -> None:
    with pytest.raises(InputError, match=sentence.replace("(", r"\(")):
        read_env_words([word])


def test_a_plan_is_given_what_its_launches_need_here() -> None:
    axes = {"bytes": None, "ranks": None, "wrapper": ("env B=1",), "modules": ("ucx",)}
    plan = asked_plan(("quick",), (), axes, None, (), (), ["A=1", "A=2"])
    assert {(tuple(one.env["A"]), one.wrapper, one.modules) for one in plan.measure} == {
        (("1", "2"), ("env B=1",), ("ucx",))
    }


@pytest.mark.parametrize(
    ("own", "named"), [('env = {A = "3"}', "what A is"), ('wrapper = "env C=1"', "what wrapper is")]
)
def test_what_a_plan_says_itself_is_not_overridden(tmp_path: Path, own: str, named: str) -> None:
    plan = _file(tmp_path, "own.toml", f'[[measure]]\nops = ["self.clock"]\n{own}\n')
    axes = {"bytes": None, "ranks": None, "wrapper": ("env B=1",)}
    with pytest.raises(InputError, match=f"{named}; change it there"):
        asked_plan((str(plan),), (), axes, None, (), (), ["A=1"])


def _file(folder: Path, name: str, text: str) -> Path:
    (folder / name).write_text(text)
    return folder / name


@pytest.mark.parametrize(
    ("env", "words"),
    [
        ('{ "A B" = "1" }', "env 'A B' is no variable"),
        ('{ A = ["1", "a\\u0007"] }', "has control characters"),
        ("{ A = 1 }", "env is {'A': 1}, and should be a table of variables"),
    ],
)
def test_hostile_variables_of_a_plan_are_refused(tmp_path: Path, env: str, words: str) -> None:
    path = _file(tmp_path, "p.toml", f"[[measure]]\nops = ['mpi.bcast']\nenv = {env}\n")
    with pytest.raises(InputError, match=r"the plan .*p\.toml, line [13]: ") as raised:
        read_plan(path)
    assert words in str(raised.value)


def test_many_settings_make_no_name_that_a_file_cannot_have() -> None:
    env = {f"OMPI_MCA_setting_number_{i}": ("1", "2") for i in range(7)}
    names = {job_name(1, group) for group in groups_of(_points(("openmpi-4.1.4",), env=env))}
    assert len(names) == 2**7
    assert max(map(len, names)) < 200


# ---- what is excluded --------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("exclude", "left"),
    [
        ({}, 16),
        ({"bytes": "1Ki", "ranks": 4}, 12),
        ({"bytes": ["1Ki", 8], "ranks": 4}, 8),
        ({"bytes": "1..1Ki", "env": {"UCX_TLS": "tcp"}}, 8),
        ({"mpi": "openmpi"}, 8),
        ({"mpi": "openmpi-4.1.4", "env": {"UCX_TLS": ["tcp", "shm"]}}, 8),
        ({"mpi": "open"}, 16),
        ({"ops": "mpi.b*", "ranks": 2}, 8),
        ({"hosts": 1, "threads": 1, "ranks": "2,3"}, 8),
        ({"placement": "same-cpu"}, 16),  # none is placed
    ],
)
def test_what_is_excluded(tmp_path: Path, exclude: dict[str, Any], left: int) -> None:
    table = ", ".join(f"{key} = {_toml(value)}" for key, value in exclude.items())
    text = f"""
        [[measure]]
        ops = ["mpi.bcast"]
        bytes = "8,1Ki"
        ranks = "2,4"
        env = {{ UCX_TLS = ["tcp", "shm"] }}
        exclude = [{f"{{ {table} }}" if exclude else ""}]
    """
    plan = read_plan(_file(tmp_path, "p.toml", text))
    points = resolve(plan, _OPS, _TWO, cores=4)
    assert len(points) == left
    assert [point.point for point in points] == list(range(left))


def test_each_of_several_tables_excludes_by_all_its_keys() -> None:
    tables: tuple[dict[str, Any], ...] = (
        {"bytes": 8, "ranks": 2},
        {"bytes": 8, "ranks": 4, "env": {"UCX_TLS": "tcp"}},
        {"params": {"count": (2, 3)}, "bytes": "1Ki"},
    )
    measure = {
        "ops": ["mpi.bcast"],
        "bytes": "8,1Ki",
        "ranks": "2,4",
        "env": {"UCX_TLS": ["tcp", "shm"]},
        "rule": "fixed",
        "params": {"count": [1.0, 2.0]},
        "exclude": tables,
    }
    points = resolve(Plan(measure=(msgspec.convert(measure, Measure),)), _OPS, _TWO[:1], cores=4)
    left = [(point.bytes, point.ranks, point.env["UCX_TLS"], point.rule_params["count"]) for point in points]
    assert left == [
        *((8, 4, "shm", count) for count in (1, 2)),
        *((1024, ranks, tls, 1) for ranks in (2, 4) for tls in ("tcp", "shm")),
    ]


def _toml(value: Any) -> str:
    if isinstance(value, dict):
        return f"{{ {', '.join(f'{key} = {_toml(one)}' for key, one in value.items())} }}"
    return f"[{', '.join(map(_toml, value))}]" if isinstance(value, list) else repr(value)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("exclude = [{}]", "exclude has a table without a key"),
        ("exclude = [{ byts = 8 }]", "an exclude has no key 'byts'; did you mean 'bytes'?"),
        ("exclude = 5", "exclude is 5, and should be a list of tables"),
    ],
)
def test_what_is_wrong_with_an_exclude(tmp_path: Path, text: str, words: str) -> None:
    path = _file(tmp_path, "p.toml", f"[[measure]]\nops = ['mpi.bcast']\n{text}\n")
    with pytest.raises(InputError, match=r"p\.toml, line 3: ") as raised:
        read_plan(path)
    assert words in str(raised.value)


def test_all_may_not_be_excluded() -> None:
    plan = Plan(measure=(Measure(ops=("mpi.bcast",), ranks=2, bytes=8),))
    document = plan_document(plan)
    document["measure"][0]["exclude"] = [{"ranks": 2}]
    with pytest.raises(InputError, match=r"what is excluded leaves nothing of mpi\.bcast; exclude less"):
        resolve(msgspec.convert(document, Plan), _OPS, ("mpich",), cores=4)


def test_a_plan_without_new_keys_is_the_same_as_before() -> None:
    document = plan_document(Plan(measure=(Measure(ops=("mpi.bcast",)),)))
    (measure,) = document["measure"]
    for key in measure.keys() - {"ops"}:
        older = {**document, "measure": [{name: value for name, value in measure.items() if name != key}]}
        assert differences(document, older) == differences(older, document) == ()
    older = {key: value for key, value in document.items() if key != "include"}
    older["measure"] = [{"ops": measure["ops"]}]
    assert differences(document, older) == ()


# ---- plans that include others -----------------------------------------------------------------------------


def test_an_included_plan_gives_its_measures_alone(tmp_path: Path) -> None:
    _file(tmp_path, "one.toml", "name = 'one'\nlaunches = 3\n[[measure]]\nops = ['mpi.bcast']\n")
    _file(tmp_path, "two.toml", "include = ['one.toml']\n")
    text = "name = 'all'\ninclude = 'two.toml, quick'\n[[measure]]\nops = ['self.empty']\n"
    plan = read_plan(_file(tmp_path, "all.toml", text))
    assert (plan.name, plan.most_launches, plan.include) == ("all", 10, ())
    assert plan.measure[0].ops == ("mpi.bcast",)
    assert len(plan.measure) > 3
    assert plan.measure[-1].ops == ("self.empty",)


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("quik", "nor a file that ends in .toml; did you mean 'quick'?"),
        ("none.toml", "there is no plan "),
        ("p.toml", "includes 'p.toml', which includes it; leave one of them out"),
        ("loop.toml", "includes 'p.toml', which includes it"),
    ],
)
def test_what_cannot_be_included(tmp_path: Path, name: str, words: str) -> None:
    _file(tmp_path, "loop.toml", "include = ['p.toml']\n")
    path = _file(tmp_path, "p.toml", f"include = ['{name}']\n[[measure]]\nops = ['mpi.bcast']\n")
    with pytest.raises(InputError) as raised:
        read_plan(path)
    assert words in str(raised.value)


@pytest.mark.parametrize(
    ("keys", "words"),
    [
        ({"ops": ()}, "ops is empty"),
        ({"bytes": -1}, "bytes: '-1' is not a size"),
        ({"bytes": "8,8q"}, "bytes: '8q' is not a size"),
        ({"ranks": 0}, "ranks: the number of ranks must be at least 1"),
        ({"ranks": "two"}, "ranks: 'two' is not a number of ranks"),
        ({"hosts": "1,two"}, "hosts: '1,two' is not a number of hosts"),
        ({"ranks_per_host": (1, 0)}, "ranks_per_host: the number of ranks must be at least 1"),
        ({"threads": "1,0"}, "threads: the number of threads must be at least 1"),
        ({"thread_level": "many"}, "there is no thread level 'many'; use single"),
        ({"method": "epoch,,batch"}, "method epoch,,batch has an empty value"),
        ({"method": ("epoch", " ")}, "method has an empty value"),
        ({"params": {"root": ("",)}}, "root has an empty value"),
        ({"ranks": ""}, "ranks is empty; leave it out"),
        ({"params": {"root": ()}}, "root is empty"),
        ({"env": {"STEELYARD_X": "a"}}, "'STEELYARD_X' is no variable"),
        ({"wrapper": "a '"}, "has a quote without its end"),
        ({"engine": "steam"}, "engine is 'solo', 'mpi' or 'shmem'"),
    ],
)
def test_a_measure_that_no_file_spells_is_bad_input_all_the_same(keys: dict[str, Any], words: str) -> None:
    with pytest.raises(InputError, match=words):
        Measure(**{"ops": ("mpi.bcast",), **keys})


def test_a_secret_of_the_environment_that_no_launch_can_get() -> None:
    plan = Plan(measure=(Measure(ops=("mpi.bcast",), env={"TOKEN": MASK}),))
    with pytest.raises(InputError, match="env TOKEN has control characters"):
        with_secrets(plan, {"TOKEN": "a\nb"})


def test_a_seed_below_zero() -> None:
    with pytest.raises(InputError, match="seed must be 0 or more, not -1"):
        Plan(measure=(Measure(ops=("mpi.bcast",)),), seed=-1)
