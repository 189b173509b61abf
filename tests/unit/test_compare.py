"""`steelyard compare`: verdicts of rows that are known, as a table, sentences, JSON and JUnit."""

from __future__ import annotations

import json
import shutil
import xml.etree.ElementTree as ET
from pathlib import Path

import numpy as np
import pytest
from msgspec import structs

from flat_rows import flat_row, row_launch
from make_records import FakePoint, steady, write_folder
from record_lines import unsealed
from steelyard.base.errors import InputError
from steelyard.cli.compare import CompareOptions
from steelyard.cli.compare import compare as compare_command
from steelyard.judges.compare.arms import against, rivals_by, rivals_of
from steelyard.judges.compare.scale import COMPARED, FASTER, LITTLE, SAME, SLOWER, Question
from steelyard.judges.compare.tables import judged_cases, verdict_sentences, verdict_table
from steelyard.judges.compare.verdicts import compare
from steelyard.judges.verdict import CANNOT_TELL, verdict_document, verdicts_junit
from steelyard.render.terminal import Paper, table_text
from steelyard.results.row import Row
from steelyard.rows.words import rounded

_ASKED = Question()


def _row(mpi: str, size: int, medians: list[float], **more: object) -> Row:
    launches = tuple(row_launch(i + 1, median) for i, median in enumerate(medians))
    usual: dict[str, object] = {
        "point": size,
        "op": "mpi.pingpong",
        "method": "batch",
        "bytes": size,
        "ranks": 2,
        "threads": 1,
        "params": {},
        "placement": None,
        "mpi": mpi,
        "launch_count": len(medians),
        "count": 1000,
        "rejected": 0,
        "median": float(np.median(medians)) if medians else None,
        "launches": launches,
    }
    return flat_row(**(usual | more))


def _folder(effects: dict[int, float], launches: int = 10, seed: int = 1) -> list[Row]:
    """Rows of two MPIs, the second slower by a factor for each size; launches scatter by 1 %."""
    rng = np.random.default_rng(seed)
    rows = []
    for size, factor in effects.items():
        for mpi, times in (("a-1", 1.0), ("b-2", factor)):
            rows.append(_row(mpi, size, list(100 * times * np.exp(rng.normal(0, 0.01, launches)))))
    return rows


def test_each_verdict() -> None:
    effects = {1: 1.0, 2: 1.2, 4: 0.8, **dict.fromkeys(range(8, 20), 1.0)}
    found = compare(rivals_by(_folder(effects), "mpi"), True, _ASKED)
    said = {one.bytes: one.verdict for one in found.points}
    assert (said[1], said[2], said[4]) == (SAME, SLOWER, FASTER)
    assert found.verdict == SLOWER
    assert found.promise.false_alarm == 0.01
    assert found.promise.family == len(effects) + 1
    ratio = {one.bytes: one.ratio for one in found.points}
    assert ratio[2] == pytest.approx(1.2, rel=0.02)


def test_a_little_is_not_the_same() -> None:
    """A change of 1 % that is sure, among test cases that are the same, is told at the top, too."""
    effects = {size: 1.012 if size == 1 else 1.0 for size in range(1, 40)}
    found = compare(rivals_by(_folder(effects, launches=40), "mpi"), True, _ASKED)
    said = {one.bytes: one.verdict for one in found.points}
    assert {said[1], *said.values()} == {LITTLE, SAME}
    assert found.verdict == LITTLE


@pytest.mark.parametrize(("count", "shown"), [(8, 8), (67, 67), (173, 180), (1063, 1100), (9999, 10000)])
def test_so_many_launches_are_said_with_two_figures(count: int, shown: int) -> None:
    assert rounded(count) == shown


def test_folders_were_not_measured_by_turns_and_say_so() -> None:
    before, after = (_folder(dict.fromkeys(range(8), 1.0), seed=seed)[::2] for seed in (1, 2))
    found = compare(rivals_of({"before": before, "after": after}), False, _ASKED)
    assert {one.verdict for one in found.points} == {CANNOT_TELL}
    assert found.promise.false_alarm is None
    assert {one.launches_needed for one in found.points} == {None}
    text = " ".join(table_text(verdict_table(found, 0.05), Paper(80)).replace("# ", "").split())
    assert "different times" in text
    assert "More launches would not decide" in text
    slow = [_row("a-1", row.bytes, [2 * (one.median or 0) for one in row.launches]) for row in after]
    found = compare(rivals_of({"before": before, "after": slow}), False, _ASKED)
    assert {one.verdict for one in found.points} == {SLOWER}


def test_three_arms_are_each_held_against_the_first() -> None:
    rows = _folder({8: 1.0, 16: 1.3}) + [_row("c-3", size, [50.0 + i for i in range(10)]) for size in (8, 16)]
    found = compare(rivals_by(rows, "mpi"), True, _ASKED)
    assert [one.b for one in found.points] == ["b-2", "b-2", "c-3", "c-3"]
    assert {one.a for one in found.points} == {"a-1"}


def _many_arms(seed: int, effects: dict[str, float], launches: int = 12) -> list[Row]:
    """Three sizes under each MPI, its times longer by a factor; launches scatter by 3 %."""
    rng = np.random.default_rng(seed)
    return [
        _row(mpi, size, list(100 * factor * np.exp(rng.normal(0, 0.03, launches))))
        for size in (1, 2, 4)
        for mpi, factor in effects.items()
    ]


def test_many_arms_are_held_against_the_best() -> None:
    rivals = rivals_by(_many_arms(1, {"a-1": 1.3, "b-2": 1.0, "c-3": 1.5, "d-4": 1.0}), "mpi")
    best = against(rivals, "best")
    found = compare(best, True, _ASKED)
    assert found.arms[0] in ("b-2", "d-4")
    assert {one.a for one in found.points} == {found.arms[0]}
    assert {one.b for one in found.points if one.verdict == SLOWER} == {"a-1", "c-3"}
    assert found.promise.family == 6 * (3 + 1)
    assert "whichever rival is the fastest" in found.promise.words
    found = compare(against(rivals, "c-3"), True, _ASKED)
    assert found.arms == ("c-3", "a-1", "b-2", "d-4")
    assert found.promise.family == 3 * (3 + 1)
    assert against(rivals, "d") == against(rivals, "d-4")
    for name, sentence in (("e", "names none of the rivals; give one of a-1, b-2"), ("-", "names several")):
        with pytest.raises(InputError, match=sentence):
            against(rivals, name)


@pytest.mark.further
def test_equals_held_against_the_best_of_them_alarm_no_more_often() -> None:
    """The best of four equals is chosen by what was seen: 1 % of 100 comparisons, 5 and more in 0.4 %."""
    alarms = 0
    for seed in range(100):
        rows = _many_arms(seed, dict.fromkeys(("a-1", "b-2", "c-3", "d-4"), 1.0))
        found = compare(against(rivals_by(rows, "mpi"), "best"), True, _ASKED, seed)
        alarms += bool({SLOWER, FASTER} & {one.verdict for one in (*found.points, *found.ops)})
    assert alarms < 5


def test_three_arms_want_more_pairs_than_two_and_say_so() -> None:
    """The least p of eight pairs is 1 / 128, and each of two comparisons has half of 1 %."""
    rows = _many_arms(3, {"a-1": 1.0, "b-2": 2.0, "c-3": 1.0}, launches=8)
    found = compare(rivals_by(rows, "mpi"), True, _ASKED)
    slow = [one for one in found.points if one.b == "b-2"]
    assert {one.verdict for one in slow} == {CANNOT_TELL}
    assert all(9 <= (one.launches_needed or 0) <= 20 for one in slow)
    rows = _many_arms(3, {"a-1": 1.0, "b-2": 2.0, "c-3": 1.0}, launches=9)
    found = compare(rivals_by(rows, "mpi"), True, _ASKED)
    assert {one.verdict for one in found.points if one.b == "b-2"} == {SLOWER}


def test_a_reader_at_80_columns_and_a_pipe() -> None:
    found = compare(rivals_by(_folder({8: 1.0, 1024: 1.2}), "mpi"), True, _ASKED)
    text = table_text(verdict_table(found, 0.05), Paper(80, is_pipe=False))
    assert max(map(len, text.splitlines())) <= 80
    assert "slower" in text
    assert any("b-2 is slower than a-1" in sentence for sentence in verdict_sentences(found, 0.05))
    lines = table_text(verdict_table(found, 0.05), Paper()).splitlines()
    fields = [line.split() for line in lines if not line.startswith("#")]
    assert [field[1] for field in fields] == ["8B", "1KiB", "all"]


def test_json_has_what_was_promised() -> None:
    document = json.loads(
        json.dumps(verdict_document(compare(rivals_by(_folder({8: 1.2}), "mpi"), True, _ASKED)))
    )
    assert {"verdict", "promise", "points"} <= document.keys()
    keys = {"op", "bytes", "ranks", "a", "b", "ratio", "low", "high", "p", "verdict", "launches_needed"}
    assert keys <= document["points"][0].keys()


def test_junit_fails_for_slower_and_holds_hostile_names() -> None:
    rows = [
        _row(row.mpi or "", row.bytes, [one.median or 0 for one in row.launches]) for row in _folder({8: 1.3})
    ]
    rivals = rivals_of({'x"/><script>\x1b[31m': [rows[0]], "b & c": [rows[1]]})
    judged = judged_cases(compare(rivals, True, _ASKED).points)
    root = ET.fromstring(verdicts_junit("a title", COMPARED, judged, strict=False))
    assert root.get("failures") == "1"
    assert root[0][0].tag == "failure"


@pytest.mark.parametrize(
    ("rows", "by", "sentence"),
    [
        ([], "mpi", "by mpi there is nothing here"),
        (_folder({8: 1.0})[:1], "mpi", "only a-1"),
        (_folder({8: 1.0}), "colour", "is no factor"),
        (_folder({8: 1.0}), "param.", "is no factor"),
        ([structs.replace(_folder({8: 1.0})[0], env={"A": x}) for x in "-2"], "mpi", r"give --by env\.A, "),
    ],
)
def test_what_cannot_be_compared(rows: list[Row], by: str, sentence: str) -> None:
    with pytest.raises(InputError, match=sentence):
        rivals_by(rows, by)


def test_one_launch_is_no_comparison(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="two launches at least"):
        compare(rivals_by(_folder({8: 1.0}, launches=1), "mpi"), True, _ASKED)
    with pytest.raises(InputError, match="no test case in common"):
        rivals_of({"a": _folder({8: 1.0})[:1], "b": _folder({16: 1.0})[:1]})


_SECOND = 10**9


def _timed(mpi: str, starts: dict[int, int], factor: float = 1.0) -> Row:
    rng = np.random.default_rng(len(mpi))
    medians = list(100 * factor * np.exp(rng.normal(0, 0.01, len(starts))))
    row = _row(mpi, 8, medians)
    launches = tuple(
        structs.replace(one, launch=number, began_unix_ns=at * _SECOND)
        for one, (number, at) in zip(row.launches, starts.items(), strict=True)
    )
    return structs.replace(row, launches=launches)


def test_pairs_that_are_no_neighbours_are_left_out_and_said() -> None:
    """Launch 3 of one arm was measured again after all others, launch 9 of the other went on a day later."""
    first = {i: 1000 + 20 * i for i in range(1, 11)}
    second = {i: at + 8 for i, at in first.items()} | {3: 5000, 10: 90_000}
    found = compare(rivals_by([_timed("a-1", first), _timed("b-2", second)], "mpi"), True, _ASKED)
    assert found.apart == (3, 10)
    assert found.launches == 8
    text = table_text(verdict_table(found, 0.05), Paper(80, is_pipe=False))
    assert "launches 3, 10, whose rivals were not measured one after the other" in " ".join(text.split())


def test_arms_one_after_the_other_have_no_pairs() -> None:
    """The second arm was added when the first was done: no coin ordered them, so nothing is slower."""
    first = {i: 1000 + 20 * i for i in range(1, 11)}
    second = {i: 5000 + 20 * i for i in range(1, 11)}
    found = compare(rivals_by([_timed("a-1", first), _timed("b-2", second, 1.5)], "mpi"), True, _ASKED)
    assert found.apart == tuple(range(1, 11))
    assert {one.verdict for one in found.points} == {CANNOT_TELL}


def test_neighbours_and_old_records_are_pairs() -> None:
    first = {i: 1000 + 20 * i for i in range(1, 11)}
    second = {i: at + (8 if i % 2 else -8) for i, at in first.items()}
    for starts in (first, dict.fromkeys(first, 0)):
        others = second if starts[1] else dict.fromkeys(second, 0)
        found = compare(rivals_by([_timed("a-1", starts), _timed("b-2", others)], "mpi"), True, _ASKED)
        assert found.apart == ()
        assert found.launches == 10


def _made(folder: Path, op: str = "mpi.bcast", launches: int = 3, size: int = 8) -> Path:
    return write_folder(folder, [FakePoint(op, steady(100.0, count=60), bytes=size)], launches)


@pytest.mark.parametrize(
    ("old", "new", "asked", "common"),
    [
        ({"type": "byte"}, {"type": "byte", "check": "chunk"}, (), 1),
        ({"type": "byte", "check": "chunk"}, {"type": "byte"}, (), 1),
        ({"type": "byte"}, {"type": "byte", "check": "sample"}, ("check",), 0),
        ({"type": "byte"}, {"type": "int", "check": "chunk"}, (), 0),
        ({"check": "chunk"}, {"check": "sample"}, (), 0),
    ],
)
def test_a_parameter_that_an_older_engine_does_not_have_parts_nothing(
    old: dict[str, str], new: dict[str, str], asked: tuple[str, ...], common: int
) -> None:
    """Unless a plan asks for it: what it is otherwise is what the op did before."""
    folders = {
        "old": [_row("a-1", 8, [1.0, 2.0], params=old)],
        "new": [_row("a-1", 8, [1.0, 2.0], params=new, asked=asked)],
    }
    if common:
        assert len(rivals_of(folders).cases) == common
    else:
        with pytest.raises(InputError, match="no test case in common"):
            rivals_of(folders)


def test_the_parameter_that_folders_do_not_share_is_named() -> None:
    """What OSU measures has another type than what we measure by default."""
    folders = {
        "osu": [_row("a-1", 8, [1.0, 2.0], params={"type": "char", "operator": "sum"})],
        "ours": [_row("a-1", 8, [1.0, 2.0], params={"type": "double", "operator": "sum", "later": 1})],
    }
    with pytest.raises(InputError, match=r"in common: other values of type \(char against double\); compare"):
        rivals_of(folders)


def test_bad_folders_are_told_in_a_sentence(tmp_path: Path) -> None:
    good = _made(tmp_path / "good")
    (tmp_path / "empty").mkdir()
    damaged, schema = _made(tmp_path / "damaged"), _made(tmp_path / "schema")
    for record in (damaged / "records").glob("*.jsonl"):
        record.write_text(record.read_text().replace('"job"', '"jab"', 1))
    for record in (schema / "records").glob("*.jsonl"):
        record.write_text(unsealed(record.read_text()).replace('"schema":1', '"schema":7', 1))
    others = _made(tmp_path / "others", op="mpi.scan")
    sizes = _made(tmp_path / "sizes", size=64)
    single = _made(tmp_path / "single", launches=1)
    for folder, sentence in (
        (tmp_path / "none", "there is no results folder"),
        (tmp_path / "empty", "has no results"),
        (damaged, "line 1 was changed after it was written"),
        (schema, "records format 7, this version of steelyard reads 1"),
        (others, "no test case in common"),
        (sizes, "no test case in common"),
        (single, "two launches at least"),
        (good, "would be compared with itself"),
        (Path(shutil.copytree(good, tmp_path / "copy")), "holds the launches of .* as a copy does"),
    ):
        with pytest.raises(InputError, match=sentence):
            compare_command(CompareOptions(folders=[good, folder]))
    with pytest.raises(InputError, match=r"only mpich-4\.0\.2"):
        compare_command(CompareOptions(folders=[good]))


def test_launches_that_failed_are_named() -> None:
    """Some of one arm beside others; and all of one test case, whose reason is not that launches are few."""
    good, bad = _folder({8: 1.0})
    bad = structs.replace(bad, status="failed", why="hang (launch 11 of 11)")
    lost = [_row("a-1", 16, [5.0] * 10), _row("b-2", 16, [], status="failed", why="wrong: byte 3 is 4")]
    found = compare(rivals_by([good, bad, *lost], "mpi"), True, _ASKED)
    assert found.failed == ("mpi.pingpong, 8 bytes, b-2: hang (launch 11 of 11)",)
    assert found.refused == (
        "mpi.pingpong, 16 bytes: fewer than two launches went well (b-2: wrong: byte 3 is 4)",
    )
    text = " ".join(table_text(verdict_table(found, 0.05), Paper(80, is_pipe=False)).split())
    assert "Failed, and left out: mpi.pingpong, 8 bytes, b-2: hang (launch 11 of 11)." in text
    with pytest.raises(InputError, match=r"wrong: byte 3 is 4\); mend that"):
        compare(rivals_by(lost, "mpi"), True, _ASKED)


def test_launches_without_time_are_named() -> None:
    """Launches 2 and 7 took no time that the timer can tell, one of them less than reading the timer does."""
    times = np.linspace(99, 101, 12)
    first, second = list(times), list(times[::-1])
    first[1], second[6] = 0.0, -3.0
    rows = [_row("a-1", 8, first), _row("b-2", 8, second), *_folder({16: 1.0}, launches=12)]
    found = compare(rivals_by(rows, "mpi"), True, _ASKED)
    assert found.zeros == ("mpi.pingpong, 8 bytes, launches 2, 7",)
    assert found.launches == 12
    text = " ".join(table_text(verdict_table(found, 0.05), Paper(80, is_pipe=False)).split())
    assert "mpi.pingpong, 8 bytes, launches 2, 7: a median of 0, less than the timer" in text.replace(
        "# ", ""
    )


def test_a_test_case_without_time_is_not_compared() -> None:
    nothing = [_row("a-1", 8, [0.0] * 10), _row("b-2", 8, [50.0] * 10)]
    with pytest.raises(InputError, match=r"mpi\.pingpong, 8 bytes: a median of 0 ns.*--clock"):
        compare(rivals_by(nothing, "mpi"), True, _ASKED)
    found = compare(rivals_by([*nothing, *_folder({16: 1.0})], "mpi"), True, _ASKED)
    assert [one.bytes for one in found.points] == [16]
    assert len(found.refused) == 1


def test_other_units_are_not_compared() -> None:
    one, other = _row("a-1", 8, [100.0, 101.0]), _row("b-2", 8, [100.0, 101.0], unit="cycles")
    with pytest.raises(InputError, match="different units"):
        compare(rivals_by([one, other], "mpi"), True, _ASKED)
