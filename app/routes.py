"""The routes that the page's scripts use, beside Gradio's own."""

import asyncio
from collections.abc import AsyncIterator
from dataclasses import asdict
from pathlib import Path

from starlette.requests import Request
from starlette.responses import JSONResponse, PlainTextResponse, Response, StreamingResponse
from starlette.routing import Route
from starlette.types import Receive, Scope, Send

from app.exports import EXPORTS, file_name
from app.faults import explain
from app.runs import Run, Runs
from app.studio import Studio

LOOK = 0.025  # seconds between looks at a run's log
FRESH = {"Cache-Control": "no-cache"}
# Whoever collects lines before passing them on would hold back the sound: proxies are told not
# to, and Gradio compresses only what has a file's extension in its address.
STREAMED = {"Cache-Control": "no-cache, no-store", "X-Accel-Buffering": "no"}


def build_routes(studio: Studio, voice: str, runs: Runs, scripts: Path) -> list[Route]:
    """voice: whose state the page shows; scripts: the folder of its JavaScript, read here."""
    routes = Routes(studio, voice, runs, read_scripts(scripts))
    return [
        Route("/forespeak/state", routes.state),
        Route("/forespeak/page/{name}", routes.script),
        Route("/forespeak/runs/{run}/events", routes.events),
        Route("/forespeak/runs/{run}/stop", routes.stop, methods=["POST"]),
        Route("/forespeak/runs/{run}/{lane}/{name}", routes.export),
    ]


def read_scripts(folder: Path) -> dict[str, str]:
    """name -> text: nothing else can be asked for later."""
    return {path.name: path.read_text(encoding="utf-8") for path in folder.glob("*.js")}


class Routes:
    """Answers of one page. Who knows a run's id started it."""

    def __init__(self, studio: Studio, voice: str, runs: Runs, scripts: dict[str, str]):
        self._studio = studio
        self._voice = voice
        self._runs = runs
        self._scripts = scripts

    async def state(self, _: Request) -> Response:
        return JSONResponse(asdict(self._studio.state(self._voice)), headers=FRESH)

    async def script(self, request: Request) -> Response:
        text = self._scripts.get(request.path_params["name"])
        if text is None:
            return not_found("script")
        return Response(text, media_type="text/javascript", headers=FRESH)

    async def events(self, request: Request) -> Response:
        run = self._run(request)
        after = request.query_params.get("after", "0")
        if run is None:
            return not_found("run")
        if not (after.isascii() and after.isdigit() and len(after) < 10):
            return PlainTextResponse("after is the number of a line.", 400)
        return Feed(run, int(after))

    async def stop(self, request: Request) -> Response:
        run = self._run(request)
        if run is None:
            return not_found("run")
        run.stop()
        return Response(status_code=204)

    def export(self, request: Request) -> Response:
        """In a thread of its own: drawing a figure takes seconds."""
        run, name = self._run(request), request.path_params["name"]
        lanes = {str(number): lane for number, lane in enumerate(run.lanes)} if run else {}
        lane = lanes.get(request.path_params["lane"])
        trace = lane and lane.trace()
        if trace is None or name not in EXPORTS:
            return not_found("file")
        media_type, make = EXPORTS[name]
        attachment = f'attachment; filename="{file_name(trace, name)}"'
        headers = {"Content-Disposition": attachment, "Cache-Control": "no-store"}
        try:
            content = make(lane)
        except Exception as error:
            return PlainTextResponse(explain(error), 500)
        return Response(content, media_type=media_type, headers=headers)

    def _run(self, request: Request) -> Run | None:
        return self._runs.find(request.path_params["run"])


class Feed(StreamingResponse):
    """The lines of a run as they come; who receives it counts as a listener."""

    def __init__(self, run: Run, after: int):
        super().__init__(batches(run, after), media_type="application/x-ndjson", headers=STREAMED)
        self._run = run

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        with self._run.listening():  # ends with the connection, whoever closes it
            await super().__call__(scope, receive, send)


async def batches(run: Run, after: int) -> AsyncIterator[bytes]:
    """All lines from number `after` on, several at a time, up to the run's last one."""
    while True:
        ended = run.ended  # before the look at the lines: the last one comes earlier
        lines = run.lines(after)
        after += len(lines)
        if lines:
            yield b"".join(lines)
        if ended:
            return
        await asyncio.sleep(LOOK)


def not_found(what: str) -> Response:
    return PlainTextResponse(f"There is no such {what}.", 404)
