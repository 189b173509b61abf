"""Find where the ranks of a hanging launch are, who is held, and which host is gone.

A signal makes ranks write where they are on standard error.
"""

from __future__ import annotations

import platform
import re
import signal
import time
from collections.abc import Iterable, Iterator
from pathlib import Path

from steelyard.base.errors import InputError
from steelyard.base.files import open_regular
from steelyard.base.printable import visible
from steelyard.engines.build import Engine
from steelyard.records.parts import Place, StuckRank
from steelyard.records.schema import Launch
from steelyard.system.functions import functions_of
from steelyard.system.launch_processes import process_state
from steelyard.system.process import Child
from steelyard.system.process_stat import process_stat

_SAID = re.compile(
    r"steelyard: rank (?P<rank>\d+) is in point -?\d+ \((?P<op>[^)\n]*)\), "
    r"phase (?P<phase>[^,\n]+), sample (?P<sample>\d+): (?P<calls>[^\n]*)\n"
)
_PLACE = re.compile(r"(?P<file>.+)\+(?P<at>0x[0-9a-f]+)")  # of a function without a name
_HERE_SECONDS, _THERE_SECONDS = 0.5, 2.0  # until ranks of this host have written it, and those of others
_LOOK_SECONDS = 0.01
_MOST_CALLS = 24
_MOST_HOSTS = 4  # that are named
_MOST_LETTERS = 100  # of a call
# States of a process that cannot continue by itself; of a rank also that there is none any more.
_HELD = {"T": "is suspended", "t": "is held by a debugger"}
_GONE = {None: "is gone", "Z": "is gone"}
# Variables by which launchers tell a process its rank.
_RANK = re.compile(rb"(?:^|\0)(?:OMPI_COMM_WORLD_RANK|PMI_RANK|PMIX_RANK|SLURM_PROCID)=(\d+)(?:\0|$)")
_ENGINE = "steelyard"  # how the names of processes that run an engine begin


def held_words(pids: Iterable[int], launch: Launch | None, *, closing: bool = False) -> list[str]:
    """Name what cannot continue by itself, of a launch's processes on this host, the ranks first.

    `rank 1 (pid 4711) is suspended`, `mpiexec (pid 4700) is held by a debugger`. `launch` is None before it
    measures: the ranks are then told by their environment. `closing`: all is measured, ranks may be gone.
    """
    here = platform.node()
    places = launch.places if launch else ()
    ranks = {place.pid: place.rank for place in places if place.host == here and place.pid > 0}
    looked_at = set(pids) if closing else {*pids, *ranks}
    return [words for _, words in sorted(_held(looked_at, ranks, closing))]


def _held(pids: Iterable[int], ranks: dict[int, int], closing: bool) -> Iterator[tuple[bool, str]]:
    """Yield whether it is no rank, and the words, for each process that is held."""
    for pid in sorted(pids):
        state = process_state(pid)
        if (
            what := _HELD.get(state or "") or (_GONE.get(state) if pid in ranks and not closing else None)
        ) is None:
            continue
        stat = process_stat(pid)
        name = visible(stat.name) if stat else ""
        rank = ranks.get(pid, _told_rank(pid) if name.startswith(_ENGINE) else None)
        yield rank is None, f"{name if rank is None else f'rank {rank}'} (pid {pid}) {what}"


def _told_rank(pid: int) -> int | None:
    try:
        with open_regular(Path(f"/proc/{pid}/environ")) as file:
            found = _RANK.search(file.read())
    except (OSError, InputError):
        return None
    return int(found[1]) if found else None


def ask_ranks(child: Child, launch: Launch | None, engine: Engine) -> tuple[StuckRank, ...]:
    """Ask each rank what it is doing; suspended and ended ones cannot answer.

    Ranks of other hosts are asked through the launcher, which passes the signal on or ends because of it. So
    the launch is over afterwards.
    """
    if launch is None:
        return ()
    host = {place.rank: place.host for place in launch.places}
    here = platform.node()
    mine = {place.pid for place in launch.places if place.host == here and place.pid > 0}
    asked = len(child.signal(mine, signal.SIGUSR2))
    _await(child, asked, _HERE_SECONDS)
    if any(name != here for name in host.values()):
        child.signal({child.pid}, signal.SIGUSR2)
        _await(child, len(host), _THERE_SECONDS)
    return read_answers(child.err + child.out, host, Path(engine.path))


def silent_hosts(places: Iterable[Place], answers: Iterable[StuckRank]) -> str:
    """Name the other hosts of which no rank has answered: `, and no rank of h2, h3 answers`; "" for none.

    Such a host may be lost; or its ranks were not asked, as some launchers do not pass signals on.
    """
    heard = {answer.host for answer in answers} | {platform.node()}
    silent = [name for name in dict.fromkeys(place.host for place in places) if name not in heard]
    more = f" and {len(silent) - _MOST_HOSTS} more hosts" if len(silent) > _MOST_HOSTS else ""
    return f", and no rank of {', '.join(map(visible, silent[:_MOST_HOSTS]))}{more} answers" if silent else ""


def _await(child: Child, count: int, seconds: float) -> None:
    deadline = time.monotonic() + seconds
    while time.monotonic() < deadline and len(_SAID.findall(child.err + child.out)) < count:
        time.sleep(_LOOK_SECONDS)


def read_answers(said: str, host: dict[int, str], engine: Path) -> tuple[StuckRank, ...]:
    """Read the answers in the output of a launch, by rank; `host` has the name of each rank's host.

    Functions of the engine, whose file the ranks know no names of, are named by its symbols.
    """
    functions = functions_of(engine)

    def named(call: str) -> str:
        place = _PLACE.fullmatch(call)
        own = functions.at(int(place["at"], 16)) if place and place["file"] == engine.name else None
        return own or visible(call)[:_MOST_LETTERS]

    found = {
        int(match["rank"]): StuckRank(
            rank=int(match["rank"]),
            host=host.get(int(match["rank"]), ""),
            op=visible(match["op"]),
            phase=visible(match["phase"]),
            sample=int(match["sample"]),
            calls=tuple(named(call) for call in match["calls"].split(" < ")[:_MOST_CALLS] if call),
        )
        for match in _SAID.finditer(said)
    }
    return tuple(found[rank] for rank in sorted(found))
