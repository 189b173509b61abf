"""`--stage`: bring engines to hosts that do not see our files, into a folder of each host's own.

A launcher starts a shell on each host, one after the other, and gives it the file as its input. A file that
is there already, by its hash, stays; so a resumed campaign copies nothing.
"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Callable, Sequence
from pathlib import Path

from msgspec.structs import replace

from steelyard.base.errors import InputError, MeasurementError
from steelyard.base.foreign import visible
from steelyard.base.plural import counted
from steelyard.campaign.jobs import CampaignSetup
from steelyard.engines.build import Engine
from steelyard.launch.one_process import plan_process
from steelyard.plan.plan import Plan
from steelyard.records.campaign_file import PlannedPoint
from steelyard.system.allocation import named_hosts, take_hosts
from steelyard.system.process import run

_SECONDS = 300.0  # for one host
_LETTERS = 16  # of the hash, in the name of a folder
# Arguments: the folder and the hash. The file is moved into place when it is whole.
_SCRIPT = """
umask 077
file=$1/steelyard-mpi
is_whole() { [ "$(sha256sum < "$1")" = "$2  -" ]; }
[ -x "$file" ] && is_whole "$file" "$2" && exec cat > /dev/null
mkdir -p "$1" && cat > "$file.$$" && is_whole "$file.$$" "$2" && chmod 700 "$file.$$" && mv "$file.$$" "$file"
"""


def check_stage(stage: str) -> None:
    """Raise InputError if it cannot be a folder of a host."""
    if not stage.startswith("/") or visible(stage) != stage:
        raise InputError(
            f"--stage '{visible(stage)}' is no absolute path; give a folder of each host's own, "
            "such as /tmp/steelyard"
        )


def stage_engines(
    plan: Plan, points: Sequence[PlannedPoint], setup: CampaignSetup, tell: Callable[[str], None]
) -> CampaignSetup:
    """Bring engines into the plan's folder on each host, and return the setup that starts them from there.

    Without such a folder the setup stays as it is. `tell` hears what is copied. Raises InputError with a
    host's message if it cannot take an engine.
    """
    if plan.stage is None:
        return setup
    check_stage(plan.stage)
    hosts = hosts_needed(points, setup)
    engines = dict(setup.engines)
    for name, engine in engines.items():
        if engine.mpi is not None and any(point.mpi == name for point in points):
            digest = hashlib.sha256(Path(engine.path).read_bytes()).hexdigest()
            folder = f"{plan.stage}/steelyard-{digest[:_LETTERS]}"
            where = counted(len(hosts), "host") if hosts else "this host"
            tell(f"bringing the engine for {engine.mpi.name} to {where}, into {folder}")
            for host in hosts or (None,):
                _copy(engine, plan, setup, host, folder, digest)
            engines[name] = replace(engine, path=f"{folder}/steelyard-mpi")
    return replace(setup, engines=engines)


def hosts_needed(points: Sequence[PlannedPoint], setup: CampaignSetup) -> tuple[str, ...]:
    """List the hosts of the allocation for the ranks of these points; none without an allocation."""
    count = max((point.hosts or 1 for point in points), default=1)
    hosts = list(take_hosts(setup.allocation, count, setup.machine.host))
    named = (point.placement.hosts for point in points if point.placement is not None)
    hosts += named_hosts(setup.allocation, [name for names in named for name in names])
    return tuple(dict.fromkeys(host.name for host in hosts))


def _copy(
    engine: Engine, plan: Plan, setup: CampaignSetup, host: str | None, folder: str, digest: str
) -> None:
    start = plan_process(engine, plan.launcher, setup.allocation, host)
    argv = [*start.argv_prefix, "/bin/sh", "-c", _SCRIPT, "steelyard", folder, digest]
    where = f"the host {host}" if host is not None else "this host"
    try:
        with Path(engine.path).open("rb") as file:
            done = run(argv, env=os.environ | start.environment, timeout=_SECONDS, cwd="/", stdin=file)
    except MeasurementError as error:
        raise InputError(f"the engine could not be brought to {where}: {error}") from None
    if done.code != 0:
        said = " ".join(visible(line) for line in (done.err or done.out).strip().splitlines()[-3:])
        raise InputError(
            f"the engine could not be brought to {where} into {folder}: {said or f'code {done.code}'}; give "
            "--stage a folder that can be written there"
        )
