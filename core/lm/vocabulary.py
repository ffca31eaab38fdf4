"""A published model's vocabulary: prompts and codebook entries by the names its makers gave."""

from collections.abc import Sequence
from pathlib import Path

import torch

from core.errors import ForespeakError
from core.lm.prompted import Entries

TEXT = "{text}"


class Vocabulary:
    """The tokenizer.json of a model."""

    def __init__(self, folder: Path, name: str):
        """name: whose vocabulary it is, should something be missing in it."""
        try:
            from tokenizers import Tokenizer
        except ImportError as error:
            raise ForespeakError(
                "The package tokenizers is missing: pip install -r requirements-hub.txt"
            ) from error
        self.name = name
        try:
            self._tokenizer = Tokenizer.from_file(str(folder / "tokenizer.json"))
            # What a user types is text, also where it looks like one of the model's signs.
            self._text = Tokenizer.from_file(str(folder / "tokenizer.json"))
        except Exception as error:  # the library raises nothing more particular
            raise ForespeakError(
                f"{folder}/tokenizer.json is damaged: fetch the voice again."
            ) from error
        self._text.encode_special_tokens = True

    def id(self, token: str) -> int:
        """Of a token by its name; ForespeakError if there is none."""
        number = self._tokenizer.token_to_id(token)
        if number is None:
            raise ForespeakError(f"The vocabulary of {self.name} has no token {token}.")
        return number

    def entries(self, codebooks: Sequence[Sequence[str]], stop: str | None) -> Entries:
        """Ids of the entries of each codebook, given their tokens; stop: the token of the end."""
        ids = torch.tensor([[self.id(token) for token in codebook] for codebook in codebooks])
        if len(ids.unique()) < ids.numel():
            raise ForespeakError(f"The vocabulary of {self.name} has one token for two entries.")
        return Entries(ids, None if stop is None else self.id(stop))

    def prompt(self, template: str, text: str) -> list[int]:
        """Ids of a template in which the text stands in the place of {text}."""
        before, _, after = template.partition(TEXT)

        def ids(piece: str) -> list[int]:
            return self._tokenizer.encode(piece, add_special_tokens=False).ids

        said = self._text.encode(text, add_special_tokens=False).ids
        return [*ids(before), *said, *ids(after)]
