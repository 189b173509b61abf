"""What an acceptance says of ranks that wait and of victims of congestion, and a site's limits of both."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import msgspec
import pytest

from macro_rows import row
from steelyard.base.errors import InputError
from steelyard.judges.accept import Topic, Weighed
from steelyard.judges.accept.congestion import congestion
from steelyard.judges.accept.criterion import Candidate, Criterion, judge
from steelyard.judges.accept.limits import limit_criteria, read_limits
from steelyard.judges.accept.waiting import waiting
from steelyard.records.campaign_file import CampaignFile
from steelyard.results.facets import OfferedLoad, ResourceUse
from steelyard.results.load import Measured
from steelyard.results.row import Row

_MPI = "openmpi-4.1.4"
_EVEN = (0.99, 1.01, 1.0, 1.02, 0.98, 1.0)


def _weighed(rows: Sequence[Row], name: str = "new") -> Weighed:
    return Weighed(Measured(Path(name), CampaignFile(), (), ()), tuple(rows), name)


def _said(of: Criterion, rows: Sequence[Row], reference: Sequence[Row] | None = None) -> Topic | None:
    base = None if reference is None else _weighed(reference, "old")
    return next(iter(judge((of,), Candidate(_weighed(rows), base))), None)


def _waits(
    late: float, burnt: float, switches: float, scatter: Sequence[float] = _EVEN, came: float = 100.0
) -> Row:
    """A receiver that waits 10 ms for each message, which comes `late` ns after it was due."""
    times = [late * factor for factor in scatter]
    plain = row(
        "mpi.pingpong", _MPI, times, bytes=8, sized=True, method="open-loop", method_params={"rate": 100.0}
    )
    used = ResourceUse(rank_cpu_shares=(0.1, burnt), rank_switches=(0.0, switches), yields=0.0)
    facets = (*plain.facets, OfferedLoad(offered_rate=100.0, came_rate=came), used)
    return msgspec.structs.replace(plain, facets=facets)


_SPINS, _BLOCKS = _waits(2e3, 1.0, 0.0), _waits(40e3, 0.01, 1.0)


@pytest.mark.parametrize(
    ("rows", "reference", "verdict", "evidence"),
    [
        (
            [_SPINS],
            None,
            "well",
            "2.00 us (1.96 us to 2.04 us) after it was due; the most that one burns: 100 %",
        ),
        ([_waits(3e6, 1.0, 0.0)], None, "not well", "comes 3.00 ms"),
        ([_waits(30e6, 1.0, 0.0)], None, "not well", "comes 30.0 ms"),  # late, and each as late as the others
        (
            [_waits(30e6, 1.0, 0.0, came=80.0)],
            None,
            "not well",
            "Overload: of 100 messages/s of mpi.pingpong",
        ),
        (
            [_waits(1e6, 1.0, 0.0, (0.5, 1.5, 0.8, 1.2, 0.9, 1.1))],
            None,
            "cannot tell",
            "whether that is more",
        ),
        ([_waits(3e6, 1.0, 0.0, _EVEN[:4])], None, "cannot tell", "fewer than 5 show no fault"),
        ([_SPINS], [_SPINS], "well", "The latest"),
        ([_BLOCKS], [_BLOCKS], "well", "The latest"),
        ([_SPINS], [_BLOCKS], "not well", "its receiver spins and burns 100 % of a CPU, in old it blocks"),
        ([_BLOCKS], [_SPINS], "not well", "its receiver blocks and burns 1 % of a CPU, in old it spins"),
        ([_SPINS], [msgspec.structs.replace(_BLOCKS, mpi="other")], "well", "The latest"),
    ],
)
def test_late_messages_and_another_way_to_wait_are_named(
    rows: Sequence[Row], reference: Sequence[Row] | None, verdict: str, evidence: str
) -> None:
    found = _said(waiting, rows, reference)
    assert found is not None
    assert (found.verdict, evidence in found.evidence) == (verdict, True), found.evidence
    assert bool(found.remedy) == (verdict != "well")


def test_what_was_not_offered_at_a_rate_is_no_topic() -> None:
    plain = row("mpi.pingpong", _MPI, [1e3] * 6, bytes=8, sized=True)
    assert _said(waiting, [plain]) is None
    assert _said(waiting, [msgspec.structs.replace(_SPINS, mpi=None)]) is None  # raw TCP is no MPI
    assert _said(congestion, [plain]) is None


def _victim(factor: float, scatter: Sequence[float] = _EVEN) -> list[Row]:
    """A victim beside idle ranks, and beside a congestor that makes it take `factor` times as long."""
    times = {"none": [1e3] * len(scatter), "fan_in": [1e3 * factor * one for one in scatter]}
    return [
        row("mpi.pattern.victim", _MPI, each, bytes=8, sized=True, ranks=4, params={"traffic": traffic})
        for traffic, each in times.items()
    ]


@pytest.mark.parametrize(
    ("rows", "reference", "verdict", "evidence"),
    [
        (
            _victim(2.0),
            None,
            "well",
            "The most: mpi.pattern.victim on 4 ranks beside traffic=fan_in takes 2.000",
        ),
        (_victim(30.0), None, "not well", "30 (29.4 to 30.6) times as long; 10 times is allowed"),
        (_victim(10.0), None, "cannot tell", "leave open whether that is more than 10 times"),
        (_victim(2.0), _victim(2.0), "well", "The most"),
        (_victim(5.0), _victim(2.0), "not well", "times as long, in old 2"),
        (_victim(2.5), _victim(2.0), "well", "The most"),
        (_victim(5.0, _EVEN[:4]), _victim(2.0), "cannot tell", "fewer than 5 show no fault"),
        (_victim(2.0, _EVEN[:1]), None, "cannot tell", "takes 1.980 times as long, in one launch: "),
        (_victim(2.0)[1:], None, None, ""),
    ],
)
def test_a_congestor_that_slows_a_victim_is_named(
    rows: Sequence[Row], reference: Sequence[Row] | None, verdict: str | None, evidence: str
) -> None:
    found = _said(congestion, rows, reference)
    assert (found.verdict if found else None) == verdict
    assert found is None or evidence in found.evidence, found


_LATE = 'op = "mpi.pingpong"\nmethod = "open-loop"\nparams = {{ rate = {rate} }}\nbelow = "{below}"'
_IMPACT = 'op = "mpi.pattern.victim"\nparams = {{ traffic = "{traffic}" }}\nbelow = "{below}"'


@pytest.mark.parametrize(
    ("limit", "rows", "verdict", "said"),
    [
        (_LATE.format(rate=100, below="100us"), [_BLOCKS], "well", "Met: 40.0 us"),
        (_LATE.format(rate=100, below="20us"), [_BLOCKS], "not well", "Missed: 40.0 us"),
        (_LATE.format(rate=100, below="40us"), [_BLOCKS], "cannot tell", "Neither met nor missed: 40.0 us"),
        (_LATE.format(rate=10, below="1s"), [_BLOCKS], "cannot tell", "No test case of this was measured"),
        (_IMPACT.format(traffic="fan_in", below="3x"), _victim(2.0), "well", "Met: 2x (1.96x to 2.04x)"),
        (_IMPACT.format(traffic="fan_in", below="1.5x"), _victim(2.0), "not well", "Missed: 2x"),
        (_IMPACT.format(traffic="fan_in", below="2x"), _victim(2.0), "cannot tell", "Neither met nor missed"),
        (_IMPACT.format(traffic="fan_in", below="2x"), _victim(2.0)[1:], "cannot tell", "without traffic"),
        (_IMPACT.format(traffic="all", below="2x"), _victim(2.0), "cannot tell", "No test case of this"),
    ],
)
def test_a_sites_limits_of_waiting_and_of_congestion(
    limit: str, rows: Sequence[Row], verdict: str, said: str, tmp_path: Path
) -> None:
    path = tmp_path / "site.toml"
    path.write_text(f'[[limit]]\nwhat = "mine"\n{limit}\n')
    (found,) = judge(limit_criteria(read_limits(path)), Candidate(_weighed(rows)))
    assert (found.verdict, said in found.evidence) == (verdict, True), found.evidence


def test_a_factor_is_asked_of_victims_alone(tmp_path: Path) -> None:
    path = tmp_path / "site.toml"
    path.write_text('[[limit]]\nwhat = "mine"\nop = "mpi.bcast"\nbelow = "3x"\n')
    with pytest.raises(InputError, match=r"a factor is a limit of mpi\.pattern\.victim"):
        read_limits(path)


@pytest.mark.parametrize(("limits", "verdict"), [(1, "not well"), (50, "cannot tell")])
def test_limits_of_factors_share_their_level(limits: int, verdict: str, tmp_path: Path) -> None:
    path, asked = tmp_path / "site.toml", _IMPACT.format(traffic="fan_in", below="1.93x")
    path.write_text("".join(f'[[limit]]\nwhat = "limit {k}"\n{asked}\n' for k in range(limits)))
    found = judge(limit_criteria(read_limits(path)), Candidate(_weighed(_victim(2.0))))
    assert {topic.verdict for topic in found} == {verdict}


def test_launches_that_may_have_missed_a_mode_meet_no_limit_below_it(tmp_path: Path) -> None:
    path = tmp_path / "site.toml"
    path.write_text('[[limit]]\nwhat = "mine"\nop = "mpi.pingpong"\nbelow = "1ms"\n')
    hidden = msgspec.structs.replace(_BLOCKS, apart=1e4)
    for rows, verdict in ([_BLOCKS], "well"), ([hidden], "cannot tell"):
        (found,) = judge(limit_criteria(read_limits(path)), Candidate(_weighed(rows)))
        assert found.verdict == verdict, found
