"""Declare a command by a dataclass of its options, and a function that takes one."""

from __future__ import annotations

import functools
import importlib
import inspect
import itertools
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from copy import copy
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType
from typing import Annotated, Any, Protocol, TypeVar

import typer
import typer.main
from typer.core import TyperCommand, TyperGroup

from steelyard.base.comma_lists import values_in
from steelyard.base.errors import InputError, StoppedError, naming
from steelyard.base.printable import shortened, visible
from steelyard.base.product import MOST_LAUNCHES
from steelyard.base.units import is_plain, parse_duration
from steelyard.cli.start import ReaderLeftError, stopped_by_exception
from steelyard.cli.suite_command import whole_command
from steelyard.cli.under_launcher import started_alone

JsonFlag = Annotated[
    bool, typer.Option("--json", help="print one JSON document on stdout and nothing else there")
]

MpiNames = Annotated[
    list[str] | None,
    typer.Option(
        metavar="NAME|PATH,...",
        help="MPIs, whose launches alternate; default: the first of 'steelyard mpi list'",
    ),
]

ShmemNames = Annotated[
    list[str] | None,
    typer.Option(
        metavar="NAME|PATH,...",
        help="OpenSHMEM libraries for ops shmem.*; default: the first of 'steelyard mpi list'",
    ),
]

# Parameters of comparisons, of arms or of nights.
LeastPercent = Annotated[
    float, typer.Option(metavar="PERCENT", help="the least difference that matters, in per cent")
]
MarginPercent = Annotated[
    float, typer.Option(metavar="PERCENT", help="the difference that may be ignored, in per cent")
]
QuantileOf = Annotated[
    float | None,
    typer.Option(metavar="Q", help="compare this quantile of each launch, such as 0.99; default: its median"),
]
StrictFlag = Annotated[bool, typer.Option("--strict", help="exit with 4 if a verdict is undecided")]
RetryWord = Annotated[
    str | None, typer.Option(metavar="failed", help="with --out: measure again what failed there")
]
YesFlag = Annotated[
    bool,
    typer.Option("--yes", help="start what the folder names, such as a wrapper, without asking"),
]
TimeBudget = Annotated[
    str | None,
    typer.Option(
        metavar="TIME",
        help="for all launches: 90s, 10m; the first one is finished, others if they fit",
    ),
]
JunitFile = Annotated[Path | None, typer.Option(metavar="FILE", help="write the verdicts as JUnit XML, too")]
MarkdownFile = Annotated[
    Path | None, typer.Option(metavar="FILE", help="write the verdicts as Markdown, too")
]


def launches_option(text: str, least: int = 1) -> Any:
    """Declare `--launches` of a command, with its help."""
    return typer.Option(metavar="N", min=least, max=MOST_LAUNCHES, help=text)


class _Options(Protocol):
    def __init__(self, **given: Any) -> None: ...


UsageError: Any = typer.BadParameter.__base__  # typer does not export it
_WHOLE_NUMBERS = ("integer", "int range")  # types of options, as click names them
_NUMBERS = (*_WHOLE_NUMBERS, "float", "float range")
_MOST_QUOTED = 60  # letters of a value, in a sentence
_MOST_DIGITS = 40  # Python refuses thousands
_RANGE = r"(\d+<=)?x[<>]=\d+"
_TYPE = re.compile(rf" +<[^>]*>| *\[({_RANGE}|required)\]|; {_RANGE}")  # as typer writes it
_WHOLE = "\u2011"  # a hyphen at which lines do not break
Names = Callable[[], Mapping[str, Sequence[str]]]
Options = TypeVar("Options", bound=_Options)


@dataclass(frozen=True)
class JsonOnly:
    """The options of a command that has no others."""

    json: JsonFlag = False


def add_command(
    app: typer.Typer,
    name: str,
    options: type[Options],
    work: Callable[[Options], None],
    *,
    examples: Sequence[str] = (),
    names: Names | None = None,
    elsewhere: Mapping[str, str] = MappingProxyType({}),
) -> None:
    """Add a command: an option for each field of `options`, with typer's words in its annotation.

    Its help is the docstring of `work`, with the examples below. `names` lists the values of an option when
    help is asked for. `elsewhere` has options of other programs, with our equivalent.
    """

    class WithNames(TyperCommand):
        def format_options(self, ctx: Any, formatter: Any) -> None:
            known = names() if names is not None else {}
            params = [copy(param) for param in self.get_params(ctx)]  # the command is kept, without the names
            for param in params:
                if (words := known.get(param.name or "")) and hasattr(param, "help"):
                    param.help = f"{param.help}; one of {', '.join(words)}"
            _format_options(params, ctx, formatter)

        def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
            if elsewhere and (said := whole_command(args, self.params)) is not None:
                raise InputError(said)
            if theirs := [word for word in _no_values(self.params, args) if word in elsewhere]:
                ours = "; ".join(dict.fromkeys(elsewhere[word] for word in theirs))
                raise InputError(f"there is no {' and no '.join(dict.fromkeys(theirs))} here: {ours}")
            try:
                given, _, order = self.make_parser(ctx).parse_args(args=list(args))
            except UsageError as error:
                error.ctx = error.ctx or ctx  # the command whose help is named
                raise
            _check_once(order)
            _check_empty(self.params, given)
            return super().parse_args(ctx, args)

    def call(**given: Any) -> None:
        try:
            with stopped_by_exception():
                work(options(**given))
        except KeyboardInterrupt:
            raise StoppedError("stopped") from None
        except BrokenPipeError:
            raise ReaderLeftError from None  # typer would end with 1, which is an answer
        except EOFError as error:
            raise RuntimeError("the input ended") from error  # typer would take it for a prompt's

    call.__signature__ = inspect.signature(options, eval_str=True)  # type: ignore[attr-defined]
    lines = "\n".join(f"  {example}" for example in examples)
    epilog = f"\b\nExamples:\n{lines}" if examples else None
    app.command(name, cls=WithNames, help=inspect.getdoc(work), epilog=epilog)(call)


def _no_values(params: Sequence[Any], args: Sequence[str]) -> Iterator[str]:
    """List the words of a command line before `--` that are not the value of the option before them."""
    with_value = {name for param in params if not getattr(param, "is_flag", True) for name in param.opts}
    is_value = False
    for word in itertools.takewhile(lambda word: word != "--", args):
        if not is_value:
            yield word
        is_value = not is_value and word in with_value


def _check_once(order: Sequence[Any]) -> None:
    """Raise InputError for an option with one value that was typed twice; the last would win unseen."""
    single = [one for one in order if one.param_type_name == "option" and not (one.multiple or one.is_flag)]
    if twice := next((one for one in single if single.count(one) > 1), None):
        raise InputError(f"{max(twice.opts, key=len)} is given {single.count(twice)} times; give it once")


def _check_empty(params: Sequence[Any], given: Mapping[str, Any]) -> None:
    """Raise InputError for a value that is empty or blank, as of `--out "$UNSET"`.

    `given` has the words as they were typed: of an empty path the type makes the current folder.
    """
    for param in params:
        words = given.get(param.name)
        if any(isinstance(word, str) and not word.strip() for word in _words(words)):
            if param.param_type_name == "argument":
                what = (param.metavar or param.name).strip("[].")
                raise InputError(f"{what} is empty; give a value")
            name = max(param.opts, key=len)
            raise InputError(f"{name} is empty; give a value, or leave the option out")
        for word in _words(words):
            if isinstance(word, str) and param.param_type_name != "argument":
                _check_word(max(param.opts, key=len), param, word)


def _check_word(name: str, param: Any, word: str) -> None:
    """Raise InputError for an empty value of a list, or what is no number of the type of the option."""
    if param.type.name in _NUMBERS:
        _check_number(name, param.type, word)
    metavar = param.metavar or ""
    if metavar == "TIME":
        with naming(name):
            parse_duration(word)
    if name == "--out" and visible(word) != word:
        shown = shortened(word, _MOST_QUOTED)
        raise InputError(f"{name} '{shown}' has control characters or is not UTF-8; give it a plain name")
    values = word.partition("=")[2] if "=" in metavar else word
    if metavar.endswith(",...") and values:
        values_in(values, name, word)


def _check_number(name: str, kind: Any, word: str) -> None:
    """Raise InputError for a word that is no number, or outside the range of the type."""
    shown = shortened(word, _MOST_QUOTED)
    is_whole = kind.name in _WHOLE_NUMBERS
    if is_whole and len(word) > _MOST_DIGITS:
        raise InputError(f"{name} {shown} has too many digits; give a smaller number")
    try:
        number = int(word) if is_whole else float(word)
    except ValueError:
        number = None
    if number is None or not is_plain(word):
        what = "whole number" if is_whole and is_plain(word) else "number"
        raise InputError(f"{name} {shown} is not a {what}; write it in the digits 0 to 9")
    least, most = getattr(kind, "min", None), getattr(kind, "max", None)
    if least is not None and number < least:
        raise InputError(f"{name} is {least} or more, not {shown}")
    if most is not None and number > most:
        raise InputError(f"{name} is {most} at most, not {shown}")


def _words(given: Any) -> Sequence[Any]:
    """List the words of an option or argument that may be repeated, or its one word."""
    return given if isinstance(given, list | tuple) else (given,)


def _format_options(params: Sequence[Any], ctx: Any, formatter: Any) -> None:
    """Write arguments and options for people: without Python's types, and without line breaks
    inside names.
    """
    rows: dict[str, list[tuple[str, str]]] = {"Arguments": [], "Options": []}
    for param in params:
        if (record := param.get_help_record(ctx)) is not None:
            kind = "Arguments" if param.param_type_name == "argument" else "Options"
            name, text = (_TYPE.sub("", part).replace("-", _WHOLE) for part in record)
            rows[kind].append((name, text))
    before = len(formatter.buffer)
    for title, those in rows.items():
        if those:
            with formatter.section(title):
                formatter.write_dl(those)
    formatter.buffer[before:] = [text.replace(_WHOLE, "-") for text in formatter.buffer[before:]]


@dataclass(frozen=True)
class Command:
    """A command: a module of this folder, its options, its function, and a line of description.

    The module may have `EXAMPLES`, `NAMES` of an option's values, and options of other programs, `ELSEWHERE`,
    each by the function's name. A command that `measures` starts ranks, and cannot be one of several.
    """

    module: str
    options: str
    work: str
    summary: str
    measures: bool = False

    def made(self, name: str) -> Any:
        """Import the command's module and make the command, once."""
        return _made(self, name)


@functools.cache  # to find out what a line means asks for it, and to call it asks again
def _made(row: Command, name: str) -> Any:
    module = importlib.import_module(f"steelyard.cli.{row.module}")
    alone = typer.Typer(add_completion=False, pretty_exceptions_enable=False, rich_markup_mode=None)
    options, work = getattr(module, row.options), getattr(module, row.work)
    if "junit" in options.__dataclass_fields__:
        from steelyard.cli.verdict_output import with_errors_in_files

        work = with_errors_in_files(name, work)
    add_command(
        alone,
        name,
        options,
        started_alone(work) if row.measures else work,
        examples=getattr(module, "EXAMPLES", {}).get(row.work, ()),
        names=getattr(module, "NAMES", {}).get(row.work),
        elsewhere=getattr(module, "ELSEWHERE", {}).get(row.work, {}),
    )
    return typer.main.get_command(alone)


def lazy_group(
    rows: Mapping[str, Command], meant: Callable[[Sequence[str]], str | None] = lambda _: None
) -> type[TyperGroup]:
    """Make a group that imports a command when it is called: `--help` needs none of them.

    `meant` knows what is probably meant by words that begin with no command: a sentence with a command to
    type, or None.
    """

    class Lazy(TyperGroup):
        def list_commands(self, ctx: Any) -> list[str]:
            return [*rows, *super().list_commands(ctx)]

        def get_command(self, ctx: Any, cmd_name: str) -> Any:
            row = rows.get(cmd_name)
            return row.made(cmd_name) if row else super().get_command(ctx, cmd_name)

        def resolve_command(self, ctx: Any, args: list[str]) -> Any:
            """Take two words as one command if both stand first, such as `check guidelines`."""
            name = " ".join(args[:2])
            row = rows.get(name) if len(args) > 1 else None
            if self.get_command(ctx, args[0]) is None and (instead := meant(args)) is not None:
                raise InputError(instead)
            return (name, row.made(name), args[2:]) if row else super().resolve_command(ctx, args)

        def format_commands(self, ctx: Any, formatter: Any) -> None:
            groups = [(name, self.commands[name].help or "") for name in super().list_commands(ctx)]
            with formatter.section("Commands"):
                formatter.write_dl([*((name, row.summary) for name, row in rows.items()), *groups])

    return Lazy


def listed(words: Sequence[str] | None) -> tuple[str, ...]:
    """List the values of an option that may be repeated; `a,b` is two. In order, each once.

    Raises InputError for an empty one.
    """
    return tuple(dict.fromkeys(part for word in words or () for part in values_in(word, "the list")))


def check_retry(retry: str | None, out: Path | None) -> None:
    """Raise InputError for a word behind --retry that is unknown, or if there is no folder to retry in."""
    one_of("--retry", retry, ("failed",))
    if retry is not None and (out is None or not out.is_dir()):
        raise InputError(
            f"--retry {retry} measures again what failed in a folder; give --out DIR that has results"
        )


def one_of(option: str, value: str | None, choices: Sequence[str]) -> None:
    """Raise InputError for a value that is none of the choices."""
    if value is not None and value not in choices:
        raise InputError(f"{option} is {' or '.join(repr(word) for word in choices)}, not '{value}'")
