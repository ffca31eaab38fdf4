"""The routes of the Learn tab."""

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict, replace
from pathlib import Path

from starlette.requests import Request
from starlette.responses import FileResponse, JSONResponse, PlainTextResponse, Response
from starlette.routing import Route

from app.learn.lessons import read_lessons
from app.learn.recordings import SOUNDS, Busy, Entry, Recordings
from app.learn.wire import recording_json, step_json
from app.routes import FRESH
from app.studio import Studio
from app.wav import wav_bytes
from core.errors import ForespeakError
from core.recording import Recording
from core.steps import view

FIGURE = "figure-"
NUMBERS = ("temperature", "top_p", "tolerance")


def build_routes(
    studio: Studio, voice: str, recordings: Recordings, lessons: Path, scripts: Path
) -> list[Route]:
    """voice: whose measurements are shown; lessons: the folder of chapters and their sounds;
    scripts: the folder that holds the figures."""
    figures = {path.stem.removeprefix(FIGURE) for path in scripts.glob(f"{FIGURE}*.js")}
    routes = Routes(studio, voice, recordings, lessons, figures)
    base = "/forespeak/learn"
    return [
        Route(f"{base}/lessons", routes.lessons),
        Route(f"{base}/machine", routes.machine),
        Route(f"{base}/sounds/{{name}}", routes.sound),
        Route(f"{base}/recordings/{{id}}", polite(routes.recording)),
        Route(f"{base}/recordings/{{id}}/rounds/{{round}}", polite(apart(routes.step))),
        Route(f"{base}/recordings/{{id}}/rounds/{{round}}/{{name}}.wav", polite(routes.idea)),
    ]


class Refused(Exception):  # noqa: N818 - an answer, not a fault
    """What is answered instead, as plain text."""

    def __init__(self, text: str, status: int = 404):
        super().__init__(text)
        self.status = status


Answer = Callable[[Request], Response]


def polite(answer: Answer) -> Answer:
    """The same; what it refuses it refuses with a text that can be shown."""

    def answered(request: Request) -> Response:
        try:
            return answer(request)
        except Refused as refused:
            return PlainTextResponse(str(refused), refused.status)
        except Busy as busy:
            return PlainTextResponse(str(busy), 503)
        except ForespeakError as error:
            return PlainTextResponse(str(error), 400)

    return answered


def apart(answer: Answer) -> Answer:
    """The same in a thread that ends with it, for what uses PyTorch: `Runs.start` tells why."""

    def answered(request: Request) -> Response:
        with ThreadPoolExecutor(1) as pool:
            return pool.submit(answer, request).result()

    return answered


class Routes:
    """Answers of one page. Most run in threads: they read files, or work."""

    def __init__(
        self, studio: Studio, voice: str, recordings: Recordings, lessons: Path, figures: set[str]
    ):
        self._studio = studio
        self._voice = voice
        self._recordings = recordings
        self._lessons = lessons
        self._figures = figures

    def lessons(self, _: Request) -> Response:
        """Read each time: who writes a chapter sees it after a reload."""
        lessons = read_lessons(self._lessons, self._figures)
        return JSONResponse([asdict(lesson) for lesson in lessons], headers=FRESH)

    async def machine(self, _: Request) -> Response:
        ready = self._studio.found(self._voice)
        if ready is None:
            return PlainTextResponse("Nothing is measured yet: the voice is loading.", 404)
        outlook = ready.outlook
        measured = {
            "alpha": outlook.alpha,
            "c": outlook.costs.c,
            "v": outlook.costs.v,
            "gamma": outlook.gamma,
            "tokens_per_s": ready.baseline_tokens_per_s,
            "measured": ready.measured and asdict(ready.measured),
        }
        return JSONResponse(measured, headers=FRESH)

    def sound(self, request: Request) -> Response:
        paths = {path.name: path for path in self._lessons.glob("*.flac")}
        path = paths.get(request.path_params["name"])
        if path is None:
            return PlainTextResponse("There is no such sound.", 404)
        return FileResponse(path, media_type="audio/flac", headers=FRESH)

    def recording(self, request: Request) -> Response:
        return JSONResponse(recording_json(self._entry(request).recording), headers=FRESH)

    def step(self, request: Request) -> Response:
        entry = self._entry(request)
        recording, settings = entry.recording, entry.recording.settings
        index = _round(request, recording)
        asked = _asked(request)
        tolerance = asked.pop("tolerance", None)
        name = request.query_params.get("rule", settings.rule)
        if tolerance is None and name == settings.rule:
            tolerance = settings.tolerance
        rule = self._recordings.rule(entry, name, tolerance)
        step = view(recording, index, replace(settings.sampling, **asked), rule)
        return JSONResponse(step_json(step, recording.trace), headers=FRESH)

    def idea(self, request: Request) -> Response:
        entry = self._entry(request)
        index, name = _round(request, entry.recording), request.path_params["name"]
        if name not in SOUNDS:
            raise Refused("There is no such sound.")
        pcm = self._recordings.sound(entry, index, name)
        if pcm is None:
            raise Refused("In this round no guess was rejected.")
        content = wav_bytes(pcm, entry.recording.trace.sample_rate)
        return Response(content, media_type="audio/wav", headers=FRESH)

    def _entry(self, request: Request) -> Entry:
        entry = self._recordings.find(request.path_params["id"])
        if entry is None:
            raise Refused("There is no such recording: it may have made room. Record it again.")
        return entry


def _round(request: Request, recording: Recording) -> int:
    text = request.path_params["round"]
    number = text.isascii() and text.isdigit() and len(text) < 10
    if not (number and int(text) < len(recording.trace.rounds)):
        raise Refused(f"There is no such round: choose 0 to {len(recording.trace.rounds) - 1}.")
    return int(text)


def _asked(request: Request) -> dict[str, float]:
    """The numbers that are asked for; what is not said stays as it was."""
    asked = {name: request.query_params[name] for name in NUMBERS if name in request.query_params}
    try:
        return {name: float(text) for name, text in asked.items()}
    except ValueError as error:
        wanted = ", ".join(NUMBERS)
        raise Refused(f"These are numbers, such as 0.8: {wanted}.", 400) from error
