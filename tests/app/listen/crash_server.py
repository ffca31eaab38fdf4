"""A server of listening tests that dies when it is told to: run in a process of its own."""

import os
import signal
import socket

import uvicorn
from starlette.applications import Starlette

from app.listen import sessions, votes_csv
from app.listen.routes import build_routes
from app.listen.store import Store

TORN, UNANSWERED = "torn", "unanswered"


def run(folder, listener: socket.socket, death: str | None) -> None:
    """Serve. death: at the first vote, in the middle of its line, or before it is answered."""
    if death == TORN:
        sessions.append = write_half
    if death == UNANSWERED:
        sessions.append = write_and_die
    server = uvicorn.Server(uvicorn.Config(Starlette(routes=build_routes(Store(folder)))))
    server.run(sockets=[listener])


def write_half(path, line):
    votes_csv.append(path, line[: len(line) // 2])
    os.kill(os.getpid(), signal.SIGKILL)


def write_and_die(path, line):
    votes_csv.append(path, line)
    os.kill(os.getpid(), signal.SIGKILL)
