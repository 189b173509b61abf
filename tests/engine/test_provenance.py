"""What a launch says it consists of, and which variables of the environment it keeps."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from commands import FIXED, steelyard_of
from scripts import script
from steelyard.engines.build import solo_engine
from steelyard.records.read import read_folder, read_records
from steelyard.records.schema import Launch
from steelyard.records.sealing import Seal, read_seal
from steelyard.system.process import run


def _launch(out: Path, **environment: str) -> Launch:
    words = ["op=self.empty", "rule=fixed", "count=2", "warm_up=brief"]
    done = run(
        [solo_engine().path, "run", "--out", str(out), *words], env={**os.environ, **environment}, timeout=600
    )
    assert done.code == 0, done.err
    return next(record for record in read_records(out).records if isinstance(record, Launch))


def test_each_line_has_its_number_and_its_checksum(tmp_path: Path) -> None:
    """A short line, and one of a chunk that no buffer of the C library holds."""
    words = ["op=self.empty", "rule=fixed", "count=2000", "warm_up=brief"]
    out = tmp_path / "out.jsonl"
    assert run([solo_engine().path, "run", "--out", str(out), *words], timeout=600).code == 0
    lines = out.read_bytes().splitlines()
    assert max(map(len, lines)) > 8192
    assert [read_seal(line) for line in lines] == [Seal(n + 1, True) for n in range(len(lines))]


def test_libraries_are_known_by_the_build_ids_that_their_files_have(tmp_path: Path) -> None:
    launch = _launch(tmp_path / "out.jsonl")
    program, *libraries = launch.libraries
    assert program.path == ""
    assert any("libc." in library.path for library in libraries)
    for library in launch.libraries:
        assert library.build_id is not None
        assert bytes.fromhex(library.build_id) in Path(library.path or solo_engine().path).read_bytes()
    assert not any(place.other_libraries for place in launch.places)


def test_a_library_without_a_build_id_is_known_by_its_contents(tmp_path: Path, compiler: str) -> None:
    found: list[str | None] = []
    for name, answer in (("one", 42), ("one", 42), ("two", 43)):
        folder = tmp_path / f"{name}{len(found)}"
        folder.mkdir()
        (folder / "x.c").write_text(f"int answer(void) {{ return {answer}; }}\n")
        library = folder / "libx.so"
        words = ["-shared", "-fPIC", "-O1", "-Wl,--build-id=none", "-o", str(library), str(folder / "x.c")]
        assert run([compiler, *words], timeout=600).code == 0
        launch = _launch(folder / "out.jsonl", LD_PRELOAD=str(library))
        own = next(one for one in launch.libraries if one.path == str(library))
        assert own.build_id is None
        assert all(one.hash is None for one in launch.libraries if one.build_id)
        found.append(own.hash)
    assert found[0] is not None
    assert found[0] == found[1] != found[2]


def test_variables_are_kept_and_secrets_are_not(tmp_path: Path) -> None:
    kept = {"GLIBC_TUNABLES": "glibc.malloc.check=0", "OMP_DISPLAY_ENV": "false", "UCX_TLS": "tcp;$(rm)"}
    secret = {"FI_AUTH_KEY": "hunter2", "UCX_API_TOKEN": "hunter2", "I_MPI_MY_PASSWORD": "hunter2"}
    inside = {"FI_PROXY": "http://u:hunter2@h:1/", "UCX_LOG_FILE": "/x?access_token=hunter2"}
    launch = _launch(tmp_path / "out.jsonl", **kept, **secret, **inside, MY_OWN="hunter2")
    assert launch.environment.items() >= kept.items()
    assert {name: launch.environment[name] for name in secret} == dict.fromkeys(secret, "***")
    assert [launch.environment[name] for name in inside] == ["http://***@h:1/", "/x?access_token=***"]
    assert "MY_OWN" not in launch.environment
    assert "hunter2" not in (tmp_path / "out.jsonl").read_text()


@pytest.mark.parametrize("value", ["bogus", "passive"])
def test_a_variable_that_openmp_rejects_is_told(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], value: str
) -> None:
    monkeypatch.setenv("OMP_WAIT_POLICY", value)
    words = ("omp.barrier", "--threads", "2", "--oversubscribe", *FIXED, "--out", tmp_path / "out")
    said = steelyard_of(capsys, monkeypatch)("run", *words)
    assert said.code == 0, said.err
    (file,) = read_folder(tmp_path / "out")
    assert "OMP_WAIT_POLICY" in file.job.given
    words_said = " ".join(said.err.split())
    assert (f"OMP_WAIT_POLICY={value} for a launch without MPI" in words_said) == (value == "bogus")
    told = [name for watch in file.watches for name in watch.complaints]
    assert told == (["OMP_WAIT_POLICY"] if value == "bogus" else [])


def test_what_a_layer_says_of_a_variable_on_stdout_is_told(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """As UCX does."""
    monkeypatch.setenv("UCX_NET_DEVICES", "nic9")
    line = "UCX  WARN  network device 'nic9' is not available"
    program = script(tmp_path / "wrap", f'echo "{line}"; exec "$@"')
    words = ("self.empty", *FIXED, "--wrapper", program, "--out", tmp_path / "out")
    said = steelyard_of(capsys, monkeypatch)("run", *words)
    assert said.code == 0, said.err
    (file,) = read_folder(tmp_path / "out")
    assert [watch.complaints for watch in file.watches if watch.complaints] == [{"UCX_NET_DEVICES": line}]
