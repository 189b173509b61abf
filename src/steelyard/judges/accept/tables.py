"""An acceptance as a table, and in sentences below it."""

from __future__ import annotations

from collections.abc import Iterator

import msgspec

from steelyard.base.plural import counted
from steelyard.judges.accept.criterion import ACCEPTED, NOT_WELL, WELL, Acceptance, Topic
from steelyard.judges.verdict import CANNOT_TELL, Judged
from steelyard.render.table import BAD, DIM, PLAIN, Line, Table, without_empty, words

_TONES = {WELL: PLAIN, NOT_WELL: BAD, CANNOT_TELL: DIM}


def head_facts(acceptance: Acceptance) -> Iterator[str]:
    """Write of which machine a verdict is, from how much, and the command that goes on."""
    if acceptance.machine:
        yield f"Machine: {acceptance.machine}"
    yield f"Measured: {acceptance.measured}"
    if acceptance.go_on:
        yield f"To go on: {acceptance.go_on}"


def acceptance_table(acceptance: Acceptance) -> Table:
    """Make a line for each topic."""
    lines = tuple(
        Line((topic.topic, topic.verdict, topic.question), _TONES[topic.verdict])
        for topic in acceptance.topics
    )
    return Table(count_words(acceptance), "", (words("topic"), words("verdict"), words("question")), lines)


def acceptance_page_table(acceptance: Acceptance) -> Table:
    """Make a line for each topic with evidence and remedy: what is not well first."""
    topics = sorted(acceptance.topics, key=lambda one: ACCEPTED.verdicts.index(one.verdict))
    lines = tuple(
        Line((topic.topic, topic.verdict, topic.evidence, topic.remedy), _TONES[topic.verdict])
        for topic in topics
    )
    columns = (words("topic"), words("verdict"), words("what was seen"), words("what to do"))
    return without_empty(Table("", "", columns, lines))


def count_words(acceptance: Acceptance) -> str:
    """Write `7 of 9 topics are well, 1 is not (noise), 1 cannot be told (cores)`."""
    count = {verdict: sum(topic.verdict == verdict for topic in acceptance.topics) for verdict in _TONES}
    topics = counted(len(acceptance.topics), "topic")
    text = f"{count[WELL]} of {topics} {'is' if count[WELL] == 1 else 'are'} well"
    for verdict, verb in (
        (NOT_WELL, "is not" if count[NOT_WELL] == 1 else "are not"),
        (CANNOT_TELL, "cannot be told"),
    ):
        if names := [topic.topic for topic in acceptance.topics if topic.verdict == verdict]:
            text += f", {len(names)} {verb} ({', '.join(names)})"
    return text


def acceptance_sentences(acceptance: Acceptance) -> Iterator[str]:
    """Explain what is not well, then what is undecided: why, and what to do, the same only once."""
    said: set[str] = set()
    for verdict in (NOT_WELL, CANNOT_TELL):
        for topic in acceptance.topics:
            if topic.verdict == verdict:
                yield topic_words(
                    topic if topic.remedy not in said else msgspec.structs.replace(topic, remedy="")
                )
                said.add(topic.remedy)


def topic_words(topic: Topic) -> str:
    """Write `cores, not well: core 5 is ... Look for ...`."""
    return " ".join(
        text for text in (f"{topic.topic}, {topic.verdict}:", topic.evidence, topic.remedy) if text
    )


def judged_topics(acceptance: Acceptance) -> Iterator[Judged]:
    """List the verdicts with their evidence and remedy."""
    for topic in acceptance.topics:
        yield Judged("accept", topic.topic, topic.verdict, f"{topic.evidence} {topic.remedy}".rstrip())
