"""The functions of the package: what they take and refuse, what is shown of results; nothing is measured."""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any, get_type_hints

import pytest

import steelyard
from make_records import FakePoint, steady, write_folder
from steelyard.base.errors import InputError
from steelyard.cli.run_options import RunOptions
from steelyard.plan.plan import Plan
from steelyard.session.requested_plan import MeasureOptions, plan_asked, python_words

_POINTS = (FakePoint("mpi.pingpong", steady(1e3), bytes=8), FakePoint("mpi.bcast", steady(5e3), bytes=64))
_OF_COMMANDS_ALONE = {"what", "out", "retry", "yes", "scatter", "to", "json", "dry_run"}
_OF_BATCH = {"batch", "account", "partition", "time", "batch_words"}


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_folder(tmp_path_factory.mktemp("session") / "mine", _POINTS, launches=3)


def test_the_package_offers_what_it_documents() -> None:
    public = {name for name in vars(steelyard) if not name.startswith("_") and name.islower()}
    functions = {name for name in public if inspect.isfunction(getattr(steelyard, name))}
    assert functions == {name for name in steelyard.__all__ if name.islower()}
    for name in steelyard.__all__:
        words = inspect.getdoc(getattr(steelyard, name)) or ""
        assert words, name
        assert not name.islower() or "Raises InputError" in words, name
    with pytest.raises(AttributeError, match="no attribute 'nothing'"):
        _ = steelyard.nothing


def test_each_option_of_run_is_a_keyword() -> None:
    renamed = {"param": "params", "bytes_": "bytes", "class_": "params"}
    options = {renamed.get(name, name) for name in RunOptions.__dataclass_fields__}
    assert options - _OF_COMMANDS_ALONE - _OF_BATCH == set(get_type_hints(MeasureOptions))


@pytest.mark.parametrize(
    ("given", "typed"),
    [
        ({"bytes": [8, 1024], "ranks": 2}, {"bytes": "8,1024", "ranks": "2"}),
        ({"bytes": "8,1Ki", "threads": (1, 2)}, {"bytes": "8,1Ki", "threads": "1,2"}),
        ({"params": {"window": [1, 64], "send": "isend"}}, {"params": ["window=1,64", "send=isend"]}),
        ({"env": {"A": "x,y", "B": ["1", "2"], "C": 3}}, {"env": ["A=x,y", "B=1", "B=2", "C=3"]}),
        ({"omp": {"wait_policy": ["active", "passive"]}}, {"omp": ["wait_policy=active,passive"]}),
        ({"mpi": "openmpi,mpich"}, {"mpi": ["openmpi,mpich"]}),
        ({"method": ["epoch", "barrier"]}, {"method": "epoch,barrier"}),
        ({"launches": 3, "seed": 0, "refine": True}, {"launches": 3, "seed": 0, "refine": True}),
    ],
)
def test_python_says_what_is_typed(given: dict[str, Any], typed: dict[str, Any]) -> None:
    here, there = plan_asked(["mpi.bcast"], python_words(given)), plan_asked(["mpi.bcast"], typed)
    assert here == there
    assert here != plan_asked(["mpi.bcast"], {})


def test_arms_are_one_factor() -> None:
    plan = plan_asked(["mpi.bcast"], python_words({"arms": {"mpi": ["openmpi", "mpich"]}}))
    assert isinstance(plan, Plan)
    assert plan.arms == {"mpi": ("openmpi", "mpich")}


_measure: Any = steelyard.measure
_load: Any = steelyard.load
_read: Any = steelyard.read
_compare: Any = steelyard.compare
_accept: Any = steelyard.accept
# What is called, and words of the sentence. `here` is a results folder.
_MISTAKES: list[tuple[Callable[[str], object], str]] = [
    (lambda here: _measure(), "measure what"),
    (lambda here: _measure(None), "measure what"),
    (lambda here: _measure([]), "what is an empty list"),
    (lambda here: _measure(""), "what is empty"),
    (lambda here: _measure(5), "what is a text or a list of texts, not 5 (int)"),
    (lambda here: _measure(b"mpi.bcast"), "not b'mpi.bcast' (bytes)"),
    (lambda here: _measure({"ops": "x"}), "(dict)"),
    (lambda here: _measure(["mpi.bcast", 3]), "what is a text, not 3 (int)"),
    (lambda here: _measure(["mpi.bcast", " "]), "what is empty"),
    (lambda here: _measure("mpi.bcst"), "mpi.bcst"),
    (lambda here: _measure("nowhere.toml"), "there is no plan nowhere.toml"),
    (lambda here: _measure("osu_latency"), "test of another suite"),
    (lambda here: _measure("self.empty", sizes=8), "measure takes no 'sizes'; did you mean 'bytes'?"),
    (lambda here: _measure("self.empty", n=2), "measure takes no 'n'; did you mean 'ranks'?"),
    (lambda here: _measure("self.empty", message_size=8), "no 'message_size'; did you mean 'bytes'?"),
    (
        lambda here: _measure(like="osu_latency -m 8:64 -i 100 -x 3", launches=2),
        "type: measure(like='osu_latency', launches=2, bytes='8..64', rule='fixed', params={'count': 100})",
    ),
    (
        lambda here: _measure(like="mpirun --mca pml ob1 -n 4 IMB-MPI1 Bcast Reduce"),
        "type: measure(like=['Bcast', 'Reduce'], ranks='2,4', env={'OMPI_MCA_pml': 'ob1'})",
    ),
    (lambda here: _measure("self.empty", byte=8), "did you mean 'bytes'"),
    (lambda here: _measure("self.empty", bytes=[]), "bytes is an empty list"),
    (lambda here: _measure("self.empty", bytes=""), "bytes is empty"),
    (lambda here: _measure("self.empty", bytes=object()), "bytes is a number, a text or a list"),
    (lambda here: _measure("self.empty", bytes=True), "not True (bool)"),
    (lambda here: _measure("self.empty", bytes="many"), "many"),
    (lambda here: _measure("self.empty", bytes=-1), "-1"),
    (lambda here: _measure("self.empty", ranks=0), "ranks"),
    (lambda here: _measure("self.empty", ranks=1.5), "1.5"),
    (lambda here: _measure("self.empty", ranks=None, threads=[None]), "threads is a number"),
    (lambda here: _measure("self.empty", launches="3"), "launches is a whole number, not '3' (str)"),
    (lambda here: _measure("self.empty", launches=2.0), "launches is a whole number"),
    (lambda here: _measure("self.empty", launches=True), "launches is a whole number"),
    (lambda here: _measure("self.empty", launches=0), "launches must be from 1"),
    (lambda here: _measure("self.empty", seed=-1), "seed must be 0 or more"),
    (lambda here: _measure("self.empty", seed="x"), "seed is a whole number"),
    (lambda here: _measure("self.empty", time_budget=5), "time_budget is a text, not 5 (int)"),
    (lambda here: _measure("self.empty", time_budget="soon"), "soon"),
    (lambda here: _measure("self.empty", precision="very"), "very"),
    (lambda here: _measure("self.empty", detect="2%"), "rivals"),
    (lambda here: _measure("self.empty", params="window=1"), "params is a dict"),
    (lambda here: _measure("self.empty", params={1: 2}), "a name in params is a text"),
    (lambda here: _measure("self.empty", params={"window": []}), "params window is an empty list"),
    (lambda here: _measure("self.empty", env=["A=1"]), "env is a dict"),
    (lambda here: _measure("self.empty", env={"A B": "1"}), "A B"),
    (lambda here: _measure("self.empty", omp={"nothing": "1"}), "nothing"),
    (lambda here: _measure("self.empty", arms={}), "one factor"),
    (lambda here: _measure("self.empty", arms={"mpi": ["a", "b"], "method": "x"}), "one factor"),
    (lambda here: _measure("self.empty", oversubscribe=1), "oversubscribe is True or False"),
    (lambda here: _measure("self.empty", yield_="sometimes"), "yield is 'real' or 'none'"),
    (lambda here: _measure("self.empty", engine="fast"), "engine is 'solo', 'mpi'"),
    (lambda here: _measure("self.empty", arrivals="nowhere"), "nowhere"),
    (lambda here: _measure("self.empty", on_event="print"), "on_event is a function"),
    (lambda here: _measure("self.empty", out=5), "out is the name of a file or folder"),
    (lambda here: _measure("self.empty", out=""), "out is empty"),
    (lambda here: _measure("self.empty", out="a\x1bb"), "control characters"),
    (lambda here: _measure("self.empty", retry_failed=True), "give out="),
    (lambda here: _measure("self.empty", here, retry_failed="yes"), "retry_failed is True or False"),
    (lambda here: _measure((), here, bytes=8), "goes on by its own plan; leave bytes out"),
    (lambda here: _measure((), here, trusted="yes"), "trusted is True or False"),
    (lambda here: _measure("self.empty", scatter=3), "scatter is the name"),
    (lambda here: _read("nowhere"), "there is no results folder 'nowhere'"),
    (lambda here: _read(None), "folder is the name of a file or folder"),
    (lambda here: _read(""), "folder is empty"),
    (lambda here: _load("nowhere"), "no results folder"),
    (lambda here: _load([]), "folders is an empty list"),
    (lambda here: _load(None), "folders is a folder or a list of folders"),
    (lambda here: _load([here, 5]), "folders is the name"),
    (lambda here: _load(here, rows=5), "rows is a text"),
    (lambda here: _load(here, rows="points"), "'cases' or 'launches' or 'samples'"),
    (lambda here: _load(f"{here}/campaign.json"), "is a file of a results folder"),
    (lambda here: _compare(), "compare what"),
    (lambda here: _compare(None), "folders is a folder"),
    (lambda here: _compare("nowhere"), "no results folder"),
    (lambda here: _compare(here), "by mpi there is only"),
    (lambda here: _compare(here, here), "would be compared with itself"),
    (lambda here: _compare(here, by=5), "by is a text"),
    (lambda here: _compare(here, by="moon"), "'moon' is no factor"),
    (lambda here: _compare(here, here, by="mpi"), "by compares within one folder"),
    (lambda here: _compare(here, despite=5), "despite is a text"),
    (lambda here: _compare(here, despite="moon"), "moon"),
    (lambda here: _compare(here, quantile="0.9"), "quantile is a number"),
    (lambda here: _compare(here, quantile=2), "2"),
    (lambda here: _compare(here, least="2%"), "least is a number"),
    (lambda here: _compare(here, margin=0), "margin is a percentage above 0"),
    (lambda here: _compare(here, false_alarm=float("nan")), "false_alarm is a percentage"),
    (lambda here: _accept("nowhere"), "no results folder"),
    (lambda here: _accept(5), "folder is the name"),
    (lambda here: _accept(here, here), "its own reference"),
    (lambda here: _accept(here, limits="nowhere.toml"), "nowhere.toml"),
    (lambda here: _compare(here, here, least=10**400), "least is too large a number"),
    (lambda here: _compare(here, by="a\nb"), "by 'a\\nb' has control characters"),
    (lambda here: _compare(here, despite="\x1b[1m"), "has control characters"),
    (lambda here: _load(here, rows="\0"), "has control characters"),
    (lambda here: _read("x" * 5000), "cannot be looked for: File name too long"),
    (lambda here: _accept(here, "x" * 300), "cannot be looked for: File name too long"),
    (lambda here: _load([here, Path("a\0b")]), "has control characters"),
    (lambda here: _read(here).table(5), "rows is a text, not 5"),
    (lambda here: _read(here).table(["cases"]), "rows is a text, not"),
    (lambda here: _read(here).table("points"), "'cases' or 'launches' or 'samples'"),
]


@pytest.mark.parametrize(("call", "words"), _MISTAKES, ids=[words for _, words in _MISTAKES])
def test_a_mistake_is_a_sentence(
    call: Callable[[str], object], words: str, folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    with pytest.raises(InputError, match=re.escape(words)) as found:
        call(str(folder))
    assert "\n" not in str(found.value)
    assert not (tmp_path / "results").exists()


def test_results_are_shown(folder: Path) -> None:
    results = steelyard.read(folder)
    assert repr(results) == f"Results('{folder}': 2 of 2 test cases measured)"
    for words in ("mpi.pingpong", "mpi.bcast", "64 B"):
        assert words in str(results)
        assert words in results._repr_html_()
    assert [row.op for row in results.rows] == ["mpi.pingpong", "mpi.bcast"]
    assert str(results).startswith(results.headline[0])


def test_results_are_their_rows(folder: Path) -> None:
    results = steelyard.read(folder)
    assert [row.op for row in results] == [row.op for row in results.rows] == ["mpi.pingpong", "mpi.bcast"]
    assert len(results) == 2


def test_folders_are_compared_as_the_command_does(folder: Path, tmp_path: Path) -> None:
    """A folder and one in which all takes twice as long; `Results` stand for their folders."""
    points = [replace(point, values=steady(2 * ns)) for point, ns in zip(_POINTS, (1e3, 5e3), strict=True)]
    slow = write_folder(tmp_path / "slow", points, launches=3)
    found = steelyard.compare(folder, steelyard.read(slow))
    assert [round(one.ratio or 0.0) for one in found.points if one.bytes] == [2, 2]
    assert {one.verdict for one in found.points} <= {"slower", "cannot tell"}


def test_a_folder_of_another_plan_is_judged_by_what_it_has(folder: Path) -> None:
    found = steelyard.accept(steelyard.read(folder))
    assert found.verdict in ("well", "not well", "cannot tell")
    assert found.verdict in {one.verdict for one in found.topics}


def test_html_of_a_stranger_is_text(tmp_path: Path) -> None:
    point = FakePoint("mpi.bcast", steady(1e3), bytes=8, mpi="<script>")
    page = steelyard.read(write_folder(tmp_path / "<b>", [point]))._repr_html_()
    assert "<script" not in page
    assert "&lt;script&gt;" in page
