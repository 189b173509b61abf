"""Checks of what the system gave to launches, on folders whose jobs recorded other settings."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from make_records import FakePoint, steady, write_folder
from record_lines import unsealed
from steelyard.base.diagnostic import Diagnostic
from steelyard.diagnostics.results import diagnostics
from steelyard.results.load import load
from steelyard.results.rows import rows_of

MIB = 1 << 20
PINGPONG = FakePoint("mpi.pingpong", steady(900.0), mpi="openmpi-4.1.4")
SOLO = FakePoint("mem.read", steady(900.0), ranks=1, mpi=None)
SPIN = FakePoint("self.spin", steady(900.0), role="instrument")


def _found(
    folder: Path,
    point: FakePoint,
    job: dict[str, Any] | None = None,
    launch: dict[str, Any] | None = None,
    **options: Any,
) -> dict[str, Diagnostic]:
    """The diagnostics of a folder whose job and launch records have these keys, too."""
    write_folder(folder, [point], launches=6, **options)
    for path in (folder / "records").iterdir():
        first, second, *rest = unsealed(path.read_text()).splitlines()
        heads = [
            json.dumps(json.loads(line) | (more or {})) for line, more in ((first, job), (second, launch))
        ]
        path.write_text("\n".join([*heads, *rest, ""]))
    measured = load(folder)
    return {one.name: one for one in diagnostics(measured, rows_of(measured))}


def _settings(**told: Any) -> dict[str, Any]:
    return {"settings": told}


@pytest.mark.parametrize(
    ("name", "point", "job", "words"),
    [
        ("shared-memory", PINGPONG, _settings(shm_bytes=[MIB, MIB]), "1 MiB of 1 MiB free in /dev/shm for 2"),
        ("shared-memory", PINGPONG, _settings(shm_bytes=[64 * MIB, 31 * MIB]), "31 MiB of 64 MiB free"),
        ("shared-memory", PINGPONG, _settings(shm_bytes=[64 * MIB, 32 * MIB]), None),
        ("shared-memory", PINGPONG, _settings(shm_bytes="much"), None),
        ("shared-memory", PINGPONG, _settings(), None),
        ("shared-memory", SOLO, _settings(shm_bytes=[MIB, MIB]), None),
        ("shared-memory", SPIN, _settings(shm_bytes=[MIB, MIB]), None),
        ("quota", PINGPONG, _settings(cpu_quota=1.5), "the time of 1.5 CPUs, for 2 ranks"),
        ("quota", PINGPONG, _settings(cpu_quota=2), None),
        (
            "quota",
            FakePoint("omp.barrier", steady(900.0), ranks=1, threads=2, mpi=None),
            _settings(cpu_quota=1),
            "the time of 1 CPUs, for 2 threads",
        ),
        ("coarse-timers", PINGPONG, _settings(timer_resolution_ns=4_000_000), "steps of 4 ms"),
        ("coarse-timers", PINGPONG, _settings(timer_resolution_ns=1), None),
        (
            "variables",
            PINGPONG,
            {"given": ["OMP_PLACE", "OMP_PROC_BNID"]},
            "OMP_PLACE and OMP_PROC_BNID for openmpi-4.1.4: OpenMP has no variable of this name.",
        ),
        ("variables", PINGPONG, {"given": ["OMP_PLACES"]}, None),
    ],
)
def test_what_the_system_gave(
    tmp_path: Path, name: str, point: FakePoint, job: dict[str, Any], words: str | None
) -> None:
    found = _found(tmp_path / "out", point, job)
    assert (name in found) == (words is not None)
    assert words is None or words in found[name].evidence


def test_settings_of_this_host_are_not_those_of_others(tmp_path: Path) -> None:
    job = _settings(shm_bytes=[MIB, MIB], cpu_quota=0.5)
    elsewhere = _found(tmp_path / "elsewhere", PINGPONG, job, hosts=lambda rank: f"h{rank}")
    assert {"shared-memory", "quota"} & elsewhere.keys() == set()
    beside = _found(tmp_path / "beside", PINGPONG, job, hosts=lambda rank: ("vm", "h1")[rank])
    assert "for 1 rank" in beside["quota"].evidence
    assert "shared-memory" not in beside  # one rank sends no messages through it


@pytest.mark.parametrize(
    ("loaded", "environment", "hosts", "is_told"),
    [
        (("btl_tcp", "btl_self"), {}, 1, True),
        (("btl_tcp", "btl_vader"), {}, 1, False),
        (("btl_tcp", "btl_self"), {"OMPI_MCA_btl": "tcp,self"}, 1, False),  # as was asked
        (("btl_tcp", "btl_self"), {}, 2, False),  # as between all hosts
    ],
)
def test_sockets_in_place_of_memory_are_told(
    tmp_path: Path, loaded: tuple[str, ...], environment: dict[str, str], hosts: int, is_told: bool
) -> None:
    launch = {
        "libraries": [{"path": f"/usr/lib/mca_{name}.so"} for name in ("pml_ob1", *loaded)],
        "mpi": {"library": "Open MPI v4.1.4, package: made"},
        "environment": environment,
    }
    found = _found(
        tmp_path / "out", PINGPONG, None, launch, hosts=lambda rank: ("vm", f"h{hosts}")[rank * (hosts - 1)]
    )
    assert ("sockets" in found) == is_told
    assert not is_told or "mpi.pingpong 8 B on 2 ranks of openmpi-4.1.4" in found["sockets"].evidence


@pytest.mark.parametrize(
    ("hosts", "cores", "words"),
    [
        ((), 1, "2 ranks and threads on 1 cores"),
        (("h1", "h2"), 1, None),
        (("h1",), 1, "2 ranks and threads on 1 cores"),
        ((), 2, None),
    ],
)
def test_each_host_has_cores_of_its_own(
    tmp_path: Path, hosts: tuple[str, ...], cores: int, words: str | None
) -> None:
    found = _found(tmp_path / "out", PINGPONG, {"hosts": hosts, "cores": cores})
    assert ("oversubscribed" in found) == (words is not None)
    assert words is None or words in found["oversubscribed"].evidence


@pytest.mark.parametrize(
    ("added", "named"),
    [
        (None, None),
        ("-fPIC -O2 -fstack-protector-strong", None),
        ("-O3 -ffast-math", "-ffast-math"),
        ("-O0", "-O0"),
        ("-fsanitize=address", "-fsanitize=address"),
    ],
)
def test_what_a_compiler_wrapper_adds_is_doubted(
    tmp_path: Path, added: str | None, named: str | None
) -> None:
    launch = {"build": {"compiler": "gcc", "flags": "-O2"} | ({"added": added} if added else {})}
    found = _found(tmp_path / "out", PINGPONG, None, launch)
    assert ("compiled" in found) == (named is not None)
    assert named is None or found["compiled"].evidence == (
        f"The compiler wrapper of openmpi-4.1.4 adds {named}."
    )
