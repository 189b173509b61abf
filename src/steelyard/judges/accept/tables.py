"""An acceptance as a table, and in sentences below it."""

from __future__ import annotations

from collections.abc import Iterator

import msgspec

from steelyard.base.plural import counted
from steelyard.judges.accept.criterion import ACCEPTED, NOT_WELL, WELL, Acceptance, Topic
from steelyard.judges.verdict import CANNOT_TELL, Judged
from steelyard.render.table import BAD, DIM, PLAIN, Line, Table, without_empty, words

_TONES = {WELL: PLAIN, NOT_WELL: BAD, CANNOT_TELL: DIM}


def head_facts(found: Acceptance) -> Iterator[str]:
    """Write of which machine a verdict is, from how much, and the command that goes on."""
    if found.machine:
        yield f"Machine: {found.machine}"
    yield f"Measured: {found.measured}"
    if found.go_on:
        yield f"To go on: {found.go_on}"


def acceptance_table(found: Acceptance) -> Table:
    """Make a line for each topic."""
    lines = tuple(Line((one.topic, one.verdict, one.question), _TONES[one.verdict]) for one in found.topics)
    return Table(count_words(found), "", (words("topic"), words("verdict"), words("question")), lines)


def acceptance_page_table(found: Acceptance) -> Table:
    """Make a line for each topic with evidence and remedy: what is not well first."""
    topics = sorted(found.topics, key=lambda one: ACCEPTED.verdicts.index(one.verdict))
    lines = tuple(
        Line((one.topic, one.verdict, one.evidence, one.remedy), _TONES[one.verdict]) for one in topics
    )
    columns = (words("topic"), words("verdict"), words("what was seen"), words("what to do"))
    return without_empty(Table("", "", columns, lines))


def count_words(found: Acceptance) -> str:
    """Write `7 of 9 topics are well, 1 is not (noise), 1 cannot be told (cores)`."""
    count = {verdict: sum(one.verdict == verdict for one in found.topics) for verdict in _TONES}
    text = (
        f"{count[WELL]} of {counted(len(found.topics), 'topic')} {'is' if count[WELL] == 1 else 'are'} well"
    )
    for verdict, verb in (
        (NOT_WELL, "is not" if count[NOT_WELL] == 1 else "are not"),
        (CANNOT_TELL, "cannot be told"),
    ):
        if names := [one.topic for one in found.topics if one.verdict == verdict]:
            text += f", {len(names)} {verb} ({', '.join(names)})"
    return text


def acceptance_sentences(found: Acceptance) -> Iterator[str]:
    """Explain what is not well, then what is undecided: why, and what to do, the same only once."""
    said: set[str] = set()
    for verdict in (NOT_WELL, CANNOT_TELL):
        for one in found.topics:
            if one.verdict == verdict:
                yield topic_words(one if one.remedy not in said else msgspec.structs.replace(one, remedy=""))
                said.add(one.remedy)


def topic_words(one: Topic) -> str:
    """Write `cores, not well: core 5 is ... Look for ...`."""
    return " ".join(text for text in (f"{one.topic}, {one.verdict}:", one.evidence, one.remedy) if text)


def judged_topics(found: Acceptance) -> Iterator[Judged]:
    """List the verdicts with their evidence and remedy."""
    for one in found.topics:
        yield Judged("accept", one.topic, one.verdict, f"{one.evidence} {one.remedy}".rstrip())
