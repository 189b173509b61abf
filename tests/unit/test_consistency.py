"""Records that contradict themselves or each other: one sentence, whatever is wrong, never a traceback."""

from __future__ import annotations

import copy
import json
import os
import random
import re
import shutil
import warnings
from array import array
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import msgspec
import pytest

from further import further
from steelyard.base.errors import InputError
from steelyard.cli.show import print_results, tell_diagnostics
from steelyard.export.formats import results_document
from steelyard.records.consistency import end_contradiction
from steelyard.records.job_file import PointRun
from steelyard.records.read import read_job
from steelyard.records.schema import End, Obs, Point
from steelyard.report import write_report
from steelyard.session.results import read_results

Lines = list[dict[str, Any]]
KINDS = Path(__file__).parents[1] / "data" / "kinds"  # records of each kind, of real launches
_FILE = "l01-openmpi-4.1.4-n2.jsonl"


def _lines(path: Path) -> Lines:
    return [json.loads(line) for line in path.read_text().splitlines()]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return shutil.copytree(KINDS, tmp_path / "kinds")


def _rewrite(folder: Path, change: Callable[[Lines], object]) -> None:
    path = folder / "records" / _FILE
    lines = _lines(path)
    change(lines)
    path.write_text("".join(json.dumps(line) + "\n" for line in lines))


def _first(lines: Lines, record: str, **has: Any) -> dict[str, Any]:
    return next(
        line
        for line in lines
        if line["record"] == record and all(line.get(key) == value for key, value in has.items())
    )


@pytest.mark.parametrize("stamps", [[-9, -7], memoryview(array("q", [-9, -7]))])
def test_a_clock_below_zero_contradicts_nothing(stamps: Any) -> None:
    """As those of a simulation whose clocks are off."""
    usual: dict[str, Any] = {"op": "self.empty", "bytes": 0, "ranks": 1, "threads": 1, "method": "batch"}
    usual |= {"rule": "fixed", "reps": 1, "parts": 1, "report": "slowest"}
    point = Point(point=0, start_ns=-10, **usual)
    obs = Obs(point=0, first=0, count=2, start_ns=[stamps], stop_ns=[stamps])
    end = End(point=0, status="ok", stop_ns=-5)
    run = PointRun(0, point, (obs,), end)
    assert end_contradiction(run, end) is None
    late = msgspec.structs.replace(end, stop_ns=-8)
    assert end_contradiction(run, late) == "samples of point 0 end after it"


def test_the_records_themselves_are_sound(folder: Path) -> None:
    kinds = {line["record"] for path in (folder / "records").iterdir() for line in _lines(path)}
    assert kinds == {
        "job", "launch", "point", "obs", "phases", "sync", "state", "watch", "end", "close",
    }  # fmt: skip
    rows = read_results(folder).rows
    assert {row.status for row in rows} == {"ok"}


@pytest.mark.parametrize(
    ("record", "change", "words"),
    [
        ("launch", lambda one: one["places"].pop(), None),  # a rank that does not tell where it is
        ("launch", lambda one: one["places"][1].update(rank=0), "a rank has two places"),
        ("launch", lambda one: one["places"][1].update(rank=2), "places names 2 of 2"),
        ("launch", lambda one: one["clock"].update(cost_ns=-1), "is not a record .*>= 0"),
        ("launch", lambda one: one["build"].update(flags="x" * 10**6), "a text of its build is too long"),
        ("point", lambda one: one.update(op="x" * 10**6), "is not a record .*length <= 1000"),
        ("point", lambda one: one.update(ranks=10**30), "is not a record"),
        ("point", lambda one: one.update(ranks=3), "has 2 items for 3 ranks"),
        ("point", lambda one: one.update(bytes=4096), "point . of .* has bytes 4096, and campaign.json"),
        ("obs", lambda one: one["start_ns"].pop(), "different numbers of ranks"),
        ("obs", lambda one: one["yields"].append(0), "yields has 3 items for 2 ranks"),
        ("obs", lambda one: one.update(late=[10**6]), "late names 1000000 of"),
        ("obs", lambda one: one["start_ns"][0].__setitem__(0, 2**63), "is not a record"),
        ("sync", lambda one: one["offset_ns"].pop(), "offset_ns has 1 items for 2 ranks"),
        ("sync", lambda one: one.update(at_ns=[2**60, 2**60]), "is not after"),
        ("phases", lambda one: one["phases"][0]["ns"].pop(), "is not of 2 ranks"),
        ("phases", lambda one: one["phases"][0].update(name="lunch"), "are not those of"),
        ("phases", lambda one: one["phases"].pop(), "are not those of its first samples"),
        ("phases", lambda one: one.update(count=0), "about no sample"),
        ("end", lambda one: one.update(stop_ns=one["stop_ns"] - 10**9), "end after it"),
        ("state", lambda one: one["cpus"].pop(), "cpus has 1 items for 2 ranks"),
        ("watch", lambda one: one["processes"][0].update(seconds=0), "took CPU time in no time"),
        ("close", lambda one: one.update(rank=7), "rank names 7 of 2"),
        ("job", lambda one: one.update(placement=" "), "its placement is blank"),
    ],
)
def test_a_contradiction_is_one_sentence(
    folder: Path, record: str, change: Callable[[dict[str, Any]], Any], words: str | None
) -> None:
    clean = read_results(folder).rows
    _rewrite(folder, lambda lines: change(_first(lines, record)))
    results = read_results(folder)
    read, found = results.read, results.diagnostics
    told = " ".join(one.evidence for one in found if one.name == "damaged")
    assert re.search(words, told) if words else not told
    assert "\n" not in told
    for row, other in zip(read.rows if words else (), clean, strict=bool(words)):
        is_told = row.status == "failed" and "l01-openmpi-4.1.4-n2" in (row.why or "")
        assert row == other or is_told or record == "job"


def test_samples_in_the_time_of_the_simulator_may_end_after_their_point(folder: Path) -> None:
    """Those of the method `truth`, while the point began and ended by the skewed clock of rank 0."""

    def change(lines: Lines) -> None:
        index = _first(lines, "end", status="ok")["point"]
        _first(lines, "point", point=index)["method"] = "truth"
        _first(lines, "end", point=index)["stop_ns"] -= 10**9

    _rewrite(folder, change)
    assert read_job(folder / "records" / _FILE)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        (b"\0" * 4096 + b"\n", "line 1 is not a record"),
        (b"\0" * 4096, "line 1 is not a record"),
        (
            b'{"record":"job","schema":1,"a":' + b"[" * 200_000 + b"]" * 200_000 + b"}",
            r"line 1 is not a record \(it is nested too deeply\)",
        ),
        (b'{"record":"job","schema":1,"\xff":1}\n', "line 1 is not a record"),
    ],
)
def test_what_is_no_record_at_all_is_not_passed_over(tmp_path: Path, text: bytes, words: str) -> None:
    (tmp_path / "a.jsonl").write_bytes(text)
    with pytest.raises(InputError, match=words):
        read_job(tmp_path / "a.jsonl")


def test_a_copy_among_the_records_is_left_out(folder: Path) -> None:
    clean = read_results(folder).rows
    shutil.copy(folder / "records" / _FILE, folder / "records" / "copy of l01.jsonl")
    results = read_results(folder)
    read, found = results.read, results.diagnostics
    assert read.rows == clean
    (told,) = (one.evidence for one in found if one.name == "damaged")
    assert re.search(r"copy of l01\.jsonl is not named as its job, l01-.*; if it is a copy", told)


def test_a_pipe_is_not_waited_for(folder: Path) -> None:
    os.mkfifo(folder / "records/l09-pipe.jsonl")
    (told,) = (one.evidence for one in read_results(folder).diagnostics if one.name == "damaged")
    assert "is not a regular file" in told
    (folder / "campaign.json").unlink()
    os.mkfifo(folder / "campaign.json")
    with pytest.raises(InputError, match="is not a regular file"):
        read_results(folder)


def test_control_characters_in_records_are_not_obeyed(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Neither on the terminal nor in files: an escape would change its title, or hide what follows."""
    evil = "\x1b]0;owned\x07\x9b31m\u202e\r"

    def poison(lines: Lines) -> None:
        for line in lines:
            line.update(host=evil, why=evil) if line["record"] in ("watch", "end") else None
        end = _first(lines, "end")
        end["status"] = "failed"
        _first(lines, "launch")["mpi"]["library"] = evil
        for busy in _first(lines, "watch")["processes"]:
            busy["command"] = evil

    _rewrite(folder, poison)
    results = read_results(folder)
    read, found = results.read, results.diagnostics
    print_results([read])
    tell_diagnostics(found)
    write_report([folder], folder / "report.html")
    told = "".join(capsys.readouterr()) + (folder / "report.html").read_text()
    told += msgspec.json.encode(results_document(results.exported())).decode()
    assert r"\x1b]0;owned\x07" in told.replace("\\\\", "\\")
    assert not set(evil) & set("\x1b\x07\x9b\u202e") & set(told)


# ---- one field at random ----------------------------------------------------------------------------------

_VALUES: tuple[Any, ...] = (
    None, -1, 0, 1, 3, 10**9, 2**62, 2**70, 1e308, -1.5, 0.5, "", "x", "0-3", [], {}, True, [1], {"a": 1},
)  # fmt: skip
_REPORTS = 40  # one in so many is also drawn


def _fields(node: Any, path: tuple[str | int, ...] = ()) -> Iterator[tuple[str | int, ...]]:
    """The way to each field; of long arrays the first three items and the last."""
    if path:
        yield path
    items = node.items() if isinstance(node, dict) else enumerate(node) if isinstance(node, list) else ()
    for key, item in items:
        if not isinstance(key, int) or key < 3 or key == len(node) - 1:
            yield from _fields(item, (*path, key))


def _corrupted(rng: random.Random, record: dict[str, Any]) -> tuple[dict[str, Any], str]:
    """The record with one field removed, doubled, of another type, or of another value."""
    record = copy.deepcopy(record)
    *way, key = rng.choice(list(_fields(record)))
    node: Any = record
    for step in way:
        node = node[step]
    how, old = rng.random(), node[key]
    if how < 0.15:
        del node[key]
    elif how < 0.25 and isinstance(node, list):
        node.insert(int(key), copy.deepcopy(old))
    elif how < 0.5 and isinstance(old, int | float) and not isinstance(old, bool):
        node[key] = rng.choice([old + 1, old - 1, -old, old * 1000, old * 10**6])
    else:
        node[key] = rng.choice(_VALUES)
    return record, ".".join(map(str, (*way, key)))


@pytest.mark.parametrize("turns", [40, further(400)])
def test_no_field_can_cause_a_traceback(folder: Path, capsys: pytest.CaptureFixture[str], turns: int) -> None:
    """A fixed series of corruptions, of each kind of record alike: each ends in a sentence or in results."""
    rng, ends = random.Random(11), {"told": 0, "result": 0}
    files = {path: _lines(path) for path in sorted((folder / "records").iterdir())}
    places: dict[str, list[tuple[Path, int]]] = {}
    for path, lines in files.items():
        for number, line in enumerate(lines):
            places.setdefault(line["record"], []).append((path, number))
    for turn in range(turns):
        path, number = rng.choice(places[rng.choice(sorted(places))])
        broken, field = _corrupted(rng, files[path][number])
        lines = [*files[path][:number], broken, *files[path][number + 1 :]]
        path.write_text("".join(json.dumps(line) + "\n" for line in lines))
        try:
            told = _look_at_all(folder, with_report=turn % _REPORTS == 0)
            ends["told" if told else "result"] += 1
        except Exception as error:
            raise AssertionError(f"{files[path][number]['record']}.{field}: {error!r}") from error
        path.write_text("".join(json.dumps(line) + "\n" for line in files[path]))
        capsys.readouterr()
    assert min(ends.values()) > turns / 5


def _look_at_all(folder: Path, *, with_report: bool) -> bool:
    """What `show`, `show --json` and `report` do; a warning of NumPy is as bad as a traceback. Was damage
    told?
    """
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        results = read_results(folder)
        read, found = results.read, results.diagnostics
        msgspec.json.encode(results_document(results.exported()))
        print_results([read])
        tell_diagnostics(found)
        if with_report:
            write_report([folder], folder / "report.html")
    return any(one.name == "damaged" for one in found)
