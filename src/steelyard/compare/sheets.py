"""A comparison as a table and as sentences."""

from __future__ import annotations

from steelyard.base.plural import plural
from steelyard.base.units import format_bytes
from steelyard.compare.answer import CANNOT_TELL, FASTER, LITTLE, SAME, SLOWER
from steelyard.compare.verdicts import CaseVerdict, Verdicts
from steelyard.show.sheet import BAD, DIM, NOTHING, PLAIN, WARN, Line, Sheet, number, remark, words

_TONES = {SLOWER: BAD, FASTER: PLAIN, LITTLE: WARN, SAME: PLAIN, CANNOT_TELL: DIM}
_NAMED = 3  # sizes of an op that a sentence names before it gives their range


def verdict_sheet(found: Verdicts, margin: float) -> Sheet:
    """A line for each test case, and below the sizes of an op one for all of them."""
    several = len(found.arms) > 2
    lines = []
    for op in dict.fromkeys(one.op for one in found.points):
        mine = [one for one in found.points if one.op == op]
        whole = [one for one in found.ops if one.op == op] if len(mine) > len(found.arms) - 1 else []
        lines += [_line(one, several, margin) for one in (*mine, *whole)]
    columns = (words("op"), *([words("arm")] if several else []), number("bytes"), number("ratio", True))
    return Sheet(
        f"{' and '.join(found.arms[1:])} against {found.arms[0]}",
        "ratio of times, with the interval that all ratios keep together",
        (*columns, number("from"), number("to"), words("verdict"), remark()),
        tuple(lines),
        _notes(found),
        grouped=1,
    )


def _line(one: CaseVerdict, several: bool, margin: float) -> Line:
    size = "all" if one.bytes is None else format_bytes(one.bytes)
    numbers = (f"{value:.3f}" if value is not None else NOTHING for value in (one.ratio, one.low, one.high))
    verdict = f"same within {100 * margin:g} %" if one.verdict == SAME else one.verdict
    arm = (one.b,) if several else ()
    return Line((one.op, *arm, size, *numbers, verdict, _remark(one)), _TONES[one.verdict])


def _remark(one: CaseVerdict) -> str:
    needed = f"about {one.launches_needed} launches would tell" if one.launches_needed else ""
    return ", ".join(text for text in (one.why, needed) if text)


def _notes(found: Verdicts) -> tuple[str, ...]:
    taken = "alternately" if found.by_turns else "at different times"
    notes = [f"{found.launches} launches of each, {taken}; {found.promise.words}."]
    if found.apart:
        which = f"{plural('launch', len(found.apart))} {', '.join(map(str, found.apart))}"
        notes.append(f"Left out: {which}, whose arms were not measured one after the other.")
    if found.missing:
        notes.append(f"{found.missing} test cases are not in all arms.")
    notes += [f"Not compared: {why}." for why in found.refused[:_NAMED]]
    if len(found.refused) > _NAMED:
        notes.append(f"Not compared: {len(found.refused) - _NAMED} more.")
    return tuple(notes)


def verdict_sentences(found: Verdicts, margin: float) -> tuple[str, ...]:
    """What the comparison comes to: a sentence for each arm and op."""
    sentences = []
    for arm in found.arms[1:]:
        for op in dict.fromkeys(one.op for one in found.points):
            mine = [one for one in found.points if one.op == op and one.b == arm]
            if mine:
                sentences.append(f"{op}: {arm} {_clauses(mine, found.arms[0], margin)}.")
    return tuple(sentences)


def _clauses(mine: list[CaseVerdict], base: str, margin: float) -> str:
    said = {
        SLOWER: f"is slower than {base}",
        FASTER: f"is faster than {base}",
        LITTLE: "differs a little",
        SAME: f"is the same within {100 * margin:g} %",
        CANNOT_TELL: f"cannot be told from {base}",
    }
    parts = []
    for verdict, clause in said.items():
        those = [one for one in mine if one.verdict == verdict]
        if those:
            parts.append(f"{clause}{_factor(those, verdict)}{_sizes(those, mine)}")
    return ", ".join(parts)


def _factor(those: list[CaseVerdict], verdict: str) -> str:
    ratios = sorted(one.ratio for one in those if one.ratio is not None)
    if verdict not in (SLOWER, FASTER) or not ratios:
        return ""
    low, high = (f"{ratio:.3g}" for ratio in (ratios[0], ratios[-1]))
    return f" ({low} times as long)" if low == high else f" ({low} to {high} times as long)"


def _sizes(those: list[CaseVerdict], mine: list[CaseVerdict]) -> str:
    if len(those) == len(mine):
        return ""
    sizes = [format_bytes(one.bytes or 0) for one in those]
    if len(sizes) <= _NAMED:
        return f" at {', '.join(sizes)}"
    return f" at {len(sizes)} of {len(mine)} sizes"
