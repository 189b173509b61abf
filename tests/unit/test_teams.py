"""How many ranks on how many hosts: the axes of a measure, and what a command line changes of a plan's."""

from __future__ import annotations

from pathlib import Path

import msgspec
import pytest

from described import described
from few_ops import METHODS, MPI, RULES, SOLO
from steelyard.base.errors import InputError
from steelyard.engines.description import Op, ops_of
from steelyard.plan.arguments import asked_plan
from steelyard.plan.plan import Measure, Plan
from steelyard.plan.resolve import resolve
from steelyard.plan.teams import teams_of

_ALL = ops_of(described(SOLO, METHODS, RULES), described(MPI, METHODS, RULES))
_OPS = _ALL.all
_OP = msgspec.structs.replace(_OPS["mpi.bcast"], min_ranks=2)
_P2P, _LOCAL = _OPS["mpi.pingpong"], _OPS["self.empty"]


@pytest.mark.parametrize(
    ("op", "measure", "teams"),
    [
        (_OP, {}, "4@None"),
        (_OP, {"ranks": "2,4"}, "2@None 4@None"),
        (_OP, {"hosts": "1,2"}, "4@1 8@2"),
        (_OP, {"hosts": "1,2", "ranks_per_host": "1,2"}, "2@1 2@2 4@2"),  # one rank is too few
        (_OP, {"hosts": "1,2,3", "ranks": "2,4"}, "2@1 4@1 2@2 4@2"),
        (_OP, {"ranks_per_host": 3}, "3@1"),
        (_P2P, {"hosts": [1, 2, 4]}, "2@1 2@2 4@4"),
        (_LOCAL, {"hosts": 2}, "2@2"),
    ],
)
def test_teams(op: Op, measure: dict[str, object], teams: str) -> None:
    asked = msgspec.convert({"ops": ["x"], **measure}, Measure)
    found = teams_of(asked, op, 4, explicit=True)
    assert " ".join(f"{team.ranks}@{team.hosts}" for team in found) == teams


@pytest.mark.parametrize(
    ("measure", "words"),
    [
        ({"ranks": 2, "ranks_per_host": 2}, "say the same twice"),
        ({"hosts": 3, "ranks": 4}, "4 ranks cannot be shared evenly by 3 hosts; give a multiple of 3"),
        ({"hosts": 1, "ranks_per_host": 1}, "needs 2 ranks, not 1"),
        ({"hosts": "0"}, "number of hosts must be at least 1"),
        ({"hosts": "two"}, "not a number of hosts"),
    ],
)
def test_teams_that_cannot_be(measure: dict[str, object], words: str) -> None:
    with pytest.raises((InputError, msgspec.ValidationError), match=words):
        teams_of(msgspec.convert({"ops": ["x"], **measure}, Measure), _OP, 4, explicit=True)


_PLAN = """
[[measure]]
ops = ["mpi.bcast"]
hosts = [1, 2, 4]

[[measure]]
ops = ["mpi.barrier"]

[[measure]]
ops = ["mpi.pingpong"]
hosts = 2
ranks_per_host = 1
"""


@pytest.mark.parametrize(
    ("hosts", "kept"),
    [("2", "bcast:2 barrier:2 pingpong:2"), ("1,4", "bcast:1,4 barrier:1,4"), ("8", "barrier:8")],
)
def test_a_job_measures_its_part_of_a_plan(hosts: str, kept: str, tmp_path: Path) -> None:
    path = tmp_path / "plan.toml"
    path.write_text(_PLAN)
    plan = asked_plan([str(path)], (), {"ranks": None, "hosts": hosts, "ranks_per_host": None}, None, ())
    told = [
        f"{one.ops[0].removeprefix('mpi.')}:{','.join(map(str, one.hosts))}"
        for one in plan.measure
        if isinstance(one.hosts, tuple)
    ]
    assert " ".join(told) == kept


@pytest.mark.parametrize(("hosts", "teams"), [(None, []), (1, []), ("1,4", ["4@4"]), (4, ["4@4"])])
def test_what_is_between_hosts_is_left_out_of_a_plan_on_one(hosts: object, teams: list[str]) -> None:
    between = Measure(ops=("mpi.pingpong",), bytes=8, ranks_per_host=1, hosts=hosts)  # type: ignore[arg-type]
    here = Measure(ops=("self.empty",))
    for measures in ((between, here), (here, between)):
        points = resolve(Plan(measure=measures), _ALL, ("mpich-5.0.2",), 4)
        assert [f"{one.ranks}@{one.hosts}" for one in points if one.op == "mpi.pingpong"] == teams
    if not teams:
        with pytest.raises(InputError, match="needs 2 ranks, not 1"):
            resolve(Plan(measure=(between,)), _ALL, ("mpich-5.0.2",), 4)


def test_a_plan_that_has_nothing_for_these_hosts(tmp_path: Path) -> None:
    path = tmp_path / "plan.toml"
    path.write_text('[[measure]]\nops = ["mpi.bcast"]\nhosts = 2\n')
    with pytest.raises(InputError, match="has nothing for --hosts 3"):
        asked_plan([str(path)], (), {"ranks": None, "hosts": "3"}, None, ())
