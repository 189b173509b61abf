"""Command lines of OSU and IMB, as their users type them, and what measures the same here."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from commands import steelyard_of
from steelyard.cli import under_launcher

_OF = "steelyard run --like"


@pytest.mark.parametrize(
    ("words", "typed"),
    [
        ("osu_latency -m 8:1024", "osu_latency --bytes 8..1024"),
        ("osu_latency -m 100", "osu_latency --bytes 1..64"),
        ("osu_latency -m 0:", "osu_latency --bytes 0..4194304"),
        ("osu_allreduce -m 1:64 -i 100", "osu_allreduce --bytes 1..64 --rule fixed --param count=100"),
        ("osu_allreduce -m 2:64 -T mpi_float", "osu_allreduce --bytes 4..64 --param type=float"),
        ("OSU_BCAST -T MPI_CHAR --root-rank 1 -n 4", "osu_bcast --param root=1 -n 4"),
        ("/opt/osu/osu_latency_mt -t 4", "osu_latency_mt --threads 4"),
        ("osu_get_latency -s pscw", "osu_get_latency --param sync=pscw --param complete=close"),
        ("run --like osu_bw -W 8", "osu_bw --param window=8"),
        ("run osu_bw -W 8 --env TOKEN=x", "osu_bw --param window=8 --env 'TOKEN=***'"),
        ("srun -n4 osu_bcast", "osu_bcast -n 4"),
        ("srun --ntasks=4 osu_bcast", "osu_bcast -n 4"),
        ("srun -n 4 -c 8 osu_bcast", "osu_bcast -n 4"),
        ("IMB-MPI1 PingPong -thread_level MULTIPLE", "PingPong --thread-level multiple"),
        ("srun -c8 -n 4 osu_bcast", "osu_bcast -n 4"),
        ("mpiexec -c 4 osu_bcast", "osu_bcast -n 4"),
        ("mpiexec -genv UCX_TLS sm -n 2 osu_bcast", "osu_bcast -n 2 --env UCX_TLS=sm"),
        ("mpirun --mca pml ob1 -np 8 IMB-MPI1 bcast -npmin 2", "Bcast -n 2,4,8 --env OMPI_MCA_pml=ob1"),
        ("mpirun -np 6 IMB-MPI1 PingPong Bcast", "PingPong,Bcast -n 2,4,6"),
        ("mpirun -np 6 IMB-MPI1 PingPong", "PingPong -n 2"),
        ("IMB-MPI1 PingPong -msglog 0", "PingPong --bytes 0,1"),
        ("IMB-MPI1 Allreduce -msglog 5", "Allreduce --bytes 0,4..32"),
        ("IMB-NBC Ibcast -npmin 4 -iter 50,40,30", "Ibcast -n 4 --rule fixed --param count=50"),
        ("IMB-MPI1 Bcast -time 2 -root_shift on", "Bcast --param most_seconds=2 --param roots=rotate"),
    ],
)
def test_what_measures_the_same(
    words: str, typed: str, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    said = steelyard_of(capsys, monkeypatch)(*words.split())
    masked = typed.replace("'TOKEN=***'", 'TOKEN="$TOKEN"')
    assert (said.code, said.err.rpartition("type: ")[2].strip()) == (2, f"{_OF} {masked}")


@pytest.mark.parametrize(
    ("words", "told"),
    [
        ("osu_bw -d cuda", "for -d, buffers are in the memory of the host"),
        ("osu_bw D D", "for D, buffers are in the memory of the host"),
        ("osu_bw H H -m 4:2", "for H, leave it out; for -m, sizes are --bytes"),
        ("osu_bw -x 10 --nonsense 3", "for -x, warm-up ends when"),
        (
            "Allreduce -msglen FILE",
            "FILE cannot be read (No such file or directory); give another one; sizes are --bytes",
        ),
        ("mpirun -n 2 --bind-to core osu_bw", "for --bind-to, places are --placement"),
        ("osu_bw -m", "for -m, sizes are"),
        ("IMB-MPI1", "is a suite of 26 tests; give --like"),
        ("syncbench", "is a suite of 12 tests; give --like"),
        ("stream", "whose programs are ops here; type: steelyard run 'mem.*'"),
        ("accept -N 4", "there is no -N here: hosts are --hosts 1,8"),
        ("accept --env A=1", "there is no --env here: what is measured with a variable"),
        ("list osu_", "nothing here is called 'osu_'; write 'osu_*'; 'steelyard list' names all"),
        ("run openmp --threads 2", "write it into a copy of"),
        ("mpirun -n 2 ./a.out", "no such command 'mpirun'"),
    ],
)
def test_what_there_is_not_is_told(
    words: str, told: str, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    said = steelyard_of(capsys, monkeypatch)(*words.split())
    assert said.code == 2
    assert told in said.err


def test_sizes_of_a_file_of_imb_are_those_to_type(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    file = tmp_path / "lengths"
    answer = steelyard_of(capsys, monkeypatch)
    for text, typed in (
        (
            "# mine\n0\n8\n\n16\n64K\n1 M\n",
            "type: steelyard run --like PingPong --bytes 0,8..16,65536,1048576",
        ),
        (
            "8\neight\n",
            f"for -msglen, line 2 of {file} is no size: 'eight'; sizes are --bytes 0,8,1Ki; type:",
        ),
        ("# nothing\n", f"for -msglen, {file} has no size; sizes are"),
    ):
        file.write_text(text)
        said = answer("run", "--like", f"IMB-MPI1 PingPong -msglen {file}")
        assert typed in said.err
        assert (said.code, "for -msglen" in said.err) == (2, "64K" not in text)


def test_one_rank_of_several_answers(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(under_launcher, "_PAUSE_S", 0.0)
    monkeypatch.setenv("OMPI_COMM_WORLD_SIZE", "2")
    for words in ("osu_latency -m 8:1024", "IMB-MPI1 PingPong -npmin 2", "mpi.bcast", "run mpi.bcast --none"):
        for rank in "01":
            monkeypatch.setenv("OMPI_COMM_WORLD_RANK", rank)
            said = steelyard_of(capsys, monkeypatch)(*words.split())
            assert said.code == 2
            assert (said.err == "") == (rank == "1"), (words, sys.argv)
            assert rank == "1" or "--none" in words or " -n 2" in said.err
