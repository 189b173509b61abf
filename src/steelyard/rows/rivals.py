"""RivalNames: rows of a table that differ in one choice, such as the MPI, and are therefore compared."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

from steelyard.base.units import format_factor
from steelyard.render.table import NOTHING, WORDS
from steelyard.results.row import Row
from steelyard.rows.labels import Labels, VaryingFact
from steelyard.rows.ratios import Ratio, plain_ratio

MOST = 10  # times: an interval that is wider than this to one side says almost nothing
FOLDER, MPI = "folder", "mpi"
_CHOICES = ("omp ", "env ", "param ", "placement", "thread level")  # keys, or prefixes of keys


@dataclass(frozen=True, slots=True)
class RivalNames:
    """`names` in their order, `of` each row its own, `keys` the facts that make them.

    `took_turns`: launch i of one rival was near launch i of the other.
    """

    names: tuple[str, ...]
    of: tuple[str, ...]
    keys: frozenset[str]
    took_turns: bool


def rivals_of(labels: Labels) -> RivalNames | None:
    """Choose what is compared: folders, else MPIs, else a choice of two words if there is no other choice."""
    axes = {axis.key: axis for axis in labels.varying}
    if FOLDER in axes:
        return _folders(axes[FOLDER], axes.get(MPI))
    if MPI in axes:
        return _rivals(axes[MPI], frozenset({MPI}))
    choices = [axis for axis in labels.varying if axis.key.startswith(_CHOICES) and _is_choice(axis)]
    if len(choices) == 1 and len(choices[0].values) == 2:
        return _rivals(choices[0], frozenset({choices[0].key}))
    return None


def _is_choice(axis: VaryingFact) -> bool:
    """Is it a choice between words? Numbers, and the class of a kernel, are amounts."""
    return axis.column.kind == WORDS and axis.key != "param class"


def _rivals(axis: VaryingFact, keys: frozenset[str]) -> RivalNames:
    of = tuple(fact.value or "unset" for fact in axis.facts)
    return RivalNames(tuple(dict.fromkeys(of)), of, keys, took_turns=FOLDER not in keys)


def _folders(folders: VaryingFact, mpis: VaryingFact | None) -> RivalNames:
    """Compare folders; if each has its own MPI, they are named by it."""
    if mpis is None:
        return _rivals(folders, frozenset({FOLDER}))
    pairs = {(one.value, other.value) for one, other in zip(folders.facts, mpis.facts, strict=True)}
    if len(pairs) == len(folders.values) == len(mpis.values):
        return _rivals(mpis, frozenset({FOLDER, MPI}))
    return _rivals(folders, frozenset({FOLDER}))


def ratios_to_first(
    rows: Mapping[str, Row], rivals: RivalNames, known: Mapping[int, Ratio], is_rate: bool
) -> dict[str, Ratio]:
    """Find the ratio of each rival of a test case to the first one; `is_rate`: of rates instead of times.

    `known` are those of the comparison, by `id(row)`. What it does not compare has its times divided, and no
    interval.
    """
    base = rows.get(rivals.names[0])
    if base is None:
        return {}
    found = {}
    for name, row in rows.items():
        compared = known.get(id(row))
        if compared is None or compared.base is not base:
            compared = plain_ratio(row, base) if row is not base else None
        if compared is not None:
            ratio = replace(compared, name=name, base_name=rivals.names[0])
            found[name] = ratio.of_rates if is_rate else ratio
    return found


def ratio_cells(ratio: Ratio | None) -> tuple[str, str]:
    """`7.97` and `7.21 – 8.80`; dashes for none."""
    if ratio is None:
        return NOTHING, NOTHING
    if ratio.low is None or ratio.high is None:
        return ratio_words(ratio.value), NOTHING
    if ratio.high > MOST * ratio.value or ratio.low * MOST < ratio.value:
        return ratio_words(ratio.value), f"> {MOST}x"
    return ratio_words(ratio.value), f"{ratio_words(ratio.low)} – {ratio_words(ratio.high)}"


def ratio_words(value: float) -> str:
    """Write three figures, at least two after the point below 10: ratios lie around 1. `1/122` for a small
    one.
    """
    return f"{value:.2f}" if 0.1 <= value < 9.995 else format_factor(value)
