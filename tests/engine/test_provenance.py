"""What a launch says it consists of, and which variables of the environment it keeps."""

from __future__ import annotations

import os
from pathlib import Path

from steelyard.engines.build import solo_engine
from steelyard.records.read import read_records
from steelyard.records.schema import Launch
from steelyard.system.process import run


def _launch(out: Path, **environment: str) -> Launch:
    words = ["op=self.empty", "rule=fixed", "count=2", "warm_up=brief"]
    done = run(
        [solo_engine().path, "run", "--out", str(out), *words], env={**os.environ, **environment}, timeout=60
    )
    assert done.code == 0, done.err
    return next(record for record in read_records(out).records if isinstance(record, Launch))


def test_libraries_are_known_by_the_build_ids_that_their_files_have(tmp_path: Path) -> None:
    launch = _launch(tmp_path / "out.jsonl")
    program, *libraries = launch.libraries
    assert program.path == ""
    assert any("libc." in library.path for library in libraries)
    for library in launch.libraries:
        assert library.build_id is not None
        assert bytes.fromhex(library.build_id) in Path(library.path or solo_engine().path).read_bytes()
    assert not any(place.other_libraries for place in launch.places)


def test_variables_are_kept_and_secrets_are_not(tmp_path: Path) -> None:
    kept = {"GLIBC_TUNABLES": "glibc.malloc.check=0", "OMP_DISPLAY_ENV": "false", "UCX_TLS": "tcp;$(rm)"}
    secret = {"FI_AUTH_KEY": "hunter2", "UCX_API_TOKEN": "hunter2", "I_MPI_MY_PASSWORD": "hunter2"}
    launch = _launch(tmp_path / "out.jsonl", **kept, **secret, MY_OWN="hunter2")
    assert launch.environment.items() >= kept.items()
    assert {name: launch.environment[name] for name in secret} == dict.fromkeys(secret, "***")
    assert "MY_OWN" not in launch.environment
    assert "hunter2" not in (tmp_path / "out.jsonl").read_text()
