"""The functions of the package: what Python gives is checked here, and a mistake is one sentence."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from steelyard.base.errors import InputError
from steelyard.base.printable import visible
from steelyard.campaign.folder import default_folder
from steelyard.campaign.started_programs import unknown
from steelyard.session.events import OnEvent, ignored
from steelyard.session.measure import measure_plan
from steelyard.session.requested_plan import (
    names_of,
    number_of,
    path_of,
    plan_asked,
    python_words,
    switch_of,
    text_of,
)
from steelyard.session.resume import OF_TEST_CASES, holds_plan, plan_in
from steelyard.session.suite_call import check_likes

if TYPE_CHECKING:
    import polars

    from steelyard.judges.accept import Acceptance
    from steelyard.judges.compare.verdicts import Verdicts
    from steelyard.session.results import Results


def measure_asked(
    what: Any,
    out: Any,
    on_event: OnEvent | None,
    retry_failed: Any,
    trusted: Any,
    scatter: Any,
    settings: Mapping[str, Any],
) -> Results:
    """See `steelyard.measure`."""
    if on_event is not None and not callable(on_event):
        raise InputError(f"on_event is a function of one event, not {visible(repr(on_event))}")
    words = [] if _is_left_out(what) else names_of("what", what)
    given = python_words(settings)
    check_likes(given.get("like", ()), {name: value for name, value in settings.items() if name != "like"})
    folder = None if out is None else path_of("out", out)
    retries = switch_of("retry_failed", retry_failed)
    if retries and not (folder and folder.is_dir()):
        raise InputError("retry_failed measures again what failed in a folder; give out=, one with results")
    known = None
    if not words and "like" not in given and folder and holds_plan(folder):
        is_trusted = switch_of("trusted", trusted)
        asked = [name for name in OF_TEST_CASES if name in given]
        known = plan_in(folder, asked, lambda path, lines: check_known(path, () if is_trusted else lines))
    elif not words and "like" not in given:
        raise InputError("measure what? Give ops, patterns, a plan, like=, or out=, a folder that goes on")
    plan = plan_asked(words, given, known)
    return measure_plan(
        plan,
        folder or default_folder(plan),
        on_event=on_event or ignored,
        retry_failed=retries,
        scatter=None if scatter is None else path_of("scatter", scatter),
    )


def _is_left_out(what: Any) -> bool:
    return what is None or (isinstance(what, tuple) and not what)


def check_known(folder: Path, lines: Iterable[str]) -> None:
    """Raise InputError for what a folder would start and this user never started here."""
    if new := unknown(lines):
        shown = "; ".join(map(visible, new))
        raise InputError(
            f"'{visible(str(folder))}' names what you have not started on this machine before ({shown}); if "
            "you trust it, add trusted=True"
        )


def read_asked(folder: Any) -> Results:
    """See `steelyard.read`."""
    from steelyard.session.results import read_results

    return read_results(path_of("folder", folder))


def load_asked(folders: Any, rows: Any) -> polars.DataFrame:
    """See `steelyard.load`."""
    from steelyard.export.table import load_table
    from steelyard.session.results import check_folders
    from steelyard.system.workers import mapped

    given = paths_of("folders", folders)
    check_folders(given)
    return load_table(given, text_of("rows", rows), mapped)


def compare_asked(
    folders: Sequence[Any],
    by: Any,
    against: Any,
    despite: Any,
    quantile: Any,
    percentages: Mapping[str, Any],
) -> Verdicts:
    """See `steelyard.compare`; `percentages` are false_alarm, least and margin."""
    from steelyard.judges.compare.scale import Question
    from steelyard.results.quantiles import check_quantile
    from steelyard.session.compare import compare_folders, fraction_of

    given = [folder for one in folders for folder in paths_of("folders", _folder_of(one))]
    if not given:
        raise InputError("compare what? Give one results folder, or several")
    if quantile is not None:
        check_quantile(number_of("quantile", quantile))
    most = {"false_alarm": 0.5}
    fractions = {
        name: fraction_of(name, number_of(name, value), most.get(name, 10.0))
        for name, value in percentages.items()
    }
    return compare_folders(
        given,
        Question(**fractions, quantile=quantile),
        by=None if by is None else text_of("by", by),
        first=None if against is None else text_of("against", against),
        despite=() if _is_left_out(despite) else names_of("despite", despite),
    )


def accept_asked(folder: Any, reference: Any, limits: Any) -> Acceptance:
    """See `steelyard.accept`."""
    from steelyard.session.accept import accept_folder

    return accept_folder(
        path_of("folder", _folder_of(folder)),
        None if reference is None else path_of("reference", _folder_of(reference)),
        None if limits is None else path_of("limits", limits),
    )


def _folder_of(value: Any) -> Any:
    """Return the folder of `Results`; all else as it is."""
    from steelyard.session.results import Results

    return value.folder if isinstance(value, Results) else value


def paths_of(name: str, value: Any) -> list[Path]:
    """Check one folder or a list of them. Raises InputError."""
    values = [value] if isinstance(value, str | Path) else value
    if not isinstance(values, Sequence) or isinstance(values, bytes):
        raise InputError(f"{name} is a folder or a list of folders, not {visible(repr(value))}")
    if not values:
        raise InputError(f"{name} is an empty list; give a results folder")
    return [path_of(name, one) for one in values]
