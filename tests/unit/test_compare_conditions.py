"""What is not compared: arms that were measured in different ways, unless that is asked about."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from commands import Steelyard, steelyard_of
from flat_rows import made_launch, made_row
from make_records import FakePoint, steady, write_folder
from steelyard.base.errors import InputError
from steelyard.cli.compare import CompareOptions
from steelyard.cli.compare import compare as compare_command
from steelyard.judges.compare.arms import rivals_by, rivals_of, variable_names
from steelyard.judges.compare.conditions import CONDITIONS
from steelyard.judges.compare.scale import Question
from steelyard.judges.compare.tables import verdict_table
from steelyard.judges.compare.verdicts import Verdicts, compare
from steelyard.records.campaign_file import Placement
from steelyard.report.page import write_report
from steelyard.results.row import Row

_ASKED = Question()
_LAUNCHES = tuple(made_launch(number, median=1000.0 + number) for number in range(1, 9))


def _row(**keys: Any) -> Row:
    return made_row(**({"launches": _LAUNCHES, "sched_yield": "real", "clock": "tsc"} | keys))


def _of(before: dict[str, Any], after: dict[str, Any], *despite: str) -> Verdicts:
    rivals = rivals_of({"before": [_row(**before)], "after": [_row(**after)]}, despite)
    return compare(rivals, False, _ASKED)


_OTHER: dict[str, tuple[dict[str, Any], dict[str, Any], str]] = {
    "placement": ({"placement": "0|1"}, {"placement": "0-1|0-1"}, r"placement: 0\|1 against 0-1\|0-1"),
    "clock": ({"clock": "tsc"}, {"clock": "monotonic"}, "clock: tsc against monotonic"),
    "transport": ({"transport": "tcp"}, {}, "transport: tcp against the library's choice"),
    "yields": ({"yields_per_op": 0.0}, {"yields_per_op": 12.0}, "0 against 12 calls of sched_yield"),
}


def test_each_condition_has_a_case() -> None:
    assert set(_OTHER) == set(CONDITIONS)


@pytest.mark.parametrize("name", _OTHER)
def test_folders_measured_in_different_ways_are_refused(name: str) -> None:
    before, after, words = _OTHER[name]
    with pytest.raises(InputError, match=f"{words}.*--despite {name}$"):
        _of(before, after)


@pytest.mark.parametrize("name", _OTHER)
def test_who_insists_is_told_beside_the_verdict(name: str) -> None:
    before, after, _ = _OTHER[name]
    found = _of(before, after, name)
    assert len(found.points) == 1
    (said,) = found.despite
    assert said.startswith(f"{name} (")
    assert any(said in note for note in verdict_table(found, 0.05).notes)


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ({"placement": "a:0|b:0"}, {"placement": "c:0|d:0"}),
        ({"placement": None}, {"placement": "0|1"}),
        ({"clock": None}, {"clock": "tsc"}),
        ({"yields_per_op": 0.005}, {"yields_per_op": 0.5}),
        ({"yields_per_op": 2.0}, {"yields_per_op": 200.0}),
        ({"yields_per_op": None}, {"yields_per_op": 200.0}),
    ],
)
def test_what_is_alike_or_not_known_is_compared(before: dict[str, Any], after: dict[str, Any]) -> None:
    """Other nodes bound alike, older records, and ranks that all wait in one way, for longer."""
    found = _of(before, after)
    assert len(found.points) == 1
    assert not found.despite


def test_ranks_on_one_node_are_not_those_on_two() -> None:
    with pytest.raises(InputError, match=r"host 1:0\|host 1:1 against host 1:0\|host 2:0"):
        _of({"placement": "a:0|a:1"}, {"placement": "a:0|b:0"})


def test_one_test_case_of_two_is_left_out() -> None:
    rows = [[_row(bytes=8), _row(bytes=16, clock=clock)] for clock in ("tsc", "monotonic")]
    found = compare(rivals_of({"a": rows[0], "b": rows[1]}), False, _ASKED)
    assert [one.bytes for one in found.points] == [8]
    assert found.refused == (
        "mpi.bcast, 16 bytes: measured in different ways (clock: tsc against monotonic)",
    )


@pytest.mark.parametrize(
    ("factor", "first", "second", "told"),
    [
        ("mpi", {"mpi": "a", "yields_per_op": 0.0}, {"mpi": "b", "yields_per_op": 9.0}, True),
        ("env.UCX_TLS", {"env": {"UCX_TLS": "tcp"}, "transport": "tcp"}, {"env": {"UCX_TLS": "-"}}, True),
        (
            "placement",
            {"placed": Placement("cpus", (0,)), "placement": "0"},
            {"placement": "1", "placed": None},
            False,
        ),
    ],
)
def test_what_follows_from_the_factor_is_compared(
    factor: str, first: dict[str, Any], second: dict[str, Any], told: bool
) -> None:
    """It is told, unless it is the factor itself; what does not follow is refused."""
    found = compare(rivals_by([_row(**first), _row(**second)], factor), True, _ASKED)
    assert len(found.points) == 1
    assert bool(found.despite) == told
    with pytest.raises(InputError, match="clock: tsc against monotonic"):
        compare(rivals_by([_row(**first), _row(**second, clock="monotonic")], factor), True, _ASKED)


def test_folders_of_two_mpis_may_wait_and_send_in_two_ways() -> None:
    found = _of({"mpi": "a", "yields_per_op": 0.0}, {"mpi": "b", "yields_per_op": 9.0})
    assert found.despite == ("yields (0 against 9 calls of sched_yield per operation)",)


@pytest.fixture
def steelyard(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> Steelyard:
    return steelyard_of(capsys, monkeypatch)


Folders = Callable[..., list[Path]]


@pytest.fixture
def folders(tmp_path: Path) -> Folders:
    """Two folders of a broadcast; the options of each say how it differs."""

    def write(*options: dict[str, Any]) -> list[Path]:
        made = []
        for number, own in enumerate(options):
            others = {name: value for name, value in own.items() if name != "point"}
            point = {"op": "mpi.bcast", "values": steady(100.0, count=60)} | own.get("point", {})
            made.append(write_folder(tmp_path / str(number), [FakePoint(**point)], 4, number + 1, **others))
        return made

    return write


@pytest.mark.parametrize(
    ("other", "words"),
    [
        ({"cpus": lambda _rank: "0-1"}, r"placement: 0\|1 against 0-1\|0-1\); .*--despite placement"),
        ({"clock": "tsc"}, r"clock: monotonic against tsc\); .*--despite clock"),
        ({"point": {"yields_per_op": 3.0}}, "0 against 3 calls of sched_yield"),
        ({"point": {"bytes": 64}}, r"other sizes \(8 B against 64 B\); compare folders of the same plan"),
        ({"point": {"op": "mpi.scan"}}, r"other ops \(mpi.bcast against mpi.scan\)"),
        ({"point": {"ranks": 3}}, r"other numbers of ranks \(2 against 3\)"),
        ({"point": {"method": "barrier"}}, r"other methods \(batch against barrier\)"),
        (
            {"point": {"placement": Placement("cpus", (0, 1))}},
            r"other placements \(default against cpus 0,1\); .*--despite placement",
        ),
    ],
)
def test_records_say_what_differs(folders: Folders, other: dict[str, Any], words: str) -> None:
    with pytest.raises(InputError, match=words):
        compare_command(CompareOptions(folders=folders({}, other)))


def test_the_command_as_it_is_typed(folders: Folders, steelyard: Steelyard) -> None:
    both = folders({}, {"point": {"placement": Placement("cpus", (1, 0))}})
    refused = steelyard("compare", *both)
    assert (refused.code, refused.out) == (2, "")
    assert "the folders have no test case in common: other placements" in refused.err
    done = steelyard("compare", *both, "--despite", "placement", "--json")
    assert done.code == 0
    assert done.document["despite"] == ["placement (0|1 against cpus 1,0)"]
    unknown = steelyard("compare", *both, "--despite", "wishes")
    assert unknown.code == 2
    assert "--despite wishes is no condition; give placement, clock, transport, yields" in unknown.err


@pytest.mark.parametrize(
    ("envs", "names"),
    [
        (({"A": "1", "B": "x"}, {"A": "2", "B": "x"}), {"a": "A=1", "b": "A=2"}),
        (({}, {"A": "2"}), {"a": "A not given", "b": "A=2"}),
        (({"A": "-"}, {"A": "2"}), {"a": "A unset", "b": "A=2"}),
        (({"A": "1"}, {"B": "1"}), {"a": "A=1 B not given", "b": "A not given B=1"}),
        (({"module load": "ucx"}, {}), {"a": "module load ucx", "b": "module load nothing"}),
        (({"A": "1"}, {"A": "2"}, {"A": "1"}), {}),
        (({"A": "1"}, {"A": "1"}), {}),
    ],
)
def test_folders_are_named_by_the_variables_in_which_they_differ(
    envs: tuple[dict[str, str], ...], names: dict[str, str]
) -> None:
    folders = {name: [_row(env=env)] for name, env in zip("abc", envs, strict=False)}
    rivals = rivals_of(folders)
    assert variable_names(folders) == names
    assert len(rivals.cases) == 1
    assert rivals.variables == tuple(f"{folder}: {words}" for folder, words in names.items())


def test_a_folder_with_two_values_of_a_variable_has_no_name_by_it() -> None:
    rows = {"a": [_row(env={"A": "1"}), _row(env={"A": "2"})], "b": [_row(env={"A": "1"})]}
    assert variable_names(rows) == {}
    assert rivals_of(rows).missing == 1


def test_a_folder_of_several_placements_is_not_matched_at_random() -> None:
    rows = [_row(placed=Placement("cpus", (cpu,)), placement=f"cpus {cpu}") for cpu in (0, 1)]
    with pytest.raises(InputError, match="a holds several placements"):
        rivals_of({"a": rows, "b": rows[:1]}, ("placement",))


def test_the_report_says_what_it_does_not_compare(folders: Folders, tmp_path: Path) -> None:
    path = write_report(folders({}, {"clock": "tsc"}), tmp_path / "report.html")
    page = path.read_text(encoding="utf-8")
    assert "clock: monotonic against tsc" in page
    assert "Verdicts</summary>" not in page
