"""The tests of other suites, by suite: `SUITES`; and what names several of them: `groups`.

tests/data/peers.toml has every test of theirs for MPI.
"""

from __future__ import annotations

from collections.abc import Mapping

from steelyard.plan.suites.epcc import epcc
from steelyard.plan.suites.files import imb_io, io500
from steelyard.plan.suites.imb import imb
from steelyard.plan.suites.like import EVERY_CORE, Like
from steelyard.plan.suites.osu import osu
from steelyard.plan.suites.others import mpich, others
from steelyard.plan.suites.skampi import repro, skampi
from steelyard.records.command_line import command

__all__ = ["EVERY_CORE", "KERNELS", "SUITES", "Like", "groups"]

SUITES: Mapping[str, tuple[Like, ...]] = {
    "OSU Micro-Benchmarks": tuple(osu()),
    "Intel MPI Benchmarks": (*imb(), *imb_io()),
    "SKaMPI": tuple(skampi()),
    "EPCC OpenMP micro-benchmarks": tuple(epcc()),
    "ReproMPI": tuple(repro()),
    "MPICH's own": tuple(mpich()),
    "SMB, Netgauge, b_eff, Phloem, NetPIPE": tuple(others()),
    "IO500 (IOR, mdtest), b_eff_io": tuple(io500()),
}
_NPB = command("run", "npb.*", **{"class": "A"})
# Suites whose programs are ops of the same names here, and what runs all of them.
KERNELS: Mapping[str, str] = {
    "npb": _NPB,
    "nas": _NPB,
    "stream": command("run", "mem.*"),
    "hpccg": command("run", "app.hpccg"),
    "minife": command("run", "app.minife"),
    "minimd": command("run", "app.minimd"),
    "mantevo": command("run", "app.*"),
}
_SHORT: Mapping[str, str] = {
    "OSU Micro-Benchmarks": "osu omb osu-micro-benchmarks",
    "Intel MPI Benchmarks": "imb intel",
    "SKaMPI": "skampi",
    "EPCC OpenMP micro-benchmarks": "epcc openmpbench",
    "ReproMPI": "repro repromp reprompi",
    "MPICH's own": "mpich",
}


def groups() -> dict[str, tuple[Like, ...]]:
    """Make the tests of each word that names a suite or one of its programs: `osu`, `imb-mpi1`."""
    found = {word: SUITES[suite] for suite, words in _SHORT.items() for word in words.split()}
    found |= {suite.lower(): rows for suite, rows in SUITES.items()}
    every = [row for rows in SUITES.values() for row in rows]
    for program in dict.fromkeys(row.program for row in every if row.program):
        found[program.lower()] = tuple(row for row in every if row.program == program)
    names = ("Unidir_put", "Unidir_get", "Bidir_put", "Bidir_get", "Accumulate")
    found["imb-ext"] = tuple(row for row in every if row.name in names)
    for word in ("netgauge", "smb", "mpibench", "b_eff_io"):
        found[word] = tuple(row for row in every if row.name.startswith(f"{word}_"))
    for word in ("ior", "mdtest"):
        found[word] = tuple(row for row in every if row.name.startswith(word))
    found["io500"] = (*found["ior"], *found["mdtest"])
    return found
