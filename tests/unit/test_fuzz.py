"""Random damage of folders and plans: no traceback, and no number that changes without a word.

`STEELYARD_FUZZ=10000 .venv/bin/pytest -rP tests/unit/test_fuzz.py` tries so many cases from a seed that it
prints.
"""

from __future__ import annotations

import contextlib
import io
import json
import os
import random
import shutil
import warnings
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import msgspec
import pytest

from make_records import FakePoint, steady, write_folder
from steelyard.base.errors import SteelyardError
from steelyard.cli.show import print_results, read_results, tell_diagnostics
from steelyard.export.exported import Results
from steelyard.export.formats import results_document
from steelyard.plan.plan import read_plan
from steelyard.records.campaign_file import read_campaign, write_campaign
from steelyard.results.row import Row

_CASES, _FURTHER = 200, 2000
_ASKED = int(os.environ.get("STEELYARD_FUZZ", "0"))
_SEEDS = [
    pytest.param(7, _CASES, id="usual"),
    pytest.param(8, _FURTHER, id="further", marks=pytest.mark.further),
    *([pytest.param(random.SystemRandom().randrange(2**32), _ASKED, id="asked")] if _ASKED else []),
]
_PLAN = """
name = "mine"
launches = 3
[[measure]]
ops = ["mpi.bcast", "mpi.pingpong"]
bytes = "8..64"
ranks = [2, 4]
"""
_EXTREMES: tuple[Any, ...] = (
    0, -1, 1, 2**63, -(2**63), 2**64, 10**30, 1e308, -1e308, 0.5, None, True, "", "x" * 100_000,
    [], {}, [[]], "8", "1..", "\u202e", "\x1b]0;x\x07",
)  # fmt: skip

Damage = Callable[[random.Random, bytes], bytes]


def _flip(rng: random.Random, data: bytes) -> bytes:
    at = rng.randrange(len(data))
    return data[:at] + bytes([data[at] ^ 1 << rng.randrange(8)]) + data[at + 1 :]


def _cut(rng: random.Random, data: bytes) -> bytes:
    return data[: rng.randrange(len(data))] if rng.random() < 0.5 else data[rng.randrange(len(data)) :]


def _drop_bytes(rng: random.Random, data: bytes) -> bytes:
    at = rng.randrange(len(data))
    return data[:at] + data[at + rng.choice((1, 2, 30, 1000)) :]


_ODD = (b"\0", b"\xff\xfe", b"\n", b"}", b"{", b'"', b"\x1b", b"[" * 5000, b"9" * 40, b" ", b"-")
_NUMBERS = (b"0", b"7", b"-1", b"9223372036854775808", b"1e308", b"1" + b"0" * 30)


def _insert(rng: random.Random, data: bytes) -> bytes:
    at = rng.randrange(len(data))
    return data[:at] + rng.choice(_ODD) + data[at:]


def _number(rng: random.Random, data: bytes) -> bytes:
    at = rng.choice([at for at in range(len(data)) if data[at : at + 1].isdigit()])
    return data[:at] + rng.choice(_NUMBERS) + data[at + 1 :]


def _lines(rng: random.Random, data: bytes) -> bytes:
    lines = data.splitlines(keepends=True)
    one, other = rng.randrange(len(lines)), rng.randrange(len(lines))
    how = rng.randrange(5)
    if how == 0:
        del lines[one]
    elif how == 1:
        lines.insert(other, lines[one])
    elif how == 2:
        lines[one], lines[other] = lines[other], lines[one]
    elif how == 3:
        del lines[one : one + rng.randrange(1, 6)]
    else:
        lines[one] = lines[one].rstrip(b"}\n") + b"\n"
    return b"".join(lines)


def _ways(node: Any, way: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    if way:
        yield way
    items = node.items() if isinstance(node, dict) else enumerate(node) if isinstance(node, list) else ()
    for key, item in items:
        if not isinstance(key, int) or key < 3:
            yield from _ways(item, (*way, key))


def _value(rng: random.Random, data: bytes) -> bytes:
    """Another value, type or key of one line, or of the whole document."""
    lines = data.splitlines(keepends=True)
    at = rng.randrange(len(lines))
    is_line = lines[at].startswith(b"{") and len(lines[at]) > 3
    try:
        document = json.loads(lines[at] if is_line else data)
    except ValueError:
        return _flip(rng, data)
    ways = list(_ways(document))
    *way, key = rng.choice(ways)
    node = document
    for step in way:
        node = node[step]
    how = rng.randrange(5)
    if how == 0:
        del node[key]
    elif how == 1 and isinstance(node[key], list):
        rng.shuffle(node[key])
    elif how == 2 and isinstance(node, list):
        node.append(node[key])
    elif how == 3 and isinstance(node[key], int):
        node[key] += rng.choice((1, -1, 10))
    else:
        node[key] = rng.choice(_EXTREMES)
    written = msgspec.json.encode(document) if rng.random() < 0.8 else json.dumps(document).encode()
    if not is_line:
        return written
    lines[at] = written + b"\n"
    return b"".join(lines)


_OF_TEXT: tuple[Damage, ...] = (_flip, _cut, _drop_bytes, _insert, _number, _lines)
_DAMAGES: tuple[Damage, ...] = (*_OF_TEXT, _value, _value)


@pytest.fixture(scope="module")
def clean(tmp_path_factory: pytest.TempPathFactory) -> Path:
    points = [
        FakePoint("mpi.bcast", steady(1e3, count=30)),
        FakePoint("mpi.allreduce", steady(2e3, count=30), clock_error=9, method="epoch"),
        FakePoint("mpi.pingpong", steady(500.0, count=30), report="message", method="each"),
        FakePoint("self.empty", steady(20.0, count=30), ranks=1, mpi=None),
    ]
    folder = write_folder(tmp_path_factory.mktemp("fuzz") / "out", points, launches=2, plan={"launches": 2})
    write_campaign(folder, read_campaign(folder))
    return folder


def _shown(folder: Path) -> tuple[dict[int, Row], str]:
    """The rows, and all that is said of damage; a warning of NumPy is as bad as a traceback."""
    with warnings.catch_warnings(), contextlib.redirect_stdout(io.StringIO()) as out:
        warnings.simplefilter("error")
        read, found = read_results(folder)
        msgspec.json.encode(results_document(Results(folder, read.made, found)))
        print_results([read])
        with contextlib.redirect_stderr(out):
            tell_diagnostics(found)
    assert "\x1b]" not in out.getvalue()
    told = ("damaged", "missing", "not-measured", "cut-line")
    return {row.point: row for row in read.rows}, " ".join(one.evidence for one in found if one.name in told)


def _outcome(folder: Path, before: dict[int, Row]) -> str:
    """What becomes of a damaged folder."""
    try:
        rows, told = _shown(folder)
    except SteelyardError as error:
        return _sentence(error)
    changed = [before[point].op for point in before if rows.get(point) != before[point]]
    assert told or not changed, f"{changed} changed, and nothing is said"
    assert len(told) < 5000
    return "told" if changed else "same"


def _sentence(error: SteelyardError) -> str:
    assert len(str(error)) < 2000
    assert "\n" not in str(error)
    return "refused"


@pytest.mark.parametrize(("seed", "cases"), _SEEDS)
def test_damage_is_told_and_changes_no_number(clean: Path, tmp_path: Path, seed: int, cases: int) -> None:
    rng = random.Random(seed)
    before, _ = _shown(clean)
    names = [f"records/{path.name}" for path in sorted((clean / "records").iterdir())] + ["campaign.json"]
    whole = {name: (clean / name).read_bytes() for name in names}
    folder = shutil.copytree(clean, tmp_path / "out")
    seen: Counter[str] = Counter()
    for case in range(cases):
        name, damage = rng.choice(names), rng.choice(_DAMAGES)
        data = damage(rng, whole[name])
        (folder / name).write_bytes(data)
        try:
            seen[_outcome(folder, before)] += 1
        except Exception as error:
            (tmp_path / "failing").write_bytes(data)
            what = f"seed {seed}, case {case}, {damage.__name__} of {name}"
            raise AssertionError(f"{what} ({tmp_path}/failing): {error!r}") from error
        (folder / name).write_bytes(whole[name])
    print(f"seed {seed}, {cases} cases: {dict(seen)}")
    assert set(seen) == {"refused", "told", "same"}


@pytest.mark.parametrize(("seed", "cases"), _SEEDS)
def test_a_damaged_plan_is_a_plan_or_one_sentence(tmp_path: Path, seed: int, cases: int) -> None:
    rng, path = random.Random(seed), tmp_path / "mine.toml"
    seen: Counter[str] = Counter()
    for _ in range(cases):
        path.write_bytes(rng.choice(_OF_TEXT)(rng, _PLAN.encode()))
        try:
            read_plan(path)
            seen["read"] += 1
        except SteelyardError as error:
            seen[_sentence(error)] += 1
    print(f"seed {seed}, {cases} cases: {dict(seen)}")
    assert set(seen) == {"refused", "read"}
