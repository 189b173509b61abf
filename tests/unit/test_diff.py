"""What two runs were set differently, and a campaign's plan as it is measured again."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import msgspec
import pytest
import typer

from make_records import FakePoint, steady, write_folder
from steelyard.base.errors import InputError
from steelyard.cli.diff import DiffOptions, RerunOptions, diff, flat_plan, rerun
from steelyard.judges.history.settings import differences, is_variable, settings_of
from steelyard.plan.plan import Measure, Plan, plan_document
from steelyard.plan.remeasure import plan_of
from steelyard.records.campaign_file import CampaignFile
from steelyard.records.job_file import JobFile
from steelyard.records.parts import LaunchMpi, Library
from steelyard.records.read import read_folder

_MACHINE = {"host": "a", "cpu_model": "fast", "kernel": "6.1", "cores": [[0], [1]]}


def _folder(folder: Path, machine: dict[str, Any] | None = None, **plan: Any) -> Path:
    document = plan_document(Plan(measure=(Measure(ops=("mpi.bcast",), bytes=8),), **plan))
    point = FakePoint("mpi.bcast", steady(1e3, count=20))
    return write_folder(folder, [point], launches=1, machine=_MACHINE | (machine or {}), plan=document)


def _rows(capsys: pytest.CaptureFixture[str], one: Path, other: Path) -> dict[str, tuple[str, str]]:
    with pytest.raises(typer.Exit) as ended:
        diff(DiffOptions(one, other, json=True))
    assert ended.value.exit_code == 1
    return {
        row["name"]: (row["first"], row["second"])
        for row in json.loads(capsys.readouterr().out)["differences"]
    }


def test_runs_that_are_set_alike(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    one, other = _folder(tmp_path / "one"), _folder(tmp_path / "other")
    diff(DiffOptions(one, other))
    assert "no setting differs" in capsys.readouterr().out


def test_what_differs_is_named(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    ports = [{"name": "ib0", "driver": "mlx5_core", "state": "up", "rate": "100000 Mb/s"}]
    one = _folder(tmp_path / "one", {"networks": ports})
    slow = [ports[0] | {"driver": "mlx4_core"}]
    other = _folder(tmp_path / "other", {"kernel": "6.2", "networks": slow}, launches=3, yield_="none")
    assert _rows(capsys, one, other) == {
        "plan launches": ("10", "3"),
        "plan yield": ("real", "none"),
        "kernel": ("6.1", "6.2"),
        "network ib0": ("mlx5_core, up, 100000 Mb/s", "mlx4_core, up, 100000 Mb/s"),
    }


def test_other_hosts_beside_the_first_differ(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    point = FakePoint("mpi.bcast", steady(1e3, count=20))
    one, other = (
        write_folder(tmp_path / second, [point], machine=_MACHINE, hosts=("a", second).__getitem__)
        for second in ("b", "c")
    )
    assert _rows(capsys, one, other) == {"hosts": ("a, b", "a, c")}


def test_hostile_words_are_shown_and_not_obeyed(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    one, other = _folder(tmp_path / "one"), _folder(tmp_path / "other", {"kernel": "\x1b[2J6.2"})
    with pytest.raises(typer.Exit):
        diff(DiffOptions(one, other))
    out = capsys.readouterr().out
    assert "\x1b" not in out
    assert "6.2" in out


def test_a_folder_without_a_campaign(tmp_path: Path) -> None:
    one = _folder(tmp_path / "one")
    with pytest.raises(InputError, match="there is no results folder"):
        diff(DiffOptions(one, tmp_path))
    with pytest.raises(InputError, match="there is no results folder"):
        rerun(RerunOptions(tmp_path))
    with pytest.raises(InputError, match="holds what is to be measured again; give --out another name"):
        rerun(RerunOptions(one, out=one))


@pytest.mark.parametrize(("given", "budget"), [(None, "90s"), ("5s", "5s")])
def test_a_campaign_is_measured_again_in_the_time_that_is_given(
    given: str | None, budget: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    planned: list[Plan] = []

    def measured(plan: Plan, folder: Path) -> str:
        planned.append(plan)
        return f"ended in {folder}"

    monkeypatch.setattr(f"{diff.__module__}.measure_and_show", measured)
    monkeypatch.setattr(f"{diff.__module__}.finish", lambda ended, folder: None)
    folder = _folder(tmp_path / "one", time_budget="90s")
    rerun(RerunOptions(folder, out=tmp_path / "again", time_budget=given, yes=True))
    assert [plan.time_budget for plan in planned] == [budget]
    with pytest.raises(InputError, match="soon"):
        rerun(RerunOptions(folder, out=tmp_path / "again", time_budget="soon", yes=True))


def _with_libraries(folder: Path, cvars: dict[str, float | str], **ids: str) -> list[JobFile]:
    """The files of a folder as if these libraries had been loaded, by the name of their file."""
    files = []
    for file in read_folder(folder):
        assert file.launch
        libraries = tuple(Library(f"/lib/{name}.so", known) for name, known in ids.items())
        launch = msgspec.structs.replace(
            file.launch, libraries=libraries, mpi=LaunchMpi(library="x", cvars=cvars) if cvars else None
        )
        files.append(msgspec.structs.replace(file, launch=launch))
    return files


def test_libraries_and_settings_of_mpi(tmp_path: Path) -> None:
    folder = _folder(tmp_path / "one")
    one = settings_of({}, _with_libraries(folder, {"btl": "tcp,self"}, libc="ab" * 20, libm="cd" * 20))
    other = settings_of({}, _with_libraries(folder, {"btl": "tcp,self"}, libc="ab" * 20, libm="ef" * 20))
    forced = settings_of({}, _with_libraries(folder, {"btl": "self"}, libc="ab" * 20, libm="cd" * 20))
    older = settings_of({}, _with_libraries(folder, {}))
    assert differences(one, other) == (("library libm.so", "cdcdcdcdcdcd", "efefefefefef"),)
    assert differences(one, forced) == (("btl", "tcp,self", "self"),)
    assert not [name for name, *_ in differences(older, one) if name.startswith("library")]


def test_flags_that_a_compiler_wrapper_adds(tmp_path: Path) -> None:
    """They are not those of build.json, and make other code."""
    build = {"compiler": "gcc 12.2.0", "flags": "-O2"}
    one, other = list[JobFile](), list[JobFile]()
    for file in read_folder(_folder(tmp_path / "one")):
        assert file.launch
        for files, own in ((one, build), (other, {**build, "added": "-O3 -ffast-math"})):
            files.append(
                msgspec.structs.replace(file, launch=msgspec.structs.replace(file.launch, build=own))
            )
    version = "0.1.0, gcc 12.2.0 -O2"
    assert differences(settings_of({}, one), settings_of({}, other)) == (
        ("engine", version, f"{version} -O3 -ffast-math"),
    )


def test_a_plan_as_settings() -> None:
    plan = {"launches": 3, "mpi": [], "measure": [{"ops": ["a"], "env": {"X": ["1", "-"]}, "threads": 1}]}
    assert flat_plan(plan) == {
        "plan launches": "3",
        "measure 1 ops": '["a"]',
        "measure 1 env X": '["1","-"]',
        "measure 1 threads": "1",
    }


def test_a_plan_that_is_measured_again_has_the_seed_that_was_drawn() -> None:
    plan = Plan(measure=(Measure(ops=("mpi.bcast",), bytes="8,1Ki", env={"A": ("1", "-")}),), launches=3)
    again = plan_of(CampaignFile(plan=plan_document(plan), seed=4711))
    assert again == msgspec.structs.replace(plan, seed=4711)
    with pytest.raises(InputError, match="holds no plan"):
        plan_of(CampaignFile(name="x", plan={"measure": 5}))


def test_a_campaign_names_no_file_to_be_read_again() -> None:
    """A campaign of ours has the delays themselves; one of a stranger might name any file."""
    plan = plan_document(Plan(measure=(Measure(ops=("mpi.bcast",)),)))
    assert plan_of(CampaignFile(plan=plan | {"arrivals": [[0.0, 5.0]]})).arrivals == ((0.0, 5.0),)
    with pytest.raises(InputError, match="names a file of arrivals and does not hold them"):
        plan_of(CampaignFile(plan=plan | {"arrivals": "/etc/passwd"}))


def test_what_was_set_comes_before_what_follows_from_it() -> None:
    """A variable that takes shared memory away unloads its libraries and is repeated by the MPI itself."""
    before = {
        "kernel": "6.1",
        "library libm.so": "a",
        "library vader.so": "b",
        "btl": "^uct",
        "library x": "c",
    }
    after = {"kernel": "6.2", "library libm.so": "z", "btl": "tcp", "library x": "c", "OMPI_MCA_btl": "tcp"}
    names = [name for name, _, _ in differences(before, after)]
    assert names == ["OMPI_MCA_btl", "kernel", "library libm.so", "btl", "library vader.so"]


@pytest.mark.parametrize(
    ("name", "is_one"),
    [
        *((name, True) for name in ("OMPI_MCA_btl", "UCX_TLS", "LD_PRELOAD", "MPIR_CVAR_CH4_IPC")),
        *(
            (name, False)
            for name in ("MPI library", "SMT", "CPU quota", "btl_tcp_eager_limit", "library a_b.so")
        ),
    ],
)
def test_variables_are_known_among_settings(name: str, is_one: bool) -> None:
    """`check` measures by turns with and without a variable that was set since the night before."""
    assert is_variable(name) is is_one


def test_the_plan_comes_first_and_what_another_mpi_states_last() -> None:
    """Forty variables of MPICH stood before the one line that said that it was not MPICH."""
    stated = {f"MPIR_CVAR_{name}": "1" for name in "AB"}
    one = {**stated, "plan mpi": "mpich", "MPI": "mpich-5.0.2", "measure 1 bytes": "8", "UCX_TLS": "tcp"}
    other = {"plan mpi": "openmpi", "MPI": "openmpi-4.1.4", "measure 1 bytes": "16"}
    names = [name for name, *_ in differences(one, other)]
    assert names == ["plan mpi", "measure 1 bytes", "UCX_TLS", "MPI", *stated]
    same = {**stated, "MPIR_CVAR_A": "2", "MPI": "mpich-5.0.2"}  # set by somebody
    assert [name for name, *_ in differences({**stated, "MPI": "mpich-5.0.2"}, same)] == ["MPIR_CVAR_A"]
