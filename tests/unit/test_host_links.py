"""From how many ranks a host a link is full: rates that stop growing at a known number, and that do not."""

from __future__ import annotations

import pytest
from msgspec.structs import replace

from macro_rows import row
from steelyard.analyses.ranks_a_host.answers import host_link_answers
from steelyard.analyses.ranks_a_host.model import HostLink, RanksAHost, full_from, host_links
from steelyard.analyses.ranks_a_host.tables import ranks_a_host_tables
from steelyard.records.campaign_file import OTHER_HOST, Placement
from steelyard.records.fields import Params
from steelyard.render.terminal import Paper, table_text
from steelyard.results.facets import Interfaces, RowInterface
from steelyard.results.row import Row
from steelyard.stats import Interval

SIZE, WINDOW = 65536, 64
LAUNCHES = (0.99, 1.0, 1.01)
LINE = RowInterface(
    host="h1", name="eth0", kind="net", state="up", mbits=1000, received=0.0, sent=1e9, seconds=10.0
)


def pairs(per_host: int, rate: float, hosts: str = "h1:0|h2:0", kind: str = "window", **more: object) -> Row:
    """So many ranks on each host, in blocks, that move `rate` bytes/s together."""
    first, second = hosts.split("|")
    times = [per_host * SIZE * WINDOW / (rate * factor) * 1e9 for factor in LAUNCHES]
    params = {"kind": kind, "window": float(WINDOW)}
    made = row(
        "mpi.pattern.bisection",
        "a",
        times,
        ranks=2 * per_host,
        hosts=2,
        bytes=SIZE,
        sized=True,
        bandwidth=rate,
        params=params,
        placement="|".join([first] * per_host + [second] * per_host),
        placed=Placement(OTHER_HOST, (0, 0)) if per_host == 1 else None,  # as rows of two ranks have it
        **more,
    )
    linked: Row = replace(made, facets=(*made.facets, Interfaces(interfaces=(LINE,))))
    return linked


def only(rows: list[Row]) -> HostLink:
    (link,) = host_links(rows)
    return link


def test_a_link_is_full_from_the_number_at_which_its_rate_stops_growing() -> None:
    link = only([pairs(k, min(k, 4) * 25e6) for k in (8, 1, 2, 4)])
    assert [number.per_host for number in link.numbers] == [1, 2, 4, 8]
    assert [round(number.of_line or 0, 3) for number in link.numbers] == [0.2, 0.4, 0.8, 0.8]
    assert link.full == Interval(4.0, 4.0, 4.0)
    (table,) = ranks_a_host_tables([link])
    text = table_text(table, Paper(80, is_pipe=False))
    assert [line.cells[-1] for line in table.lines] == ["", "", "full from here", ""]
    assert max(map(len, text.splitlines())) <= 80


def test_settings_have_links_of_their_own() -> None:
    links = host_links([pairs(k, k * 25e6, env={"UCX_TLS": tls}) for tls in ("tcp", "rc") for k in (1, 2)])
    assert [link.env["UCX_TLS"] for link in links] == ["tcp", "rc"]
    (table,) = ranks_a_host_tables(links)
    assert table.columns[0].name == "UCX_TLS"
    assert [line.cells[0] for line in table.lines] == ["tcp", "tcp", "rc", "rc"]


def test_nobody_can_tell_while_the_rate_still_grows() -> None:
    link = only([pairs(k, k * 25e6) for k in (1, 2, 4)])
    assert link.full is None
    (table,) = ranks_a_host_tables([link])
    assert "Nothing tells" in table.notes[0]


def test_bytes_of_both_ways_are_half_on_the_line_each_way() -> None:
    link = only([pairs(k, 100e6, kind="biwindow") for k in (1, 2)])
    assert [number.of_line for number in link.numbers] == pytest.approx([0.4, 0.4])


@pytest.mark.parametrize(
    ("spans", "expected"),
    [
        ([(0.5, 0.4, 0.6), (0.96, 0.9, 1.1), (0.99, 0.98, 1.0), (1, 1, 1)], (2, 2, 3)),
        ([(0.93, 0.8, 1.1), (0.94, 0.8, 1.2), (0.99, 0.98, 1.0), (1, 1, 1)], (3, 1, 3)),
        ([(0.5, 0.4, 0.6), (0.96, 0.9, 1.1), (1, 1, 1)], None),
        ([(0.99, None, None), (1, None, None)], None),  # of one launch
    ],
)
def test_the_interval_of_the_number_has_all_that_may_be_full(
    spans: list[tuple[float, float | None, float | None]], expected: tuple[int, int, int] | None
) -> None:
    numbers = [(i + 1, Interval(*span)) for i, span in enumerate(spans)]
    assert full_from(numbers) == (Interval(*map(float, expected)) if expected else None)


def test_pairs_within_a_host_and_a_single_number_make_no_link() -> None:
    assert host_links([pairs(1, 1e6)]) == ()
    within = [pairs(k, 1e6, hosts="h1:0|h1:1") for k in (1, 2)]
    mixed = [replace(pairs(2, 1e6), placement="h1:0|h2:0|h1:1|h2:1"), pairs(1, 1e6)]
    assert host_links([*within, *mixed]) == ()
    assert ranks_a_host_tables(()) == ()


def test_the_headline_says_from_how_many_ranks_the_link_is_full() -> None:
    def link(size: int, full: Interval | None, half: float) -> HostLink:
        numbers = tuple(
            RanksAHost(
                per_host=count,
                time=Interval(1e6),
                rate=Interval(rate, rate * (1 - half), rate * (1 + half)),
                relative=Interval(1.0),
                of_line=None,
            )
            for count, rate in ((1, 3e8), (2, 5e8))
        )
        params: Params = {"kind": "window"}
        return HostLink(
            op="mpi.pattern.bisection",
            mpi="mpich-4.0.2",
            bytes=size,
            method="batch",
            env={},
            params=params,
            numbers=numbers,
            full=full,
        )

    links = [link(65536, Interval(2.0, 1.0, 4.0), 0.1), link(8, None, 0.6), link(64, None, 0.6)]
    assert list(host_link_answers(links)) == [
        (
            "Between two hosts, pairs of MPICH 4.0.2, kind=window: full at 64 KiB from 2 (1 to 4) ranks a "
            "host, up to 500 MB/s with 2; cannot tell at 8 B and 64 B from how many ranks a host the "
            "link is full."
        )
    ]
