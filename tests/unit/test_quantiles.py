"""`compare --quantile` and `check --quantile`: launches' own quantiles stand for their medians."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
import typer
from numpy.typing import NDArray

from make_records import BEGAN_NS, FakePoint, Series, steady, write_folder
from steelyard.base.errors import InputError
from steelyard.cli.check import CheckOptions, check
from steelyard.cli.compare import CompareOptions, compare
from steelyard.judges.history.digest import known_night
from steelyard.results.facets.samples import least_samples
from steelyard.results.load import load
from steelyard.results.quantiles import rows_at

DAY_NS = 86_400_000_000_000


def tailed(factor: float) -> Series:
    """3 % of the samples take so many times as long; the median does not know."""

    def draw(rng: np.random.Generator, launch: int) -> NDArray[np.float64]:
        values = 1000.0 * np.exp(0.02 * rng.standard_normal() + 0.05 * rng.standard_normal(2000))
        values[rng.random(2000) < 0.03] *= factor
        return np.asarray(values)

    return draw


@pytest.fixture
def two(tmp_path: Path) -> Path:
    """Two MPIs by turns: the tail of a broadcast differs, a barrier has too few samples for a p99."""
    points = [FakePoint("mpi.bcast", tailed(1.5 if mpi == "a-1" else 1.9), mpi=mpi) for mpi in ("a-1", "b-1")]
    points += [FakePoint("mpi.barrier", steady(100.0, count=200), mpi=mpi) for mpi in ("a-1", "b-1")]
    return write_folder(tmp_path / "two", points, launches=12)


def test_the_quantile_of_a_launch_stands_for_its_median(two: Path) -> None:
    (row, *_, few) = rows_at(load(two), 0.99)
    own = [np.quantile(cell.values, 0.99) for cell in load(two).points[0].cells]
    assert [one.median for one in row.launches] == pytest.approx(own, rel=5e-3)
    assert row.median == pytest.approx(np.median(own), rel=5e-3)
    assert (few.median, few.status) == (None, "skipped")
    assert few.why == "its launches have fewer than the 1000 samples that p99 needs"


@pytest.mark.parametrize(("quantile", "least"), [(0.5, 20), (0.99, 1000), (0.01, 1000), (0.9999, 100_000)])
def test_ten_samples_of_a_launch_are_beyond_its_quantile(quantile: float, least: int) -> None:
    assert least_samples(quantile) == least


def test_compare_says_what_it_compares(two: Path, capsys: pytest.CaptureFixture[str]) -> None:
    compare(CompareOptions(folders=[two], by="mpi"))
    assert "ratio of the launches' medians" in " ".join(capsys.readouterr().out.split())
    with pytest.raises(typer.Exit) as ended:
        compare(CompareOptions(folders=[two], by="mpi", quantile=0.99))
    assert ended.value.exit_code == 1
    said = " ".join(capsys.readouterr().out.split())
    assert "ratio of the launches' p99" in said
    assert "p99 of mpi.bcast: b-1 is slower than a-1 (1.2" in said
    assert "Not compared: mpi.barrier" in said
    assert "fewer than the 1000 samples that p99 needs" in said
    with pytest.raises(typer.Exit):
        compare(CompareOptions(folders=[two], by="mpi", quantile=0.99, json=True))
    document = json.loads(capsys.readouterr().out)
    assert document["quantile"] == 0.99
    assert document["points"][0]["verdict"] == "slower"
    assert 1.2 < document["points"][0]["ratio"] < 1.35


@pytest.mark.parametrize("quantile", [0.0, 1.0, 99.0, float("nan")])
def test_a_quantile_lies_inside_the_samples(two: Path, quantile: float) -> None:
    with pytest.raises(InputError, match="--quantile is above 0 and below 1"):
        compare(CompareOptions(folders=[two], by="mpi", quantile=quantile))


def test_a_quantile_that_no_launch_shows_is_refused(two: Path) -> None:
    with pytest.raises(InputError, match=r"10000 samples that p99\.9 needs"):
        compare(CompareOptions(folders=[two], by="mpi", quantile=0.999))


def test_check_finds_a_tail_that_medians_do_not_show(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    for night in range(5):
        points = [FakePoint("mpi.bcast", tailed(1.5 if night < 4 else 3.0), bytes=8 << k) for k in range(4)]
        began = BEGAN_NS + night * DAY_NS
        write_folder(tmp_path / f"n{night}", points, launches=5, seed=night, began_ns=began)
    check(CheckOptions(history=[tmp_path]))
    capsys.readouterr()
    with pytest.raises(typer.Exit) as ended:
        check(CheckOptions(history=[tmp_path], quantile=0.99))
    assert ended.value.exit_code == 1
    said = " ".join(capsys.readouterr().out.split())
    assert "ratio of the launches' p99" in said
    assert "p99 of mpi.bcast is slower tonight" in said


def test_nights_are_kept_for_each_quantile(tmp_path: Path) -> None:
    folder = write_folder(tmp_path / "n", [FakePoint("mpi.bcast", tailed(2.0))], launches=2)
    key = b"k" * 32
    kept = {quantile: known_night(folder, key, quantile).rows[0].median for quantile in (None, 0.9, 0.99)}
    assert len(set(kept.values())) == 3
    assert {quantile: known_night(folder, key, quantile).rows[0].median for quantile in kept} == kept
    assert sorted(path.name for path in folder.glob(".night*")) == [
        ".night-p90.json",
        ".night-p99.json",
        ".night.json",
    ]
