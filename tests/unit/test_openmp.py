"""What OpenMP is told: the settings of a plan, and what the environment says beside them."""

from __future__ import annotations

import re

import pytest
from msgspec.structs import replace

from described import described
from steelyard.base.errors import InputError
from steelyard.campaign.jobs import LaunchGroup, check_openmp, groups_of
from steelyard.engines.description import ops_of
from steelyard.records.campaign_file import Placement, PlannedPoint
from steelyard.system.machine import read_machine
from steelyard.system.openmp import omp_axis, omp_launch, places_cpus, read_omp_words
from steelyard.system.openmp_places import parse_places


def test_settings_are_an_axis() -> None:
    words = read_omp_words(["wait_policy=active,passive", "places={0},{1,2}"])
    assert omp_axis(words) == (
        {"wait_policy": "active", "places": "{0},{1,2}"},
        {"wait_policy": "passive", "places": "{0},{1,2}"},
    )
    again = read_omp_words(
        ["wait_policy=active", "places={1},{0}", "wait_policy=passive,active", "places={0:2}"]
    )
    assert omp_axis(again) == (
        {"wait_policy": "active", "places": "{1},{0}"},
        {"wait_policy": "active", "places": "{0:2}"},
        {"wait_policy": "passive", "places": "{1},{0}"},
        {"wait_policy": "passive", "places": "{0:2}"},
    )
    assert omp_axis({}) == ({},)
    assert omp_axis({"proc_bind": ("close", "spread")}) == ({"proc_bind": "close"}, {"proc_bind": "spread"})
    assert omp_axis({"places": ("{0},{0},{1,2}", "cores")}) == (
        {"places": "{0},{0},{1,2}"},
        {"places": "cores"},
    )


@pytest.mark.parametrize(
    ("given", "complaint"),
    [
        ({"wait_polici": "active"}, "there is no OpenMP setting 'wait_polici'; give one of wait_policy, "),
        ({"OMP_WAIT_POLICY": "active"}, "there is no OpenMP setting 'OMP_WAIT_POLICY'; give wait_policy"),
        ({"wait_policy": "lazy"}, "wait_policy is active or passive, not 'lazy'"),
        ({"places": "core"}, "places is threads, cores"),
        ({"places": "cores(0)"}, "or a list of CPUs such as"),
        ({"places": "{0}:2:-1"}, r"or a list of CPUs such as .*, not '\{0\}:2:-1'"),
        ({"max_task_priority": "high"}, "is a number below 2.31, not 'high'"),
        ({"max_task_priority": "2147483648"}, "is a number below 2.31"),
        ({"stacksize": "15"}, "is a size such as 4M, from 16K to less than 1024G, not '15'"),
        ({"stacksize": "99999999999999G"}, "is a size such as 4M"),
        ({"stacksize": "٤M"}, "is a size such as 4M"),
    ],
)
def test_settings_that_are_none(given: dict[str, str], complaint: str) -> None:
    with pytest.raises(InputError, match=complaint):
        omp_axis(given)


def test_sizes_of_stacks_and_priorities() -> None:
    stacks = ("16", "16384B", "4M", "1023g")
    assert [values["stacksize"] for values in omp_axis({"stacksize": stacks})] == list(stacks)
    assert omp_axis({"max_task_priority": "2147483647"})


# Where CPUs are few, gcc 12's libgomp said the same of each (OMP_DISPLAY_ENV=true).
@pytest.mark.parametrize(
    ("text", "places"),
    [
        ("{0},{1}", [{0}, {1}]),
        ("{1},{0,2}", [{1}, {0, 2}]),
        ("{0},{0}", [{0}, {0}]),
        ("{0,0}", [{0}]),
        ("{0}:2", [{0}, {1}]),
        ("{0,1}:2", [{0, 1}, {1, 2}]),
        ("{1}:2:-1", [{1}, {0}]),
        ("{1:2:-1}", [{0, 1}]),
        ("{0:2:0}", [{0}]),
        ("{0}:2:0", [{0}, {0}]),
        ("{0:4,!2,!3}", [{0, 1}]),
        ("{0}:2,!{1}", [{0}]),
        ("{0:4:2,9}", [{0, 2, 4, 6, 9}]),
        ("{0:2}:3:2,{8}", [{0, 1}, {2, 3}, {4, 5}, {8}]),
        ("{65535}", [{65535}]),
    ],
)
def test_places_are_cpus(text: str, places: list[set[int]]) -> None:
    assert parse_places(text) == tuple(places)
    assert places_cpus({"places": text}) == tuple(sorted(set().union(*places)))


@pytest.mark.parametrize(
    "text",
    [
        *("", "0,1", "{}", "{-3}", "{0", "{0}}", "{{0}}", "{0},", "{0},,{1}", "{a}", "{٠}", "{ 0}", "{0:1:}"),
        *("{0:0}", "{0}:0", "{0:2:-1}", "{1}:2:-2", "{65536}", "{0:2:70000}", "{0:2}:2:65535"),
        *("{0}:9999999999999", "{0:65536}:65536:0", "{0:2:99999999999999999999}"),
        *("{0,!1}", "{!1,0}", "{0,!0}", "{0,1,!0:1}", "{0},!{1}", "!{0},{0}", "{0},!{0}", "{0},{1},!{0}:1"),
    ],
)
def test_what_is_no_list_of_places(text: str) -> None:
    with pytest.raises(ValueError):
        parse_places(text)


def test_kinds_of_places_name_no_cpus() -> None:
    assert places_cpus({"places": "cores"}) == places_cpus({"wait_policy": "active"}) == ()


_LOCAL = {"class": "local", "sized": False, "methods": ["batch"]}
_OPS = ops_of(
    described(
        [
            {"name": "omp.barrier", **_LOCAL},
            {"name": "omp.nested", **_LOCAL, "params": [{"name": "inner", "default": 2}]},
        ],
        [],
    ),
    None,
)


@pytest.mark.parametrize(
    ("places", "complaint"),
    [
        ("{9}", "there is no CPU 9 here, which the OpenMP setting places={9} names; this machine has 0-3"),
        ("{0},{5}", "there is no CPU 5 here"),
        ("{0:3}", "this process may not use CPU 2, which the OpenMP setting places={0:3} names"),
        ("{1},{0:4,!2,!3}", None),
        ("sockets", None),
    ],
)
def test_places_are_cpus_that_may_be_used(places: str, complaint: str | None) -> None:
    machine = replace(read_machine(), online=(0, 1, 2, 3), cpus=(0, 1))
    group = LaunchGroup(None, 1, 2, None, (("places", places),), None, ())
    if complaint is None:
        check_openmp(group, _OPS, machine, {})
    else:
        with pytest.raises(InputError, match=re.escape(complaint)):
            check_openmp(group, _OPS, machine, {})


def test_places_and_a_placement_contradict_each_other() -> None:
    group = LaunchGroup(None, 1, 2, None, (("places", "cores"),), Placement("shared-l3", (0, 1)), ())
    with pytest.raises(InputError, match=r"places=cores and the placement shared-l3 0,1 both say where"):
        check_openmp(group, _OPS, read_machine(), {})


@pytest.mark.parametrize(
    ("op", "threads", "params", "complaint"),
    [
        (
            "omp.nested",
            2,
            {},
            "OMP_THREAD_LIMIT=3 of the environment does not allow the 2 x 2 threads of",
        ),
        ("omp.nested", 1, {"inner": 4.0}, "does not allow the 1 x 4 threads of omp.nested; unset it, or ask"),
        ("omp.nested", 1, {"inner": 3.0}, None),
        ("omp.barrier", 2, {}, None),
    ],
)
def test_nested_regions_have_threads_enough(
    op: str, threads: int, params: dict[str, float | str], complaint: str | None
) -> None:
    (group,) = groups_of([PlannedPoint(point=0, op=op, threads=threads, params=params)])
    environ = {"OMP_THREAD_LIMIT": "3"}
    if complaint is None:
        check_openmp(group, _OPS, read_machine(), environ)
    else:
        with pytest.raises(InputError, match=re.escape(complaint)):
            check_openmp(group, _OPS, read_machine(), environ)


_BOUND = {"OMP_PROC_BIND": "true", "OMP_PLACES": "{0},{1}"}


def test_the_plan_wins_over_the_launcher() -> None:
    told = omp_launch({"proc_bind": "spread", "wait_policy": "passive"}, 2, _BOUND, {})
    assert told.environment == {
        "OMP_PROC_BIND": "spread",
        "OMP_PLACES": "{0},{1}",
        "OMP_WAIT_POLICY": "passive",
    }
    assert told.notes == ()


@pytest.mark.parametrize(
    ("environ", "complaint"),
    [
        ({"OMP_WAIT_POLICY": "ACTIVE"}, "the plan asks for OMP_WAIT_POLICY=passive and the environment says"),
        ({"OMP_THREAD_LIMIT": "1"}, "OMP_THREAD_LIMIT=1 of the environment does not allow the 2 threads"),
        (
            {"OMP_THREAD_LIMIT": "abc"},
            "OMP_THREAD_LIMIT=abc of the environment is not a number of threads",
        ),
        ({"OMP_THREAD_LIMIT": "0"}, "OMP_THREAD_LIMIT=0 of the environment is not a number of threads"),
        ({"GOMP_SPINCOUNT": "0"}, "GOMP_SPINCOUNT=0 of .* the plan asks for OMP_WAIT_POLICY=passive; unset"),
        (
            {"KMP_BLOCKTIME": "infinite"},
            "KMP_BLOCKTIME=infinite of the environment says how long",
        ),
        ({"GOMP_CPU_AFFINITY": "0 1"}, "GOMP_CPU_AFFINITY of the environment places threads"),
        ({"KMP_AFFINITY": "scatter"}, "KMP_AFFINITY of the environment places threads"),
    ],
)
def test_what_cannot_both_hold_is_refused(environ: dict[str, str], complaint: str) -> None:
    with pytest.raises(InputError, match=complaint):
        omp_launch({"wait_policy": "passive"}, 2, _BOUND, environ)


@pytest.mark.parametrize(
    ("environ", "variable", "value"),
    [
        ({"OMP_NUM_THREADS": "7"}, "OMP_NUM_THREADS", "2"),
        ({"OMP_DYNAMIC": "TRUE"}, "OMP_DYNAMIC", "false"),
        ({"OMP_SCHEDULE": "guided,3"}, "OMP_SCHEDULE", "static"),
        ({"OMP_PROC_BIND": "close"}, "OMP_PROC_BIND", "true"),
        ({"OMP_PLACES": "sockets"}, "OMP_PLACES", "{0},{1}"),
        ({"OMP_NESTED": "true"}, "OMP_NESTED", "false"),
        ({"OMP_NUM_TEAMS": "4"}, "OMP_NUM_TEAMS", "1"),
        ({"OMP_TEAMS_THREAD_LIMIT": "1"}, "OMP_TEAMS_THREAD_LIMIT", "2"),
    ],
)
def test_what_is_overridden_is_said(environ: dict[str, str], variable: str, value: str) -> None:
    told = omp_launch({}, 2, _BOUND, environ)
    assert told.environment[variable] == value
    assert len(told.notes) == 1
    assert f"{variable}={environ[variable]} of the environment is overridden" in told.notes[0]


@pytest.mark.parametrize(
    "environ", [{"GOMP_SPINCOUNT": "0"}, {"KMP_BLOCKTIME": "200"}, {"OMP_STACKSIZE": "4M"}]
)
def test_what_else_of_the_environment_holds_is_said(environ: dict[str, str]) -> None:
    ((variable, value),) = environ.items()
    told = omp_launch({}, 2, _BOUND, environ)
    assert told.environment == _BOUND
    assert told.notes == (f"{variable}={value} of the environment is passed on to all launches",)


@pytest.mark.parametrize("limit", ["2", " 2 ", "+2", "02", "4294967295"])
def test_a_limit_that_is_no_less_than_the_threads(limit: str) -> None:
    assert omp_launch({}, 2, _BOUND, {"OMP_THREAD_LIMIT": limit}).notes == ()


def test_what_the_plan_leaves_open_holds_and_is_said() -> None:
    told = omp_launch({}, 2, _BOUND, {"OMP_WAIT_POLICY": "active"})
    assert told.environment == _BOUND
    assert told.notes == ("OMP_WAIT_POLICY=active of the environment is passed on to all launches",)
    assert omp_launch({}, 2, _BOUND, {"OMP_NUM_THREADS": "2", "OMP_DYNAMIC": "false"}).notes == ()


@pytest.mark.parametrize("environ", [{}, {"OMP_PLACES": "cores"}])
def test_threads_that_share_cores_sleep_while_they_wait(environ: dict[str, str]) -> None:
    told = omp_launch({}, 4, {}, environ, shares=True)
    assert told.environment["OMP_WAIT_POLICY"] == "passive"
    assert any("OMP_WAIT_POLICY=passive" in note for note in told.notes)
    assert "OMP_WAIT_POLICY" not in omp_launch({}, 4, {}, environ).environment


def test_the_plan_and_the_environment_say_how_threads_wait() -> None:
    assert omp_launch({"wait_policy": "active"}, 4, {}, {}, shares=True).environment == {
        "OMP_WAIT_POLICY": "active"
    }
    for variable in ("OMP_WAIT_POLICY", "GOMP_SPINCOUNT", "KMP_BLOCKTIME"):
        told = omp_launch({}, 4, {}, {variable: "active"}, shares=True)
        assert "OMP_WAIT_POLICY" not in told.environment, variable
