"""What is simulated: the matrix, its points and hosts; and what the simulator says is wrong with it."""

from __future__ import annotations

from typing import Any

import pytest

from described import described
from steelyard.base.errors import InputError
from steelyard.validate import SimulatedMachine, Simulation, Wishes, simulations, user_machine
from steelyard.validate.design import BARRIERS, place_ranks, point_lines
from steelyard.validate.simulator import failure_reason


def _op(
    name: str, *, sized: bool = True, op_class: str = "collective", available: bool = True
) -> dict[str, Any]:
    methods = ["batch", "barrier", "epoch", "truth"]
    return {
        "name": name, "class": op_class, "sized": sized, "available": available, "methods": methods,
    }  # fmt: skip


_OPS = (
    *(_op(f"mpi.{name}") for name in ("bcast", "alltoall", "scan", "allreduce", "iscan")),
    _op("mpi.barrier", sized=False),
    _op("mpi.pingpong", op_class="p2p"),
    _op("mpi.scan_init", available=False),
)
_METHODS = ("batch", "barrier", "epoch", "truth")
_DESCRIPTION = described(_OPS, ({"name": name} for name in _METHODS))


def test_the_full_matrix_crosses_what_matters() -> None:
    planned = simulations(Wishes(full=True), _DESCRIPTION)
    assert {one.ranks for one in planned} == {2, 4, 5, 10, 16, 18, 60, 64, 256, 1024}
    assert {one.op for one in planned} == {
        f"mpi.{n}" for n in ("bcast", "alltoall", "scan", "allreduce", "barrier")
    }
    assert max(one.ranks for one in planned if one.op == "mpi.scan") == 64
    many = [one for one in planned if one.ranks == 1024]
    assert {one.selector for one in many} == {"default"}
    assert all(one.algorithms for one in many)
    assert {(one.op, one.sizes) for one in many} == {
        ("mpi.bcast", (8, 1024, 65536, 1 << 20)),
        ("mpi.allreduce", (8, 1024, 65536, 1 << 20)),
        ("mpi.barrier", (0,)),
    }
    assert {one.op for one in planned if one.barrier} == {"mpi.barrier"}  # no method here calls the library's
    assert {one.barrier for one in planned} == {None, *BARRIERS}
    assert {one.machine.name for one in planned} == {
        "flat",
        "fat-tree",
        "torus",
        "dragonfly",
        "dragonfly by closure",
        "flat with noise",
    }
    titles = [(one.title, one.sizes) for one in planned]
    assert len(set(titles)) == len(titles)
    assert all(one.per_host == (4 if one.ranks == 60 else 1) for one in planned)


def test_a_slow_op_is_simulated_where_it_is_asked_for_by_name() -> None:
    planned = simulations(Wishes(full=True, ops=("mpi.scan",), ranks=(256,)), _DESCRIPTION)
    assert {(one.op, one.ranks) for one in planned} == {("mpi.scan", 256)}


def test_a_method_that_calls_the_librarys_barrier_meets_all_barriers() -> None:
    ops = [op | {"methods": [*op["methods"], "library-barrier"]} for op in _OPS]
    methods = [{"name": name} for name in (*_METHODS, "library-barrier")]
    planned = simulations(Wishes(full=True), described(ops, methods))
    crossed = [one for one in planned if one.barrier and one.op == "mpi.bcast"]
    assert {one.barrier for one in crossed} == set(BARRIERS)
    assert {one.methods for one in crossed} == {("library-barrier",)}


def test_ranks_that_are_no_power_of_two_are_on_flat_networks_unless_ranks_are_asked_for() -> None:
    for full, uneven in ((False, {10}), (True, {5, 10, 18})):
        planned = simulations(Wishes(full=full), _DESCRIPTION)
        found = [one for one in planned if one.ranks in uneven]
        assert {one.ranks for one in found} == uneven
        assert {(one.machine.name, one.per_host) for one in found} == {("flat", 1)}
    assert {one.ranks for one in simulations(Wishes(ranks=(4,)), _DESCRIPTION)} == {4}


def test_wishes_restrict_the_quick_form() -> None:
    wishes = Wishes(ops=("mpi.b*",), methods=("epoch",), ranks=(3,), sizes=(16,), selectors=("impi",))
    planned = simulations(wishes, _DESCRIPTION)
    assert {(one.op, one.sizes) for one in planned} == {("mpi.bcast", (16,)), ("mpi.barrier", (0,))}
    assert {one.methods for one in planned} == {("epoch",)}
    assert {(one.ranks, one.selector) for one in planned} == {(3, "impi")}


def test_truth_and_methods_stand_side_by_side() -> None:
    simulation = Simulation(
        "mpi.bcast", 4, 1, SimulatedMachine("m"), "mpich", None, (8, 64), ("epoch", "batch"), seed=1
    )
    words = [dict(word.split("=") for word in line.split()) for line in point_lines(simulation)]
    assert [word["method"] for word in words] == ["truth", "epoch", "batch", "truth"] * 2
    assert [word["bytes"] for word in words] == ["8"] * 4 + ["64"] * 4
    assert [word["point"] for word in words] == [str(i) for i in range(8)]
    assert words[2]["reps"] == "32"
    assert {word["most_seconds"] for word in words} == {"86400"}  # simulated ones, which cost nothing


def test_one_rank_is_refused() -> None:
    with pytest.raises(InputError, match="one rank sends nothing"):
        simulations(Wishes(ranks=(4, 1)), _DESCRIPTION)


_DIED = "steelyard: rank 3: died of signal"


def test_ranks_fill_hosts() -> None:
    assert place_ranks(("a", "b", "c"), 5, 2) == ("a", "a", "b", "b", "c")
    with pytest.raises(InputError, match="has 2 hosts and 5 ranks with 2 on each need 3"):
        place_ranks(("a", "b"), 5, 2)


@pytest.mark.parametrize(
    ("code", "text", "reason"),
    [
        (0, "", None),
        (0, "a warning\n", None),
        (
            0,
            "x\nsteelyard: rank 3: 7 is not 8\n[0.1] [root/CRITICAL] y",
            "code 0: steelyard: rank 3: 7 is not 8",
        ),
        (
            0,
            "[0.1] [ker_engine/CRITICAL] Oops! Deadlock detected",
            "code 0: Oops! Deadlock detected",
        ),
        (
            134,
            f"[a:1:(2) 0.1] ./x.cpp:48: [xbt/CRITICAL] Uncaught exception std::logic_error: no!\n{_DIED} 6",
            "code 134: no!",
        ),
        (139, f"{_DIED} 11", f"code 139: {_DIED} 11"),
        (139, "", "code 139: it said nothing"),
        (1, "first\nlast\n", "code 1: last"),
    ],
)
def test_what_the_simulator_says_is_wrong(code: int, text: str, reason: str | None) -> None:
    said = failure_reason(code, text)
    assert said == reason if reason is None else (said or "").startswith(reason)


def test_a_flat_machine_is_flat_by_whatever_name() -> None:
    planned = simulations(Wishes(full=True), _DESCRIPTION)
    assert {one.machine.name for one in planned if one.machine.flat} == {"flat", "flat with noise"}
    assert user_machine("topology=flat").flat
    assert user_machine("latency_ns=700").flat
    assert not user_machine("topology=torus").flat


@pytest.mark.parametrize("full", [False, True])
def test_very_many_ranks_are_simulated_by_named_algorithms_alone(full: bool) -> None:
    planned = simulations(Wishes(full=full, ranks=(1024, 4096)), _DESCRIPTION)
    assert {(one.op, one.ranks) for one in planned} >= {("mpi.bcast", 1024), ("mpi.bcast", 4096)}
    assert {(one.selector, one.barrier, one.machine.name) for one in planned} == {("default", None, "flat")}
    assert all(one.algorithms for one in planned)


def test_machines_whose_paths_are_asymmetric() -> None:
    planned = simulations(Wishes(full=True), _DESCRIPTION)
    uneven = [one for one in planned if one.machine.asymmetric]
    assert {one.machine.name for one in uneven} == {"dragonfly", "dragonfly by closure"}
    untold = [one for one in uneven if not one.machine.certain]
    assert {(one.machine.name, one.methods) for one in untold} == {("dragonfly by closure", ("epoch",))}
    assert len({(one.op, one.ranks, one.selector, one.sizes) for one in uneven}) == len(untold)
    assert user_machine("topology=flat asymmetry=0.5").asymmetric
    assert not user_machine("topology=flat").asymmetric


def test_words_of_a_platform_that_make_noise() -> None:
    assert user_machine("topology=torus jitter=0.1").noise
    assert not user_machine("topology=torus").noise
