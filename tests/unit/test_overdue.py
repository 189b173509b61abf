"""A test case that lasts longer than was foreseen is told while it lasts, and not too often."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest

from steelyard.campaign import overdue
from steelyard.campaign.events import CaseLasts
from steelyard.campaign.overdue import Overdue
from steelyard.records.campaign_file import PlannedPoint

_POINTS = tuple(PlannedPoint(point=i, op="mpi.allreduce") for i in range(2))


@pytest.mark.parametrize(
    ("foreseen", "ends", "told"),
    [
        (1.0, 14.0, []),  # nobody waits impatiently
        (1.0, 70.0, [15.0, 30.0, 60.0]),
        (20.0, 100.0, [40.0, 80.0]),
        (60.0, 100.0, []),
    ],
)
def test_it_is_told_when_it_is_overdue_and_whenever_that_has_doubled(
    foreseen: float, ends: float, told: list[float], monkeypatch: pytest.MonkeyPatch
) -> None:
    now, events = [100.0], list[CaseLasts]()
    monkeypatch.setattr("steelyard.campaign.overdue.time.monotonic", lambda: now[0])
    monkeypatch.setattr(overdue, "case_seconds", lambda *_: foreseen)
    job: Any = SimpleNamespace(listener=events.append, planned=SimpleNamespace(group=None), setup=None)
    job.most_seconds = lambda _: None
    look = Overdue(job).look
    for point in _POINTS:  # each from its own beginning
        began = now[0]
        while now[0] < began + ends:
            look((point,))
            now[0] += 1.0
    look(())
    assert [event.seconds for event in events] == told * 2
    assert {event.foreseen for event in events} <= {foreseen}
