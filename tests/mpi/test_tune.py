"""Files of algorithms with real libraries: one that helps is recommended, one that is not obeyed is not."""

from __future__ import annotations

from pathlib import Path

import pytest

from commands import steelyard_of
from further import further
from points import engine_of
from preloaded import build_preloaded
from steelyard.engines.mpi import choose_mpi

pytestmark = pytest.mark.xdist_group("waits")

# A library whose own choice is slow: 200 us more, unless an algorithm is forced or a variable names a file.
# `DEAF` makes it slow with the file, too, as a library that does not read it.
_SLOW = """
#include <mpi.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
static int is_set(const char *name)
{
    const char *value = getenv(name);
    return value && *value;
}
static int is_told(void)
{
    return is_set("OMPI_MCA_coll_tuned_bcast_algorithm") || is_set("MPIR_CVAR_BCAST_INTRA_ALGORITHM") ||
           (!is_set("DEAF") && (is_set("OMPI_MCA_coll_tuned_dynamic_rules_filename") ||
                                is_set("MPIR_CVAR_COLL_SELECTION_TUNING_JSON_FILE")));
}
int MPI_Bcast(void *data, int count, MPI_Datatype type, int root, MPI_Comm comm)
{
    static int told = -1;
    if (told < 0)
        told = is_told();
    struct timespec a, b;
    clock_gettime(CLOCK_MONOTONIC, &a);
    for (b = a; !told && (b.tv_sec - a.tv_sec) * 1e9 + b.tv_nsec - a.tv_nsec < 2e5;)
        clock_gettime(CLOCK_MONOTONIC, &b);
    return PMPI_Bcast(data, count, type, root, comm);
}
"""
_PLAN = """
name = "sweep"
launches = 4
oversubscribe = true
[[measure]]
ops = ["mpi.bcast"]
ranks = 2
bytes = "8,1Ki"
rule = "fixed"
method = "batch"
params = {{ count = 10, reps = 20 }}
exclude = [
    {{ env = {{ MPIR_CVAR_DEVICE_COLLECTIVES = "-", MPIR_CVAR_BCAST_INTRA_ALGORITHM = "binomial" }} }},
]
[measure.env]
LD_PRELOAD = "{library}"
{deaf}
{settings}
"""
_SETTINGS = {
    "openmpi": """
OMPI_MCA_coll_tuned_use_dynamic_rules = "1"
OMPI_MCA_coll_tuned_bcast_algorithm = ["-", "binomial"]
""",
    "embedded": """
MPIR_CVAR_DEVICE_COLLECTIVES = ["-", "none"]
MPIR_CVAR_BCAST_INTRA_ALGORITHM = ["-", "binomial"]
""",
}


@pytest.mark.parametrize(
    ("name", "is_deaf"),
    [further(name, is_deaf) for name in _SETTINGS for is_deaf in (False, True)],
)
def test_a_slow_choice_is_beaten_and_a_file_that_is_not_obeyed_is_not_recommended(
    name: str,
    is_deaf: bool,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    source = tmp_path / "slow.c"
    source.write_text(_SLOW)
    library = build_preloaded(engine_of(choose_mpi(name)), source, tmp_path)
    plan = tmp_path / "sweep.toml"
    deaf = 'DEAF = "1"' if is_deaf else ""
    plan.write_text(_PLAN.format(library=library, deaf=deaf, settings=_SETTINGS[name]))
    steelyard = steelyard_of(capsys, monkeypatch)
    out = tmp_path / "out"
    said = steelyard("tune", plan, "--mpi", name, "--launches", "8", "--out", out, "--json")
    (mpi,) = said.document["mpis"]
    slow = next(one for one in mpi["cases"] if one["bytes"] == 1024)
    assert slow["algorithm"] == "binomial"
    assert slow["sweep_ratio"] < 0.5
    if is_deaf:
        assert slow["verdict"] in ("same", "cannot tell")
        assert mpi["verdict"] in ("not recommended", "cannot tell")
        assert mpi["script"] == ""
    else:
        assert (slow["verdict"], slow["ratio"] < 0.5) == ("faster", True)
        assert Path(mpi["file"]).is_file()
    # what was measured is judged again, and nothing is measured twice
    again = steelyard("tune", plan, "--mpi", name, "--launches", "8", "--out", out)
    assert again.code == said.code
    assert f"{mpi['mpi']}: {mpi['verdict']}: " in " ".join(again.out.split())
