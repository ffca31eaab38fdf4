"""A voice from a model hub, as a file in assets/voices declares it; see the README there."""

from functools import cached_property
from pathlib import Path
from typing import Annotated, Any, Literal

import tomlkit
from pydantic import AfterValidator, BaseModel, ConfigDict, Field, ValidationError, field_validator
from tomlkit.exceptions import TOMLKitError

from core.codec.encodec import EnCodec
from core.codec.xcodec2 import XCodec2
from core.errors import ForespeakError
from core.hub import Repository
from core.lm.bark import speaker_files
from core.lm.vocabulary import TEXT
from core.sampling import Sampling
from core.voices.base import ASSETS

FOLDER = ASSETS / "voices"
SMALLEST = "joe"
CODECS: dict[str, type[EnCodec] | type[XCodec2]] = {"encodec": EnCodec, "xcodec2": XCodec2}
"""Kinds of codec: `load` takes one from a folder to a device, with so many codebooks."""


class Strict(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


def _of_sampling(values: dict[str, Any]) -> dict[str, Any]:
    try:
        Sampling(**values)
    except (ForespeakError, TypeError) as error:
        raise ValueError(str(error)) from error
    return values


Recommended = Annotated[dict[str, Any], AfterValidator(_of_sampling)]
"""What a voice's makers recommend of `Sampling`."""


class Source(Strict):
    """A repository on the hub."""

    repository: str = Field(pattern=r"^\w[\w.-]*/\w[\w.-]*$")
    revision: str = "main"


class CodecSource(Source):
    kind: str

    @field_validator("kind")
    @classmethod
    def _known(cls, kind: str) -> str:
        if kind not in CODECS:
            raise ValueError(f"{kind!r} is not one of {', '.join(CODECS)}")
        return kind


class Codebook(Strict):
    """How a codebook's entries are called in the vocabularies: {} stands for entry + first."""

    token: str = Field(pattern=r"^[^{}]*\{\}[^{}]*$")
    first: int = 0

    def tokens(self, size: int) -> list[str]:
        return [self.token.format(entry + self.first) for entry in range(size)]


class Declaration(Strict):
    """What makes a voice of two language models and a codec.

    stop: the token that ends a sentence; without one, sentences last `longest_s`. smaller: a voice
    that needs less memory; the embedded one always does.
    """

    title: str
    licence: str = Field(min_length=3)
    prompt: str
    stop: str | None = None
    smaller: str = SMALLEST
    longest_s: float = Field(gt=0, le=600)
    target: Source
    draft: Source | None = None
    codec: CodecSource
    codebooks: list[Codebook] = Field(min_length=1, max_length=64)
    sampling: Recommended = {}

    @field_validator("prompt")
    @classmethod
    def _has_a_place_for_the_text(cls, prompt: str) -> str:
        if prompt.count(TEXT) != 1:
            raise ValueError(f"{TEXT} must stand in it once")
        return prompt

    @cached_property
    def repositories(self) -> dict[str, Repository]:
        """All that has to be fetched, by what it is for."""
        models = {"target": self.target} | ({"draft": self.draft} if self.draft else {})
        wanted = {
            part: Repository(source.repository, source.revision, ("config.json", "tokenizer.json"))
            for part, source in models.items()
        }
        return wanted | {"codec": Repository(self.codec.repository, self.codec.revision)}


class BarkDeclaration(Strict):
    """What makes a voice of two sizes of Bark; speaker: one of their presets, or "" for any."""

    family: Literal["bark"]
    title: str
    licence: str = Field(min_length=3)
    longest_s: float = Field(gt=0, le=15)
    smaller: str = SMALLEST
    speaker: str = ""
    target: Source
    draft: Source
    sampling: Recommended = {}

    @cached_property
    def repositories(self) -> dict[str, Repository]:
        """All that has to be fetched, by what it is for."""
        files = ("config.json", "generation_config.json")
        presets = speaker_files(self.speaker) if self.speaker else ()
        target, draft = self.target, self.draft
        return {
            "target": Repository(
                target.repository, target.revision, (*files, "tokenizer.json", *presets)
            ),
            "draft": Repository(draft.repository, draft.revision, files),
        }


def declared_names(folder: Path = FOLDER) -> list[str]:
    """Names of all voices that files declare."""
    return sorted(path.stem for path in folder.glob("*.toml"))


def read_declaration(name: str, folder: Path = FOLDER) -> Declaration | BarkDeclaration:
    """The declaration of that name; ForespeakError where it is wrong, with the line to mend."""
    path = folder / f"{name}.toml"
    try:
        table = tomlkit.parse(path.read_text(encoding="utf-8")).unwrap()
        kind = BarkDeclaration if "family" in table else Declaration
        return kind.model_validate(table)
    except OSError as error:
        raise ForespeakError(f"Cannot read {path} ({error.strerror}).") from error
    except (ValueError, TOMLKitError) as error:
        raise ForespeakError(f"{path.name} does not declare a voice: {_first(error)}.") from error


def _first(error: Exception) -> str:
    """What is wrong first, in one line."""
    if not isinstance(error, ValidationError):
        return str(error).splitlines()[0].rstrip(".")
    wrong = error.errors(include_url=False)[0]
    place = ".".join(str(part) for part in wrong["loc"])
    return f"{place}: {wrong['msg'].removeprefix('Value error, ')}".rstrip(".")
