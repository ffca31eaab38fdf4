"""The routes of listening tests. Who knows a session's token takes it; who knows a test's key
prepared it. Nothing before a session's last vote names a way, a text or a file."""

import json
from base64 import b64encode
from collections.abc import Callable
from secrets import compare_digest
from typing import Any

from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import JSONResponse, PlainTextResponse, Response
from starlette.routing import Route

from app.faults import explain
from app.listen.ballots import Ballot, head_of, to_csv
from app.listen.design import QUESTIONS, Design
from app.listen.figure import render
from app.listen.refusals import Refusal
from app.listen.results import from_files, pooled_result, session_result, verdicts
from app.listen.sessions import Session
from app.listen.store import Store
from app.listen.verdict import detectable
from core.errors import ForespeakError

FRESH = {"Cache-Control": "no-store"}
LARGEST_VOTE = 10_000  # bytes
LARGEST_POOL = 32_000_000
FIGURES = {"svg": "image/svg+xml", "png": "image/png"}

Answer = Callable[[Request, Any], Response]
"""What a route does, in a thread of its own: the disk, and figures, take their time."""


def build_routes(store: Store) -> list[Route]:
    """Routes over a folder of tests."""
    routes = Routes(store)
    root = "/forespeak/listen"
    session = f"{root}/sessions/{{session}}"
    return [
        _route(f"{root}/pool", routes.pool, LARGEST_POOL),
        _route(session, routes.state),
        _route(f"{session}/trial", routes.trial),
        _route(f"{session}/votes", routes.vote, LARGEST_VOTE),
        _route(f"{session}/result", routes.result),
        _route(f"{session}/votes.csv", routes.session_votes),
        _route(f"{root}/{{test}}", routes.test),
        _route(f"{root}/{{test}}/sessions", routes.start, LARGEST_VOTE),
        _route(f"{root}/{{test}}/results", routes.results),
        _route(f"{root}/{{test}}/votes.csv", routes.all_votes),
        _route(f"{root}/{{test}}/figure.{{format}}", routes.figure),
    ]


def _route(path: str, answer: Answer, body: int | None = None) -> Route:
    """body: bytes of JSON that may be posted; None for a route that is got."""

    async def endpoint(request: Request) -> Response:
        try:
            given = None if body is None else await _read_json(request, body)
            return await run_in_threadpool(answer, request, given)
        except Refusal as refusal:
            return PlainTextResponse(str(refusal), refusal.status, FRESH)
        except ForespeakError as error:
            return PlainTextResponse(str(error), 400, FRESH)
        except Exception as error:
            return PlainTextResponse(explain(error), 500, FRESH)

    return Route(path, endpoint, methods=["GET" if body is None else "POST"])


async def _read_json(request: Request, largest: int) -> Any:
    """What was posted; an empty object if nothing was."""
    data = bytearray()
    async for piece in request.stream():
        data += piece
        if len(data) > largest:
            raise Refusal(413, "That is too large: give fewer files at once.")
    try:
        return json.loads(data or b"{}")
    except (ValueError, RecursionError) as error:
        raise Refusal(400, "This is no JSON.") from error


class Routes:
    """What is answered."""

    def __init__(self, store: Store):
        self._store = store

    def test(self, request: Request, _: None) -> Response:
        """What a listener may know before they begin."""
        design = self._store.design(request.path_params["test"])
        return _json(
            {
                "test": design.test,
                "kind": design.kind,
                "trials": design.trials,
                "question": QUESTIONS[design.kind],
                "detects": detectable(design.kind, design.trials),
            }
        )

    def start(self, request: Request, _: Any) -> Response:
        return _json({"session": self._store.start(request.path_params["test"])})

    def state(self, request: Request, _: None) -> Response:
        return _json(self._session(request).state())

    def trial(self, request: Request, _: None) -> Response:
        """All clips at once: neither their order nor their timing tells anything."""
        session = self._session(request)
        number, clips = session.clips()
        return _json(
            {
                "trial": number,
                "trials": session.design.trials,
                "sample_rate": session.design.sample_rate,
                "samples": len(clips["A"]),
                "clips": {
                    label: b64encode(pcm.tobytes()).decode("ascii") for label, pcm in clips.items()
                },
            }
        )

    def vote(self, request: Request, given: Any) -> Response:
        session = self._session(request)
        if not isinstance(given, dict):
            raise Refusal(400, "This is no vote.")
        session.vote(given.get("trial"), given.get("choice"), given.get("heard"))
        return _json(session.state())

    def result(self, request: Request, _: None) -> Response:
        session = self._session(request)
        return _json(session_result(_complete(session), session.design.same))

    def session_votes(self, request: Request, _: None) -> Response:
        ballot = _complete(self._session(request))
        return _votes([ballot], f"forespeak-votes-{ballot.head.session}.csv")

    def results(self, request: Request, _: None) -> Response:
        design, ballots = self._kept(request)
        return _json(pooled_result(head_of(design), ballots, design.same))

    def all_votes(self, request: Request, _: None) -> Response:
        design, ballots = self._kept(request)
        return _votes(ballots, f"forespeak-votes-{design.test}.csv")

    def figure(self, request: Request, _: None) -> Response:
        design, ballots = self._kept(request)
        format = request.path_params["format"]
        if format not in FIGURES:
            raise Refusal(404, "There is no such figure: choose svg or png.")
        content = render(head_of(design), verdicts(head_of(design), ballots), format)
        return _file(content, FIGURES[format], f"forespeak-listening-{design.test}.{format}")

    def pool(self, _: Request, given: Any) -> Response:
        files = given.get("files") if isinstance(given, dict) else None
        if not (isinstance(files, list) and files and all(isinstance(f, str) for f in files)):
            raise Refusal(400, "Choose the files of votes to pool.")
        ballots = from_files(files)
        return _json(pooled_result(ballots[0].head, ballots))

    def _session(self, request: Request) -> Session:
        return self._store.session(request.path_params["session"])

    def _kept(self, request: Request) -> tuple[Design, list[Ballot]]:
        """The test and all its sessions, the oldest first, for who knows its key."""
        design = self._store.design(request.path_params["test"])
        key = request.query_params.get("key", "")
        if not compare_digest(key.encode(), design.key.encode()):
            raise Refusal(403, "That key does not open this test: use the facilitator's link.")
        ballots = (session.ballot() for session in self._store.sessions(design))
        return design, sorted(ballots, key=lambda ballot: ballot.begun)


def _complete(session: Session) -> Ballot:
    ballot = session.ballot()
    if not ballot.complete:
        raise Refusal(409, "The test is not over: the result comes after the last vote.")
    return ballot


def _json(content: Any) -> Response:
    return JSONResponse(content, headers=FRESH)


def _votes(ballots: list[Ballot], name: str) -> Response:
    return _file(to_csv(ballots).encode(), "text/csv; charset=utf-8", name)


def _file(content: bytes, media_type: str, name: str) -> Response:
    attachment = {"Content-Disposition": f'attachment; filename="{name}"'}
    return Response(content, media_type=media_type, headers=FRESH | attachment)
