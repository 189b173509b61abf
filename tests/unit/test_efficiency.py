"""MPI's efficiency against the floor from times that are known, and its picture."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from described import described
from flat_rows import flat_row
from make_records import FakePoint, steady, write_folder
from steelyard.analyses.analysis import Made
from steelyard.analyses.efficiency.model import efficiencies
from steelyard.analyses.registry import analysis_tables
from steelyard.base.errors import InputError
from steelyard.engines.description import Description, ops_of
from steelyard.export.export_input import ExportedFolder
from steelyard.export.formats import results_document
from steelyard.plan.engine_needed import needs_mpi
from steelyard.plan.plan import Measure, Plan
from steelyard.plan.resolve import resolve
from steelyard.records.campaign_file import Placement
from steelyard.records.kinds import BANDWIDTH, LATENCY, NETWORK, SHARED_MEMORY
from steelyard.records.parts import Clock, LaunchMpi, Library
from steelyard.records.schema import Launch
from steelyard.report import write_report
from steelyard.results.load import load
from steelyard.results.roofs import ratio_interval
from steelyard.results.row import Row
from steelyard.results.rows import rows_of
from steelyard.results.transport import TCP, asked_transport, transport_of
from steelyard.rows.figure_groups import Shown, layer_group

times = st.floats(min_value=1.0, max_value=1e6)


def row(op: str, median: float, **more: Any) -> Row:
    alone = op == "mem.copy"
    usual: dict[str, Any] = {
        "bytes": 8,
        "ranks": 1 if alone else 2,
        "placement": "0" if alone else "0|1",
        "mpi": "mpich-5" if op.startswith("mpi.") else None,
        "params": {},
        "method": "batch",
        "ci_low": 0.9 * median,
        "ci_high": 1.2 * median,
    }
    fixed: dict[str, Any] = {"point": 0, "threads": 1, "launch_count": 10, "count": 100, "rejected": 0}
    return flat_row(op=op, median=median, **fixed, **usual | more)


def test_the_fastest_layer_of_one_host_is_the_floor() -> None:
    rows = [row("mpi.pingpong", 400), row("shm.flag", 100), row("shm.cma", 900), row("sock.tcp", 50)]
    (one,) = efficiencies([*rows, row("mem.copy", 4)])
    assert (one.floor, one.efficiency) == ("shm.flag", 0.25)
    assert (one.low, one.high) == pytest.approx((90 / 480, 120 / 360))
    assert [(layer.op, layer.ratio) for layer in one.layers] == [
        ("mem.copy", 0.01),
        ("sock.tcp", 0.125),
        ("shm.flag", 0.25),
        ("shm.cma", 2.25),
    ]


@pytest.mark.parametrize(
    "more", [{"transport": TCP}, {"placement": "a:0|b:0"}], ids=["told to use TCP", "two hosts"]
)
def test_over_a_network_tcp_is_the_floor(more: dict[str, Any]) -> None:
    rows = [row("mpi.pingpong", 400, **more), row("shm.flag", 100), row("sock.tcp", 200)]
    (one,) = efficiencies(rows)
    assert (one.floor, one.efficiency) == ("sock.tcp", 0.5)


def test_a_library_counts_as_what_it_carried_messages_by() -> None:
    """Shared memory stands in on one host, the network on several, whichever op it was."""
    kind: dict[str, Any] = {"role": LATENCY, "base": "ofi.tagged"}
    rows = [
        row("shm.flag", 100),
        row("sock.tcp", 300),
        row("ofi.tagged", 80, layer=SHARED_MEMORY, transport="shm", params={"provider": "best"}, **kind),
        row("ofi.tagged", 200, layer=NETWORK, transport="tcp;ofi_rxm", params={"provider": "tcp"}, **kind),
    ]
    near, far = efficiencies([row("mpi.pingpong", 400), row("mpi.pingpong", 400, placement="a:0|b:0"), *rows])
    assert (near.floor, near.floor_words, near.efficiency) == ("ofi.tagged", "ofi.tagged by shm", 0.2)
    assert (far.floor, far.floor_words, far.efficiency) == ("ofi.tagged", "ofi.tagged by tcp;ofi_rxm", 0.5)
    assert [layer.words for layer in near.layers] == [
        "ofi.tagged by shm",
        "shm.flag",
        "ofi.tagged by tcp;ofi_rxm",
        "sock.tcp",
    ]


def test_only_what_is_alike_is_compared() -> None:
    others = [
        row("shm.flag", 1, bytes=16),
        row("shm.flag", 1, method="barrier"),
        row("shm.flag", 1, status="failed"),
        row("shm.flag.stream", 1),
    ]
    assert efficiencies([row("mpi.pingpong", 400), *others]) == ()
    (one,) = efficiencies([row("mpi.pingpong", 400), *others, row("sock.tcp", 40)])
    assert (one.floor, one.efficiency) == (None, None)
    assert [layer.op for layer in one.layers] == ["sock.tcp"]


def test_the_same_cpus_are_preferred_and_others_better_than_none() -> None:
    here, there = row("shm.flag", 100), row("shm.flag", 50, placement="2|3")
    assert efficiencies([row("mpi.pingpong", 400), here, there])[0].efficiency == 0.25
    assert efficiencies([row("mpi.pingpong", 400), there])[0].efficiency == 0.125


def test_streams_have_as_many_messages_in_flight() -> None:
    mpi = row("mpi.bandwidth", 400, params={"window": 64, "buffers": 1})
    (one,) = efficiencies(
        [
            mpi,
            row("shm.flag.stream", 100, params={"window": 64}),
            row("shm.flag.stream", 1, params={"window": 1}),
            row("mem.copy", 1),
        ]
    )
    assert [(layer.op, layer.ratio) for layer in one.layers] == [("shm.flag.stream", 0.25)]


def test_without_an_interval_there_is_none() -> None:
    (one,) = efficiencies([row("mpi.pingpong", 400, ci_low=None, ci_high=None), row("shm.flag", 100)])
    assert (one.efficiency, one.low, one.high) == (0.25, None, None)


@given(times, times, st.floats(0, 1), st.floats(0, 1))
def test_the_interval_holds_whatever_times_are_in_theirs(
    layer: float, mpi: float, a: float, b: float
) -> None:
    one, other = row("shm.flag", layer), row("mpi.pingpong", mpi)
    interval = ratio_interval(one, other)
    assert interval is not None
    ratio = layer * (0.9 + 0.3 * a) / (mpi * (0.9 + 0.3 * b))
    assert interval[0] * (1 - 1e-9) <= ratio <= interval[1] * (1 + 1e-9)


@pytest.mark.parametrize(
    ("environment", "transport"),
    [
        ({}, None),
        ({"OMPI_MCA_btl": "tcp,self"}, TCP),
        ({"OMPI_MCA_btl": "self,tcp,vader"}, None),
        ({"OMPI_MCA_btl": "^vader"}, None),
        ({"UCX_TLS": "tcp,self"}, TCP),
        ({"UCX_TLS": "all"}, None),
        ({"FI_PROVIDER": "tcp"}, None),
        ({"FI_PROVIDER": "tcp", "MPIR_CVAR_NOLOCAL": "1"}, TCP),
        ({"FI_PROVIDER": "sockets", "I_MPI_FABRICS": "ofi"}, TCP),
    ],
)
def test_what_the_environment_says(environment: dict[str, str], transport: str | None) -> None:
    assert asked_transport(environment) == transport


def _loaded(*names: str, library: str = "Open MPI v4.1.4, package: Debian OpenMPI", ranks: int = 2) -> Launch:
    """A launch that loaded components of these names."""
    return Launch(
        schema=1,
        engine="mpi",
        version="0",
        ranks=ranks,
        clock=Clock(name="monotonic", cost_ns=1, tick_ns=1),
        places=(),
        mpi=LaunchMpi(library=library),
        libraries=tuple(Library(path=f"/usr/lib/openmpi/mca_{name}.so") for name in names),
    )


@pytest.mark.parametrize(
    ("launch", "transport"),
    [
        (_loaded("pml_ob1", "btl_self", "btl_tcp", "btl_sm"), TCP),
        (_loaded("pml_ob1", "btl_self", "btl_tcp", "btl_sm", ranks=1), None),  # nobody is there to share with
        (_loaded("pml_ob1", "btl_self", "btl_tcp", "btl_sm", "btl_vader"), None),
        (_loaded("pml_ob1", "btl_self", "btl_tcp", "btl_ugni"), None),
        (_loaded("pml_ucx", "btl_self", "btl_tcp"), None),
        (_loaded("pml_ob1", "btl_self", "btl_tcp", library="Open MPI v5.0.3, package: local"), TCP),
        (
            _loaded("pml_ob1", "btl_self", "btl_tcp", "btl_sm", library="Open MPI v5.0.3, package: local"),
            None,
        ),
        (_loaded(library="Open MPI v5.0.3, all components in one file"), None),
        (_loaded(library="MPICH Version: 5.0.2"), None),
    ],
)
def test_what_the_loaded_components_say(launch: Launch, transport: str | None) -> None:
    assert transport_of(launch) == transport


# ---- in results and report ---------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    points = [
        FakePoint(op, steady(factor * (100 + size), count=300), bytes=size, mpi=mpi, ranks=2)
        for size in (8, 1024)
        for op, factor, mpi in (
            ("mpi.pingpong", 4, "mpich-4.0.2"),
            ("shm.flag", 1, None),
            ("sock.tcp", 40, None),
        )
    ]
    return write_folder(tmp_path_factory.mktemp("floor") / "out", points, launches=3)


def test_results_hold_it(folder: Path) -> None:
    rows = rows_of(load(folder))
    found = results_document(ExportedFolder(folder, Made(rows)))["floor"]
    assert [(one["bytes"], one["floor"]) for one in found] == [(8, "shm.flag"), (1024, "shm.flag")]
    assert [one["efficiency"] for one in found] == pytest.approx([0.25, 0.25], rel=0.1)
    assert [one["low"] < one["efficiency"] < one["high"] for one in found] == [True, True]
    (table,) = analysis_tables(Made(rows))
    assert table.title == "mpi.pingpong against the layers below it"
    assert [line.cells[0] for line in table.lines] == ["8 B", "1 KiB"]
    assert [line.cells[2] for line in table.lines] == ["shm.flag"] * 2


def test_the_report_draws_all_layers_in_one_picture(folder: Path) -> None:
    page = write_report([folder], folder / "report.html").read_text("utf-8")
    assert '<h2 id="s1">Layers under MPI</h2>' in page
    measured = load(folder)
    items = [Shown(row, point, "") for row, point in zip(rows_of(measured), measured.points, strict=True)]
    group = layer_group(items, LATENCY)
    assert group is not None
    assert [line.label for line in group.lines] == ["shm.flag", "sock.tcp", "mpi.pingpong mpich-4.0.2"]
    assert group.sizes == (8, 1024)
    assert layer_group(items, BANDWIDTH) is None
    assert layer_group(items[:1], LATENCY) is None


def test_pairs_of_cores_are_no_layers_of_their_own(tmp_path: Path) -> None:
    """Where the usual places were measured, others are left to the pictures of places."""
    far = Placement(kind="shared-l3", cpus=(0, 1), interrupts=())
    lines = (("mpi.pingpong", "m", None), ("mpi.pingpong", "m", far), ("shm.flag", None, None))
    points = [
        FakePoint(op, steady(100 + size, count=50), bytes=size, mpi=mpi, ranks=2, placement=place)
        for size in (8, 1024)
        for op, mpi, place in lines
    ]
    measured = load(write_folder(tmp_path / "out", points, launches=2))
    items = [Shown(row, point, "") for row, point in zip(rows_of(measured), measured.points, strict=True)]
    group = layer_group(items, LATENCY)
    assert group is not None
    assert [line.label for line in group.lines] == ["shm.flag", "mpi.pingpong m"]
    placed = layer_group([item for item in items if item.row.op == "shm.flag" or item.row.placed], LATENCY)
    assert placed is not None
    assert len(placed.lines) == 2


# ---- which engine ------------------------------------------------------------------------------------------


def _described(**classes: str) -> Description:
    """What `describe` says of ops: name -> class."""
    ops = (
        {"name": name.replace("_", "."), "class": kind, "min_ranks": 2 if kind == "p2p" else 1}
        | {"sized": False, "methods": ["batch"]}
        for name, kind in classes.items()
    )
    return described(ops, [{"name": "batch"}], [{"name": "fixed"}])


_SOLO = _described(self_empty="local", sock_tcp="p2p", npb_cg="collective")
_MPI = _described(self_empty="local", sock_tcp="p2p", npb_cg="collective", mpi_pingpong="p2p")


@pytest.mark.parametrize(
    ("op", "ranks", "engine", "mpi"),
    [
        ("self.empty", 1, None, None),
        ("self.empty", 2, None, "m"),
        ("self.empty", 2, "solo", None),
        ("self.empty", 1, "mpi", "m"),
        ("sock.tcp", None, None, None),
        ("sock.tcp", 2, None, None),
        ("sock.tcp", 2, "mpi", "m"),
        ("mpi.pingpong", 2, None, "m"),
        ("npb.cg", None, None, "m"),  # a rank on each core
        ("npb.cg", 1, None, None),
    ],
)
def test_which_engine_an_op_runs_in(op: str, ranks: int | None, engine: str | None, mpi: str | None) -> None:
    plan = Plan(measure=(Measure(ops=(op,), ranks=ranks, engine=engine),))
    (point,) = resolve(plan, ops_of(_SOLO, _MPI), ["m"], 4)
    assert point.mpi == mpi
    assert needs_mpi(plan, _SOLO) == (mpi is not None)


def test_an_op_of_mpi_cannot_do_without() -> None:
    plan = Plan(measure=(Measure(ops=("mpi.pingpong",), engine="solo"),))
    with pytest.raises(InputError, match="cannot run without MPI"):
        resolve(plan, ops_of(_SOLO, _MPI), ["m"], 4)
