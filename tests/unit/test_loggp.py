"""LogGP from times that are known: lines with a change of protocol, and what communication would take."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
import pytest
from msgspec.structs import replace

from further import further
from macro_rows import SIZES, TRUE, counts, pingpongs, row
from steelyard.analyses.loggp.model import communication_ns, log_models, rounds_of
from steelyard.analyses.loggp.tables import log_table, message_tables
from steelyard.records.parts import Phase
from steelyard.records.schema import Phases
from steelyard.results.phases import RowPhases, communication_share
from steelyard.results.row import launch_medians
from steelyard.stats import Interval, Piece, find_breaks, fit_pieces, launch_interval, pieces_at


def test_medians_that_a_timer_cannot_tell_from_nothing_are_no_times() -> None:
    found = launch_medians(row("mpi.pingpong", "a", [-3.0, 0.0, 12.0]))
    assert list(found.values()) == [12.0]


def noisy(pieces: Sequence[Piece], seed: int, spread: float) -> list[float]:
    rng = np.random.default_rng(seed)
    true = pieces_at(pieces, np.array(SIZES, dtype=float))
    return [float(time) for time in true * np.exp(rng.normal(0, spread, len(SIZES)))]


def test_a_change_of_protocol_is_found_and_both_lines_are_right() -> None:
    times = noisy(TRUE, 1, 0.002)
    breaks = find_breaks(SIZES, [times])
    assert breaks == (16384,)
    found = fit_pieces(SIZES, times, breaks)
    for piece, true in zip(found, TRUE, strict=True):
        assert piece.start == pytest.approx(true.start, rel=0.05)
        assert piece.slope == pytest.approx(true.slope, rel=0.05)


def test_one_line_stays_one() -> None:
    assert find_breaks(SIZES, [noisy(TRUE[:1], 2, 0.002)]) == ()
    assert find_breaks([1, 2, 4], [[5.0, 9.0, 5.0]]) == ()


@pytest.mark.parametrize("spread", [0.02, 0.05, 0.1])
@pytest.mark.parametrize("launches", [1, further(3), 10])
def test_noise_seldom_makes_a_change_of_protocol(launches: int, spread: float) -> None:
    """Launches differ by as much again in all their sizes; one line is the truth."""
    found = []
    for seed in range(150):
        common = np.exp(spread * np.random.default_rng(seed).standard_normal(launches))
        times = [
            (one * np.array(noisy(TRUE[:1], 1000 * seed + i, spread))).tolist()
            for i, one in enumerate(common)
        ]
        found.append(find_breaks(SIZES, times) != ())
    assert np.mean(found) <= 0.05


def test_a_change_of_protocol_is_found_among_launches_that_scatter() -> None:
    found = [find_breaks(SIZES, [noisy(TRUE, 100 * s + i, 0.05) for i in range(10)]) for s in range(40)]
    assert np.mean([one != () for one in found]) > 0.9


def test_no_message_costs_less_than_nothing() -> None:
    falling, steep = fit_pieces([1, 2, 4], [9.0, 8.0, 7.0], ()), fit_pieces([1, 10, 100], [1, 20, 300], ())
    assert falling[0].slope == 0.0
    assert falling[0].start == pytest.approx(8.0, rel=0.1)
    assert steep[0].start == 0.0
    assert pieces_at((Piece(8, 10.0, 1.0),), 1.0) == pytest.approx(11.0)  # below the first size: its line


def test_a_change_is_known_to_the_byte_beside_what_the_library_states() -> None:
    sizes = (*range(8, 4033, 503), 4032, 4033, 5000, 6000, 8000)
    stated = {"btl_vader_eager_limit": 4096.0, "btl_tcp_eager_limit": 65536.0, "count": 4.0}
    stated["btl_self_eager_limit"] = 4096.0  # of messages to oneself
    rows = []
    for size in sizes:
        ns = (900 if size > 4032 else 300) + 0.1 * size
        rows.append(row("mpi.pingpong", "a", [0.99 * ns, ns, 1.01 * ns], bytes=size, limits=stated))
    (model,) = log_models(rows)
    first, other = model.pieces
    assert (first.after, first.stated) == (None, ())
    assert (other.least, other.after, other.stated) == (4033, 4032, ("btl_vader_eager_limit=4096",))
    (table,) = message_tables(log_models(rows))
    assert "from 4033 B on, 4032 B not" in table.lines[1].cells
    assert table.lines[1].cells[-1] == "MPI's limits near it: btl_vader_eager_limit=4096"
    assert table.title == "LogGP of a"  # so that no column says it again
    assert "MPI" not in [column.name for column in table.columns]
    assert message_tables(log_models(rows[:5])) == ()


def test_modes_that_differ_between_launches_are_no_byte() -> None:
    """From 1593 bytes on half of the launches take three times as long, the others do from 1600 bytes on.

    All were a little slower when 1593 bytes and more were measured.
    """
    sizes = (*range(200, 1592, 200), *range(1590, 1610), *range(1700, 4000, 200))
    rows = []
    for size in sizes:
        times = [
            (300 + 0.1 * size)
            * (1.06 if size >= 1593 else 1.0)
            * (3.0 if size >= 1593 and (size >= 1600) == bool(launch % 2) else 1.0)
            for launch in range(6)
        ]
        rows.append(row("mpi.pingpong", "a", times, bytes=size))
    (model,) = log_models(rows)
    assert [(piece.least, piece.jumps) for piece in model.pieces[1:]] == [(1593, False)]
    (table,) = message_tables((model,))
    assert table.lines[1].cells[0] == "from 1.593 kB"


def test_models_have_the_true_lines_and_intervals_of_the_launches() -> None:
    (model,) = log_models(pingpongs("a", 1.0))
    assert [piece.least for piece in model.pieces] == [1, 16384]
    assert model.missed < 1e-6
    for piece, true in zip(model.pieces, TRUE, strict=True):
        assert piece.start.value == pytest.approx(1.03 * true.start)  # the fourth of seven launches
        assert piece.gap.value == pytest.approx(1.03 * true.slope)
        known = launch_interval([true.start * (1 + 0.01 * i) for i in range(7)])
        assert piece.start.high == pytest.approx(known.high)
        # the second line is flatter, and begins below the end of the first: they may be a curve
        lowered = pytest.approx(known.low, rel=0.05) if piece.least == 1 else pytest.approx(known.low)
        assert piece.start.low == lowered
    assert log_models(pingpongs("a", 1.0)[:2]) == ()


def rising(size: int) -> float:
    """A memory that is slower from 32 KiB and from 512 KiB on: three slopes without a jump."""
    return 500 + 0.1 * size + 0.1 * max(0, size - (1 << 15)) + 0.1 * max(0, size - (1 << 19))


@pytest.mark.parametrize(("time", "gap", "most"), [(rising, 0.3, 0.7), (lambda s: 500 + 0.3 * s, 0.3, 0.04)])
def test_the_interval_of_a_gap_has_what_its_line_misses(
    time: Callable[[int], float], gap: float, most: float
) -> None:
    """The last G is held in 90 of 100 campaigns of ten launches; that of a true line is as narrow as ever."""
    rng, held, widths = np.random.default_rng(3), 0, []
    for _ in range(30):
        rows = [
            row("mpi.pingpong", "a", (time(s) * np.exp(rng.normal(0, 0.03, 10))).tolist(), bytes=s)
            for s in (0, 8, 512, 4096, 1 << 15, 1 << 18, 1 << 20, 1 << 22)
        ]
        (model,) = log_models(rows)
        last = model.pieces[-1].gap
        assert last.low is not None
        assert last.high is not None
        held += last.low <= gap <= last.high
        widths.append((last.high - last.low) / 2 / last.value)
    assert held >= 27
    assert np.median(widths) < most


@pytest.mark.parametrize(
    ("told", "ranks", "ns"),
    [
        (counts(), 2, 0.0),
        (counts(10, 10 * 512.0), 2, 10 * 400 + 10 * 512 * 0.4),
        (counts(10, 10 * 65536.0), 2, 10 * 4000 + 10 * 65536 * 0.1),  # the other protocol
        (counts(0, 0, 3, 3 * 8.0), 2, 3 * 400 + 3 * 8 * 0.4 / 2),
        (counts(0, 0, 3, 3 * 800.0), 8, 3 * 3 * 400 + 3 * 800 * 0.4 * 7 / 8),  # three rounds
        (counts(0, 0, 3, 3 * 8.0), 1, 0.0),  # nobody to talk to
    ],
)
def test_what_messages_and_collectives_would_take(told: RowPhases, ranks: int, ns: float) -> None:
    assert communication_ns(TRUE, told, ranks) == pytest.approx(ns)


def test_rounds() -> None:
    assert [rounds_of(ranks) for ranks in (1, 2, 3, 4, 5, 8, 9)] == [0, 1, 2, 2, 3, 3, 4]


def test_the_share_of_communication_is_that_of_the_phases_that_communicate() -> None:
    phases = (Phase("work", False, (100, 300), (1, 1)), Phase("halo", True, (40, 60), (1, 1)))
    disturbed = (Phase("work", False, (100, 300), (1, 1)), Phase("halo", True, (9000, 9000), (1, 1)))
    chunks = [
        Phases(point=0, first=i, count=2, phases=one) for i, one in enumerate((phases, phases, disturbed))
    ]
    assert communication_share(chunks) == pytest.approx(100 / 500)
    assert communication_share([]) is None


_START = 250.0  # ns that no bytes take


def _curve(exponent: float, sizes: Sequence[int], launches: int, scatter: float, seed: int) -> Interval:
    """The first start of times 250 + 10 s^p ns."""
    rng = np.random.default_rng(seed)
    rows = []
    for size in sizes:
        times = (_START + 10 * size**exponent) * np.exp(scatter * rng.standard_normal(launches))
        rows.append(row("mpi.pingpong", "a", times.tolist(), bytes=size))
    (model,) = log_models(rows)
    return model.pieces[0].start


@pytest.mark.parametrize("exponent", [0.5, further(0.7), 1.0])
@pytest.mark.parametrize("sizes", [[8 << k for k in range(14)], [1 << k for k in range(13)]])
@pytest.mark.parametrize(("launches", "scatter"), [(5, 0.005), further(20, 0.005), further(5, 0.03)])
def test_the_start_of_a_curve_is_in_its_interval(
    exponent: float, sizes: list[int], launches: int, scatter: float
) -> None:
    """Without the curve's share it is there in 0 to 30 % for an exponent of a half and little scatter."""
    found = [_curve(exponent, sizes, launches, scatter, seed) for seed in range(20)]
    assert np.mean([(span.low or 0) <= _START <= (span.high or 0) for span in found]) >= 0.8


@pytest.mark.parametrize(
    ("time", "least", "curved"),
    [
        (lambda s: 250 + 10 * s**0.5, 8, True),
        (lambda s: 250 + 40 * s**0.2, 8, True),  # it may start anywhere
        (lambda s: 250 + 0.3 * s, 8, False),
        (lambda s: 250 + 0.3 * s if s < 4096 else 2500 + 0.1 * s, 8, False),  # another protocol
        (lambda s: 250 + 10 * s**0.5, 0, False),  # its start was measured
    ],
)
def test_a_curve_says_what_would_tell_its_start(
    time: Callable[[int], float], least: int, curved: bool
) -> None:
    sizes = sorted({least, *(8 << k for k in range(14))})
    times = [[factor * time(size) for factor in (0.999, 1.0, 1.001)] for size in sizes]
    rows = [row("mpi.pingpong", "a", own, bytes=size) for size, own in zip(sizes, times, strict=True)]
    models = log_models(rows)
    start = models[0].pieces[0].start
    assert (start.low or 0) <= _START * 1.001
    assert ("--bytes 0 would tell" in log_table(models).lines[0].cells[-1]) is curved


@pytest.mark.parametrize("launches", [1, 2])
def test_lines_of_one_launch_are_no_claim(launches: int) -> None:
    rows = [replace(one, launches=one.launches[:launches]) for one in pingpongs("a", 1.0)]
    assert len(message_tables(log_models(rows))) == launches - 1


def test_two_sittings_know_little_of_the_next() -> None:
    """The last three of seven launches are of another day: little is known of a third."""
    second, day = 10**9, 86_400 * 10**9

    def start(apart: bool) -> Interval:
        rows = [
            replace(
                one,
                launches=tuple(
                    replace(each, began_unix_ns=day + each.launch * second + (each.launch > 4) * apart * day)
                    for each in one.launches
                ),
            )
            for one in pingpongs("a", 1.0)
        ]
        return log_models(rows)[0].pieces[0].start

    together, apart = start(False), start(True)
    assert together.value == apart.value
    assert (apart.high or 0) - apart.value > 2 * ((together.high or 0) - together.value)
