"""Whether a machine is what a reference of it was."""

from __future__ import annotations

from steelyard.accept.criterion import CANNOT_TELL, NOT_WELL, WELL, Evidence, Finding, Weighed, criterion
from steelyard.base.errors import InputError
from steelyard.compare.answer import CANNOT_TELL as UNTOLD
from steelyard.compare.answer import SLOWER, Question
from steelyard.compare.arms import rivals_of
from steelyard.compare.sheets import verdict_sentences
from steelyard.compare.verdicts import compare

_MARGIN = 0.35  # of a time: less cannot be promised of two sittings, each of some 60 test cases in 6 launches
_MOST_OPS = 3  # that have a sentence each; of more, one for all


@criterion(
    "reference",
    "Is it what the reference was?",
    remedy="See which operations are slower: steelyard compare REFERENCE DIR. Settings, versions and other "
    "load of both are in their reports.",
)
def reference(seen: Evidence) -> Finding | None:
    """The verdicts of a comparison of folders; None without a reference."""
    if seen.reference is None:
        return None
    base, own = seen.reference, seen.weighed
    if base.measured.campaign.machine.get("cpu_model") != own.measured.campaign.machine.get("cpu_model"):
        return Finding(
            CANNOT_TELL,
            f"{base.name} is of another kind of machine ({_kind(base)}) than this one ({_kind(own)}).",
            "Give a reference of the same kind.",
        )
    asked = Question(margin=_MARGIN)
    try:
        found = compare(rivals_of({base.name: base.rows, own.name: own.rows}), False, asked)
    except InputError as error:
        text, _, what = str(error).partition("; ")
        return Finding(
            CANNOT_TELL, f"{text[0].upper()}{text[1:]}.", f"{what[:1].upper()}{what[1:]}." if what else ""
        )
    slower = [one for one in found.points if one.verdict == SLOWER]
    told = [one for one in found.points if one.verdict != UNTOLD]
    words = " ".join(verdict_sentences(found, asked.margin, _MOST_OPS))
    if slower:
        return Finding(NOT_WELL, words)
    if len(told) < len(found.points):
        return Finding(CANNOT_TELL, words, "Give both more launches (--launches).")
    return Finding(WELL, words)


def _kind(one: Weighed) -> str:
    return str(one.measured.campaign.machine.get("cpu_model") or "not told")
