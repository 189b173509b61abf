"""The names that other suites have for our ops."""

from __future__ import annotations

import tomllib
from fnmatch import fnmatchcase
from pathlib import Path

import pytest

from steelyard.base.errors import InputError
from steelyard.engines.build import describe, mpi_engine, solo_engine
from steelyard.engines.description import Ops, ops_of
from steelyard.engines.mpi import choose_mpi
from steelyard.engines.shmem import find_shmems
from steelyard.plan.arguments import asked_plan
from steelyard.plan.like import find_like, like_page
from steelyard.plan.resolve import resolve
from steelyard.plan.suites import KERNELS, SUITES
from steelyard.records.kinds import FILE
from steelyard.system.machine import read_machine

_CORES = 8
_AXES = {"bytes": None, "ranks": "8", "method": None, "rule": None, "files": ()}


@pytest.fixture(scope="module")
def ops() -> Ops:
    """With those of OpenSHMEM, if there is a library here."""
    shmems = find_shmems()[:1]
    described = [describe(mpi_engine(one)) for one in (choose_mpi(None), *shmems)]
    return ops_of(describe(solo_engine()), *described)


def _has_op(ops: Ops, name: str) -> bool:
    """Is it an op, or might it be one of a library that is not here?"""
    return name in ops.all or (name.startswith("shmem.") and not ops.shmem)


def test_every_name_is_there_once() -> None:
    names = [row.name.lower() for rows in SUITES.values() for row in rows]
    assert len(names) == len(set(names)) > 150


def test_every_name_stands_for_an_op_with_such_parameters_and_sizes(ops: Ops) -> None:
    for row in (row for rows in SUITES.values() for row in rows if row.op in ops.all):
        files = ("/tmp",) if ops.all[row.op].role == FILE else ()
        plan = asked_plan((), (row.name,), _AXES | {"ranks": None, "files": files}, None, ())
        points = resolve(plan, ops, ("mpi", "oshmem"), _CORES)
        references = {point.reference for point in points}
        points = tuple(point for point in points if point.point not in references)
        assert {point.op for point in points} == {row.op}, row.name
        assert all(dict(row.params).items() <= point.params.items() for point in points), row.name
        assert (row.bytes is None) == (not ops.all[row.op].sized), row.name


def _peers() -> tuple[dict[str, str], dict[str, list[str]]]:
    """Each test of tests/data/peers.toml -> our op; those without one by the reason."""
    suites = tomllib.loads((Path(__file__).parents[1] / "data" / "peers.toml").read_text(encoding="utf-8"))
    missing = suites.pop("missing")
    peers: dict[str, str] = {}
    for ops_of_suite in suites.values():
        for op, names in ops_of_suite.items():
            if "{}" not in op:
                peers |= dict.fromkeys(names, op)
                continue
            patterns, bases = names
            for base in bases.split():
                peers |= {pattern.format(base): op.format(base) for pattern in patterns.split()}
    return peers, missing


def test_every_mpi_test_of_a_peer_has_an_op_and_a_name(ops: Ops) -> None:
    """Or stands among those that are missing, with the reason; a hole is closed by taking it out there."""
    peers, missing = _peers()
    assert len(peers) > 200
    for name, op in peers.items():
        assert _has_op(ops, op), name
        assert find_like(name).op == op, name
    for name in (name for names in missing.values() for name in names):
        assert name not in peers
        with pytest.raises(InputError):
            find_like(name)


def test_every_name_is_a_peers() -> None:
    """But for suites that have one test and its name, and OpenMP's: nothing in the table is made up."""
    peers = {name.lower() for name in _peers()[0]}
    names = {row.name.lower() for rows in SUITES.values() for row in rows if not row.name.startswith("epcc_")}
    assert names - peers <= {"netpipe", "osu_reduce_scatter_block_persistent"}


def test_what_is_given_beside_the_name_counts() -> None:
    plan = asked_plan((), ("OSU_BW", "osu_bcast"), _AXES | {"bytes": "64"}, None, ("window=8",))
    assert [(measure.ops, measure.bytes) for measure in plan.measure] == [
        (("mpi.bandwidth",), "64"),
        (("mpi.bcast",), "64"),
    ]
    assert plan.measure[0].params == {"window": (8.0,)}


def test_a_type_leaves_out_smaller_sizes_as_the_original_does() -> None:
    """OSU sums MPI_CHAR from a byte on, and with -T mpi_float from 4."""
    for params, least in (((), "1..1Mi"), (("type=float",), "4,8,16"), (("type=double",), "8,16,32")):
        (measure,) = asked_plan((), ("osu_allreduce",), _AXES, None, params).measure
        assert str(measure.bytes).startswith(least)
    (measure,) = asked_plan((), ("osu_allreduce",), _AXES | {"bytes": "1"}, None, ("type=float",)).measure
    assert measure.bytes == "1"  # what was asked for is not changed


def test_epcc_runs_on_all_cores_or_as_many_threads_as_its_variable_says(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    for told, expected in (("3", "3"), (None, len(read_machine().cores))):
        monkeypatch.delenv("OMP_NUM_THREADS", raising=False)
        if told:
            monkeypatch.setenv("OMP_NUM_THREADS", told)
        (measure,) = asked_plan((), ("epcc_barrier",), _AXES, None, ()).measure
        assert measure.threads == expected


@pytest.mark.parametrize(
    ("word", "count", "named"),
    [
        ("IMB-MPI1", 20, "PingPong, "),
        ("imb-nbc", 20, "Ibcast, "),
        ("IMB-RMA", 8, "Unidir_put, "),
        ("IMB-EXT", 5, "Accumulate, "),
        ("IMB-MT", 15, "BcastMT, "),
        ("IMB-IO", 37, "P_Write_Priv, "),
        ("IO500", 12, "ior-hard-write, "),
        ("b_eff_io", 10, "b_eff_io_0_write, "),
        ("epcc", 25, "epcc_barrier, "),
        ("syncbench", 9, "epcc_barrier, "),
        ("osu_oshm_atomics", 16, "shmem_int_fadd, "),
    ],
)
def test_the_name_of_a_suite_lists_its_tests(word: str, count: int, named: str) -> None:
    with pytest.raises(InputError) as raised:
        find_like(word)
    said = str(raised.value)
    assert said.startswith(f"'{word}' is a suite of ")
    names = said.partition("several: ")[2].split(", ")
    assert named.strip(", ") in names
    assert len(names) >= count
    assert all(find_like(name).name == name for name in names)


@pytest.mark.parametrize(
    ("word", "says"),
    [
        ("osu", "such as osu_latency, osu_latency_persistent, "),
        ("OMB", "; steelyard list 'osu_*' lists them"),
        ("intel", ": IMB-MPI1 (26), IMB-P2P (6), "),
        ("SKaMPI", "; docs/reference/like.md has all"),
    ],
)
def test_a_large_suite_says_where_its_tests_are_named(word: str, says: str) -> None:
    with pytest.raises(InputError) as raised:
        find_like(word)
    said = str(raised.value)
    assert says in said
    assert len(said) < 300


def test_the_name_of_a_suite_of_kernels_says_what_runs_them(ops: Ops) -> None:
    for word, command in KERNELS.items():
        with pytest.raises(InputError, match="type: steelyard run "):
            find_like(word)
        first = command.split()[2].strip("'")
        assert any(fnmatchcase(name, first) for name in ops.all), word


@pytest.mark.parametrize(
    ("what", "like", "words"),
    [
        ((), ("osu_latencies",), "did you mean osu_latency"),
        (("mpi.bcast",), ("osu_bcast",), "--like names what is run; leave mpi.bcast out"),
        ((), (), "run what? Give ops, patterns, a plan or --like"),
    ],
)
def test_what_is_wrong_is_one_sentence(what: tuple[str, ...], like: tuple[str, ...], words: str) -> None:
    with pytest.raises(InputError) as raised:
        asked_plan(what, like, _AXES, None, ())
    assert words in str(raised.value)


def test_the_page_has_every_name() -> None:
    page = like_page()
    assert all(f"| {row.name} | `{row.op}`" in page for rows in SUITES.values() for row in rows)
    assert find_like("pingpong").op == "mpi.pingpong"
