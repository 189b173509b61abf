"""The page on OSU and IMB beside ours: it is what its record says, and reasons are shown."""

from __future__ import annotations

from typing import Any

import pytest
from msgspec import structs

from loaded import load_benchmark
from pages import ROOT

record = load_benchmark("peers_record")
page = load_benchmark("peers_page")
PLACE = record.Place("OSU 7.4", "openmpi-4.1.4", 2, "a processor, 2 cores", "2026-11-26", "0.1.0")
USUAL = record.Way()
BARRIER = record.Way(ours="--method=library-barrier")


def test_the_page_is_made_from_its_record() -> None:
    found = record.read_record(ROOT / "docs/results/peers.jsonl")
    assert "\n".join(page.page(found)) == (ROOT / "docs/results/peers.md").read_text(encoding="utf-8")


def compared(ratios: list[float], test: str = "osu_bcast", way: Any = USUAL) -> Any:
    return record.compare(test, 8, [(ratio, 1.0) for ratio in ratios], way, PLACE)


@pytest.mark.parametrize(
    ("ratios", "verdict"),
    [
        ([1.01, 0.97, 1.03, 1.0, 1.04, 1.02], "within 10 %"),
        ([0.95, 1.07, 0.92, 1.08, 0.93, 1.05], "within 10 %"),
        ([0.95, 1.0, 1.01, 1.02, 1.03, 1.14], "cannot tell"),  # it reaches beyond 10 %
        ([0.50, 0.51, 0.52, 0.53, 0.54, 0.55], "differs"),
        ([1.05, 1.12, 1.13, 1.14, 1.15, 1.16], "cannot tell"),  # it reaches within 10 %
        ([1.0], "cannot tell"),
    ],
)
def test_verdicts_are_those_of_the_interval(ratios: list[float], verdict: str) -> None:
    assert compared(ratios).verdict == verdict


def test_how_ranks_start_is_no_reason_of_what_has_no_start() -> None:
    half = [0.50, 0.54, 0.51, 0.55, 0.52, 0.53]
    reasons = {
        test: page.reason_of(compared(half, test)) for test in ("osu_latency", "PingPong", "Allgatherv")
    }
    assert {test: reason and reason.word for test, reason in reasons.items()} == {
        "osu_latency": None,
        "PingPong": None,
        "Allgatherv": "starts",
    }


def test_a_line_that_differs_shows_what_is_left_without_the_reason() -> None:
    half, whole = [0.50, 0.54, 0.51, 0.55, 0.52, 0.53], [1.01, 0.97, 1.03, 1.0, 1.04, 1.02]
    text = "\n".join(page.page([compared(half), compared(whole, way=BARRIER), compared(whole, "osu_bw")]))
    lines = [line for line in text.splitlines() if line.startswith("| osu_")]
    assert [line.split(" | ")[-3:] for line in lines] == [
        ["5 %, 0 %", "differs: starts", "1.015 [0.960, 1.050], within 10 % |"],
        ["2 %, 0 %", "within 10 %", " |"],
    ]
    assert "Lines without it are measured by `ours: --method=library-barrier`." in text
    assert "- **clock**: " not in text
    assert text.splitlines()[2] == (
        "1 of 2 default rows are within 10 % of the original; 1 differ, 1 measured without the reason "
        "(within 10 %: 1)."
    )


def test_what_differs_without_a_reason_says_so() -> None:
    half = [0.50, 0.54, 0.51, 0.55, 0.52, 0.53]
    text = "\n".join(page.page([compared(half), compared(half, "osu_bw")]))
    assert text.splitlines()[2] == (
        "0 of 2 default rows are within 10 % of the original; 2 differ, 1 by a reason that a page shows in "
        "tests like them, 1 with no reason found."
    )
    said = {line.partition(":")[0]: line for line in text.splitlines() if line.startswith("- **")}
    assert "- **no reason found**" in said
    assert said["- **starts**"].endswith("should take it away, and was not measured.")
    assert any(
        line.startswith("| osu_bw |") and "| differs: no reason found |" in line for line in text.splitlines()
    )
    assert "no reason found" not in "\n".join(page.page([compared(half)]))


def test_each_machine_has_tables_of_its_own() -> None:
    whole = [1.01, 0.97, 1.03, 1.0, 1.04, 1.02]
    other = structs.replace(PLACE, machine="another, 4 cores", day="2026-11-29")
    here = [compared(whole), compared(whole, "osu_bw")]
    more = record.compare("osu_bw", 8, [(ratio, 1.0) for ratio in whole * 2], USUAL, other)
    fewer = record.compare("osu_bcast", 8, [(0.5, 1.0)] * 2, USUAL, other)
    lines = "\n".join(page.page([*here, more, fewer])).splitlines()
    told = [line for line in lines if line.startswith(("## ", "| osu_"))]
    assert [line.split(" | ")[0] for line in told] == [
        "## OSU 7.4: a processor, 2 cores",
        "| osu_bcast",
        "## OSU 7.4: another, 4 cores",
        "| osu_bw",
        "## Reasons",
    ]


@pytest.mark.parametrize(
    ("pair", "words"),
    [
        ((0.02, 0.02), "1.000 [0.600, 1.667] | 6 | 0 %, 0 % | cannot tell: decimals"),  # 0.015 / 0.025 up
        ((0.13, 0.11), "1.182 [1.087, 1.286] | 6 | 0 %, 0 % | cannot tell: decimals"),  # 0.125 / 0.115
        ((0.20, 0.20), "1.000 [0.951, 1.051] | 6 | 0 %, 0 % | within 10 %"),
        ((0.03, 0.07), "0.429 [0.333, 0.538] | 6 | 0 %, 0 % | differs: clock"),
    ],
)
def test_what_decimals_cannot_tell_is_said(pair: tuple[float, float], words: str) -> None:
    small = record.compare("osu_put_latency", 8, [pair] * 6, USUAL, PLACE)
    assert words in "\n".join(page.page([small]))


def test_an_end_beyond_ten_times_is_not_counted_out() -> None:
    wild = record.compare("osu_bcast", 8, [(9.0, 1.0), (1.0, 1.0)], USUAL, PLACE)
    assert wild.ratio_words == "5.000 [< 0.1, > 10]"


def pairs(ours: list[float], theirs: list[float]) -> Any:
    both = list(zip(ours, theirs, strict=True))
    return record.compare("osu_bw", 8, both, USUAL, PLACE)


STEADY = [100.0, 100.5, 101.0, 101.5] * 3
WIDE = [80.0, 96.0, 100.0, 105.0, 109.0, 88.0, 93.0, 101.0, 113.0, 120.0, 84.0, 107.0]
MODES = [100.0, 101.0, 160.0, 102.0, 161.0, 100.0, 162.0, 100.0, 101.0, 163.0, 100.0, 160.0]


@pytest.mark.parametrize(
    ("ours", "theirs", "why"),
    [
        (WIDE[:6], STEADY[:6], "few launches"),
        (WIDE, STEADY, "ours scatters"),
        (STEADY, WIDE, "theirs scatters"),
        (STEADY, MODES, "modes of theirs"),
        (MODES, MODES[::-1], "modes of ours and theirs"),
        ([110.0, 110.8, 111.5, 112.0] * 3, STEADY, "near the limit"),
        ([0.02] * 12, [0.02] * 12, "decimals"),
    ],
)
def test_what_cannot_be_told_says_why(ours: list[float], theirs: list[float], why: str) -> None:
    line = pairs(ours, theirs)
    assert (line.verdict, line.unclear) == ("cannot tell", why)
    (row,) = (text for text in page.page([line]) if text.startswith("| osu_bw"))
    assert row.endswith(f"| cannot tell: {why} |  |")
