"""Micro against macro from rows that are known: the best MPI, predictions, verdicts, tables."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
import pytest

from further import further
from macro_rows import COMPUTE, SIZES, kernel, pingpongs, row
from steelyard.analyses.analysis import Made
from steelyard.analyses.best_arms import AGREES, CANNOT_TELL, DISAGREES, Best, bests_of, verdict_of
from steelyard.analyses.micro_macro.model import Macro, macro_of
from steelyard.analyses.micro_macro.tables import best_words, macro_tables
from steelyard.analyses.registry import analysis_tables
from steelyard.results.row import Row

# ---- best, and whether messages say it ------------------------------------------------------------------

FAST = (10.0, 11.0, 12.0, 13.0, 14.0, 11.5)
SLOW, MIXED = tuple(2 * time for time in FAST), (9.0, 11.5, 12.5, 12.6, 15.0, 11.0)


def best_of(**times: Sequence[float]) -> Best:
    """The best of one line, whose launches have the numbers of their places."""
    (found,) = bests_of([{mpi: dict(enumerate(own)) for mpi, own in times.items()}])
    return found


@pytest.mark.parametrize(
    ("times", "best"),
    [
        ({"a": FAST, "b": SLOW}, {"a"}),
        ({"a": SLOW, "b": FAST}, {"b"}),
        ({"a": FAST, "b": MIXED}, {"a", "b"}),
        ({"a": FAST, "b": [1.01 * time for time in FAST]}, {"a", "b"}),  # told apart, by less than matters
        ({"a": FAST, "b": [1.03 * time for time in FAST]}, {"a"}),  # launches are paired
        ({"a": 2 * FAST, "b": 2 * MIXED, "c": 2 * SLOW}, {"a", "b"}),
        ({"a": FAST}, set()),
    ],
)
def test_best_is_what_a_test_does_not_tell_from_the_least(
    times: Mapping[str, Sequence[float]], best: set[str]
) -> None:
    assert set(best_of(**times).best) == best


def test_few_launches_are_always_a_tie_and_say_so() -> None:
    found = best_of(a=FAST[:3], b=SLOW[:3])
    assert (set(found.best), found.tells) == ({"a", "b"}, False)
    assert found.p == {"a, b": pytest.approx(0.25)}
    assert best_of(a=FAST, b=SLOW).tells  # 1 of 32 swaps of six
    assert not best_of(a=FAST, b=SLOW, c=SLOW).tells  # three pairs need seven launches
    assert best_of(a=2 * FAST, b=2 * SLOW, c=2 * SLOW).tells


@pytest.mark.parametrize("names", ["ab", further("abc")])
def test_a_table_of_equals_rarely_has_a_best_anywhere(names: str) -> None:
    """30 lines, ten launches that differ by 3 % in all lines together and by 3 % in each."""
    rng, wrong = np.random.default_rng(3), []
    for _ in range(80):
        common = 0.03 * rng.standard_normal(10)
        table = [
            {mpi: dict(enumerate(np.exp(common + 0.03 * rng.standard_normal(10)).tolist())) for mpi in names}
            for _ in range(30)
        ]
        wrong.append(any(len(one.best) < len(names) for one in bests_of(table)))
    assert np.mean(wrong) <= 0.05 + 2.5 * np.sqrt(0.05 * 0.95 / 80)


def test_opposite_truths_seldom_agree() -> None:
    """The figure is 3 % faster under a, the kernel under b; launches scatter by 3 %."""
    rng, said = np.random.default_rng(4), []
    for _ in range(150):
        draws = [np.exp(0.03 * rng.standard_normal(10)) for _ in range(4)]
        figure = {"a": dict(enumerate(draws[0])), "b": dict(enumerate(1.03 * draws[1]))}
        kernel = {"a": dict(enumerate(1.03 * draws[2])), "b": dict(enumerate(draws[3]))}
        of_figure, of_kernel = bests_of([figure, kernel])
        said.append(verdict_of(of_figure.best, of_kernel.best))
    assert np.mean([one == AGREES for one in said]) <= 0.02
    assert np.mean([one == CANNOT_TELL for one in said]) > 0.3


@pytest.mark.parametrize(
    ("figure", "kernel", "verdict"),
    [
        ("a", "a", AGREES),
        ("a", "b", DISAGREES),  # as the slowest network won the sort
        ("a", "ab", CANNOT_TELL),
        ("ab", "a", CANNOT_TELL),
        ("ab", "ab", CANNOT_TELL),
        ("ab", "c", DISAGREES),
    ],
)
def test_a_figure_agrees_with_a_kernel_or_does_not(figure: str, kernel: str, verdict: str) -> None:
    assert verdict_of(tuple(figure), tuple(kernel)) == verdict


def whole() -> list[Row]:
    """`a` is faster at messages and at cg; at is `b` is; both have a line of raw TCP beside them."""
    tcp = row("sock.tcp", None, [5000.0, 5100.0], bytes=1, bandwidth=2e5)
    return [
        tcp,
        *pingpongs("a", 1.0),
        *pingpongs("b", 2.0),
        kernel("a", 1.2e5),
        kernel("b", 2.4e5),
        kernel("a", 9e5, "npb.is"),
        kernel("b", 1e5, "npb.is"),
        row("npb.cg", None, [1e6], mops=1.0, ranks=1),  # without MPI: in no line
    ]


def macro() -> Macro:
    return macro_of(whole())


def test_a_line_for_each_test_with_its_unit_and_its_best() -> None:
    lines = macro().lines
    assert [line.test for line in lines] == ["ping-pong"] * len(SIZES) + ["npb.cg", "npb.is"]
    assert [line.unit for line in lines] == ["us"] * 4 + ["MB/s"] * 6 + ["Mop/s"] * 2
    first, last = lines[0], lines[-3]
    assert first.tcp is not None
    assert first.tcp.value == pytest.approx(5.05)
    assert lines[1].tcp is None
    assert first.figures[0].value == pytest.approx(0.4004 * 1.03)
    assert first.best == ("a",)
    fast = last.figures[0]
    assert fast.value == pytest.approx(4194304 / (1.03 * (4000 + 419430.4)) * 1e3)  # bytes/ns to MB/s
    assert fast.low is not None
    assert fast.high is not None
    assert fast.low < fast.value < fast.high
    assert [line.best for line in lines[-2:]] == [("a",), ("b",)]
    assert lines[-1].figures[0].value == pytest.approx(100.0)


def test_a_kernel_is_predicted_from_its_messages() -> None:
    """100 messages of 512 bytes: 100 (400 + 0.4 x 512) ns, 1 % more in each launch, for `b` twice that."""
    by = {(one.kernel, one.mpi): one for one in macro().predictions}
    one, other = by["npb.cg", "a"], by["npb.cg", "b"]
    true = 100 * (400 + 0.4 * 512)
    assert one.predicted.value == pytest.approx(1.03 * true)
    assert other.predicted.value == pytest.approx(1.03 * 2 * true)
    assert one.communication.value == pytest.approx(1.03 * 1.2e5)
    assert one.ratio.value == pytest.approx(true / 1.2e5)  # launch by launch, what they share cancels
    assert one.ratio.low == pytest.approx(true / 1.2e5) == one.ratio.high
    assert one.compute == pytest.approx(COMPUTE)
    assert one.total_ratio.value == pytest.approx((COMPUTE + 1.03 * true) / (COMPUTE + 1.03 * 1.2e5))


def test_which_figures_name_the_best_mpi_of_which_kernel() -> None:
    verdicts = {(one.kernel, one.figure): (one.verdict, one.tau, one.p) for one in macro().agreements}
    for figure in ("latency", "throughput", "model"):
        assert verdicts["npb.cg", figure] == (AGREES, 1.0, None)  # of two there is no p
        assert verdicts["npb.is", figure] == (DISAGREES, -1.0, None)


def test_of_three_there_is_a_p() -> None:
    rows = [*pingpongs("a", 1.0), *pingpongs("b", 2.0), *pingpongs("c", 3.0)]
    rows += [kernel("a", 1e5), kernel("b", 2e5), kernel("c", 3e5)]
    assert [one.tau for one in macro_of(rows).agreements] == [1.0] * 3
    assert [one.p for one in macro_of(rows).agreements] == pytest.approx([1 / 3] * 3)


def test_what_cannot_be_made_is_said() -> None:
    one = macro_of([*pingpongs("a", 1.0), kernel("a", 1e5)])
    assert (len(one.predictions), one.agreements, one.lines[0].best) == (1, (), ())
    assert "give --mpi several times" in one.notes[0]
    mute = macro_of([*pingpongs("a", 1.0), kernel("a", 1e5, phases=None)])
    assert mute.predictions == ()
    assert "npb.cg, which recorded no phases" in mute.notes[1]
    few = macro_of([*pingpongs("a", 1.0, 2)[:2], *pingpongs("b", 2.0, 2)[:2], kernel("a", 1e5, launches=2),
                    kernel("b", 1e6, launches=2)])  # fmt: skip
    assert few.predictions == ()
    assert [
        words for words in ("3 sizes", "Add launches", "two orders") if any(words in n for n in few.notes)
    ] == [
        "3 sizes",
        "Add launches",
        "two orders",
    ]
    assert best_words(few.lines[-1]) == "tie (few launches)"
    assert macro_of(pingpongs("a", 1.0)) == macro_of([kernel("a", 1e5)]) == Macro()


def test_tables_say_it() -> None:
    tables = {table.title.partition(" (")[0]: table for table in macro_tables(macro())}
    micro = tables["micro against macro"]
    assert [column.name for column in micro.columns] == ["test", "unit", "raw TCP", "a", "b", "best"]
    first, last = micro.lines[0].cells, micro.lines[-1].cells
    assert (first[0], first[-1], last[-1]) == ("ping-pong 1 B", "a", "b")
    assert len(tables["LogGP of each MPI"].lines) == 4
    assert micro.title == "micro against macro (class=S, 2 ranks)"
    verdicts = tables["would messages have named the best MPI"]
    assert verdicts.lines[1].cells == ("npb.is", *["disagrees -1"] * 3)
    assert verdicts.notes[0] == "latency: agrees with 1 of 2 kernels, disagrees with 1, undecided for 0"
    assert all(len(line.cells) == len(table.columns) for table in tables.values() for line in table.lines)
    assert any(
        table.title.startswith("would messages have named") for table in analysis_tables(Made(whole()))
    )
