"""OpenSHMEM: its engine and team, with what is found on this machine."""

from __future__ import annotations

from pathlib import Path

import pytest

from ends import all_are_right, ends_of
from points import measure
from steelyard.base.errors import InputError
from steelyard.engines.build import Engine, mpi_engine
from steelyard.engines.shmem import choose_shmem
from steelyard.records.schema import Launch


@pytest.fixture(autouse=True)
def shmem(monkeypatch: pytest.MonkeyPatch) -> Engine:
    """The engine for this machine's OpenSHMEM. Open MPI's crashes at its end with the component uct."""
    monkeypatch.setenv("OMPI_MCA_btl", "^uct")
    try:
        return mpi_engine(choose_shmem(None))
    except InputError as why:
        pytest.skip(str(why))


@pytest.mark.parametrize("ranks", [2, 3])
def test_methods_line_up_ranks_of_openshmem(shmem: Engine, tmp_path: Path, ranks: int) -> None:
    """Messages longer than a slot go with `keep`, which gathers all ranks' timestamps."""
    lines = [f"op=self.spin method={method} rule=fixed count=600" for method in ("batch", "barrier")]
    records = measure(shmem, ranks, 1, lines, tmp_path / "x.jsonl", words=("--keep", "ranks"))
    all_are_right(lines, ends_of(records, len(lines)))
    (launch,) = (one for one in records if isinstance(one, Launch))
    assert (launch.engine, launch.ranks, launch.mpi) == ("shmem", ranks, None)
    assert launch.shmem is not None
    assert launch.shmem.thread_level in ("single", "multiple")
