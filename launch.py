"""The command. Alone it opens the page; `say`, `bench` and `doctor` work in the terminal.

Every import that takes time waits inside the command that needs it, so `--help` is instant.
"""

import sys
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from core.errors import ForespeakError

if TYPE_CHECKING:
    from core.engine import Settings
    from core.sampling import Sampling

INSTALL = "install what Forespeak needs: pip install -r requirements.txt"
try:
    import typer
except ModuleNotFoundError:
    sys.exit(f"forespeak: the package typer is missing: {INSTALL}")

cli = typer.Typer(
    add_completion=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)

# Ranges are not repeated here: core.engine.Settings and core.sampling.Sampling check them.
Gamma = Annotated[int, typer.Option(help="γ: tokens the draft guesses per round, 1 to 16.")]
Draft = Annotated[
    str, typer.Option(help="Who guesses: model, feature (reads the target), heads or ngram.")
]
Rule = Annotated[
    str,
    typer.Option(
        help="How guesses are verified: lossless, block or same-seed; "
        "ssd, vadusa, pcg and typical accept more, but are not lossless."
    ),
]
Tolerance = Annotated[
    float | None,
    typer.Option(help="How far a rule that is not lossless goes.", show_default="the rule's own"),
]
Adaptive = Annotated[
    bool,
    typer.Option("--adaptive", help="Choose γ round by round, up to --gamma; measures first."),
]
Seed = Annotated[int, typer.Option(help="Same seed, same settings: same sound.")]
OWN = "the voice's own"
Temperature = Annotated[float | None, typer.Option(help="0 (greedy) to 5.", show_default=OWN)]
TopK = Annotated[
    int | None, typer.Option(help="Keep the k likeliest tokens; 0 keeps all.", show_default=OWN)
]
TopP = Annotated[
    float | None,
    typer.Option(help="Keep the likeliest tokens up to this mass.", show_default=OWN),
]
Rate = Annotated[float, typer.Option(help="Speaking rate, 0.5 (slow) to 2 (fast).")]
VoiceName = Annotated[str, typer.Option("--voice", help="Which voice speaks.")]
Device = Annotated[str, typer.Option(help="auto, cpu or cuda.")]


@cli.callback(invoke_without_command=True)
def page(
    context: typer.Context,
    host: Annotated[str, typer.Option(help="Address to listen on.")] = "127.0.0.1",
    port: Annotated[
        int | None,
        typer.Option(
            min=1, max=65535, help="Port to listen on.", show_default="7860, or the next free"
        ),
    ] = None,
    browser: Annotated[bool, typer.Option(help="Open the page in the browser.")] = True,
    voice: VoiceName = "joe",
    device: Device = "auto",
    tests: Annotated[
        Path | None,
        typer.Option(
            help="Folder of listening tests and votes.", show_default="the user's data folder"
        ),
    ] = None,
    password: Annotated[
        str | None,
        typer.Option(
            envvar="FORESPEAK_PASSWORD",
            help="Ask everybody for this password. Other users of this computer can read a "
            "command, but not the variable.",
            show_default="none",
        ),
    ] = None,
) -> None:
    """See and hear speculative decoding make speech synthesis faster.

    Without a command it opens the page.
    """
    if context.invoked_subcommand:
        return
    from app.serve import serve

    serve(host, port, browser, voice, device, tests, password)


@cli.command()
def say(
    text: Annotated[
        str | None, typer.Argument(help="What to say; - reads standard input.", show_default=False)
    ] = None,
    file: Annotated[Path | None, typer.Option(help="Read the text from this file.")] = None,
    output: Annotated[
        Path | None,
        typer.Option(
            "--output", "-o", help="WAV file to write.", show_default="speech.wav, unless --play"
        ),
    ] = None,
    play: Annotated[bool, typer.Option("--play", help="Play on this computer's speakers.")] = False,
    trace: Annotated[Path | None, typer.Option(help="Write every round to this JSON file.")] = None,
    baseline: Annotated[
        bool, typer.Option("--baseline", help="Plain autoregressive decoding: no draft.")
    ] = False,
    draft: Draft = "model",
    gamma: Gamma = 6,
    rule: Rule = "lossless",
    tolerance: Tolerance = None,
    adaptive: Adaptive = False,
    seed: Seed = 0,
    temperature: Temperature = None,
    top_k: TopK = None,
    top_p: TopP = None,
    rate: Rate = 1.0,
    voice: VoiceName = "joe",
    device: Device = "auto",
) -> None:
    """Speak a text: to a WAV file, to the speakers, or both."""
    from app.files import check_writable, read_text
    from app.speakers import Speakers
    from app.wav import WavFile

    # Everything that can be refused is refused before the model is loaded.
    if gamma == 0 and not baseline:
        raise ForespeakError("γ 0 is the baseline: say it with --baseline.")
    words = read_text(text, file)
    if trace:
        check_writable(trace)
    if output is None and not play:
        output = Path("speech.wav")
    # The file comes last: it is whole, then, before the speakers are waited for.
    sinks = [*([Speakers()] if play else []), *([WavFile(output)] if output else [])]
    sampling = _sampling(voice, temperature, top_k, top_p)
    settings = _settings(sampling, rule, 0 if baseline else gamma, seed, rate, tolerance, draft)

    from app.say import speak_and_report

    speak_and_report(words, settings, voice, device, sinks, trace, adaptive)
    for path in filter(None, (output, trace)):
        print(f"Wrote {path}", file=sys.stderr)


MATRIX = "With --matrix"


@cli.command()
def bench(
    runs: Annotated[
        int, typer.Option(min=1, help="Times that every sentence is spoken, without --matrix.")
    ] = 3,
    json: Annotated[Path | None, typer.Option(help="Write the result to this file, too.")] = None,
    draft: Draft = "model",
    gamma: Gamma = 6,
    rule: Rule = "lossless",
    tolerance: Tolerance = None,
    seed: Seed = 0,
    temperature: Temperature = None,
    top_k: TopK = None,
    top_p: TopP = None,
    rate: Rate = 1.0,
    voice: VoiceName = "joe",
    device: Device = "auto",
    matrix: Annotated[
        bool, typer.Option("--matrix", help="Compare every draft with every rule.")
    ] = False,
    drafts: Annotated[
        str | None,
        typer.Option(help="Which drafts: model,heads.", show_default="all", rich_help_panel=MATRIX),
    ] = None,
    rules: Annotated[
        str | None,
        typer.Option(
            help="Which rules: lossless,ssd:0.1 (with a tolerance).",
            show_default="all",
            rich_help_panel=MATRIX,
        ),
    ] = None,
    gammas: Annotated[
        str | None,
        typer.Option(
            help="Several γ: 4,6,adaptive.", show_default="--gamma", rich_help_panel=MATRIX
        ),
    ] = None,
    sentences: Annotated[
        int, typer.Option(help="How many sentences, 1 to 30.", rich_help_panel=MATRIX)
    ] = 30,
    judge: Annotated[
        bool,
        typer.Option(
            help="Measure WER and DNSMOS, where requirements-train.txt is installed.",
            rich_help_panel=MATRIX,
        ),
    ] = True,
    results: Annotated[
        Path | None,
        typer.Option(
            help="Keep every pair in this file, and go on with what it holds.",
            show_default="one in the user's data folder",
            rich_help_panel=MATRIX,
        ),
    ] = None,
    csv: Annotated[
        Path | None, typer.Option(help="Write a line per way.", rich_help_panel=MATRIX)
    ] = None,
    figure: Annotated[
        Path | None, typer.Option(help="Draw it: .png or .svg.", rich_help_panel=MATRIX)
    ] = None,
) -> None:
    """Compare speculative decoding with the baseline, sentence by sentence."""
    from app.files import check_writable

    if gamma == 0:
        raise ForespeakError("γ 0 is the baseline itself: choose 1 to 16 drafted tokens.")
    sampling = _sampling(voice, temperature, top_k, top_p)
    settings = _settings(sampling, rule, gamma, seed, rate, tolerance, draft)
    if matrix:
        from app.bench.command import check_outputs, compare_and_report
        from app.bench.plan import Plan

        check_outputs(json, csv, figure)
        plan = Plan.from_command(
            voice, drafts, rules, gammas or str(gamma), sentences, settings, judge, results
        )
        raise typer.Exit(compare_and_report(plan, device, json, csv, figure))
    if any((drafts, rules, gammas, results, csv, figure)):
        raise ForespeakError("That option needs --matrix: add it, or see bench --help.")
    if json:
        check_writable(json)

    from app.measure import bench_and_report

    bench_and_report(settings, voice, device, runs, json)


@cli.command()
def fetch(
    voice: Annotated[str, typer.Argument(help="Which voice, of those in assets/voices.")],
    yes: Annotated[bool, typer.Option("--yes", help="Agree to licence and size.")] = False,
) -> None:
    """Download a voice from its hub, once you have seen its licence and size."""
    from app.fetch import fetch

    fetch(voice, lambda terms: yes or typer.confirm(terms, err=True))


@cli.command()
def doctor(voice: VoiceName = "joe", device: Device = "auto") -> None:
    """Check this computer, and say what to do about whatever is missing."""
    from app.checks import print_checks
    from app.outputs import describe_outputs
    from core.doctor import can_speak, examine

    checks = examine(voice, device, describe_outputs)
    print_checks(checks)
    if not can_speak(checks):
        raise typer.Exit(1)


def _sampling(
    voice: str, temperature: float | None, top_k: int | None, top_p: float | None
) -> "Sampling":
    """How tokens are drawn, checked; None is the voice's own."""
    from core.voices.catalog import recommended_sampling

    given = {"temperature": temperature, "top_k": top_k, "top_p": top_p}
    return replace(recommended_sampling(voice), **{k: v for k, v in given.items() if v is not None})


def _settings(
    sampling: "Sampling",
    rule: str,
    gamma: int,
    seed: int,
    rate: float,
    tolerance: float | None,
    draft: str,
) -> "Settings":
    """The engine's settings, checked."""
    from core.engine import Settings

    return Settings(sampling, rule, gamma, seed, rate, tolerance, draft=draft)


def main() -> int:
    """Run the command; what the user can mend is one line on standard error and exit code 2."""
    for stream in (sys.stdout, sys.stderr):
        # Piped on Windows they may be in an encoding that has no γ.
        if hasattr(stream, "reconfigure"):
            stream.reconfigure(errors="replace")
    try:
        return cli(standalone_mode=False) or 0
    except (ForespeakError, typer.TyperException) as error:
        message = error.format_message() if isinstance(error, typer.TyperException) else error
    except ModuleNotFoundError as error:
        message = f"the package {error.name} is missing: {INSTALL}"
    print(f"forespeak: {message}", file=sys.stderr)
    return 2


if __name__ == "__main__":
    sys.exit(main())
