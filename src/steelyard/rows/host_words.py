"""Names of hosts in words."""

from __future__ import annotations

from collections.abc import Iterable

from steelyard.base.plural import joined
from steelyard.records.job_file import JobFile
from steelyard.results.load import Measured

_MOST_NAMED = 3  # hosts, in a title


def host_names(measured: Measured) -> tuple[str, ...]:
    """List the hosts of the ranks once each, or the host of the campaign if that is known."""
    seen = hosts_of(measured.files)
    here = str(measured.campaign.machine.get("host") or "")
    return seen if len(seen) > 1 else (here,) if here else ()


def hosts_of(files: Iterable[JobFile]) -> tuple[str, ...]:
    """List the hosts of the ranks, once each."""
    places = (place for file in files if file.launch for place in file.launch.places)
    return tuple(dict.fromkeys(place.host for place in places))


def hosts_words(names: Iterable[str]) -> str:
    """`h1`, `h1, h2 and h3`, `8 hosts (h1, h2, h3, ...)`."""
    found = list(dict.fromkeys(name for name in names if name))
    if len(found) <= _MOST_NAMED:
        return joined(found)
    return f"{len(found)} hosts ({', '.join(found[:_MOST_NAMED])}, ...)"
