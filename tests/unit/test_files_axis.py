"""Folders for files: as an axis, as a campaign's own, and what rows say of them."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import msgspec
import pytest

from described import described
from flat_rows import made_row
from steelyard.base.diagnostic import checks_of, diagnose
from steelyard.base.errors import InputError
from steelyard.campaign.scratch_folders import own_folder, places_of, tidy, unanswered
from steelyard.diagnostics.results import files as files_checks
from steelyard.diagnostics.results.evidence import Evidence
from steelyard.engines.build import Engine
from steelyard.engines.description import ops_of
from steelyard.plan.engine_needed import needs_mpi
from steelyard.plan.plan import Measure, Plan
from steelyard.plan.resolve import resolve
from steelyard.plan.settings import read_around
from steelyard.records.campaign_file import FILES, CampaignFile, PlannedPoint
from steelyard.records.schema import End
from steelyard.results.load import Measured

_METHODS = [{"name": "barrier"}]
_COMMON: dict[str, Any] = {"class": "collective", "methods": ["barrier"], "default_method": "barrier"}
_OPS = [
    {"name": "file.pwrite", **_COMMON, "sized": True, "default_bytes": "4096", "role": "file"},
    {"name": "file.stat", **_COMMON, "sized": False, "role": "file"},
    {"name": "self.empty", **_COMMON, "sized": False},
]
_SAID = described(_OPS, _METHODS, [{"name": "median"}])


_BOTH = ops_of(_SAID, _SAID)


def _points(ops: str, files: str | tuple[str, ...] = (), ranks: int = 2) -> tuple[PlannedPoint, ...]:
    measure = Measure(ops=tuple(ops.split(",")), files=files, ranks=ranks)
    return resolve(Plan(measure=(measure,)), _BOTH, ["m"], 2)


def test_folders_are_an_axis_of_ops_of_files() -> None:
    points = _points("file.pwrite,self.empty", ("/a", "/b"))
    assert [(p.op, p.env) for p in points] == [
        ("file.pwrite", {FILES: "/a"}),
        ("file.pwrite", {FILES: "/b"}),
        ("self.empty", {}),
    ]
    assert places_of(points) == ("/a", "/b")


def test_they_need_no_mpi_on_one_host() -> None:
    assert [p.mpi for p in _points("file.*", "/a", ranks=3)] == [None, None]
    plan = Plan(measure=(Measure(ops=("file.*",), files="/a"),))
    assert not needs_mpi(plan, _SAID)
    assert needs_mpi(Plan(measure=(Measure(ops=("self.empty",), ranks=2),)), _SAID)


def test_without_a_folder_they_are_left_out() -> None:
    assert [p.op for p in _points("*")] == ["self.empty"]
    with pytest.raises(InputError, match=r"file\.pwrite needs a folder for its files; give one, as --files"):
        _points("file.*")
    with pytest.raises(InputError, match=r"self\.empty has no files; leave files out"):
        _points("self.empty", "/a")


@pytest.mark.parametrize("word", ["relative", "", "/a\x1b", "~/a"])
def test_a_folder_of_a_plan_is_an_absolute_path(word: str) -> None:
    with pytest.raises((InputError, ValueError)):
        Measure(ops=("file.pwrite",), files=word)


def test_a_folder_of_the_command_line_is_made_absolute(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    assert read_around({"files": ["a,/b", "../c"]})["files"] == (
        str(tmp_path / "a"),
        "/b",
        str(tmp_path.parent / "c"),
    )
    with pytest.raises(InputError, match="--files a,, has an empty value"):
        read_around({"files": ["a,,"]})


def test_a_campaign_has_a_folder_of_its_own(tmp_path: Path) -> None:
    one = CampaignFile(name="run", seed=1, created="2026-01-01", plan={}, points=(), machine={"host": "a"})
    others = (
        msgspec.structs.replace(one, seed=2),
        msgspec.structs.replace(one, created="2026-01-02"),
        msgspec.structs.replace(one, machine={"host": "b"}),
    )
    own = own_folder("/data", tmp_path, one)
    assert own.startswith("/data/steelyard-files-")
    assert own == own_folder("/data", tmp_path / "x" / "..", one)
    names = {
        own,
        own_folder("/data", tmp_path / "x", one),
        *(own_folder("/data", tmp_path, c) for c in others),
    }
    assert len(names) == 5


def test_what_files_are_on_is_read() -> None:
    text = '{"record":"end","point":0,"status":"ok","files":{"folder":"/a","type":"ext4"}}'
    end = msgspec.json.decode(text, type=End)
    assert end.files is not None
    assert (end.files.type, end.files.options, end.files.free_bytes) == ("ext4", None, None)


@pytest.mark.parametrize(("share", "found"), [(0.0, True), (0.4, True), (1.0, False), (None, False)])
def test_a_cold_read_that_came_from_memory_is_named(share: float | None, found: bool) -> None:
    rows = (made_row(op="file.pread.cold", method="batch", from_storage=share, file_system="tmpfs"),)
    said = diagnose(checks_of(files_checks), Evidence(Measured(Path("x"), CampaignFile(), (), ()), rows))
    assert [one.name for one in said] == ["read-from-memory"] * found
    assert all("from storage, on tmpfs" in one.evidence for one in said)


def test_measures_that_need_files_are_left_out_without_them() -> None:
    """And a folder that is given to a whole plan is meant for its measures of files."""
    measures = (Measure(ops=("self.empty",)), Measure(ops=("file.pwrite",), if_files=True))
    assert [p.op for p in resolve(Plan(measure=measures), _BOTH, ["m"], 2)] == ["self.empty"]
    given = tuple(msgspec.structs.replace(one, files="/a") for one in measures)
    points = resolve(Plan(measure=given), _BOTH, ["m"], 2)
    assert [(p.op, p.env) for p in points] == [("self.empty", {}), ("file.pwrite", {FILES: "/a"})]
    with pytest.raises(InputError, match=r"self\.empty has no files; leave files out"):
        resolve(Plan(measure=(given[0], given[0])), _BOTH, ["m"], 2)
    with pytest.raises(
        InputError, match=r"all measures of the plan run need a folder .*; give one, as --files"
    ):
        resolve(Plan(measure=measures[1:]), _BOTH, ["m"], 2)


@pytest.mark.parametrize(
    "remove", [lambda *told: tidy(told[0], [told[1]]), unanswered], ids=["tidy", "unanswered"]
)
def test_what_removes_files_ends_with_us(
    remove: Callable[[Engine, str], object], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Else that of a killed run would remove the files of the next one, which have the same names."""
    monkeypatch.setattr("steelyard.system.process.die_with", lambda _: (tmp_path / "told").touch())
    assert not remove(Engine("/bin/true", "solo", None), str(tmp_path / "files"))
    assert (tmp_path / "told").exists()
