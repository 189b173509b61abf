"""Results of a sweep over algorithms, made up: the library's own choice, and another."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path

from make_records import FakePoint, steady, write_folder
from steelyard.session.results import Results, read_results

MPI, FORCED = "openmpi-4.1.4", "OMPI_MCA_coll_tuned_bcast_algorithm"
SIZES = (8, 1024)
US = 1e3


def made_sweep(
    folder: Path,
    points: Sequence[FakePoint],
    env: Sequence[Mapping[str, str]],
    launches: int,
    planned: int = 0,
) -> Results:
    """Results with variables of the launches, which made-up points have not."""
    whole = {"measure": [{"ops": ["mpi.bcast"]}], "launches": planned or launches}
    write_folder(folder, points, launches=launches, plan=whole)
    path = folder / "campaign.json"
    campaign = json.loads(path.read_bytes())
    for point, own in zip(campaign["points"], env, strict=True):
        point["env"] = dict(own)
    path.write_text(json.dumps(campaign))
    return read_results(folder)


def sweep_of(
    folder: Path, usual: float = 100 * US, forced: float = 40 * US, launches: int = 6, planned: int = 0
) -> Results:
    """The library's own choice takes `usual` at 1 KiB, the binomial one `forced`; at 8 B both are alike."""
    times = {(8, "-"): 2 * US, (8, "binomial"): 2 * US, (1024, "-"): usual, (1024, "binomial"): forced}
    points = [
        FakePoint("mpi.bcast", steady(time, count=30), bytes=size, mpi=MPI)
        for (size, _), time in times.items()
    ]
    return made_sweep(folder, points, [{FORCED: value} for _, value in times], launches, planned)
