"""What layers add to a call, with an interval: planted costs are found, and nothing where nothing is."""

from __future__ import annotations

from collections.abc import Sequence

import msgspec
import numpy as np
import pytest

from macro_rows import row
from steelyard.analyses.layers.model import CANNOT_TELL, COSTS, NOT_SEEN, SAVES, layer_costs
from steelyard.analyses.layers.tables import layer_tables
from steelyard.render.terminal import Paper, table_text
from steelyard.results.row import Row

_TOOL = "/opt/tools/libcounting.so"
_PLANTED = 500.0  # ns


def _row(times: Sequence[float], size: int = 8, /, **env: str) -> Row:
    return row("mpi.allreduce", "openmpi-4.1.4", times, bytes=size, sized=True, env=env)


def _drifting(seed: int, count: int = 12) -> tuple[list[float], list[float]]:
    """A call of some 2 us without and with a layer of 500 ns: both rise by half over the launches."""
    random = np.random.default_rng(seed)
    common = np.linspace(2000.0, 3000.0, count) + random.normal(0, 50, count)
    plain, layered = (common + random.normal(0, 10, count) for _ in range(2))
    return plain.tolist(), (layered + _PLANTED).tolist()


def test_a_planted_cost_lies_within_its_interval() -> None:
    """In 95 of 100 campaigns and more; the drift of the machine is in neither end."""
    within, widths = [], []
    for seed in range(200):
        plain, layered = _drifting(seed)
        (found,) = layer_costs([_row(layered, LD_PRELOAD=_TOOL), _row(plain, LD_PRELOAD="-")])
        assert found.cost.low is not None
        assert found.cost.high is not None
        within.append(found.cost.low <= _PLANTED <= found.cost.high)
        widths.append(found.cost.high - found.cost.low)
        assert (found.layer, found.value, found.verdict) == ("LD_PRELOAD", _TOOL, COSTS)
    assert np.mean(within) > 0.91  # 0.95, less 2.6 times its deviation over 200
    assert np.median(widths) < 40


def test_another_engine_of_the_same_mpi_is_a_layer() -> None:
    """Such as one that was compiled for the standard ABI; engines of two MPIs are none of each other."""
    plain = _row([1000.0, 1100.0, 1200.0])
    other = msgspec.structs.replace(_row([1500.0, 1602.0, 1698.0]), mpi="openmpi-4.1.4+/opt/steelyard-mpi")
    (found,) = layer_costs([plain, other])
    assert (found.layer, found.value, found.mpi) == ("engine", "/opt/steelyard-mpi", "openmpi-4.1.4")
    assert found.verdict == COSTS
    assert found.cost.value == pytest.approx(500, abs=1)
    assert layer_costs([msgspec.structs.replace(plain, mpi="mpich-5.0.2"), other]) == ()


@pytest.mark.parametrize(
    ("added", "verdict"),
    [
        ([500.0, 502.0, 498.0], COSTS),
        ([-500.0, -502.0, -498.0], SAVES),
        ([3.0, -2.0, -1.0], NOT_SEEN),
        ([500.0], CANNOT_TELL),
    ],
)
def test_which_side_of_nothing_a_cost_lies(added: list[float], verdict: str) -> None:
    plain = [1000.0, 1100.0, 1200.0][: len(added)]
    layered = [time + more for time, more in zip(plain, added, strict=True)]
    (found,) = layer_costs([_row(plain, LD_PRELOAD="-"), _row(layered, LD_PRELOAD=_TOOL)])
    assert found.verdict == verdict
    assert found.launches == len(added)
    assert (found.cost.low is None) == (verdict == CANNOT_TELL)


def test_only_launches_that_both_have_are_compared() -> None:
    plain, layered = _row([1000.0, 1100.0, 5000.0], LD_PRELOAD="-"), _row([1500.0, 1600.0], LD_PRELOAD=_TOOL)
    (found,) = layer_costs([plain, layered])
    assert found.launches == 2
    assert found.without == 1050.0
    assert found.cost.value == pytest.approx(500)


@pytest.mark.parametrize(
    ("without", "layer"),
    [
        ({"OMPI_MCA_mpi_param_check": "0"}, {"OMPI_MCA_mpi_param_check": "1"}),
        ({"MPIR_CVAR_ERROR_CHECKING": "0"}, {"MPIR_CVAR_ERROR_CHECKING": "1"}),
        ({"OMPI_MCA_pml_monitoring_enable": "-"}, {"OMPI_MCA_pml_monitoring_enable": "1"}),
        ({"OMP_TOOL": "disabled"}, {"OMP_TOOL": "enabled"}),
        ({"run by": "-"}, {"run by": "apptainer exec mpi.sif"}),
    ],
)
def test_layers_that_are_known(without: dict[str, str], layer: dict[str, str]) -> None:
    times = [1000.0, 1010.0, 1020.0]
    rows = [_row(times), _row([time + _PLANTED for time in times])]
    rows = [msgspec.structs.replace(one, env=env) for one, env in zip(rows, (without, layer), strict=True)]
    (found,) = layer_costs(rows)
    assert {found.layer: found.value} == layer
    assert found.without == pytest.approx(1010)
    assert found.cost.value == pytest.approx(_PLANTED)


def test_what_is_no_layer_or_differs_in_more_is_not_compared() -> None:
    times = [1000.0, 1010.0, 1020.0]
    plain, layered = _row(times, LD_PRELOAD="-"), _row(times, LD_PRELOAD=_TOOL)
    assert layer_costs([_row(times, UCX_TLS="-"), _row(times, UCX_TLS="tcp")]) == ()
    assert layer_costs([layered, _row(times)]) == ()  # what the user's environment has is not known
    assert layer_costs([layered, _row(times, 16, LD_PRELOAD="-")]) == ()
    assert layer_costs([layered, msgspec.structs.replace(plain, status="failed")]) == ()
    assert layer_costs([layered, msgspec.structs.replace(plain, threads=2)]) == ()
    assert layer_tables(()) == ()


def test_two_layers_are_told_apart() -> None:
    """Each beside the other and without it: four rows, four costs."""
    check, counts = "OMPI_MCA_mpi_param_check", "LD_PRELOAD"
    rows = [
        _row([1000.0 + 20 * (first == "1") + 500 * (second == _TOOL) + i for i in range(3)])
        for first in "01"
        for second in ("-", _TOOL)
    ]
    settings = [(first, second) for first in "01" for second in ("-", _TOOL)]
    rows = [
        msgspec.structs.replace(one, env={check: first, counts: second})
        for one, (first, second) in zip(rows, settings, strict=True)
    ]
    found = {(one.layer, *one.env.values()): one.cost.value for one in layer_costs(rows)}
    assert found == pytest.approx(
        {(counts, "0"): 500.0, (counts, "1"): 500.0, (check, "-"): 20.0, (check, _TOOL): 20.0}
    )
    (table,) = layer_tables(layer_costs(rows))
    text = table_text(table, Paper(80, is_pipe=False))
    assert max(map(len, text.splitlines())) <= 80
    assert "500 ns" in text
    assert table.notes == ()


def test_a_cost_that_is_not_seen_has_a_note() -> None:
    rows = [_row([1000.0, 1001.0, 1002.0], LD_PRELOAD=value) for value in ("-", _TOOL)]
    (table,) = layer_tables(layer_costs(rows))
    assert table.notes[0].startswith("not seen: the interval holds 0")
