"""The start and the end of jobs: by launcher and ranks, of the slowest rank."""

from __future__ import annotations

import msgspec
import pytest

from macro_rows import row
from steelyard.analyses.analysis import Made
from steelyard.analyses.job_start.answers import start_answers
from steelyard.analyses.job_start.model import start_times
from steelyard.analyses.job_start.tables import start_tables
from steelyard.analyses.registry import analysis_tables, answers_across, answers_of, tables_across
from steelyard.records.parts import Place
from steelyard.render.terminal import Paper, table_text
from steelyard.results.facets import JobStart
from steelyard.results.facets.job_start import before_init
from steelyard.results.row import Row


def _row(op: str, ranks: int, init: float, launcher: str = "hydra") -> Row:
    began = JobStart(
        launcher=launcher,
        launch=7e7,
        launch_low=6e7,
        launch_high=8e7,
        exec_to_main=1e7,
        main_to_init=2e5,
        init=init,
        init_low=0.9 * init,
        init_high=1.1 * init,
        finalize=3e6,
    )
    plain = row(op, "mpich-5.0.2", [5e7, 6e7, 5e7], ranks=ranks)
    return msgspec.structs.replace(plain, facets=(*plain.facets, began))


def test_a_line_is_of_the_launches_of_init_and_has_the_job_beside_it() -> None:
    rows = [_row("mpi.first.job", 2, 9e7), _row("mpi.first.init", 2, 2e7), _row("mpi.first.init", 4, 4e7)]
    two, four = start_times(rows)
    assert (two.ranks, two.init.value, four.ranks, four.init.value) == (2, 2e7, 4, 4e7)
    assert two.job is not None
    assert two.job.value == pytest.approx(rows[0].time)
    assert four.job is None


def test_launchers_have_lines_of_their_own() -> None:
    found = start_times([_row("mpi.first.init", 2, 2e7), _row("mpi.first.init", 2, 5e7, "srun-pmi2")])
    assert [(one.launcher, one.init.value) for one in found] == [("hydra", 2e7), ("srun-pmi2", 5e7)]


def test_the_table_fits_a_screen_and_needs_starts() -> None:
    assert start_times([row("mpi.barrier", "a", [1.0, 2.0])]) == ()
    assert start_tables(()) == ()
    rows = [_row("mpi.first.init", ranks, 2e7 * ranks) for ranks in (2, 4, 8)]
    (table,) = start_tables(start_times([*rows, _row("mpi.first.job", 2, 9e7)]))
    text = table_text(table, Paper(80, is_pipe=False))
    assert max(map(len, text.splitlines())) <= 80
    assert "160 ms" in text
    assert "70.0 ms" in text
    assert "Finalize" in text


def test_the_start_of_mpi_is_one_answer_by_launcher_on_the_most_ranks() -> None:
    rows = [_row("mpi.first.init", 2, 2e7), _row("mpi.first.init", 4, 4e7)]
    rows += [_row("mpi.first.init", 4, 8e7, "srun-pmi2"), _row("mpi.first.job", 4, 9e7)]
    (said,) = start_answers(start_times(rows))
    assert said.startswith("MPICH 5.0.2 on 4 ranks: MPI_Init takes 40.0 ms by hydra, 80.0 ms by srun-pmi2; ")
    assert said.endswith("from main to the end of the first allreduce 36.0 ms – 84.8 ms by hydra.")


def test_a_variable_that_was_unset_is_said_to_be() -> None:
    each = (
        msgspec.structs.replace(_row("mpi.first.init", 2, 2e7), env={"UCX_TLS": word})
        for word in ("-", "tcp")
    )
    unset, tcp = start_answers(start_times(list(each)))
    assert unset.startswith("MPICH 5.0.2 on 2 ranks (UCX_TLS unset): ")
    assert tcp.startswith("MPICH 5.0.2 on 2 ranks (UCX_TLS=tcp): ")


def test_several_folders_have_one_table_and_one_answer() -> None:
    """Two were started alike: their folders tell them apart."""
    each = {"old": 2e7, "new": 3e7, "slurm": 5e7}
    folders = {
        name: Made([_row("mpi.first.init", 2, init, "srun-pmi2" if name == "slurm" else "hydra")])
        for name, init in each.items()
    }
    (table,) = tables_across(folders)
    assert [line.cells[:2] for line in table.lines] == [
        ("old", "hydra"),
        ("new", "hydra"),
        ("slurm", "srun-pmi2"),
    ]
    (said,) = answers_across(folders)
    assert said == (
        "MPICH 5.0.2 on 2 ranks: MPI_Init takes 20.0 ms by hydra in old, 30.0 ms by hydra in new, 50.0 ms by "
        "srun-pmi2."
    )
    for name, made in folders.items():
        assert not [one for one in analysis_tables(made, name) if one.title.startswith(table.title)]
        assert answers_of(made, is_one_of_several=True)[0] == ()
        assert not answers_of(made, is_one_of_several=True)[1].rows


def test_the_time_before_init_is_without_it() -> None:
    assert before_init(Place(rank=0, host="h", main_to_init_ns=900, init_ns=700)) == 200
    assert before_init(Place(rank=0, host="h", init_ns=700)) is None
