"""`steelyard validate`: every method against simulated ground truth."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import msgspec
import typer

from steelyard.base.errors import StoppedError
from steelyard.base.files import write_whole
from steelyard.base.units import parse_counts, parse_seconds, parse_sizes
from steelyard.cli.console import paper, print_laid_out, say_json, tell
from steelyard.cli.options import JsonFlag, listed


@dataclass(frozen=True)
class ValidateOptions:
    """The options of `steelyard validate`."""

    full: Annotated[bool, typer.Option("--full", help="the whole matrix: hours")] = False
    ranks: Annotated[str | None, typer.Option("-n", "--ranks", metavar="N,...", help="ranks: 16,60")] = None
    platform: Annotated[
        str | None,
        typer.Option(
            metavar="FILE|WORDS", help="a platform for SimGrid: a file, or words as 'topology=torus'"
        ),
    ] = None
    op: Annotated[
        list[str] | None, typer.Option(metavar="NAME,...", help="an op or a pattern, or several: a,b")
    ] = None
    method: Annotated[
        list[str] | None, typer.Option(metavar="NAME,...", help="a method, or several: a,b")
    ] = None
    bytes_: Annotated[str | None, typer.Option("--bytes", metavar="SIZES", help="sizes: 8,64Ki")] = None
    selector: Annotated[
        list[str] | None,
        typer.Option(
            metavar="NAME,...", help="which library's choice of algorithms: mpich,ompi,mvapich2,impi"
        ),
    ] = None
    time_limit: Annotated[str, typer.Option(metavar="TIME", help="time for one simulation")] = "5m"
    seed: Annotated[int, typer.Option(metavar="N", min=0, help="seed of noise and clocks")] = 1
    out: Annotated[
        Path | None, typer.Option("--out", metavar="DIR", help="keep records and validate.json there")
    ] = None
    json: JsonFlag = False


def validate(options: ValidateOptions) -> None:
    """Compare every method with simulated ground truth; exit code 1 if a claim does not hold."""
    from steelyard.render.terminal import prose_text, table_text
    from steelyard.validate import Wishes, check_claims, document, report_lines, user_machine
    from steelyard.validate import validate as simulate_all

    wishes = Wishes(
        full=options.full,
        ranks=parse_counts(options.ranks, "ranks") if options.ranks else None,
        ops=listed(options.op) or None,
        methods=listed(options.method) or None,
        sizes=parse_sizes(options.bytes_) if options.bytes_ else None,
        selectors=listed(options.selector) or None,
        machine=user_machine(options.platform) if options.platform else None,
        seed=options.seed,
    )
    seconds = parse_seconds(options.time_limit)
    try:
        rows, missing = simulate_all(wishes, seconds, options.out, lambda one: tell(one.line))
    except KeyboardInterrupt:
        kept = f"; the rows so far are in {options.out / 'rows.jsonl'}" if options.out else ""
        raise StoppedError(f"stopped{kept}") from None
    verdicts = check_claims(rows)
    whole = document(rows, missing, verdicts, wishes)
    if options.out is not None:
        write_whole(options.out / "validate.json", msgspec.json.encode(whole))
    if options.json:
        say_json(whole)
    else:
        for line in report_lines(rows, missing, verdicts):
            print_laid_out(prose_text(line, paper()) if isinstance(line, str) else table_text(line, paper()))
    if any(verdict.holds is False for verdict in verdicts):
        raise typer.Exit(1)
    if any(one.kind == "failed" for one in missing):
        raise typer.Exit(3)
