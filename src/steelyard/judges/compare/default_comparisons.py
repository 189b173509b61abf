"""The comparisons that folders allow without being asked: arms of a folder, its MPIs, or several folders.

The headline, tables and pictures take their ratios from here, so that they are those of `compare`.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from steelyard.analyses.overview import ReadFolder
from steelyard.base.errors import InputError
from steelyard.judges.compare.arms import Rivals, folder_factor, rivals_by, rivals_of
from steelyard.judges.compare.headline import headline
from steelyard.judges.compare.scale import Question
from steelyard.judges.compare.verdicts import OtherConditionsError, Verdicts, compare
from steelyard.judges.verdict import CANNOT_TELL
from steelyard.records.campaign_file import AROUND
from steelyard.rows.ratios import Ratio
from steelyard.rows.rivals import FOLDER, MPI

_AROUND = {f"env {name}": factor for factor, name in AROUND.items()}  # keys of labels -> factors
_FOLDERS = "folders"  # in place of a factor


class Comparisons:
    """The comparisons of folders by each factor, each made once, when something asks for it."""

    def __init__(self, folders: Sequence[ReadFolder]) -> None:
        """`folders` are those whose rows are shown: ratios are found by these very rows."""
        self._folders = folders
        self._alone = [Comparisons([folder]) for folder in folders] if len(folders) > 1 else []
        self._made: dict[str, tuple[Verdicts | str | None, dict[int, Ratio]]] = {}

    @property
    def asked(self) -> Verdicts | str | None:
        """The comparison of the folders, or of the arms that the plan names, or of the MPIs.

        A sentence if arms were measured in different ways, None if nothing can be compared.
        """
        return self._by(_FOLDERS if len(self._folders) > 1 else folder_factor(self._plan))[0]

    @property
    def told(self) -> Verdicts | str | None:
        """The same; None, too, if nobody named arms and no verdict is possible."""
        found = self.asked
        if not isinstance(found, Verdicts) or (len(self._folders) == 1 and self._plan.get("arms")):
            return found
        return found if any(point.verdict != CANNOT_TELL for point in found.points) else None

    @property
    def headline(self) -> tuple[str, ...]:
        """The headline of the folders."""
        return headline({folder.name: folder.made for folder in self._folders}, self.asked)

    def ratios_by(self, keys: frozenset[str]) -> Mapping[int, Ratio]:
        """Find the ratios of rows that differ by these keys of labels, by `id(row)`; see `RatiosBy`."""
        factor = _factor_of(keys)
        return {} if factor is None else self._by(factor)[1]

    @property
    def ratios(self) -> Mapping[int, Ratio]:
        """The ratios of folders if there are several, else of MPIs, by `id(row)`."""
        return self.ratios_by(frozenset({FOLDER if len(self._folders) > 1 else MPI}))

    @property
    def _plan(self) -> Mapping[str, Any]:
        return self._folders[0].measured.campaign.plan

    def _by(self, factor: str) -> tuple[Verdicts | str | None, dict[int, Ratio]]:
        if factor not in self._made:
            self._made[factor] = self._compared(factor)
        return self._made[factor]

    def _compared(self, factor: str) -> tuple[Verdicts | str | None, dict[int, Ratio]]:
        if self._alone and factor != _FOLDERS:  # rivals of a table that only one of the folders has
            return None, {row: ratio for one in self._alone for row, ratio in one._by(factor)[1].items()}
        try:
            rivals = self._rivals(factor)
            found = compare(rivals, by_turns=factor != _FOLDERS, asked=Question())
        except OtherConditionsError as error:
            text = str(error)
            return f"{text[0].upper()}{text[1:]}.", {}
        except InputError:
            return None, {}
        return found, {id(ratio.row): ratio for ratio in _ratios(rivals, found)}

    def _rivals(self, factor: str) -> Rivals:
        if factor == _FOLDERS:
            return rivals_of({folder.name: folder.rows for folder in self._folders})
        (folder,) = self._folders
        return rivals_by(folder.rows, factor, looks=folder.measured.campaign.looks)


def _factor_of(keys: frozenset[str]) -> str | None:
    """Find the factor of `compare` by which rows with these keys of labels differ; None if there is none."""
    if FOLDER in keys:
        return _FOLDERS
    (key,) = keys
    kind, _, name = key.partition(" ")
    if key in _AROUND:
        return _AROUND[key]
    if kind in ("omp", "env", "param"):
        return f"{kind}.{name}"
    return key if key in (MPI, "placement") else None


def _ratios(rivals: Rivals, verdicts: Verdicts) -> Iterator[Ratio]:
    """Join the verdicts of a comparison with the rows that it compared."""
    by_point = {(point.b, point.point_b): point for point in verdicts.points}
    for base, *others in rivals.cases:
        for name, row in zip(rivals.arms[1:], others, strict=True):
            one = by_point.get((name, row.point))
            if one is not None and one.ratio is not None:
                yield Ratio(name, rivals.arms[0], row, base, one.ratio, one.low, one.high)
