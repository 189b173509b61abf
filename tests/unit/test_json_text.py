"""JSON of unknown origin: one kind of error, whatever is wrong, and bounded memory."""

from __future__ import annotations

import json
import tracemalloc
from pathlib import Path

import msgspec
import pytest

from record_lines import LINES
from steelyard.base.errors import InputError
from steelyard.base.json_text import ANYTHING, MOST_FREE, MOST_KEYS, MOST_VALUES, decode_json
from steelyard.base.product import MOST_LAUNCHES, MOST_TEST_CASES
from steelyard.campaign.lock import locked
from steelyard.records.campaign_file import CampaignFile, PlannedPoint, read_campaign, write_campaign
from steelyard.records.command_line import resumed
from steelyard.records.read import decode_record, read_job

_DEPTHS = (65, 200, 480, 900, 100_000)


def _nested(depth: int) -> bytes:
    return b'{"a":' * depth + b"1" + b"}" * depth


@pytest.mark.parametrize(
    ("data", "words"),
    [
        (b'{"a":"\xff"}', "not UTF-8"),
        pytest.param(b"9" * 5000, "out of range", id="digits"),
        (b"", "truncated"),
        *(pytest.param(_nested(depth), "nested too deeply", id=f"{depth} deep") for depth in _DEPTHS),
    ],
)
def test_what_is_wrong_is_one_kind_of_error(data: bytes, words: str) -> None:
    with pytest.raises(msgspec.DecodeError, match=words):
        decode_json(data, ANYTHING)


def test_millions_of_values_in_few_bytes_take_no_memory() -> None:
    data = b"[" + b"[]," * MOST_VALUES + b"1]"
    tracemalloc.start()
    try:
        with pytest.raises(msgspec.DecodeError, match=f"more than {MOST_VALUES} values"):
            decode_json(data, ANYTHING)
        assert tracemalloc.get_traced_memory()[1] < len(data)
    finally:
        tracemalloc.stop()


@pytest.mark.parametrize("depth", _DEPTHS)
@pytest.mark.parametrize("key", ["machine", "plan", "topology"])
def test_a_campaign_that_is_nested_is_a_sentence(tmp_path: Path, key: str, depth: int) -> None:
    (tmp_path / "campaign.json").write_bytes(b'{"schema":1,"%s":%s}' % (key.encode(), _nested(depth)))
    with pytest.raises(InputError, match="is not a campaign"):
        read_campaign(tmp_path)


@pytest.mark.parametrize("depth", _DEPTHS)
@pytest.mark.parametrize("key", [b"x", b"\\u00e9"])  # plain, and not
def test_settings_that_are_nested_are_a_sentence(tmp_path: Path, key: bytes, depth: int) -> None:
    job = json.dumps(LINES[0])[:-1].encode() + b',"settings":{"%s":%s}}\n' % (key, _nested(depth))
    (tmp_path / "l01.jsonl").write_bytes(job)
    with pytest.raises(InputError, match=r"line 1 is not a record \(it is nested too deeply\)"):
        read_job(tmp_path / "l01.jsonl")


_MANY = {f"K{i}": "1" for i in range(MOST_KEYS + 1)}


@pytest.mark.parametrize(
    "campaign",
    [
        {"machine": _MANY},
        {"plan": {"measure": [{"env": _MANY}]}},
        {"points": [{"point": 0, "op": "self.spin", "omp": _MANY}]},
        {"command": ["x"] * (MOST_FREE + 1)},
        {"topology": {"x": [[0]] * (MOST_FREE // 2 + 1)}},
        {"looks": [1] * (MOST_LAUNCHES + 1)},
        {"points": [{"point": i, "op": "x"} for i in range(MOST_TEST_CASES * 11 // 10 + 1)]},
    ],
    ids=lambda campaign: next(iter(campaign)),
)
def test_a_campaign_with_more_than_readers_follow_is_a_sentence(
    tmp_path: Path, campaign: dict[str, object]
) -> None:
    (tmp_path / "campaign.json").write_bytes(msgspec.json.encode({"schema": 1} | campaign))
    with pytest.raises(InputError, match=r"is not a campaign \((an object|it has too many|Expected `array`)"):
        read_campaign(tmp_path)


@pytest.mark.parametrize(
    ("line", "key"),
    [(0, "settings"), (0, "environment"), (1, "build"), (1, "environment"), (2, "params"), (3, "used")],
)
def test_a_record_with_more_keys_than_readers_follow_is_damaged(line: int, key: str) -> None:
    """A parameter takes 18 us in a row, so a million of them took 18 s."""
    value = {name: [1, 1] for name in _MANY} if key == "used" else _MANY
    with pytest.raises(msgspec.DecodeError, match=rf"length <= {MOST_KEYS}"):
        decode_record(msgspec.json.encode(LINES[line] | {key: value}))


def test_a_campaign_that_nobody_would_read_is_not_written(tmp_path: Path) -> None:
    points = tuple(PlannedPoint(point=i, op="self.spin") for i in range(10))
    many = CampaignFile(points=points, machine={"x": [0] * MOST_VALUES})
    for one in (many, CampaignFile(plan={"env": _MANY})):
        with pytest.raises(InputError, match=r"divide (it|the plan) into several plans"):
            write_campaign(tmp_path, one)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    "text",
    [b'{"system":"\xff"}', _nested(900), _nested(100_000), b"\0", b"[]"],
    ids=["not UTF-8", "nested", "nested for long", "null", "list"],
)
def test_files_beside_a_folder_that_say_nothing(tmp_path: Path, text: bytes) -> None:
    """Of a job of a batch system, and the lock."""
    (tmp_path / "batch").mkdir()
    (tmp_path / "batch" / "out.json").write_bytes(text)
    assert resumed(tmp_path / "out") == f"steelyard run --out {tmp_path / 'out'}"
    (tmp_path / "out").mkdir()
    (tmp_path / "out" / ".lock").write_bytes(text)
    with locked(tmp_path / "out") as lock:
        assert lock.notes
