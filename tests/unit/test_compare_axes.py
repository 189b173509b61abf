"""Arms of one folder that are values of an axis: threads, ranks, methods."""

from __future__ import annotations

import msgspec
import numpy as np
import pytest

from macro_rows import row
from steelyard.base.errors import InputError
from steelyard.judges.compare.arms import against, factor_of, rivals_by
from steelyard.judges.compare.scale import Question
from steelyard.judges.compare.verdicts import compare
from steelyard.results.row import Row

_LAUNCHES = 20


def _times(factor: float, seed: int) -> list[float]:
    noise = np.random.default_rng(seed).normal(0, 0.01, _LAUNCHES)
    return [float(one) for one in 1000.0 * factor * np.exp(noise)]


def _pair(axis: str, first: object, second: object, factor: float) -> list[Row]:
    return [
        msgspec.structs.replace(row("omp.barrier", "a-1", _times(by, seed)), **{axis: value})
        for seed, (value, by) in enumerate(((first, 1.0), (second, factor)))
    ]


@pytest.mark.parametrize(
    ("axis", "first", "second"),
    [
        ("threads", 1, 2),
        ("ranks", 2, 4),
        ("hosts", 1, 2),
        ("method", "epoch", "barrier"),
        ("thread_level", "single", "multiple"),
    ],
)
@pytest.mark.parametrize(("factor", "verdict"), [(2.0, "slower"), (0.5, "faster"), (1.0, "same")])
def test_values_of_an_axis_are_arms(
    axis: str, first: object, second: object, factor: float, verdict: str
) -> None:
    rows = _pair(axis, first, second, factor)
    if axis == "method":  # each method has parameters of its own
        rows[1] = msgspec.structs.replace(rows[1], method_params={"gap": 3.0})
    rivals = rivals_by(rows, axis)
    assert (rivals.arms, rivals.missing) == ((f"{axis}={first}", f"{axis}={second}"), 0)
    assert [one.verdict for one in compare(rivals, True, Question()).points] == [verdict]
    assert against(rivals, str(second)).arms[0] == f"{axis}={second}"


@pytest.mark.parametrize(("kind", "name"), [("omp", "wait_policy"), ("params", "window"), ("env", "UCX_TLS")])
def test_a_setting_without_its_kind_is_named_with_it(kind: str, name: str) -> None:
    rows = [msgspec.structs.replace(one, **{kind: {name: "1"}}) for one in _pair("threads", 1, 2, 1.0)]
    with pytest.raises(
        InputError, match=f"'{name}' is no factor; did you mean '{kind.removesuffix('s')}.{name}'"
    ) as raised:
        rivals_by(rows, name)
    meant = str(raised.value).rpartition(" ")[2].strip("'?")
    with pytest.raises(InputError, match=f"by {meant} there is only {name}=1 here"):
        rivals_by(rows, meant)


def test_an_axis_that_varies_is_named() -> None:
    with pytest.raises(InputError, match="by mpi there is only a-1 here; give --by threads, a second folder"):
        rivals_by(_pair("threads", 1, 2, 1.0), "mpi")


@pytest.mark.parametrize(
    ("typed", "factor"),
    [
        ("threads", "threads"),
        ("thread-level", "thread_level"),
        ("-n", "ranks"),
        ("param=window", "param.window"),
        ("omp.wait_policy", "omp.wait_policy"),
        ("mpi", "mpi"),
    ],
)
def test_a_factor_may_be_typed_as_its_option(typed: str, factor: str) -> None:
    assert factor_of(typed) == factor


@pytest.mark.parametrize(
    ("typed", "told"),
    [
        ("op", "--by op: different ops share no test case"),
        ("sizes", "--by sizes: different sizes share no test case"),
        ("launch", "folders of their own, and compare takes several"),
        ("colour", "'colour' is no factor; give threads, thread_level, ranks, hosts, method, mpi"),
    ],
)
def test_what_is_no_factor_is_answered(typed: str, told: str) -> None:
    with pytest.raises(InputError) as raised:
        rivals_by(_pair("threads", 1, 2, 1.0), factor_of(typed))
    assert told in str(raised.value)
