"""What is told of a mistake of ours: any exception that is no error of the user or the machine."""

from __future__ import annotations

import contextlib
import os
import sys
import tempfile
import traceback
from pathlib import Path

from steelyard.base.errors import SteelyardError
from steelyard.base.printable import shortened
from steelyard.base.secret import masked_text, masked_words
from steelyard.engines.cache import cache_folder
from steelyard.session.bug_report import BUG_FILES, program_lines
from steelyard.session.bug_report_file import results_folder_of

BUG_CODE = os.EX_SOFTWARE  # 70: not 1, which Python ends with, because 1 is a verdict
_LONGEST = 200  # letters of an exception's message in a sentence


def bug_sentence(error: BaseException) -> str:
    """Keep a report of a bug in a file, and return the sentence that names both; without a file, the report
    follows the sentence.
    """
    said = traceback.format_exception_only(error)[0].strip()
    what = masked_text(shortened(said, _LONGEST))
    begin = f"this is a bug in steelyard and no verdict: {what}; what was finished is kept"
    report = bug_report(error)
    kept = _kept(report, results_folder_of(error))
    if kept is None:
        return f"{begin}; send this to its authors:\n{report}"
    return f"{begin}; send '{kept}' to its authors"


def bug_report(error: BaseException) -> str:
    """Write what its authors need: versions, the command and the traceback, without secrets."""
    lines = [
        *program_lines(),
        f"command: {' '.join(('steelyard', *masked_words(sys.argv[1:])))}",
        "",
        masked_text("".join(traceback.format_exception(error))),
    ]
    return "\n".join(lines)


def _kept(report: str, folder: Path | None) -> str | None:
    """Write the report into a new file of this user alone: in the results folder, the cache, or the folder
    of temporary files; None if none can be written.
    """
    for place in (lambda: folder, cache_folder, lambda: tempfile.gettempdir()):
        with contextlib.suppress(OSError, SteelyardError):
            if (there := place()) is None or not os.path.isdir(there):  # noqa: PTH112
                continue
            begin, end = BUG_FILES
            handle, name = tempfile.mkstemp(prefix=begin, suffix=end, dir=there)
            try:
                with os.fdopen(handle, "w", encoding="utf-8", errors="backslashreplace") as file:
                    file.write(report)
            except OSError:  # no room
                os.unlink(name)  # noqa: PTH108
                raise
            return name
    return None
