"""Records that were changed, lost or doubled after they were written: what they spoil, and what is said."""

from __future__ import annotations

import zlib
from collections.abc import Callable
from pathlib import Path
from typing import Any

import msgspec
import pytest

from make_records import FakePoint, steady, write_folder
from steelyard.base.errors import InputError
from steelyard.campaign.folder import finished
from steelyard.records.campaign_file import read_campaign, write_campaign
from steelyard.records.read import read_folder
from steelyard.records.sealing import Seal, read_seal, sealed
from steelyard.session.results import read_results

Lines = list[bytes]
_POINTS = [FakePoint("mpi.bcast", steady(1e3, count=1200)), FakePoint("mpi.scan", steady(2e3, count=600))]
_FILE = "l02-mpich-4.0.2-n2.jsonl"  # job, launch, point, 3 obs, end, point, 2 obs, end


def _damaged(folder: Path, change: Callable[[Lines], object]) -> None:
    path = folder / "records" / _FILE
    lines = path.read_bytes().splitlines(keepends=True)
    change(lines)
    path.write_bytes(b"".join(lines))


def _put(lines: Lines, number: int, old: bytes, new: bytes) -> None:
    assert old in lines[number]
    lines[number] = lines[number].replace(old, new, 1)


def _swap(lines: Lines, one: int, other: int) -> None:
    lines[one], lines[other] = lines[other], lines[one]


# What is done -> the points that it spoils, and what is said.
_CASES: tuple[tuple[Callable[[Lines], object], set[int], str], ...] = (
    (lambda lines: _put(lines, 4, b'"count":500', b'"count":501'), {0}, f"line 5 of {_FILE} was changed"),
    (lambda lines: _put(lines, 4, b'"crc"', b'"crb"'), {0}, f"line 5 of {_FILE} has lost its checksum"),
    (lambda lines: lines.pop(4), {0}, f"1 line is missing before line 5 of {_FILE}"),
    (lambda lines: lines.insert(4, lines[4]), {0}, f"line 6 of {_FILE} is there twice"),
    (lambda lines: _swap(lines, 3, 4), {0}, f"1 line is missing before line 4 of {_FILE}"),
    (lambda lines: lines.__setitem__(4, lines[4][:90] + b"\n"), {0}, f"line 5 of {_FILE} is cut off"),
    (lambda lines: lines.__setitem__(4, lines[4][9:]), {0}, f"line 5 of {_FILE} was changed after"),
    (lambda lines: lines.__setitem__(4, b"\xff\0{\n"), {0}, f"line 5 of {_FILE} is not a record"),
    (lambda lines: lines.pop(2), {0}, f"line 3 of {_FILE} has samples without a point record"),
    (lambda lines: lines.pop(6), {0}, f"line 7 of {_FILE}"),
    (lambda lines: lines.pop(1), {0, 1}, "no launch record tells of their clock"),
    (lambda lines: lines.pop(0), set(), f"{_FILE} does not begin with a job record"),
    (lambda lines: _put(lines, 0, b'"ranks":2', b'"ranks":3'), set(), f"{_FILE}, line 1 was changed"),
    (lambda lines: _put(lines, 0, b'"crc"', b'"crb"'), set(), f"{_FILE}, line 1 has no checksum, and others"),
    (lambda lines: _put(lines, 0, b'"}\n', b'"\n'), set(), f"{_FILE}, line 1 has no checksum"),
    (lambda lines: lines.append(lines[-1]), set(), f"ine 12 of {_FILE} is there twice"),
)  # fmt: skip


@pytest.mark.parametrize(("change", "spoilt", "words"), _CASES)
def test_damage_spoils_its_test_case_in_its_launch(
    tmp_path: Path, change: Callable[[Lines], object], spoilt: set[int], words: str
) -> None:
    folder = write_folder(tmp_path / "out", _POINTS, launches=3)
    clean = read_results(folder).rows
    _damaged(folder, change)
    results = read_results(folder)
    read, found = results.read, results.diagnostics
    assert {row.point for row in read.rows if row.status == "failed"} == spoilt
    for row, before in zip(read.rows, clean, strict=True):
        here = [one for one in row.launches if one.launch != 2 or row.point not in spoilt]
        assert [one.median for one in here] == [
            one.median for one in before.launches if one.launch in {own.launch for own in here}
        ]
        assert row.point in spoilt or words.startswith(f"{_FILE}") or row == before
    (told,) = (one.evidence for one in found if one.name == "damaged")
    assert words in told


def test_what_is_damaged_is_measured_again(tmp_path: Path) -> None:
    folder = write_folder(tmp_path / "out", _POINTS, launches=2)
    whole = set(finished(folder))
    _damaged(folder, lambda lines: lines.pop(4))
    assert whole - set(finished(folder)) == {("l02-mpich-4.0.2-n2", 0)}


def test_a_launch_that_vanished_is_missed(tmp_path: Path) -> None:
    folder = write_folder(tmp_path / "out", _POINTS, launches=3, plan={"launches": 4})
    (folder / "records" / _FILE).unlink()
    told = {one.name: one.evidence for one in read_results(folder).diagnostics}
    assert told["missing"].startswith("2 test cases without some launches: mpi.bcast 8 B")
    assert told["missing"].endswith("(launch 2).")
    assert "(launch 4)" in told["not-measured"]


def test_launches_that_a_budget_left_out_are_not_missed(tmp_path: Path) -> None:
    """Test cases that were added later have fewer launches than the others: nothing of them is lost."""
    folder = write_folder(tmp_path / "out", _POINTS, launches=3, plan={"launches": 3})
    for name in ("l02", "l03"):
        (path,) = (folder / "records").glob(f"{name}-*")
        lines = [line for line in path.read_text().splitlines(keepends=True) if '"point":1' not in line]
        path.write_text("".join(lines))
    told = {one.name: one.evidence for one in read_results(folder).diagnostics}
    assert "missing" not in told
    assert told["not-measured"].endswith("(launches 2, 3).")


def test_an_end_that_is_lost_is_missed(tmp_path: Path) -> None:
    folder = write_folder(tmp_path / "out", _POINTS, launches=3)
    _damaged(folder, lambda lines: lines.pop())
    told = {one.name: one.evidence for one in read_results(folder).diagnostics}
    assert told["missing"].startswith("1 test case without some launches: mpi.scan 8 B")
    assert told["missing"].endswith("(launch 2).")


def test_files_of_which_nothing_can_be_read(tmp_path: Path) -> None:
    """A library may cut the file that its launch writes: campaign.json still says what was to be measured."""
    folder = write_folder(tmp_path / "out", _POINTS, launches=1, plan={"launches": 1})
    for path in (folder / "records").iterdir():
        path.write_bytes(path.read_bytes()[1:])
    read = read_results(folder)
    assert {row.launch_count for row in read.rows} == {0}
    told = {one.name: one.evidence for one in read.diagnostics}
    assert "line 1 was changed after it was written" in told["damaged"]
    assert finished(folder) == {}, "all is measured again"
    (folder / "campaign.json").unlink()
    with pytest.raises(InputError, match="line 1 was changed after it was written"):
        read_folder(folder)


def test_a_seal_is_the_checksum_of_all_before_it() -> None:
    line = sealed(b'{"record":"end","point":7}', 12)
    body = b'{"record":"end","point":7,"line":12'
    assert line == body + b',"crc":"%08x"}' % zlib.crc32(body)
    assert read_seal(line + b"\n") == Seal(12, True)
    assert read_seal(line.replace(b",", b", ")) == Seal(12, False)
    assert read_seal(sealed(b'{"a":1}')) == Seal(None, True)
    assert read_seal(b'{"record":"end"}\n') == Seal(None, None)


@pytest.mark.parametrize(
    "keys",
    [
        {"ranks": 0}, {"ranks": 10**30}, {"bytes": -1}, {"bytes": 2**63}, {"threads": 10**9},
        {"op": "x" * 10**7}, {"params": {"window": 1e308}},
    ],
    ids=str,
)  # fmt: skip
def test_values_out_of_range_are_refused_in_a_short_sentence(tmp_path: Path, keys: dict[str, Any]) -> None:
    folder = write_folder(tmp_path / "out", _POINTS, launches=1)
    path = folder / "campaign.json"
    document = msgspec.json.decode(path.read_bytes())
    document["points"][1] |= keys
    path.write_bytes(msgspec.json.encode(document))
    with pytest.raises(InputError, match="is not a campaign") as caught:
        read_campaign(folder)
    assert len(str(caught.value)) < 500


def test_a_campaign_that_was_changed_is_refused(tmp_path: Path) -> None:
    folder = write_folder(tmp_path / "out", _POINTS, launches=1)
    campaign = read_campaign(folder)
    write_campaign(folder, campaign)
    assert read_campaign(folder) == campaign
    path = folder / "campaign.json"
    path.write_bytes(path.read_bytes().replace(b'"bytes": 8', b'"bytes": 9', 1))
    with pytest.raises(InputError, match="was changed after it was written; restore it"):
        read_campaign(folder)
