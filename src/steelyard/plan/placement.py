"""Values of `--placement` on one host: words and lists of CPUs, as the places of ranks and threads.

Pure: a text, a topology and a number of places go in, placements come out.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Sequence

from steelyard.base.cpulist import MOST_CPUS, parse_cpus
from steelyard.base.errors import InputError
from steelyard.base.plural import counted
from steelyard.plan.host_pairs import HOST_WORDS
from steelyard.records.campaign_file import UNBOUND, Placement
from steelyard.system.topology import SAME_CPU, Topology, check_cpus, class_of, classes_of

LIST = "list"  # the kind of places that are not two, and so have no class


class _NoFitError(InputError):
    """A valid placement, but of another number of places."""


_DEFAULT = "default"
OF_ANY_HOSTS = (_DEFAULT, UNBOUND)  # placements that name no CPU, and so are of one host and of several


def placements_of(
    texts: Sequence[str], places: int, whose: str, topology: Topology, strict: bool = True
) -> list[Placement | None]:
    """Make the placements that texts such as `each` or `0,1;0,2` mean, each once; None is the default.

    `places` are the ranks times the threads of a point; `whose` names it in errors. Placements of another
    number of places are left out, or refused if `strict`. Raises InputError.
    """
    if places > MOST_CPUS:
        raise InputError(
            f"{whose} has {places} places, and a placement at most {MOST_CPUS}; leave --placement out, or "
            "give fewer ranks and threads"
        )
    found: dict[Placement | None, None] = {}
    for word in (word.strip() for text in texts for word in text.split(";")):
        try:
            found |= dict.fromkeys(_read(word, places, whose, topology))
        except _NoFitError:
            if strict:
                raise
    return list(found)


def _read(word: str, places: int, whose: str, topology: Topology) -> list[Placement | None]:
    if word == _DEFAULT:
        return [None]
    if word == UNBOUND:
        return [Placement(UNBOUND)]
    if word in _WORDS:
        chosen = _WORDS[word](word, places, whose, topology)
    else:
        chosen = [_listed(word, places, whose, topology)]
    return [_placement(cpus, topology) for cpus in chosen]


def _same(word: str, places: int, whose: str, topology: Topology) -> list[tuple[int, ...]]:
    """Place all on the lowest CPU that takes no interrupts."""
    del word, whose
    numbers = [cpu.number for cpu in topology.cpus]
    quiet = [number for number in numbers if number not in topology.interrupts]
    return [((quiet or numbers)[0],) * places]


def _each(word: str, places: int, whose: str, topology: Topology) -> list[tuple[int, ...]]:
    _need_a_pair(word, places, whose)
    return [class_.pair for class_ in classes_of(topology)]


def _all(word: str, places: int, whose: str, topology: Topology) -> list[tuple[int, ...]]:
    _need_a_pair(word, places, whose)
    numbers = [cpu.number for cpu in topology.cpus]
    if len(numbers) < 2:
        raise InputError(
            f"'{word}' places pairs of different CPUs, and this process may use only CPU {numbers[0]}; "
            "give --placement same, or let it use more"
        )
    return list(itertools.combinations(numbers, 2))


_WORDS: dict[str, Callable[[str, int, str, Topology], list[tuple[int, ...]]]] = {
    "same": _same,
    "each": _each,
    "all": _all,
}


def _need_a_pair(word: str, places: int, whose: str) -> None:
    if places != 2:
        raise _NoFitError(
            f"'{word}' places pairs, and {whose} has {counted(places, 'place')}; "
            f"give two ranks or two threads, or a list of CPUs for {places}"
        )


def _listed(word: str, places: int, whose: str, topology: Topology) -> tuple[int, ...]:
    try:
        cpus = parse_cpus(word)
    except ValueError:
        cpus = ()
    if not cpus or any(not part.strip() for part in word.split(",")):
        words = f"{', '.join(OF_ANY_HOSTS)}, {', '.join(_WORDS)}, {', '.join(HOST_WORDS)}"
        raise InputError(
            f"the placement '{word}' is neither a list of CPUs, as 0,1 or 0-3, nor hosts of this "
            f"allocation, nor one of {words}"
        )
    check_cpus(cpus, [cpu.number for cpu in topology.cpus], topology.online, word)
    if len(cpus) != places:
        raise _NoFitError(
            f"the placement {word} has {counted(len(cpus), 'CPU')}, "
            f"and {whose} has {counted(places, 'place')}; give a CPU for each"
        )
    return cpus


def _placement(cpus: tuple[int, ...], topology: Topology) -> Placement:
    """Find the class of a pair, and which of its CPUs take the interrupts."""
    by_number = {cpu.number: cpu for cpu in topology.cpus}
    kind = LIST
    if len(cpus) > 1 and len(set(cpus)) == 1:
        kind = SAME_CPU
    elif len(cpus) == 2:
        kind = class_of(by_number[cpus[0]], by_number[cpus[1]])
    return Placement(kind, cpus, tuple(sorted(set(cpus) & set(topology.interrupts))))
