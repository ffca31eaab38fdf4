"""What voices from a model hub have in common."""

from collections.abc import Iterable
from pathlib import Path

from core.errors import ForespeakError
from core.hub import Hub
from core.text.sentences import split_sentences
from core.voices.declaration import BarkDeclaration, Declaration


class PublishedVoice:
    """Its files, which must be here already, and its text: they read it as it is written."""

    def __init__(self, name: str, declaration: Declaration | BarkDeclaration, hub: Hub):
        self.name = name
        self.folders = here(name, declaration, hub)

    def sentences(self, text: str) -> Iterable[str]:
        for line in text.splitlines():
            yield from split_sentences(line)

    def check_pace(self, rate: float) -> None:
        """Raises ForespeakError for any speaking rate but its own."""
        if rate != 1:
            raise ForespeakError(f"{self.name} chooses its own pace: leave the rate at 1.")


def here(name: str, declaration: Declaration | BarkDeclaration, hub: Hub) -> dict[str, Path]:
    """Folders of its repositories by what they are for; ForespeakError if one is not here."""
    remedy = f"launch.py fetch {name} downloads it"
    return {
        part: hub.require(repository, remedy)
        for part, repository in declaration.repositories.items()
    }
