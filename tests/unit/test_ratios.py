"""Ratios of rivals whose times are known."""

from __future__ import annotations

import dataclasses
import math

import numpy as np
import pytest

from macro_rows import row
from steelyard.rows.ratios import folder_ratios, mpi_ratios
from steelyard.rows.rivals import ratio_cells


def test_the_first_mpi_is_the_base_of_each_test_case() -> None:
    rows = [
        row("mpi.bcast", mpi, [factor * size * (1 + 0.01 * i) for i in range(6)], bytes=size)
        for size in (8, 64)
        for mpi, factor in (("a-1", 10.0), ("b-1", 20.0), ("c-1", 5.0))
    ]
    found = mpi_ratios(rows)
    assert [(one.name, one.base_name, one.row.bytes) for one in found] == [
        ("b-1", "a-1", 8),
        ("b-1", "a-1", 64),
        ("c-1", "a-1", 8),
        ("c-1", "a-1", 64),
    ]
    assert [one.value for one in found] == pytest.approx([2, 2, 0.5, 0.5])
    assert not any(one.holds_one for one in found)


def test_launches_are_paired_inside_a_folder_and_not_between_folders() -> None:
    """What both share from launch to launch is in neither's ratio; of two folders nothing is shared."""
    shared = 1000.0 * np.exp(0.3 * np.random.default_rng(1).standard_normal(10))
    one, other = row("mpi.bcast", "a-1", list(shared)), row("mpi.bcast", "b-1", list(1.1 * shared))
    (paired,) = mpi_ratios([one, other])
    assert (paired.low, paired.high) == pytest.approx((1.1, 1.1))
    (apart,) = folder_ratios({"x": [one], "y": [other]})
    assert apart.value == pytest.approx(1.1)
    assert apart.holds_one


def test_what_differs_in_more_than_the_rival_is_not_compared() -> None:
    base = row("mpi.bcast", "a-1", [10.0, 11.0], bytes=8, params={"root": 0.0})
    others = [
        row("mpi.bcast", "b-1", [10.0, 11.0], bytes=8, params={"root": 1.0}),
        row("mpi.bcast", "b-1", [10.0, 11.0], bytes=16, params={"root": 0.0}),
        row("mpi.bcast", "b-1", [10.0, 11.0], bytes=8, ranks=4, params={"root": 0.0}),
        row("mpi.bcast", "b-1", [10.0, 11.0], bytes=8, method="barrier", params={"root": 0.0}),
    ]
    assert mpi_ratios([base, *others]) == ()


def test_one_launch_has_no_interval_and_no_number_no_ratio() -> None:
    (found,) = mpi_ratios([row("mpi.bcast", "a-1", [10.0]), row("mpi.bcast", "b-1", [30.0])])
    assert (found.value, found.low, found.high, found.holds_one) == (3.0, None, None, True)
    lost = row("mpi.bcast", "b-1", [1.0], median=None)
    assert mpi_ratios([row("mpi.bcast", "a-1", [10.0]), lost]) == ()


def test_the_interval_holds_the_ratio_that_it_stands_beside() -> None:
    base = row("mpi.bcast", "a-1", [10.0, 10.0, 10.0, 10.0, 10.0, 10.0])
    rival = row("mpi.bcast", "b-1", [10.0, 10.0, 10.0, 10.0, 90.0, 95.0])
    (found,) = mpi_ratios([base, rival])
    assert found.low is not None
    assert found.high is not None
    assert found.low <= found.value <= found.high
    assert math.isfinite(found.high)


def test_folders_of_one_mpi_each_compare_these() -> None:
    (found,) = folder_ratios(
        {"x": [row("mpi.bcast", "a-1", [10.0, 10.0])], "y": [row("mpi.bcast", "b-1", [20.0, 20.0])]}
    )
    assert (found.name, found.base_name, found.value) == ("y", "x", 2.0)


@pytest.mark.parametrize(
    ("ends", "cells"),
    [
        ((1.023, 0.984, 1.101), ("1.02", "0.98 – 1.10")),
        ((9520, 2940, 20200), ("9520", "2940 – 20200")),
        ((0.0042, 0.0012, 0.0071), ("1/238", "1/833 – 1/141")),
        ((0.042, 0.012, 0.071), ("0.042", "0.012 – 0.071")),
    ],
)
def test_ratios_are_printed_without_exponents(
    ends: tuple[float, float, float], cells: tuple[str, str]
) -> None:
    found = mpi_ratios([row("mpi.bcast", mpi, [10.0, 11.0], bytes=8) for mpi in ("a-1", "b-1")])
    value, low, high = ends
    ratio = dataclasses.replace(found[0], value=value, low=low, high=high)
    assert ratio_cells(ratio) == cells
