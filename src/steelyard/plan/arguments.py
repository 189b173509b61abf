"""Make a plan of a command line: a file, a shipped plan, ops with axes, or another suite's test."""

from __future__ import annotations

import difflib
import os
import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from msgspec.structs import replace

from steelyard.base.comma_lists import values_in
from steelyard.base.element_types import ELEMENT_BYTES
from steelyard.base.errors import InputError
from steelyard.base.units import parse_counts, parse_sizes, parse_value
from steelyard.plan.host_pairs import with_hosts
from steelyard.plan.like import find_like, known_as
from steelyard.plan.own_words import own_words
from steelyard.plan.plan import Measure, Plan, Value, read_plan
from steelyard.plan.settings import read_env_words
from steelyard.plan.shipped import shipped_plans
from steelyard.plan.suites import KERNELS, groups
from steelyard.records.campaign_file import AROUND
from steelyard.records.command_line import command, retyped
from steelyard.system.machine import read_machine
from steelyard.system.openmp import read_omp_words


def asked_plan(
    what: Sequence[str],
    like: Sequence[str],
    axes: dict[str, Any],
    threads: str | None,
    params: Sequence[str],
    omp: Sequence[str] = (),
    env: Sequence[str] = (),
) -> Plan:
    """Make the plan that the arguments of `run` name or spell out. Raises InputError."""
    if like:
        if what:
            tests = [name for name in (*like, *what) if known_as(name) is not None]
            is_meant = set(what) <= set(tests)
            how = f"type: {command('run', like=tests)}" if is_meant else f"leave {what[0]} out"
            raise InputError(f"--like names what is run; {how}")
        return Plan(measure=tuple(_measure_like(name, axes, threads, params, omp, env) for name in like))
    if not what:
        raise InputError("run what? Give ops, patterns, a plan or --like; 'steelyard list' has them")
    first = what[0]
    named = Path(first) if first.endswith(".toml") else shipped_plans().get(first)
    if named is not None and not named.exists() and named.stem in shipped_plans():
        raise InputError(
            f"there is no file {named}; a plan of that name ships: write {named.stem} in its place"
        )
    if named is None:
        ops = own_words([name for word in what for name in values_in(word, "the list")], Path())
        _check_words(ops)
        measure = Measure(
            ops=ops,
            **axes,
            threads=threads or 1,
            params=_params(params),
            omp=read_omp_words(omp),
            env=read_env_words(env),
        )
        return Plan(measure=(measure,))
    around = {name: axes[name] for name in AROUND if axes.get(name)} | {"env": read_env_words(env)}
    given = {name: value for name, value in axes.items() if name not in AROUND}
    given |= {"threads": threads, "omp": tuple(omp) or None}
    return _around(_changed(read_plan(named), named, what, given, params), named, around)


# What people call a measurement -> the ops that make it, the likeliest first.
_CALLED = {
    "latency": ("mpi.pingpong", "mem.latency"),
    "bw": ("mpi.bandwidth", "mem.stream.triad"),
    "throughput": ("mpi.bandwidth", "mem.stream.triad"),
    "bandwidth": ("mpi.bandwidth", "mem.stream.triad"),
    "rma": ("mpi.put", "mpi.get"),
    "one-sided": ("mpi.put", "mpi.get"),
    "collectives": ("mpi.allreduce", "mpi.bcast"),
    "p2p": ("mpi.pingpong", "mpi.bandwidth"),
}
_MPIS = ("openmpi", "mpich", "embedded")  # that people put where an op stands


def _check_words(ops: Sequence[str]) -> None:
    """Raise InputError for a word that probably means another suite's test, or a plan."""
    for word in ops:
        if word in shipped_plans():
            raise InputError(f"'{word}' is a plan, which is run alone; leave what is beside it out")
        if "." in word or any(letter in word for letter in "*?["):
            continue
        if (row := known_as(word)) is not None:
            how = command("run", like=row.name)
            if row.op.rpartition(".")[2] == word.lower().removeprefix("mpi_"):
                own = command("run", row.op)
                raise InputError(f"there is no op '{word}'; type: {own}, or for another suite's test: {how}")
            raise InputError(f"'{word}' is a test of another suite and no op; type: {how}")
        if word.lower() in _MPIS:
            raise InputError(
                f"'{word}' is an MPI and no op; type: {command('run', 'quick', mpi=word.lower())}"
            )
        if word == "help":
            raise InputError(f"there is no op 'help'; type: {retyped(['run', '-h'])}")
        if word.lower() in {*groups(), *KERNELS}:
            find_like(word)
        if meant := _CALLED.get(word.lower()):
            names = " or ".join(f"'{name}'" for name in meant)
            raise InputError(f"there is no op '{word}'; did you mean {names}?")
        if close := difflib.get_close_matches(word, shipped_plans(), n=1):
            raise InputError(f"there is no op and no plan '{word}'; did you mean the plan '{close[0]}'?")


def _changed(
    plan: Plan,
    named: Path,
    what: Sequence[str],
    axes: dict[str, Any],
    params: Sequence[str],
) -> Plan:
    """Change a plan as the command line says: ranks of measures that name none, ranks and class of those that
    name a class, and the numbers of hosts.

    A plan for any machine leaves these open, and what is `_around` launches. Raises InputError for all else.
    """
    class_words = [word for word in params if word.partition("=")[0] == "class"]
    open_ = ("ranks", "hosts", "ranks_per_host")
    given = [
        f"--{name.replace('_', '-')}"
        for name, value in axes.items()
        if value is not None and name not in open_
    ]
    given += ["--param"] * (len(class_words) < len(params))
    ranks, per_host = axes["ranks"], axes.get("ranks_per_host")
    kernels = {id(measure) for measure in plan.measure if "class" in measure.params}
    without = {
        id(measure) for measure in plan.measure if measure.ranks is None and measure.ranks_per_host is None
    }
    given += ["--ranks"] * (ranks is not None and not (kernels | without))
    given += ["--ranks-per-host"] * (per_host is not None and not without)
    given += ["--class"] * bool(class_words and not kernels)
    if len(what) > 1 or given:
        raise InputError(
            f"{' and '.join(given) or what[1]} cannot be given with a plan; write it into {_own_file(named)}"
        )
    classes = _params(class_words)
    changed = [
        replace(
            measure,
            ranks=measure.ranks if ranks is None or id(measure) not in kernels | without else ranks,
            ranks_per_host=per_host if id(measure) in without else measure.ranks_per_host,
            params={**measure.params, **classes} if id(measure) in kernels else measure.params,
        )
        for measure in plan.measure
    ]
    return _on_hosts(replace(plan, measure=tuple(changed)), named, axes.get("hosts"))


def _own_file(named: Path) -> str:
    """Name the file of a plan that its reader may change: of one that ships a copy."""
    return f"a copy of {named}" if named in shipped_plans().values() else str(named)


def _around(plan: Plan, named: Path, around: Mapping[str, Any]) -> Plan:
    """Give the launches of a plan variables, modules and a wrapper, which depend on the machine alone.

    Raises InputError for what a measure of the plan says itself.
    """
    env = around["env"]
    own = {name for measure in plan.measure for name in env if name in measure.env}
    own |= {name for measure in plan.measure for name in AROUND if name in around and getattr(measure, name)}
    if own:
        raise InputError(f"{named} says itself what {' and '.join(sorted(own))} is; change it there")
    given = {name: value for name, value in around.items() if name != "env"}
    return replace(
        plan, measure=tuple(replace(measure, env={**measure.env, **env}, **given) for measure in plan.measure)
    )


def _on_hosts(plan: Plan, named: Path, hosts: str | None) -> Plan:
    """Take the part of a plan for these numbers of hosts, as a job of a batch system does."""
    if hosts is None:
        return plan
    counts = parse_counts(hosts, "hosts")
    kept = [one for one in (with_hosts(measure, counts) for measure in plan.measure) if one is not None]
    if not kept:
        raise InputError(f"{named} has nothing for --hosts {hosts}; its measures name other numbers of hosts")
    return replace(plan, measure=tuple(kept))


def _measure_like(
    name: str,
    axes: dict[str, Any],
    threads: str | None,
    params: Sequence[str],
    omp: Sequence[str],
    env: Sequence[str],
) -> Measure:
    """Make the measure nearest to a test of another suite, with the options given beside its name."""
    row = find_like(name)
    own = _params(params)
    sizes = _from_type(row.bytes, own.get("type"))
    given = axes | {"bytes": axes["bytes"] if axes["bytes"] is not None else sizes}
    return Measure(
        ops=(row.op,),
        **given,
        threads=threads or row.threads or os.environ.get("OMP_NUM_THREADS") or len(read_machine().cores),
        params={**row.params, **own},
        omp=read_omp_words(omp),
        env=read_env_words(env),
    )


def _from_type(sizes: str | None, types: Value | tuple[Value, ...] | None) -> str | None:
    """Leave out the sizes of a suite that are smaller than an element of the one type that is given."""
    words = types if isinstance(types, tuple) else (types,)
    least = ELEMENT_BYTES.get(str(words[0]), 1) if len(words) == 1 else 1
    if sizes is None or least == 1:
        return sizes
    return ",".join(str(size) for size in parse_sizes(sizes) if size % least == 0)


def _params(words: Sequence[str]) -> dict[str, Value | tuple[Value, ...]]:
    """Read parameters of the command line, `window=1,64`. Raises InputError.

    A parameter that is given twice has the values of both.
    """
    params: dict[str, tuple[Value, ...]] = {}
    for word in words:
        key, _, values = word.partition("=")
        if not key or not values:
            raise InputError(f"--param {word} is not of the form name=value, as in --param window=64")
        if re.search(",[^,=]+=", values):
            each = " ".join(f"--param {one}" for one in word.split(","))
            raise InputError(f"--param {word} names several parameters; write {each}")
        given = (parse_value(value) for value in values_in(values, "--param", word))
        params[key] = tuple(dict.fromkeys((*params.get(key, ()), *given)))
    return dict(params)
