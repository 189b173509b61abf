"""`steelyard check`: stores of made nights whose truth is known, from folders to exit codes."""

from __future__ import annotations

import json
import xml.etree.ElementTree as ET
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import typer
from msgspec import structs
from numpy.typing import NDArray

from made_nights import DAY_NS, NIGHT_TIMES, made_night
from make_records import BEGAN_NS, FakePoint, steady, write_folder
from steelyard.base.errors import InputError
from steelyard.cli.check import CheckOptions, check
from steelyard.judges.compare.scale import FASTER, SAME, SLOWER, Question
from steelyard.judges.compare.verdicts import CaseVerdict, Promise
from steelyard.judges.history.levels import night_values
from steelyard.judges.history.pictures import nights_chart
from steelyard.judges.history.store import folders_in, pool, read_night
from steelyard.judges.history.tables import check_sentences, check_table
from steelyard.judges.history.verdicts import Checked, check_tonight, with_confirmed
from steelyard.judges.verdict import CANNOT_TELL
from steelyard.plan.arms import with_arms
from steelyard.plan.remeasure import plan_again
from steelyard.records.campaign_file import CampaignFile, Placement, PlannedOp, PlannedPoint
from steelyard.render.chart import Bars, Boxes, Curve, Dots
from steelyard.render.terminal import Paper, table_text
from steelyard.stats.change_points import Change


def _checked(store: Path, **how: object) -> Checked:
    nights = sorted((read_night(folder) for folder in folders_in([store])), key=lambda one: one.began)
    return check_tonight(pool(nights[-1], nights[:-1], **how), Question())[0]  # type: ignore[arg-type]


@pytest.fixture(scope="module")
def stepped(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """30 nights, two test cases 5 % slower from night 20 on, when the MPI was another version."""
    store = tmp_path_factory.mktemp("stepped") / "store"
    slow = {("mpi.allreduce", 8): 1.05, ("mpi.allreduce", 1024): 1.05}
    for number in range(30):
        late = number >= 20
        made_night(store, number, slow if late else None, mpi="mpich-4.1.0" if late else "mpich-4.0.2")
    return store


@pytest.fixture(scope="module")
def equal(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Sixteen nights in which nothing changed."""
    store = tmp_path_factory.mktemp("equal") / "store"
    for number in range(16):
        made_night(store, number)
    return store


def test_a_change_is_dated_named_and_fails(
    stepped: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    found = _checked(stepped)
    said = {(one.op, one.bytes): one for one in found.points}
    assert said["mpi.allreduce", 8].verdict == SLOWER
    assert said["mpi.allreduce", 8].since == "night-20"
    assert said["mpi.bcast", 8].verdict in (SAME, CANNOT_TELL)
    changes = {(one.op, one.bytes): one for one in found.changes}
    for size in (8, 1024):
        one = changes["mpi.allreduce", size]
        assert (one.last, one.first) == ("night-19", "night-20")
        assert one.low <= 1.05 <= one.high
        assert ("MPI", "mpich-4.0.2", "mpich-4.1.0") in [(s.name, s.before, s.after) for s in one.settings]
    with pytest.raises(typer.Exit) as exit_:
        check(CheckOptions(history=[stepped], markdown=tmp_path / "page.md"))
    assert exit_.value.exit_code == 1
    title, _, answer, *lines = (tmp_path / "page.md").read_text().splitlines()
    assert title == "## steelyard check night-29"
    assert answer.startswith("mpi.allreduce became slower between night-19")
    assert [line[: len("| **mpi.allreduce")] for line in lines].count("| **mpi.allreduce") >= 2
    text = capsys.readouterr().out
    assert "mpi.allreduce became slower between night-19" in text
    assert "mpich-4.0.2 to mpich-4.1.0" in text
    assert "add --baseline and the path of the build that was replaced" in " ".join(
        text.replace("# ", "").split()
    )


def test_a_change_that_is_accepted_fails_no_more(stepped: Path, capsys: pytest.CaptureFixture[str]) -> None:
    check(CheckOptions(history=[stepped], since="night-20"))
    assert "became slower" not in capsys.readouterr().out
    with pytest.raises(InputError, match="neither the name of a night nor a date"):
        check(CheckOptions(history=[stepped], since="yesterday"))


def test_equal_nights_alarm_nobody(equal: Path) -> None:
    found = _checked(equal)
    assert not found.changes
    assert {one.verdict for one in found.points} <= {SAME, CANNOT_TELL}
    check(CheckOptions(history=[equal]))  # exits with 0
    first, *others = folders_in([equal])
    check(CheckOptions(history=[first], more=others))  # as a shell makes them of a pattern


def test_a_slow_night_is_found_tonight(
    equal: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    tonight = made_night(tmp_path, 40, {("mpi.bcast", 8): 1.3})
    with pytest.raises(typer.Exit) as exit_:
        check(CheckOptions(history=[equal], tonight=tonight, junit=tmp_path / "j.xml", json=True))
    assert exit_.value.exit_code == 1
    document = json.loads(capsys.readouterr().out)
    keys = {"op", "bytes", "ranks", "ratio", "low", "high", "p", "verdict", "launches_needed"}
    assert {"verdict", "promise", "points", "changes", "left_out"} <= document.keys()
    assert keys <= document["points"][0].keys()
    assert document["verdict"] == SLOWER
    (slow,) = [one for one in document["points"] if one["verdict"] == SLOWER]
    assert slow["op"] == "mpi.bcast"
    assert slow["low"] <= 1.3 <= slow["high"]
    assert document["confirm"] is None  # nothing that is recorded changed
    assert ET.fromstring((tmp_path / "j.xml").read_bytes()).get("failures") == "1"


def test_a_faster_night_does_not_fail(equal: Path, tmp_path: Path) -> None:
    tonight = made_night(tmp_path, 40, dict.fromkeys(NIGHT_TIMES, 0.7))
    check(CheckOptions(history=[equal], tonight=tonight))
    nights = [read_night(folder) for folder in folders_in([equal])]
    found = check_tonight(pool(read_night(tonight), nights), Question())[0]
    assert {one.verdict for one in found.points} == {FASTER}


def test_what_must_not_be_pooled_is_left_out_and_said(tmp_path: Path) -> None:
    for number in range(6):
        made_night(tmp_path, number)
    made_night(tmp_path, 6, clock="tsc")
    made_night(tmp_path, 7, machine={"host": "other", "cpu_model": "AMD EPYC 7B13"})
    made_night(tmp_path, 8, plan={"arms": {"mpi": ["a", "b"]}})
    (tmp_path / "night-05" / "campaign.json").write_text("{")
    made_night(tmp_path, 9)
    (tmp_path / "notes").mkdir()
    read = [read_night(path) for path in folders_in([tmp_path]) if path.name != "night-05"]
    pooled = pool(read[-1], read[:-1])
    whys = {Path(folder).name: why for folder, why in pooled.left_out}
    assert whys == {
        "night-06": "its clock is tsc, tonight's monotonic",
        "night-07": "its host is other, tonight's vm; --any-host pools it",
        "night-08": "its arms is mpi, tonight's none",
    }
    assert len(pool(read[-1], read[:-1], any_host=True).nights) == len(pooled.nights) + 1
    found = check_tonight(pooled, Question())[0]
    text = table_text(check_table(found, 0.05), Paper(80, is_pipe=False))
    assert "Left out" in text
    assert max(map(len, text.splitlines())) <= 80


def test_nights_of_other_test_cases_are_left_out(tmp_path: Path) -> None:
    for number in range(4):
        made_night(tmp_path / "a", number)
    tonight = write_folder(
        tmp_path / "tonight", [FakePoint("mpi.scan", steady(100.0, count=60))], began_ns=BEGAN_NS + 9 * DAY_NS
    )
    with pytest.raises(InputError, match=r"no earlier nights.*no test case of tonight's"):
        check(CheckOptions(history=[tmp_path / "a"], tonight=tonight))


@pytest.mark.parametrize(
    ("nights", "sentence"), [(1, "no earlier nights"), (2, "1 earlier night,"), (3, "2 earlier nights,")]
)
def test_too_few_nights(tmp_path: Path, nights: int, sentence: str) -> None:
    for number in range(nights):
        made_night(tmp_path / "store", number)
    with pytest.raises(InputError, match=sentence):
        check(CheckOptions(history=[tmp_path / "store"]))


def test_the_page_draws_each_change(stepped: Path, tmp_path: Path) -> None:
    with pytest.raises(typer.Exit):
        check(CheckOptions(history=[stepped], report=tmp_path / "check.html"))
    page = (tmp_path / "check.html").read_text()
    assert page.count("<svg ") >= 4
    assert "mpi.allreduce 8 B" in page
    assert "<script" not in page


def test_a_picture_of_nights_shows_when_the_level_changed_and_how_sure_that_is() -> None:
    """Ten nights, then ten that are 20 % slower, from night 10 on; it may have been night 9 to 11."""
    values = np.log(np.repeat([1000.0, 1200.0], 10))
    sure = Change(0, at=10, earliest=10, latest=10, estimate=0.18, low=0.17, high=0.19, p=0.001)
    names = [f"night-{number}" for number in range(20)]
    (line,) = nights_chart("an op", values, [sure], names).marks_of(Bars)
    assert list(line.x0) == [9.5]
    chart = nights_chart("an op", values, [replace(sure, earliest=9, latest=11)], names)
    (band,), (dots,) = chart.marks_of(Boxes), chart.marks_of(Dots)
    assert (list(band.x0), list(band.x1)) == ([8.5], [10.5])
    assert [curve.y[0] for curve in chart.marks_of(Curve)] == pytest.approx([1.0, 1.2])
    assert list(dots.y) == pytest.approx([1.0] * 10 + [1.2] * 10)
    assert not nights_chart("an op", values, [sure], names).marks_of(Boxes)


def test_what_all_have_in_common_is_taken_off(tmp_path: Path) -> None:
    """Tonight the machine is 20 % slower, and mpi.bcast another 20 %: only that is slower."""
    for number in range(9):
        late = number == 8
        rng = np.random.default_rng(number)
        machine = 1.2 if late else np.exp(rng.normal(0, 0.05))
        points = [
            FakePoint(
                op,
                steady(1000.0 * machine * (1.2 if late and op == "mpi.bcast" else 1.0), 0.02, 60, 0.005),
                ranks=2 if op.startswith("mpi.") else 1,
                mpi="mpich-4.0.2" if op.startswith("mpi.") else None,
            )
            for op in ("self.copy", "self.pause", "self.spin", "mpi.bcast", "mpi.barrier")
        ]
        write_folder(tmp_path / f"n{number}", points, 5, number, began_ns=BEGAN_NS + number * DAY_NS)
    found = _checked(tmp_path)
    said = {one.op: one.verdict for one in found.points}
    assert said["mpi.bcast"] == SLOWER
    assert said["mpi.barrier"] != SLOWER
    assert found.common == pytest.approx(1.2, rel=0.1)


def test_modes_are_taken_off_and_changes_are_not() -> None:
    """Launches are in one of two modes in most nights: a mode. From a night on all are slower: a change."""
    rng = np.random.default_rng(3)
    modes = rng.normal(0, 0.01, (20, 5)) + np.log(2) * (rng.random((20, 5)) < 0.3)
    values, count, odd = night_values(modes)
    assert count == 2
    assert not odd
    assert values.std() < 0.03
    changed = rng.normal(0, 0.01, (20, 5))
    changed[12:] += np.log(2)
    values, count, _ = night_values(changed)
    assert count == 1
    assert values[12:].mean() - values[:12].mean() == pytest.approx(np.log(2), abs=0.02)
    rare = rng.normal(0, 0.01, (20, 5))
    rare[[3, 9], 0] += np.log(2)
    rare[-1] += np.log(2)
    values, count, odd = night_values(rare)
    assert count == 2
    assert "all launches are in a mode" in odd
    rare[-1, 0] -= np.log(2)
    _, _, odd = night_values(rare)
    assert odd.startswith("4 of 5 launches are in a mode that ")


def test_a_night_in_another_mode_is_never_the_same(tmp_path: Path) -> None:
    """Three of five launches are in the slow mode tonight, two were: chance, but not the same."""
    for number in range(14):
        slow = 3 if number == 13 else 2

        def times(rng: np.random.Generator, launch: int, slow: int = slow) -> NDArray[np.float64]:
            return steady(1500.0 if launch <= slow else 1000.0, count=40, between=0.002)(rng, launch)

        points = [FakePoint("mpi.bcast", times)]
        write_folder(tmp_path / f"n{number:02}", points, 5, number, began_ns=BEGAN_NS + number * DAY_NS)
    (found,) = _checked(tmp_path).points
    assert found.verdict == CANNOT_TELL
    assert found.suspected
    assert found.why == "more launches than before are in another mode"


def test_sentences_say_when_and_what(stepped: Path) -> None:
    (sentence,) = check_sentences(_checked(stepped))
    assert "between night-19 (" in sentence
    assert "at 8 B" not in sentence  # all of its sizes


def _arms_verdict(verdict: str) -> CaseVerdict:
    return CaseVerdict(
        op="mpi.bcast",
        bytes=8,
        ranks=2,
        point_a=0,
        point_b=1,
        a="old",
        b="new",
        ratio=1.2,
        low=1.1,
        high=1.3,
        p=0.001,
        verdict=verdict,
        launches_needed=None,
        why="",
    )


@pytest.mark.parametrize(
    ("arms", "verdict", "confirmed"),
    [(SLOWER, SLOWER, True), (SAME, SAME, False), (CANNOT_TELL, CANNOT_TELL, False), (FASTER, FASTER, False)],
)
def test_only_the_arms_confirm(equal: Path, tmp_path: Path, arms: str, verdict: str, confirmed: bool) -> None:
    tonight = read_night(made_night(tmp_path, 40, {("mpi.bcast", 8): 1.3}))
    nights = [read_night(folder) for folder in folders_in([equal])]
    found = check_tonight(pool(tonight, nights), Question())[0]
    (slow,) = [one for one in found.points if one.verdict == SLOWER]
    assert slow.suspected
    promise = Promise(0.01, 1, "the arms' own")
    assert slow.point_b is not None
    after = with_confirmed(found, promise, {slow.point_b: _arms_verdict(arms)})
    (said,) = [one for one in after.points if one.op == "mpi.bcast"]
    assert (said.verdict, said.confirmed, after.promise) == (verdict, confirmed, promise)
    assert after.verdict == (SLOWER if verdict == SLOWER else after.verdict)
    unmeasured = with_confirmed(found, promise, {})
    assert SLOWER not in {one.verdict for one in unmeasured.points}


def test_suspected_test_cases_are_planned_again() -> None:
    """Each as it was, and the arms beside it: what the plan named for them is left out."""
    point = PlannedPoint(
        point=3,
        op="mpi.bcast",
        bytes=8,
        ranks=2,
        method="batch",
        rule="fixed",
        params={"root": 1},
        rule_params={"count": 20},
        mpi="openmpi-4.1.4",
        env={"A": "1", "B": "2"},
        placement=Placement("shared-l3", (0, 1)),
    )
    campaign = CampaignFile(
        plan={"measure": [{"ops": ["mpi.bcast"]}], "mpi": ["openmpi"], "yield": "none"},
        points=(point,),
        ops={"mpi.bcast": PlannedOp("", sized=True)},
    )
    plan = plan_again(campaign, [point], {"env.A": ("0", "1")}, 12)
    (measure,) = with_arms(plan).measure
    assert (measure.ops, measure.bytes, measure.ranks) == (("mpi.bcast",), (8,), (2,))
    assert (measure.placement, measure.params) == ("0,1", {"root": 1, "count": 20})
    assert measure.env == {"A": ("0", "1"), "B": "2"}
    assert (plan.launches, plan.mpi, plan.yield_) == (12, ("openmpi-4.1.4",), "none")
    builds = with_arms(plan_again(campaign, [point], {"mpi": ("/old", "/new")}, 12))
    assert builds.mpi == ("/old", "/new")
    engines = with_arms(plan_again(campaign, [point], {"engine": ("/e", "-")}, 12))
    assert engines.measure[0].engine == "mpi"
    with pytest.raises(InputError, match="holds no plan"):
        plan_again(CampaignFile(name="old", plan={}), [point], {"mpi": ("a", "b")}, 12)


def test_what_may_be_off_is_told_as_chance(equal: Path) -> None:
    found = _checked(equal)
    first, *others = (structs.replace(one, suspected=False) for one in found.points)
    assert check_sentences(structs.replace(found, points=(first, *others))) == ()
    odd = structs.replace(first, suspected=True, verdict=CANNOT_TELL)
    (sentence,) = check_sentences(structs.replace(found, points=(odd, *others)))
    assert sentence == "1 test case of 3 may be off tonight. By chance 5 % are on any night."
