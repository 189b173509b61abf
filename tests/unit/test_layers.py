"""Who may include whom: the table of the design, as data.

The checkers are pure functions of {path: text}, so that a planted violation of each rule is seen to be found.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from fnmatch import fnmatchcase
from pathlib import Path

import pytest

from steelyard.engines.build import engine_folder
from steelyard.engines.compile import read_build

Files = Mapping[str, str]

# ---- the engine --------------------------------------------------------------------------------------------

# What an op may see: no clock's rate, no method, no sink, no other family.
_OP = ("base/*", "team/*", "core/op.h", "core/phase.h")
_FAMILY = (*_OP, "ops/families.h", "ops/common/*")
_MEASURES = ("base/*", "time/*", "team/*", "machine/*", "sync/*", "core/*")
# Folder -> what its files may include besides those of the folder itself, as patterns. The first row that
# fits a path counts.
_MAY_INCLUDE = {
    "registry.[ch]": ("*",),
    "main.c": ("*",),
    "base/*": (),
    "time/*": ("base/*",),
    "team/*": ("base/*",),
    "machine/*": ("base/*", "time/*", "team/*"),
    "sync/*": ("base/*", "time/*", "team/*", "machine/*"),
    "core/*": _MEASURES,  # no MPI, no operation
    "methods/*": _MEASURES,
    "rules/*": ("base/*", "core/stop.h"),
    "sink/*": _MEASURES,
    "launch/*": (*_MEASURES, "sink/*"),
    "comm/*": ("base/*", "team/*", "core/phase.h"),
    "public/*": (),  # what users compile with
    "ops/own/*": (*_OP, "public/*"),
    "ops/mpi/manage/*": (*_FAMILY, "comm/*", "public/*"),
    "ops/families.h": ("core/op.h",),
    "ops/common/*": _OP,
    "ops/mpi/coll/*": (*_FAMILY, "comm/*", "ops/mpi/overlap/*"),
    "ops/mpi/mock/*": (*_FAMILY, "comm/*", "ops/mpi/coll/*", "ops/mpi/overlap/*"),
    "ops/mpi/first/*": (*_FAMILY, "comm/*", "core/first.h"),
    "ops/mpi/onesided/*": (*_FAMILY, "comm/*", "ops/mpi/coll/reduction.h", "ops/mpi/threads/threads.h"),
    "ops/mpi/threads/*": (*_FAMILY, "comm/*", "ops/mpi/p2p/*"),
    "ops/mpi/*": (*_FAMILY, "comm/*"),
    "ops/shmem/*": (*_FAMILY, "comm/traffic_patterns.h"),
    "ops/*": _FAMILY,
    "kernels/families.h": ("core/op.h",),
    "kernels/*": (*_OP, "comm/*", "kernels/families.h", "kernels/kernel.h", "kernels/csr.h"),
}
# System header -> the only files that may include it.
_SYSTEM_HEADERS = {
    "shmem.h": ("team/*_shmem.[ch]", "comm/*_shmem.[ch]", "ops/shmem/*"),
    "mpi.h": ("team/team_mpi*.[ch]", "comm/*_mpi.[ch]", "ops/mpi/*"),
    "pthread.h": ("base/pool.c", "ops/pthread/*", "ops/openmp/region.c"),
    "omp.h": ("base/openmp_places.c", "ops/openmp/*"),
}
# Preprocessor conditions other than include guards: where, and why there.
_MAY_HAVE_IF = {
    "team/team_mpi*.[ch]": "what MPI libraries lack",
    "comm/compat_mpi.h": "what MPI libraries lack",
    "team/compat_shmem.h": "what libraries of OpenSHMEM 1.4 lack",
    "ops/*/compat.h": "what compilers and systems lack",
    "ops/link/*ofi*.[ch]": "machines without libfabric",
    "ops/link/*ucx*.[ch]": "machines without UCX",
    "ops/file/uring.c": "systems without io_uring",
    "base/*": "what processors and systems lack",
    "public/*": "C++, and the MPI that a user's operation is compiled for",
    "time/clock.c": "in simulation every clock is the simulated one",
    "time/counter.c": "what processors have",
    "methods/truth.c": "only in simulation is the truth known",
    "registry.c": "which families are in this engine: steelyard-mpi, steelyard-shmem, steelyard-solo",
    "launch/record.c": "what the compiler says of itself and of the build, for the record",
}
_CLOCKS = r"\b(clock_now|clock_gettime|gettimeofday|MPI_Wtime|omp_get_wtime|__rdtscp?)\b|->read\b"
# What smpicc puts in the place of the system's, in what it compiles.
_SIMULATED = r"\b((clock_)?nanosleep|u?sleep|clock_gettime|gettimeofday|getpid|exit)\s*\(|\bSMPI_HELPERS_H\b"
_BUILD = read_build(engine_folder())
_OF_EACH_ENGINE = (*_BUILD.not_common, *(path for paths in _BUILD.only_in.values() for path in paths))
_C_PRINTS = r"\b(v?f?printf|v?dprintf|puts|fputs|putchar|perror)\s*\("
# What may not be said -> of which files, save which, and what is wrong with it.
_WORDS = (
    (
        _CLOCKS,
        ("ops/*", "kernels/*"),
        ("ops/self/*", "ops/mpi/manage/local.c"),
        "an op reads no clock",
    ),
    (_C_PRINTS, ("*",), ("main.c",), "only main.c prints"),
    (
        r"\bMPI_Wtime\b",
        ("*",),
        ("team/team_mpi.c", "ops/mpi/manage/local.c"),
        "MPI_Wtime is the clock of last resort",
    ),
    (_SIMULATED, ("*.c",), _OF_EACH_ENGINE, "what the simulator replaces is not common"),
)


def _fits(path: str, patterns: tuple[str, ...]) -> bool:
    return any(fnmatchcase(path, pattern) for pattern in patterns)


# An include line, which is kept; or a comment, a string or a character.
_NO_CODE = re.compile(
    r"""(^\s*\#\s*include[^\n]*) | /\*.*?\*/ | //[^\n]* | "(?:\\.|[^"\\\n])*" | '(?:\\.|[^'\\\n])+'""",
    re.DOTALL | re.MULTILINE | re.VERBOSE,
)


def _code_alone(text: str) -> str:
    """C text without comments and without what stands in quotes."""
    return _NO_CODE.sub(lambda match: match[1] or '""', text)


def c_violations(files: Files) -> list[str]:
    """What in the engine's sources is against the design; paths are relative to engine/."""
    return [f"{path}: {what}" for path, text in files.items() for what in _c_file(path, _code_alone(text))]


def _c_file(path: str, text: str) -> Iterator[str]:
    allowed = next((targets for pattern, targets in _MAY_INCLUDE.items() if fnmatchcase(path, pattern)), None)
    if allowed is None:
        yield "stands in no folder of the design"
        return
    folder = path.rpartition("/")[0]
    for header in re.findall(r'^\s*#\s*include\s*"([^"]+)"', text, re.MULTILINE):
        if header.rpartition("/")[0] != folder and not _fits(header, allowed):
            yield f"includes {header}"
    for header in re.findall(r"^\s*#\s*include\s*<([^>]+)>", text, re.MULTILINE):
        if not _fits(path, _SYSTEM_HEADERS.get(header, ("*",))):
            yield f"includes <{header}>"
    if not _fits(path, tuple(_MAY_HAVE_IF)):
        for condition in re.findall(r"^\s*#\s*((?:el)?if(?:n?def)?\b.*)", text, re.MULTILINE):
            if not re.fullmatch(r"ifndef [A-Z0-9_]+_H\s*", condition):
                yield f"asks #{condition.strip()}"
    for words, of, save, wrong in _WORDS:
        if _fits(path, of) and not _fits(path, save) and (match := re.search(words, text)):
            yield f"{wrong}, but says {match[0].strip()}"


def _read(folder: Path, *suffixes: str) -> dict[str, str]:
    paths = (path for path in sorted(folder.rglob("*")) if path.suffix in suffixes)
    return {path.relative_to(folder).as_posix(): path.read_text() for path in paths}


def test_the_engine_keeps_its_layers() -> None:
    files = _read(engine_folder(), ".c", ".h")
    assert {"main.c", "core/run.c", "ops/self/self.c"} <= files.keys()
    assert c_violations(files) == []


def test_each_system_header_has_a_user() -> None:
    """Else the table guards what no longer is."""
    files = _read(engine_folder(), ".c", ".h")
    for header in _SYSTEM_HEADERS:
        assert any(f"#include <{header}>" in text for text in files.values())


@pytest.mark.parametrize(
    ("path", "line", "complaint"),
    [
        ("base/num.c", '#include "time/clock.h"', "includes time/clock.h"),
        ("time/clock.c", '#include "team/team.h"', "includes team/team.h"),
        ("team/team_solo.c", '#include "core/op.h"', "includes core/op.h"),
        ("machine/probe.c", '#include "core/run.h"', "includes core/run.h"),
        ("sync/jk.c", '#include "core/run.h"', "includes core/run.h"),
        ("core/point.c", '#include "ops/families.h"', "includes ops/families.h"),
        ("core/run.c", '#include "ops/common/data.h"', "includes ops/common/data.h"),
        ("core/run.c", '#include "sink/jsonl.h"', "includes sink/jsonl.h"),
        ("core/run.c", "#include <mpi.h>", "includes <mpi.h>"),
        ("methods/epoch.c", '#include "ops/families.h"', "includes ops/families.h"),
        ("methods/epoch.c", '#include "launch/launch.h"', "includes launch/launch.h"),
        ("rules/median_quantile.c", '#include "core/method.h"', "includes core/method.h"),
        ("sink/jsonl.c", '#include "launch/launch.h"', "includes launch/launch.h"),
        ("launch/record.c", '#include "ops/families.h"', "includes ops/families.h"),
        ("comm/comm.c", '#include "core/op.h"', "includes core/op.h"),
        ("comm/comm.c", '#include "kernels/npb/npb.h"', "includes kernels/npb/npb.h"),
        ("comm/grid.c", "#include <mpi.h>", "includes <mpi.h>"),
        ("ops/common/data.c", '#include "ops/families.h"', "includes ops/families.h"),
        ("ops/self/self.c", '#include "core/run.h"', "includes core/run.h"),
        ("ops/self/self.c", '#include "time/clock.h"', "includes time/clock.h"),
        ("ops/self/self.c", '#include "kernels/npb/cg.h"', "includes kernels/npb/cg.h"),
        ("ops/memory/copy.c", '#include "ops/link/link.h"', "includes ops/link/link.h"),
        ("ops/own/own.c", '#include "ops/families.h"', "includes ops/families.h"),
        ("ops/link/udp.c", '#include "comm/comm.h"', "includes comm/comm.h"),
        ("ops/mpi/many/halo.c", '#include "ops/mpi/p2p/pair.h"', "includes ops/mpi/p2p/pair.h"),
        ("ops/mpi/coll/rows.c", '#include "ops/mpi/threads/threads.h"', "includes ops/mpi/threads/threads.h"),
        ("ops/mpi/p2p/pair.c", '#include "ops/mpi/overlap/overlap.h"', "includes ops/mpi/overlap/overlap.h"),
        ("kernels/npb/cg.c", '#  include "core/method.h"', "includes core/method.h"),
        ("kernels/npb/cg.c", '#include "ops/common/data.h"', "includes ops/common/data.h"),
        ("kernels/kernel.c", '#include "kernels/npb/npb.h"', "includes kernels/npb/npb.h"),
        ("kernels/hpccg/hpccg.c", '#include "kernels/npb/npb.h"', "includes kernels/npb/npb.h"),
        ("kernels/npb/cg.c", "#include <mpi.h>", "includes <mpi.h>"),
        ("kernels/npb/cg.c", "#include <omp.h>", "includes <omp.h>"),
        ("team/team_solo.c", "#include <mpi.h>", "includes <mpi.h>"),
        ("core/method.c", "#include <pthread.h>", "includes <pthread.h>"),
        ("ops/mpi/p2p/pair.c", "#include <omp.h>", "includes <omp.h>"),
        ("ops/link/udp.c", "#include <mpi.h>", "includes <mpi.h>"),
        ("ops/mpi/coll/rows.c", "#if MPI_VERSION >= 4", "asks #if MPI_VERSION >= 4"),
        ("core/op.h", "#ifdef _OPENMP", "asks #ifdef _OPENMP"),
        ("time/skew.c", "#elif X", "asks #elif X"),
        ("ops/mpi/p2p/pair.c", "t = clock_now(c);", "reads no clock, but says clock_now"),
        ("ops/openmp/for.c", "t = omp_get_wtime();", "reads no clock, but says omp_get_wtime"),
        ("kernels/npb/cg.c", "t = clock->read(clock);", "reads no clock, but says ->read"),
        ("time/clock.c", "double t = MPI_Wtime();", "MPI_Wtime is the clock of last resort"),
        ("core/run.c", 'printf("%d", 1);', "only main.c prints, but says printf("),
        ("ops/self/self.c", 'fprintf(stderr, "x");', "only main.c prints, but says fprintf("),
        ("base/err.c", 'puts("x");', "only main.c prints, but says puts("),
        (
            "core/run.c",
            "nanosleep(&rest, NULL);",
            "what the simulator replaces is not common",
        ),
        ("misc/new.c", "int x;", "stands in no folder"),
    ],
)
def test_a_violation_in_the_engine_is_found(path: str, line: str, complaint: str) -> None:
    found = c_violations({path: f'/* printf( */\n#include "base/err.h"\n{line}\n'})
    assert len(found) == 1
    assert found[0].startswith(f"{path}: ")
    assert complaint in found[0]


@pytest.mark.parametrize(
    ("path", "text"),
    [
        ("core/point.c", 'snprintf(text, 8, "printf(");'),
        ("ops/mpi/coll/rows.c", "/* clock_now() is not\n * for ops: #if */"),
        ("ops/mpi/coll/rows.c", "// printf(\n"),
        ("base/opt.h", "#ifndef BASE_OPT_H\n#define BASE_OPT_H\n#endif"),
        ("base/err.h", "int err_say(int) __attribute__((format(printf, 2, 3)));"),
        ("kernels/npb/cg.c", '#include "kernels/npb/cg.h"\n#include "comm/comm.h"\n#include "core/phase.h"'),
        ("comm/comm_mpi.c", "#include <mpi.h>"),
        ("comm/comm_shmem.c", "#include <shmem.h>"),
        ("registry.c", '#include "ops/families.h"\n#if STEELYARD_MPI\n#endif'),
    ],
)
def test_what_only_looks_like_a_violation_is_none(path: str, text: str) -> None:
    assert c_violations({path: text}) == []
