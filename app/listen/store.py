"""The folder of listening tests: read whenever it is asked, so nothing is lost with a server."""

import os
import re
import secrets
from pathlib import Path
from threading import Lock

from platformdirs import user_data_path

from app.listen.ballots import header
from app.listen.design import Design
from app.listen.refusals import Refusal
from app.listen.sessions import Session, votes_path

_TEST = re.compile(r"[0-9a-f]{16}")
_SESSION = re.compile(r"([0-9a-f]{16})-[0-9a-f]{16}")


def default_folder() -> Path:
    """Where tests are kept unless another folder is named."""
    return user_data_path("forespeak", appauthor=False) / "listening"


class Store:
    """A folder for each test: test.json, clips, and a file of votes for each session."""

    def __init__(self, folder: Path):
        """folder: made when the first test is prepared."""
        self._folder = folder
        self._writing = Lock()

    def folder(self, test: str) -> Path:
        """Of a test, which need not be there yet."""
        return self._folder / test

    def add(self, design: Design) -> None:
        """The test is there from now on; its clips must be already."""
        design.save(self.folder(design.test) / "test.json")

    def design(self, test: str) -> Design:
        """The test of that id."""
        path = self.folder(test) / "test.json"
        if not (_TEST.fullmatch(test) and path.exists()):
            raise Refusal(404, "There is no such test: check the link.")
        return Design.load(path)

    def start(self, test: str) -> str:
        """A new session of a test; its token."""
        design = self.design(test)
        token = f"{design.test}-{new_id()}"
        path = votes_path(self.folder(test), token)
        partial = path.with_suffix(".part")  # there is no session without a whole header
        with partial.open("wb") as file:
            file.write(header())
            file.flush()
            os.fsync(file.fileno())
        partial.replace(path)
        return token

    def session(self, token: str) -> Session:
        """The session of that token."""
        found = _SESSION.fullmatch(token)
        if not (found and votes_path(self.folder(found[1]), token).exists()):
            raise Refusal(404, "There is no such session: open the test's link again.")
        return Session(self.design(found[1]), token, self.folder(found[1]), self._writing)

    def sessions(self, design: Design) -> list[Session]:
        """All sessions of a test, in no order that means anything."""
        folder = self.folder(design.test)
        tokens = (path.stem.removeprefix("votes-") for path in folder.glob("votes-*.csv"))
        return [
            Session(design, token, folder, self._writing)
            for token in tokens
            if _SESSION.fullmatch(token)
        ]


def new_id() -> str:
    """Of a test, or of a session within one: nobody can guess it."""
    return secrets.token_hex(8)
