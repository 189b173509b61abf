"""Commands for people to type: each that a message prints and that has anything filled in is made here."""

from __future__ import annotations

import re
import shlex
import sys
from collections.abc import Iterator, Mapping, Sequence
from importlib.util import find_spec
from pathlib import Path
from typing import Annotated

import msgspec

from steelyard.base.engine_kinds import engine_kind
from steelyard.base.errors import InputError
from steelyard.base.files import read_regular
from steelyard.base.json_text import decode_json
from steelyard.base.printable import visible
from steelyard.base.secret import MASK, masked_words
from steelyard.base.units import format_values
from steelyard.records.campaign_file import AROUND, CampaignFile, PlannedPoint
from steelyard.records.parts import JobMpi
from steelyard.records.schema import Job

Given = str | int | Path | bool | Sequence[str] | None  # of an option: True: it takes no value; several: each

# Keys of a plan that are options of one value -> their defaults, which need not be typed.
_DEFAULTS: Mapping[str, object] = {
    "launcher": None,
    "stage": None,
    "oversubscribe": False,
    "yield": "real",
    "clock": None,
    "sync": None,
    "paths": None,
    "keep": None,
    "hang_after": "60s",
    "launches": 10,
    "time_budget": None,
}
_MASKED = re.compile(rf"(--env=)?([A-Za-z_][A-Za-z0-9_]*)={re.escape(MASK)}")  # a variable and its value
_AROUND = {name: f"--{option}" for option, name in AROUND.items()}  # the option that set each


def command(verb: str, *words: str, **options: Given) -> str:
    """Write `steelyard VERB WORDS OPTIONS` for a shell, without options that are None, False or empty.

    Words that begin as options do stand behind the options and `--`.
    """
    given = tuple(option_words(options))
    is_dashed = any(word.startswith("-") for word in words)
    behind = (*given, "--", *words) if is_dashed else (*words, *given)
    return visible(shlex.join(("steelyard", *verb.split(), *behind)))


def installing(extra: str) -> str:
    """Write the command that installs what an extra of the package names, where this program is installed:
    another `pip` may come first on PATH. An environment that uv made has no pip.
    """
    here: tuple[str, ...] = (sys.executable, "-m", "pip", "install")
    if find_spec("pip") is None:
        here = ("uv", "pip", "install", "--python", sys.executable)
    return shlex.join((*here, f"steelyard[{extra}]"))


def resumed(folder: Path, **changes: Given) -> str:
    """Write the command that goes on in a results folder by its own plan, with `changes`: in a job, if it was
    measured in one.
    """
    return command("run", out=folder, batch=_batch_of(folder), **changes)


class _Submitted(msgspec.Struct, frozen=True):
    """What is known of a job of a batch system beside its folder."""

    system: Annotated[str, msgspec.Meta(pattern=r"^[a-z]{1,16}$")]


def _batch_of(folder: Path) -> str | None:
    """Find the batch system in whose job a folder was measured; None if it was not."""
    known = folder.absolute().parent / "batch" / f"{folder.name}.json"
    try:
        return decode_json(read_regular(known), msgspec.json.Decoder(_Submitted)).system
    except (InputError, msgspec.DecodeError):
        return None


def alone(campaign: CampaignFile, point: PlannedPoint, mpi: JobMpi | None) -> str:
    """Write the command that measures one test case of a campaign as it was measured there, and nothing else.

    A variable whose value is masked is taken from the shell: see `secrets_of`.
    """
    plan = campaign.plan
    measures = [one for one in plan.get("measure") or () if isinstance(one, dict)]
    planned = campaign.ops.get(point.op)
    is_sized = point.bytes > 0 or (planned is not None and planned.sized)
    is_asked = any(measure.get("method") for measure in measures) or "method" in (plan.get("arms") or {})
    engines = [measure["engine"] for measure in measures if measure.get("engine")]
    by_engine = plan.get("arms", {}).get("engine") if isinstance(plan.get("arms"), dict) else None
    params = {**point.params, **point.method_params, **point.rule_params}
    options: dict[str, Given] = {
        "bytes": str(point.bytes) if is_sized else None,
        "-n": str(point.ranks) if mpi is not None or point.ranks > 1 else None,
        **({} if mpi is None else {engine_kind(mpi.name): mpi.mpiexec if "/" in mpi.name else mpi.name}),
        "engine": engine_kind(mpi.name if mpi else None) if engines else None,
        "hosts": None if point.hosts is None else str(point.hosts),
        "placement": None if point.placement is None else point.placement.words,
        "threads": str(point.threads) if point.threads > 1 else None,
        "thread_level": point.thread_level,
        "method": point.method if is_asked else None,
        "rule": point.rule if any(measure.get("rule") for measure in measures) else None,
        "param": format_values(params).split(),
        "omp": [f"{name}={value}" for name, value in point.omp.items()],
        "arms": f"engine={','.join(map(str, by_engine))}" if by_engine else None,
        "arrivals": _behind(campaign.command, "--arrivals"),
        "seed": _behind(campaign.command, "--seed"),
    }
    options |= {key: value for key, normal in _DEFAULTS.items() if (value := plan.get(key, normal)) != normal}
    word = planned.word(point.op) if planned else point.op
    return " ".join((command("run", word, **options), *settings(point.env)))


def secrets_of(point: PlannedPoint) -> tuple[str, ...]:
    """Name the variables whose values results do not keep: the command `alone` needs them in the shell."""
    return tuple(name for name, value in point.env.items() if MASK in value)


def launcher_alone(job: Job) -> str:
    """Write the command that has the launcher of a job start `hostname` in place of the engine, as often,
    where and bound as the engine was, and with the variables that the launcher was given.
    """
    before = next((k for k, word in enumerate(job.command) if word == job.engine), 0)
    given = [f"{name}={value}" for name, value in job.environment.items()]
    return visible(
        " ".join(map(_quoted, (*(["env", *given] if given else ()), *job.command[:before], "hostname")))
    )


def retyped(typed: Sequence[str], **options: Given) -> str:
    """Write the words that were typed behind `steelyard` again, with options that are not yet among them.

    Secrets are masked; a variable whose value is one is taken from the shell.
    """
    words = masked_words(typed)
    end = words.index("--") if "--" in words else len(words)  # behind it nothing is an option
    new = {name: value for name, value in options.items() if _behind(words[:end], _spelt(name)) is None}
    return visible(" ".join(map(_quoted, ("steelyard", *words[:end], *option_words(new), *words[end:]))))


def _quoted(word: str) -> str:
    """Quote a word for a shell; the value of a variable that is masked is the shell's own."""
    masked = _MASKED.fullmatch(word)
    return f'{masked[1] or ""}{masked[2]}="${masked[2]}"' if masked else shlex.quote(word)


def _spelt(name: str) -> str:
    return name if name.startswith("-") else f"--{name.replace('_', '-')}"


def option_words(options: Mapping[str, Given]) -> Iterator[str]:
    """Write options as words, without those that are None or False."""
    for name, value in options.items():
        option = _spelt(name)
        if value is True:
            yield option
        elif isinstance(value, (list, tuple)):
            yield from (word for one in value for word in (option, one))
        elif value is not None and value is not False:
            yield from (option, str(value))


def settings(env: Mapping[str, str]) -> Iterator[str]:
    """Write variables of the environment as options of a command; a masked value is the shell's own."""
    for name, value in env.items():
        if name in _AROUND:
            yield visible(f"{_AROUND[name]} {shlex.quote(value)}")
        elif MASK in value:
            yield f"--env {_quoted(f'{name}={MASK}')}"
        else:
            yield visible(f"--env {shlex.quote(f'{name}={value}')}")


def _behind(words: Sequence[str], option: str) -> str | None:
    """Find the value of an option among the words of a command."""
    found: str | None = None
    for k, word in enumerate(words):
        name, equals, value = word.partition("=")
        if name == option:
            found = value if equals else next(iter(words[k + 1 :]), None)
    return found
