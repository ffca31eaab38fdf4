"""The command `fetch`: a voice's files, downloaded once its licence and size have been seen."""

import sys
from collections.abc import Callable

from core.errors import ForespeakError
from core.hub import Hub, Repository
from core.voices.declaration import BarkDeclaration, Declaration, read_declaration


def fetch(name: str, agree: Callable[[str], bool], hub: Hub | None = None) -> None:
    """Download what a declared voice needs; files that are here are verified anew.

    agree: asked before anything is fetched, with all that there is to know.
    """
    hub = hub or Hub()
    declaration = read_declaration(name)
    repositories = list(declaration.repositories.values())
    size = sum(file.size for repository in repositories for file in hub.missing(repository))
    if size and not agree(terms(declaration, repositories, size)):
        raise ForespeakError("Nothing was fetched.")
    for repository in repositories:
        hub.download(repository)
    options = [f"--{key.replace('_', '-')} {value}" for key, value in declaration.sampling.items()]
    command = " ".join(["launch.py say --voice", name, *options, "TEXT"])
    print(f"{declaration.title} is here. Try: {command}", file=sys.stderr)


def terms(
    declaration: Declaration | BarkDeclaration, repositories: list[Repository], size: int
) -> str:
    """What is to be fetched, and under which licence."""
    names = ", ".join(map(str, repositories))
    return (
        f"{declaration.title}: {size / 1e9:.1f} GB from {names}.\n"
        f"Licence: {declaration.licence}.\nFetch it?"
    )
