"""The routes of listening tests. Who knows a session's token takes it; who knows a test's key
prepared it. Nothing before a session's last vote names a way, a text or a file."""

import json
import re
from base64 import b64encode
from collections.abc import Callable
from secrets import compare_digest
from typing import Any

from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import JSONResponse, PlainTextResponse, Response
from starlette.routing import Route

from app.faults import explain
from app.listen.ballots import Ballot, shared_head
from app.listen.design import QUESTIONS, Design
from app.listen.figure import render
from app.listen.pooling import from_files
from app.listen.refusals import Refusal
from app.listen.results import pooled_result, session_result, verdicts
from app.listen.sessions import Session
from app.listen.store import Store, new_id
from app.listen.verdict import detectable
from app.listen.votes_csv import to_csv
from core.errors import ForespeakError

FRESH = {"Cache-Control": "no-store"}
LARGEST_VOTE = 10_000  # bytes
LARGEST_POOL = 32_000_000
LISTENER = re.compile(r"[0-9A-Za-z][0-9A-Za-z-]{7,63}")
FIGURES = {"svg": "image/svg+xml", "png": "image/png"}

Answer = Callable[[Request, Any], Response]
"""What a route does, in a thread of its own: the disk, and figures, take their time."""


def build_routes(store: Store, lan: str | None = None) -> list[Route]:
    """Routes over a folder of tests; lan: the page's address on the local network."""
    routes = Routes(store, lan)
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
            if body is None:
                return await run_in_threadpool(answer, request, None)
            data = await _read(request, body)
            return await run_in_threadpool(lambda: answer(request, _parse(data)))
        except Refusal as refusal:
            return _plain(refusal, refusal.status)
        except ForespeakError as error:
            return _plain(error, 400)
        except Exception as error:
            return _plain(explain(error), 500)

    return Route(path, endpoint, methods=["GET" if body is None else "POST"])


def _plain(text: object, status: int) -> Response:
    # A text that somebody sent may hold what UTF-8 cannot.
    return PlainTextResponse(str(text).encode(errors="replace"), status, FRESH)


async def _read(request: Request, largest: int) -> bytes:
    """What was posted."""
    data = bytearray()
    async for piece in request.stream():
        data += piece
        if len(data) > largest:
            raise Refusal(413, f"That is too large: at most {largest:,} bytes are taken at once.")
    return bytes(data)


def _parse(data: bytes) -> Any:
    """An empty object if nothing was posted."""
    try:
        return json.loads(data or b"{}")
    except (ValueError, RecursionError) as error:
        raise Refusal(400, "This is no JSON.") from error


class Routes:
    """What is answered."""

    def __init__(self, store: Store, lan: str | None):
        self._store = store
        self._lan = lan

    def test(self, request: Request, _: None) -> Response:
        """What a listener may know before they begin."""
        design = self._store.design(request.path_params["test"])
        told = {
            "question": QUESTIONS[design.kind],
            "detects": detectable(design.kind, design.trials),
        }
        return _json(design.form | told)

    def start(self, request: Request, given: Any) -> Response:
        """The listener's open session, or a new one: who asks again gets the same again."""
        asked = given if isinstance(given, dict) else {}
        listener = asked.get("listener") or new_id()
        if not (isinstance(listener, str) and LISTENER.fullmatch(listener)):
            raise Refusal(400, "A listener is named by 8 to 64 letters and digits.")
        test, new = request.path_params["test"], asked.get("new") is True
        return _json({"session": self._store.start(test, listener, new)})

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
        return _json(session_result(_complete(self._session(request))))

    def session_votes(self, request: Request, _: None) -> Response:
        ballot = _complete(self._session(request))
        return _votes([ballot], f"forespeak-votes-{ballot.head.session}.csv")

    def results(self, request: Request, _: None) -> Response:
        """Worked out only if something has changed since it was last asked."""
        design = self._kept(request)
        mark = {"ETag": f'"{self._store.mark(design)}"'}  # before the votes are read
        if request.headers.get("if-none-match") == mark["ETag"]:
            return Response(status_code=304, headers=FRESH | mark)
        result = pooled_result(shared_head(design), self._store.ballots(design))
        return _json(result | {"lan": self._lan}, mark)

    def all_votes(self, request: Request, _: None) -> Response:
        design = self._kept(request)
        return _votes(self._store.ballots(design), f"forespeak-votes-{design.test}.csv")

    def figure(self, request: Request, _: None) -> Response:
        design, kind = self._kept(request), request.path_params["format"]
        if kind not in FIGURES:
            raise Refusal(404, "There is no such figure: choose svg or png.")
        head = shared_head(design)
        content = render(head, verdicts(head, self._store.ballots(design)), kind)
        return _file(content, FIGURES[kind], f"forespeak-listening-{design.test}.{kind}")

    def pool(self, _: Request, given: Any) -> Response:
        files = given.get("files") if isinstance(given, dict) else None
        if not (isinstance(files, list) and files and all(isinstance(f, str) for f in files)):
            raise Refusal(400, "Choose the files of votes to pool.")
        ballots = from_files(files)
        return _json(pooled_result(ballots[0].head, ballots))

    def _session(self, request: Request) -> Session:
        return self._store.session(request.path_params["session"])

    def _kept(self, request: Request) -> Design:
        """The test, for who knows its key."""
        design = self._store.design(request.path_params["test"])
        key = request.query_params.get("key", "")
        if not compare_digest(key.encode(), design.key.encode()):
            raise Refusal(403, "That key does not open this test: use the facilitator's link.")
        return design


def _complete(session: Session) -> Ballot:
    ballot = session.ballot()
    if not ballot.complete:
        raise Refusal(409, "The test is not over: the result comes after the last vote.")
    return ballot


def _json(content: Any, headers: dict[str, str] | None = None) -> Response:
    return JSONResponse(content, headers=FRESH | (headers or {}))


def _votes(ballots: list[Ballot], name: str) -> Response:
    return _file(to_csv(ballots).encode(), "text/csv; charset=utf-8", name)


def _file(content: bytes, media_type: str, name: str) -> Response:
    attachment = {"Content-Disposition": f'attachment; filename="{name}"'}
    return Response(content, media_type=media_type, headers=FRESH | attachment)
