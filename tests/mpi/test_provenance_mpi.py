"""What a launch under MPI says of its libraries and of what was chosen for them."""

from __future__ import annotations

from pathlib import Path

import pytest

from points import engine_of, measure
from preloaded import build_preloaded
from scripts import script
from steelyard.engines.mpi import Mpi
from steelyard.records.schema import Launch

_POINT = ("op=mpi.wtime rule=fixed count=2",)
# What forces an algorithm of a broadcast, by family: a variable, its value, and how the library names it.
_FORCED = {
    "openmpi": ("OMPI_MCA_coll_tuned_bcast_algorithm", "binomial", "coll_tuned_bcast_algorithm"),
    "mpich": ("MPIR_CVAR_BCAST_INTRA_ALGORITHM", "binomial", "MPIR_CVAR_BCAST_INTRA_ALGORITHM"),
}
# Variables by family: three that it takes (a size, a truth, a name), and one that it does not know.
_GIVEN: dict[str, tuple[dict[str, str], dict[str, float | str], str]] = {
    "openmpi": (
        {
            "OMPI_MCA_btl_tcp_eager_limit": "64k",
            "OMPI_MCA_mpi_yield_when_idle": "yes",
            "OMPI_MCA_coll_tuned_bcast_algorithm": "binomial",
        },
        {
            "OMPI_MCA_btl_tcp_eager_limit": 65536,
            "OMPI_MCA_mpi_yield_when_idle": 1,
            "OMPI_MCA_coll_tuned_bcast_algorithm": "binomial",
        },
        "OMPI_MCA_btl_bogus",
    ),
    "mpich": (
        {"MPIR_CVAR_BCAST_SHORT_MSG_SIZE": "4097", "MPIR_CVAR_NOLOCAL": "yes"},
        {"MPIR_CVAR_BCAST_SHORT_MSG_SIZE": 4097, "MPIR_CVAR_NOLOCAL": 1},
        "MPIR_CVAR_BOGUS",
    ),
}
_RANK_ONE = """
[ "${OMPI_COMM_WORLD_RANK:-$PMI_RANK}" = 1 ] && export LD_PRELOAD=%s
exec "$@"
"""


def _launch(mpi: Mpi, out: Path, ranks: int = 1, before: tuple[str, ...] = ()) -> Launch:
    records = measure(engine_of(mpi), ranks, 1, _POINT, out, before)
    return next(record for record in records if isinstance(record, Launch))


def test_a_forced_algorithm_is_recorded(mpi: Mpi, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    if mpi.family not in _FORCED:
        pytest.skip(f"no algorithm of {mpi.family} is forced here")
    variable, value, name = _FORCED[mpi.family]
    own = _launch(mpi, tmp_path / "own.jsonl")
    assert own.mpi
    assert name not in own.mpi.cvars
    monkeypatch.setenv(variable, value)
    forced = _launch(mpi, tmp_path / "forced.jsonl")
    assert forced.mpi
    assert forced.mpi.cvars[name] not in (0, "", "auto")
    assert forced.environment[variable] == value
    assert any("libmpi" in library.path for library in forced.libraries)


def test_a_rank_with_another_library_is_noticed(one_mpi: Mpi, tmp_path: Path) -> None:
    (tmp_path / "other.c").write_text("int steelyard_test_of_libraries(void) { return 1; }\n")
    library = build_preloaded(engine_of(one_mpi), tmp_path / "other.c", tmp_path)
    before = script(tmp_path / "wrap", _RANK_ONE % library)
    launch = _launch(one_mpi, tmp_path / "out.jsonl", 2, (str(before),))
    assert [place.other_libraries for place in launch.places] == [False, True]
    assert not any(one.path == str(library) for one in launch.libraries)


def test_the_library_says_what_it_made_of_variables(
    mpi: Mpi, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    if mpi.family not in _GIVEN:
        pytest.skip(f"no variable of {mpi.family} is given here")
    given, has, unknown = _GIVEN[mpi.family]
    for name, value in {**given, unknown: "1"}.items():
        monkeypatch.setenv(name, value)
    launch = _launch(mpi, tmp_path / "out.jsonl")
    assert launch.mpi
    assert launch.mpi.given.items() >= has.items()
    assert unknown in launch.mpi.unknown
    assert not {*given, "OMPI_MCA_pml"} & {*launch.mpi.unknown}


def test_mpich_names_a_variable_whose_value_it_does_not_take(
    mpi: Mpi, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It fails before MPI_Init, in which it would crash."""
    if mpi.family != "mpich":
        pytest.skip("other MPIs say so in words of their own")
    monkeypatch.setenv("MPIR_CVAR_BCAST_INTRA_ALGORITHM", "bogus")
    said = "MPI_T_init_thread failed: .*; look at the value of MPIR_CVAR_BCAST_INTRA_ALGORITHM"
    with pytest.raises(AssertionError, match=said):
        _launch(mpi, tmp_path / "out.jsonl")
