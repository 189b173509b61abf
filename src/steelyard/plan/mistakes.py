"""Explain mistakes in a plan's file in our words: the line, the key, what is allowed there."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any

# Key -> what is allowed there.
_ALLOWED: Mapping[str, str] = {
    "ops": "names or patterns of ops: \"mpi.bcast\", or [\"mpi.i*\", \"self.empty\"]",
    "bytes": "sizes: 8, \"0,8,1Ki..4Mi\", or a list of them",
    "ranks": "numbers of ranks: 2, \"2,4\", or [2, 4]",
    "hosts": "numbers of hosts: 2, \"1,2,4\", or [1, 2]",
    "ranks_per_host": "numbers of ranks: 1, \"1,2\", or [1, 2]",
    "threads": "numbers of threads: 2, \"1,2,4\", or [1, 2]",
    "thread_level": "\"single\", \"funneled\", \"serialized\" or \"multiple\", or a list of them",
    "method": "methods: \"epoch\", \"epoch,barrier\", or a list of them",
    "rule": "a stop rule: \"median\"",
    "placement": "placements: \"each\", \"0,1;0,2\", or a list of them",
    "engine": "\"solo\", \"mpi\" or \"shmem\"",
    "params": "a table of parameters: { window = [1, 64] }",
    "omp": "a table of settings of OpenMP: { wait_policy = \"active\" }",
    "env": "a table of variables: { UCX_TLS = [\"tcp\", \"shm\"] }",
    "modules": "modules to load: \"gcc/12 ucx\", or a list of such sets",
    "wrapper": "words before the engine: \"apptainer exec mpi.sif\", or a list of such commands",
    "files": "absolute paths of folders: \"/scratch\", or a list of them",
    "if_files": "true or false",
    "beside": "true or false",
    "first": "true or false",
    "exclude": "a list of tables: [{ bytes = \"1Mi\", threads = 4 }]",
    "measure": "tables of their own, [[measure]]",
    "include": "plans that ship, or files beside this one: [\"quick\", \"mine.toml\"]",
    "name": "a text",
    "summary": "a text",
    "launches": "a whole number of 1 or more",
    "precision": "a percentage: \"2%\"",
    "detect": "a percentage: \"3%\"",
    "time_budget": "a time: \"90s\", \"10m\"",
    "spread": "a time: \"30m\", \"2h\"",
    "mpi": "names or paths of MPIs: \"mpich\", or [\"mpich\", \"openmpi\"]",
    "shmem": "names or paths of OpenSHMEM libraries: \"oshmem\", or a list of them",
    "stage": "an absolute path of a folder of each host's own: \"/tmp/steelyard\"",
    "arms": "a table of one factor and its values",
    "oversubscribe": "true or false",
    "refine": "true or false",
    "launcher": "what starts ranks: \"srun\"",
    "yield": "\"real\" or \"none\"",
    "clock": "the name of a timer",
    "sync": "the name of a synchronisation",
    "paths": "\"symmetric\" or \"asymmetric\"",
    "keep": "\"ranks\", \"sampled\" or \"slowest\"",
    "arrivals": "the name of a file beside the plan",
    "hang_after": "a time: \"60s\"",
    "seed": "a whole number of 0 or more",
}  # fmt: skip

_BEFORE_KEY = re.compile(r"""\s*(?:\[+\s*)?(?:measure\.)?["']?""")
_AFTER_KEY = re.compile(r"""["']?\s*[=.\]]""")


def explained(message: str, text: str, document: Mapping[str, Any]) -> tuple[int | None, str]:
    """Find the line of a plan's text, and make a sentence of msgspec's message.

    `message` is such as "Expected `array`, got `int` - at `$.measure[0].ops`", or that of a check of ours.
    """
    said, _, where = message.partition(" - at `$")
    parts = re.findall(r"\.(\w+)|\[(\d+)\]|\[\.\.\.\]", where.rstrip("`"))
    keys = [name for name, _ in parts if name]
    index = next((int(number) for _, number in parts if number), None)
    if index is None or keys[:1] != ["measure"]:
        index = None
    inner = keys[1:] if index is not None else keys
    if missing := re.match(r"Object missing required field `(\w+)`", said):
        if missing[1] == "measure":
            return None, "there is no [[measure]], so nothing to measure"
        return _line(text, None, index), f"this [[measure]] has no {missing[1]}: {_ALLOWED[missing[1]]}"
    key = next((name for name in inner if name in _ALLOWED), None) or re.split("[ :]", said, maxsplit=1)[0]
    if said.startswith(("Expected ", "Invalid ")) and key in _ALLOWED:
        value = _value(document, index, key)
        return _line(text, key, index), f"{key} is {value}, and should be {_ALLOWED[key]}"
    if said.startswith(("Expected ", "Invalid ")):
        return _line(text, key, index), f"a value is of another type than it should be: {said}"
    return _line(text, key, index), said


def line_of(text: str, key: str, inside: bool) -> int | None:
    """Find the first line that gives a key, at the top or inside a [[measure]]."""
    sections = _sections(text)
    for first, lines in sections[1:] if inside else sections[:1]:
        for number, line in enumerate(lines, first):
            if _gives(line, key):
                return number
    heads = (re.match(r"\s*\[+\s*([\w-]*)", line) for line in text.splitlines())
    return next((number for number, head in enumerate(heads, 1) if head and head[1] == key), None)


def _line(text: str, key: str | None, index: int | None) -> int | None:
    """Find the line of a key, or the first of its [[measure]]."""
    sections = _sections(text)
    at = 0 if index is None else index + 1
    if at >= len(sections):
        return None
    first, lines = sections[at]
    found = (number for number, line in enumerate(lines, first) if key is not None and _gives(line, key))
    return next(found, None if index is None else first)


def _sections(text: str) -> list[tuple[int, Sequence[str]]]:
    """Split the lines before the first [[measure]], and those of each, with the number of their first."""
    sections: list[tuple[int, list[str]]] = [(1, [])]
    for number, line in enumerate(text.splitlines(), 1):
        if re.match(r"\s*\[\[\s*measure\s*\]\]", line):
            sections.append((number, []))
        sections[-1][1].append(line)
    return [(first, lines) for first, lines in sections]


def _gives(line: str, key: str) -> bool:
    """Is the key what a line begins with? It may be of any length, so it is no part of an expression."""
    start = _BEFORE_KEY.match(line)
    rest = line[start.end() :] if start else ""
    return rest.startswith(key) and _AFTER_KEY.match(rest, len(key)) is not None


def _value(document: Mapping[str, Any], index: int | None, key: str) -> str:
    """Show the value there, shortened."""
    try:
        value = document[key] if index is None else document["measure"][index][key]
    except (KeyError, IndexError, TypeError):
        return "something else"
    words = str(value).lower() if isinstance(value, bool) else repr(value)
    return words if len(words) <= 40 else f"{words[:37]}..."
