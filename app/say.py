"""The command `say`: events in, sound out, one table at the end."""

from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, closing, contextmanager
from dataclasses import replace
from pathlib import Path

from rich.console import Console
from rich.progress import Progress, SpinnerColumn, TextColumn, TimeElapsedColumn

from app.report import say_table
from app.sinks import Memory, Sink, pass_on
from app.studio import load_engine
from app.voices import too_slow
from core.engine import (
    AudioReady,
    EarlierSaid,
    Engine,
    Event,
    SentenceStarted,
    Settings,
    Started,
)
from core.outlook import measure_outlook
from core.trace import Trace


def speak_and_report(
    text: str,
    settings: Settings,
    voice: str,
    device: str,
    sinks: Sequence[Sink],
    trace_path: Path | None,
    adaptive: bool,
) -> None:
    """Load the voice, speak into the sinks, print the metrics.

    adaptive: let γ adapt to what drafting yields and costs on this computer.
    """
    progress = Console(stderr=True)
    if slow := too_slow(voice, device):
        progress.print(slow)
    with progress.status("Loading the voice"):
        engine = load_engine(voice, device, settings)
        if adaptive:
            settings = replace(settings, adaptive=measure_outlook(engine, settings))
    memory = Memory()
    if trace_path:
        sinks = [*sinks, memory]
    with show_progress(progress) as on_event:
        trace = speak(engine, text, settings, sinks, on_event)
    if trace_path:
        trace.with_sound(memory.pcm()).save(trace_path)
    Console().print(say_table(trace))


def speak(
    engine: Engine,
    text: str,
    settings: Settings,
    sinks: Sequence[Sink],
    on_event: Callable[[Event], None],
) -> Trace:
    """Every piece of sound goes to every sink as soon as it is there."""
    with ExitStack() as stack:
        for sink in sinks:
            stack.enter_context(sink)
        events = stack.enter_context(closing(engine.synthesize(text, settings)))
        for event in events:
            on_event(event)
            pass_on(event, sinks)
    return event.trace


@contextmanager
def show_progress(console: Console) -> Iterator[Callable[[Event], None]]:
    """Sentences done, and how much sound there is; shown only on a terminal."""
    columns = (
        SpinnerColumn(),
        TextColumn("Speaking; sentences done: {task.completed};"),
        TextColumn("{task.fields[sound]:.1f} s of sound{task.fields[earlier]}"),
        TimeElapsedColumn(),
    )
    with Progress(
        *columns, console=console, transient=True, disable=not console.is_terminal
    ) as bar:
        task = bar.add_task("", total=None, sound=0.0, earlier="")
        made, sample_rate = 0, 1

        def on_event(event: Event) -> None:
            nonlocal made, sample_rate
            match event:
                case Started(trace=trace):
                    sample_rate = trace.sample_rate
                case EarlierSaid(earlier=said):
                    bar.update(task, earlier=f"; {said.stage} tokens: {said.tokens}")
                case SentenceStarted(index=index):
                    bar.update(task, completed=index, earlier="")
                case AudioReady(samples=samples):
                    made += len(samples)
                    bar.update(task, sound=made / sample_rate)

        yield on_event
