"""Trees of broadcasts deduced in simulation, where SMPI is told which algorithm to use."""

from __future__ import annotations

import importlib.util
import sys
from types import ModuleType

import pytest

from further import further
from pages import ROOT
from steelyard.base.errors import InputError
from steelyard.validate.simulator import Simulator, find_simulator


def _benchmark() -> ModuleType:
    spec = importlib.util.spec_from_file_location("trees_benchmark", ROOT / "benchmarks" / "trees.py")
    assert spec is not None
    assert spec.loader is not None
    module = sys.modules[spec.name] = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


_TREES = _benchmark()


@pytest.fixture(scope="module")
def simulator() -> Simulator:
    try:
        return find_simulator()
    except InputError as error:
        pytest.skip(str(error))


_FEW, _MANY = 5, (16, 33)
_SHORT = [case for case in _TREES.CASES if case.bytes == _TREES._SHORT]
_LONG = [case for case in _TREES.CASES if case.bytes > _TREES._SHORT]
_RUNS = [
    *((case, _FEW) for case in (*_SHORT, *_LONG)),
    *(further(case, ranks) for ranks in _MANY for case in _SHORT),
]


@pytest.mark.parametrize(("case", "ranks"), _RUNS, ids=lambda one: getattr(one, "algorithm", str(one)))
def test_an_algorithm_is_named(simulator: Simulator, case: object, ranks: int) -> None:
    assert _TREES.seen_tree(simulator, case, ranks).family == case.family  # type: ignore[attr-defined]
