"""Campaigns over virtual hosts that share no folder of the engine: `--stage`, pairs of hosts."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from hosts import Hosts, hosts
from on_hosts import skip_without_hosts, steelyard_on, typed_on
from steelyard.analyses.hosts.model import host_matrices
from steelyard.engines.mpi import choose_mpi
from steelyard.records.command_line import launcher_alone
from steelyard.records.read import read_folder
from steelyard.results.rows import results
from steelyard.system.process import Done

pytestmark = [pytest.mark.ours, pytest.mark.further]


@pytest.fixture(autouse=True)
def _can_be() -> None:
    skip_without_hosts()


def _steelyard(bed: Hosts, *words: str) -> Done:
    """With a cache that the other hosts do not see."""
    return steelyard_on(bed, *words, STEELYARD_CACHE=f"{Path(bed.agent).parent}/tmp/cache")


@pytest.mark.parametrize("mpi", ["openmpi", "embedded"])
def test_hosts_that_do_not_see_the_engine(tmp_path: Path, mpi: str) -> None:
    out = tmp_path / "out"
    words = [
        "run",
        "mpi.pingpong",
        "--bytes=8",
        f"--mpi={mpi}",
        "--launches=1",
        "--rule=fixed",
        "--param=count=3",
    ]
    words += ["--placement=hosts-each", "--clock=monotonic", f"--out={out}"]
    with hosts(2, (250, 750)) as bed:
        stage = f"{Path(bed.agent).parent}/tmp/stage"
        refused = _steelyard(bed, *words, "--stage=/proc/nowhere")
        assert refused.code == 2, refused.err
        assert "the engine could not be brought to the host h1 into /proc/nowhere" in refused.err
        done = _steelyard(bed, *words, f"--stage={stage}")
        other = next(file for file in read_folder(out) if len(set(file.job.hosts)) > 1)
        alone = typed_on(bed, launcher_alone(other.job))
    assert (alone.code, sorted(alone.out.split())) == (0, ["h1", "h2"]), alone.err
    assert done.code == 0, done.out + done.err
    assert f"to 2 hosts, into {stage}/steelyard-" in done.err
    files = {file.job.placement: file for file in read_folder(out)}
    assert set(files) == {"same-host h1,h1", "other-host h1,h2"}
    for file in files.values():
        assert file.launch is not None
        assert file.job.engine.startswith(stage)
        assert [place.host for place in file.launch.places] == (file.job.placement or "").split()[1].split(
            ","
        )
        assert not any(place.other_libraries for place in file.launch.places)
    assert "other_host" in done.out  # as a pipe has it


@pytest.mark.parametrize("mpi", ["openmpi", "mpich"])
def test_a_host_without_the_engine_is_told_and_not_waited_for(tmp_path: Path, mpi: str) -> None:
    if choose_mpi(mpi).origin == "embedded":
        pytest.skip("its engine stands beside it, where all hosts of the bed see it")
    words = ("run", "mpi.pingpong", "--bytes=8", f"--mpi={mpi}", "--hosts=2", "--launches=1")
    with hosts(2) as bed:
        done = _steelyard(bed, *words, "--hang-after=1000s", f"--out={tmp_path / 'out'}")
    assert done.code == 3, done.err
    assert "cannot be run on h2; --stage brings the engine there" in " ".join(done.err.split())


def test_each_pair_of_hosts_in_rounds(tmp_path: Path) -> None:
    """Three hosts meet in three rounds of one launch, one of them waiting in each."""
    out = tmp_path / "out"
    words = [
        "run",
        "mpi.pattern.round_robin",
        "--hosts=3",
        "--ranks-per-host=1",
        "--param=round=*",
        "--bytes=8",
    ]
    words += ["--method=each", "--mpi=openmpi", "--launches=1", "--rule=fixed", "--param=count=20"]
    with hosts(3) as bed:
        unseen = _steelyard(bed, *words, f"--out={tmp_path / 'unseen'}")
        assert unseen.code == 3, unseen.err
        assert "cannot be run on h" in unseen.err
        assert "--stage brings the engine there" in unseen.err
        stage = f"--stage={Path(bed.agent).parent}/tmp/stage"
        done = _steelyard(bed, *words, stage, f"--out={out}")
    assert done.code == 0, done.out + done.err
    (file,) = read_folder(out)
    assert file.job.hosts == ("h1", "h2", "h3")
    (matrix,) = host_matrices(results(out))
    assert sorted(matrix.hosts) == ["h1", "h2", "h3"]
    assert len(matrix.ends) == len(matrix.ns) == 3  # each pair once
    assert np.isfinite(matrix.ns).all()
    assert "from host to host" in done.out
    assert "From host to host" in (out / "report.html").read_text()
