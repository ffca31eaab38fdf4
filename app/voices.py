"""Voices as the page offers them: which can speak here, and what is known before one is loaded."""

from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from concurrent.futures import TimeoutError as TooSlow  # before Python 3.11 one of its own
from dataclasses import dataclass
from functools import partial

from app.orders import NO_DRAFT
from core.drafters import DRAFTS
from core.engine import pick_device
from core.errors import ForespeakError
from core.forecast import warning
from core.hub import Hub
from core.voices.catalog import VOICES, voice_names
from core.voices.declaration import BarkDeclaration, Declaration, read_declaration
from core.voices.declared import expect_rtf

PATIENCE = 4.0  # seconds that the hub may take to say how large a voice is


@dataclass(frozen=True)
class Offer:
    """drafts: of `core.drafters.DRAFTS`, the first to begin with. here: whether it can be loaded;
    title: its name and, if it cannot, what to do."""

    name: str
    drafts: Sequence[str]
    here: bool
    title: str


def offers() -> list[Offer]:
    """Every voice. Looks for files only: asks no hub, and loads nothing."""
    return [offer(name) for name in voice_names()]


def offer(name: str) -> Offer:
    """The voice of that name, as things are now."""
    if name in VOICES:
        return Offer(name, VOICES[name].drafts, True, name)
    try:
        declaration = read_declaration(name)
        if not missing_parts(declaration):
            return Offer(name, drafts(declaration), True, name)
        why = f"not here: {command(name)}"
    except ForespeakError as error:
        why = str(error).partition(":")[0]
    return Offer(name, (), False, f"{name} ({why})")


def voice_choices() -> list[tuple[str, str]]:
    """All voices; who cannot speak here says so."""
    return [(each.title, each.name) for each in offers()]


def draft_choices(chosen: Offer) -> list[tuple[str, str]]:
    """Who can guess for a voice, and nobody."""
    return [*((DRAFTS[name], name) for name in chosen.drafts), ("None (baseline)", NO_DRAFT)]


def why_not(name: str) -> str:
    """What it takes to have a voice that is not here: the command, its size and its licence."""
    try:
        declaration = read_declaration(name)
        missing_parts(declaration)
    except ForespeakError as error:
        return str(error)
    return (
        f"{declaration.title} is not on this computer. Fetch it with {command(name)} "
        f"({_size(declaration)}), then open this page again. Licence: {declaration.licence}"
    )


def too_slow(name: str, device: str) -> str | None:
    """What to tell of a voice that is here, before it is loaded: None if it will keep up."""
    if name in VOICES or pick_device(device).type != "cpu":
        return None
    try:
        return warning(name, expect_rtf(name, Hub()))
    except ForespeakError:  # it will fail to load, and say why
        return None


def command(name: str) -> str:
    return f"launch.py fetch {name}"


def drafts(declaration: Declaration | BarkDeclaration) -> Sequence[str]:
    """As the voices have them that are made of such declarations."""
    return ("model", "ngram") if declaration.draft else ("ngram",)


def missing_parts(declaration: Declaration | BarkDeclaration) -> list[str]:
    """What of it has to be fetched, by what it is for. Raises where there is no asking."""
    hub = Hub()
    return [part for part, source in declaration.repositories.items() if hub.find(source) is None]


def _size(declaration: Declaration | BarkDeclaration) -> str:
    """Of what is missing; only the hub knows, and it may be out of reach or slow."""
    pool = ThreadPoolExecutor(1)
    try:
        size = pool.submit(partial(sum, _sizes(declaration))).result(PATIENCE)
    except (ForespeakError, TooSlow):
        return "it tells the size first"
    finally:
        pool.shutdown(wait=False)
    return f"{size / 1e9:.1f} GB"


def _sizes(declaration: Declaration | BarkDeclaration) -> Iterator[int]:
    hub = Hub()
    for repository in declaration.repositories.values():
        yield from (file.size for file in hub.missing(repository))
