"""`--stage`: bring engines to hosts that do not see our files, into a folder of each host's own.

A launcher starts a shell on each host, one after the other. The shell makes a folder that nobody but this
user can write or replace, and takes the file from its input. Launchers may lose what a process does not read
at once, so each piece is sent when the shell has the one before; after some silence the copy begins again. A
file that is there already, by its hash, stays; so a resumed campaign copies nothing.
"""

from __future__ import annotations

import hashlib
import os
import re
import shlex
import time
from collections.abc import Callable, Sequence
from pathlib import Path

from msgspec import Struct
from msgspec.structs import replace

from steelyard.base.errors import InputError
from steelyard.base.plural import counted
from steelyard.base.printable import shortened, visible
from steelyard.campaign.cause_of_death import LaunchPhase, cause_of_death
from steelyard.campaign.jobs import CampaignSetup
from steelyard.engines.build import Engine
from steelyard.launch.one_process import plan_process
from steelyard.plan.plan import Plan
from steelyard.records.campaign_file import PlannedPoint
from steelyard.system.allocation import named_hosts, take_hosts
from steelyard.system.process import Child
from steelyard.system.unreachable_hosts import unreachable

_SECONDS = 300.0  # for one host
_LOST_SECONDS = 10.0  # without a word for what was sent: the launcher lost it
_TRIES = 5  # of a copy that a launcher loses
_POLL_SECONDS = 0.002  # between looks at what the shell says
_LETTERS = 16  # of the hash, in the name of a folder
_PIECE = 4096  # bytes: PRRTE 3 (Open MPI 5) keeps a piece of 8 KiB for another host to itself
_LONGEST = 200  # letters of a reason
_FOLDERS = {  # which folder would do instead
    "unsafe": "that only you can write there",
    "refused": "there that you can write, that has room and from which programs can be run",
}
# In POSIX's language, sha256sum aside. Arguments: the user's own folder, the folder in it, the file's hash
# and size, the size of a piece. It answers in lines: `send`, then `got N` for each piece, then `kept`; or
# `refused:` or `unsafe:` with the reason. The file is moved into place when it is whole.
_SCRIPT = """
set -f
umask 077
own=$1 home=$2 file=$2/steelyard-mpi digest=$3 size=$4 piece=$5
me=$(id -u)
set -- $(ls -ldn /)
top=$3
refuse() { echo "refused: $1"; exit 0; }
unsafe() { echo "unsafe: $1"; exit 0; }
# Is anything on the way to $1 another user's to replace? $2 is the folder in which others may add nothing.
check() {
    at=$1 last=$2
    while :; do
        set -- $(ls -ldn "$at")
        case $3 in 0 | "$me" | "$top") ;; *) unsafe "'$at' belongs to another user (uid $3)" ;; esac
        case $1 in
        l* | d????-??-*) ;;
        d????????[tT]*) [ "$at" != "$last" ] || unsafe "others may add files to '$at' ($1)" ;;
        d*) unsafe "'$at' can be written by others ($1)" ;;
        *) refuse "'$at' is no folder" ;;
        esac
        [ "$at" != / ] || return 0
        at=${at%/*}
        at=${at:-/}
    done
}
is_whole() { [ "$(sha256sum < "$1")" = "$digest  -" ]; }
near=$own
while ! [ -e "$near" ] && ! [ -h "$near" ]; do near=${near%/*}; near=${near:-/}; done
check "$near" "$own"
if ! said=$(mkdir -p "$home" 2>&1); then
    ! [ -e "$own" ] || check "$own" "$own"  # another user may just have made it
    refuse "$said"
fi
check "$own" "$own"
real=$(cd "$own" && pwd -P)
check "$real" "$real"
[ ! -e "$file" ] || [ -f "$file" ] || refuse "'$file' is no file"
if [ -x "$file" ] && is_whole "$file"; then echo kept; exit 0; fi
new=$file.$$
trap 'rm -f "$new"' EXIT
trap 'exit 1' HUP INT TERM
rm -f "$new"
got=0
echo send
while [ "$got" -lt "$size" ]; do
    said=$(dd "bs=$piece" count=1 2>&1 >> "$new") || refuse "$said"
    before=$got
    got=$(($(wc -c < "$new")))
    [ "$got" -gt "$before" ] || refuse "the launcher passed on $got of $size bytes"
    echo "got $got"
done
is_whole "$new" || refuse "what came is not what was sent"
said=$(chmod 700 "$new" 2>&1) || refuse "$said"
[ -x "$new" ] || refuse "no program can be run from there (noexec)"
said=$(mv "$new" "$file" 2>&1) || refuse "$said"
echo kept
"""


class _Answer(Struct, frozen=True):
    """The answer of a host: the engine is there, or why not.

    `kind`: unsafe, another user could replace it; refused, the folder cannot have it; lost, the launcher did
    not pass on what it was sent; empty otherwise.
    """

    why: str | None = None
    kind: str = ""


def stage_engines(
    plan: Plan, points: Sequence[PlannedPoint], setup: CampaignSetup, tell: Callable[[str], None]
) -> CampaignSetup:
    """Bring engines into the plan's folder on each host, and return the setup that starts them from there.

    Without such a folder the setup stays as it is. `tell` hears what is copied. Raises InputError with a
    host's message if it cannot take an engine.
    """
    if plan.stage is None:
        return setup
    hosts = hosts_needed(points, setup)
    engines = dict(setup.engines)
    for name, engine in engines.items():
        if engine.mpi is not None and any(point.mpi == name for point in points):
            path = _bring(engine, plan, setup, hosts, tell)
            mpi = replace(engine.mpi, origin="given")  # no longer beside the library that it is found by
            engines[name] = replace(engine, path=path, mpi=mpi)
    return replace(setup, engines=engines)


def own_folders(stage: str, user: int) -> tuple[str, str]:
    """Name the folders of a user, below that of --stage and, where another user made that one, beside it."""
    stage = os.path.normpath(stage)
    return f"{stage}/steelyard-{user}", f"{stage}-{user}"


def _bring(
    engine: Engine, plan: Plan, setup: CampaignSetup, hosts: tuple[str, ...], tell: Callable[[str], None]
) -> str:
    """Bring an engine to all hosts, and return its path there. Raises InputError if a host does not take
    it.
    """
    assert engine.mpi is not None
    data = Path(engine.path).read_bytes()
    digest = hashlib.sha256(data).hexdigest()
    where = counted(len(hosts), "host") if hosts else "this host"
    below, beside = own_folders(plan.stage or "", os.geteuid())
    for own in (below, beside):
        folder = f"{own}/{digest[:_LETTERS]}"
        tell(f"bringing the engine for {engine.mpi.name} to {where}, into {folder}")
        for host in hosts or (None,):
            start = plan_process(engine, plan.launcher, setup.allocation, host)
            words = ("/bin/sh", "-c", _SCRIPT, "steelyard", own, folder, digest, str(len(data)), str(_PIECE))
            answer = _copy_again([*start.argv_prefix, *words], os.environ | start.environment, data)
            if answer.why is not None:
                break
        else:
            return f"{folder}/steelyard-mpi"
        there = f"to the host {host}" if host is not None else "to this host"
        if answer.kind != "unsafe" or own == beside:
            why = _why(answer, host, start.argv_prefix)
            raise InputError(f"the engine could not be brought {there} into {folder}: {why}")
        tell(f"note: {there.removeprefix('to ')}: {answer.why}")
    raise AssertionError  # the second folder is the last


def _why(answer: _Answer, host: str | None, launcher: Sequence[str]) -> str:
    """Say why a host did not take an engine, and what helps."""
    if answer.kind in _FOLDERS:
        return f"{answer.why}; give --stage a folder {_FOLDERS[answer.kind]}"
    gone = unreachable((host,)) if host is not None else []
    return f"{gone[0] if gone else answer.why}; try the launcher alone: {shlex.join((*launcher, 'hostname'))}"


def hosts_needed(points: Sequence[PlannedPoint], setup: CampaignSetup) -> tuple[str, ...]:
    """List the hosts of the allocation for the ranks of these points; none without an allocation."""
    count = max((point.hosts or 1 for point in points), default=1)
    hosts = list(take_hosts(setup.allocation, count, setup.machine.host))
    named = (point.placement.hosts for point in points if point.placement is not None)
    hosts += named_hosts(setup.allocation, [name for names in named for name in names])
    return tuple(dict.fromkeys(host.name for host in hosts))


def _copy_again(argv: Sequence[str], environment: dict[str, str], data: bytes) -> _Answer:
    """Copy a file to a host, again as long as the launcher loses it."""
    deadline = time.monotonic() + _SECONDS
    answer = _copy(argv, environment, data, deadline)
    for _ in range(_TRIES - 1):
        if answer.kind == "lost":
            answer = _copy(argv, environment, data, deadline)
    return answer


def _copy(argv: Sequence[str], environment: dict[str, str], data: bytes, deadline: float) -> _Answer:
    """Start the shell on a host, and send it the file if it wants it."""
    reader, writer = os.pipe()
    with open(reader, "rb") as stdin, open(writer, "wb", buffering=0) as pipe:  # noqa: PTH123
        with Child(argv, env=environment, cwd="/", stdin=stdin, tidy=False) as child:
            stdin.close()
            sent = 0
            while (takes := _takes(child, sent, deadline)) and sent < len(data):
                try:
                    sent += pipe.write(data[sent : sent + _PIECE]) or 0
                except BrokenPipeError:
                    break
            if takes is None:
                return _Answer(f"the launcher lost the {sent} bytes that it was sent", "lost")
            pipe.close()
            code = child.wait(max(0.0, deadline - time.monotonic()))
        return _answer(code, child.out, child.err, argv)


def _takes(child: Child, sent: int, deadline: float) -> bool | None:
    """Wait until the shell has so many bytes; False if it wants no more, None if they were lost."""
    lost = time.monotonic() + _LOST_SECONDS
    while (now := time.monotonic()) < deadline:
        is_over = child.poll() is not None
        said = child.out
        got = [int(count) for count in re.findall(r"^got (\d+)$", said, re.MULTILINE)]
        if (got and got[-1] == sent) or (sent == 0 and re.search("^send$", said, re.MULTILINE)):
            return True
        if is_over or re.search(r"^(kept|refused:|unsafe:)", said, re.MULTILINE):
            return False
        if sent and now > lost:
            return None
        child.pause(_POLL_SECONDS)
    return False


def _answer(code: int | None, out: str, err: str, argv: Sequence[str]) -> _Answer:
    if re.search("^kept$", out, re.MULTILINE):
        return _Answer()
    if match := re.search("^(refused|unsafe): *(.*)", out, re.MULTILINE):
        return _Answer(shortened(visible(match[2]), _LONGEST), match[1])
    if code is None:
        return _Answer(f"it takes longer than {_SECONDS:g} s")
    why = cause_of_death(code, err, argv, phase=LaunchPhase.STARTING, spans=True)
    return _Answer(why.removeprefix(LaunchPhase.STARTING.word).rstrip("."))
