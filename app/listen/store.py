"""The folder of listening tests: read whenever it is asked, so nothing is lost with a server."""

import hashlib
import json
import os
import re
import secrets
from dataclasses import asdict
from pathlib import Path

from platformdirs import user_data_path

from app import __version__
from app.listen.ballots import Ballot, Start
from app.listen.design import Design
from app.listen.refusals import Refusal
from app.listen.sessions import Session, now, start_path, votes_path, writing
from app.listen.votes_csv import header
from core.files import write_text

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

    def start(self, test: str, listener: str, new: bool) -> str:
        """The listener's open session of a test, or else, or if it must be new, another one."""
        design = self.design(test)
        with writing(self.folder(test)):
            for ballot in () if new else self.ballots(design):
                head = ballot.head
                if head.listener == listener and not (ballot.complete or ballot.damage):
                    return head.session
            return self._begin(design, listener)

    def _begin(self, design: Design, listener: str) -> str:
        token, folder = f"{design.test}-{new_id()}", self.folder(design.test)
        write_text(start_path(folder, token), json.dumps(asdict(Start(listener, now()))))
        path = votes_path(folder, token)
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
        return Session(self.design(found[1]), token, self.folder(found[1]))

    def ballots(self, design: Design) -> list[Ballot]:
        """Of all sessions of a test, in the order in which they began; damaged ones, too."""
        folder = self.folder(design.test)
        tokens = (path.stem.removeprefix("votes-") for path in self._votes(design))
        ballots = (Session(design, token, folder).readable() for token in tokens)
        return sorted(ballots, key=lambda ballot: ballot.head.begun)

    def mark(self, design: Design) -> str:
        """Another one as soon as anything has been added to the test's votes."""
        stats = ((path.name, path.stat()) for path in self._votes(design))
        state = [(name, stat.st_size, stat.st_mtime_ns) for name, stat in stats]
        return hashlib.sha256(f"{__version__} {state}".encode()).hexdigest()[:32]

    def _votes(self, design: Design) -> list[Path]:
        paths = sorted(self.folder(design.test).glob("votes-*.csv"))
        return [path for path in paths if _SESSION.fullmatch(path.stem.removeprefix("votes-"))]


def new_id() -> str:
    """Of a test, or of a session within one: nobody can guess it."""
    return secrets.token_hex(8)
