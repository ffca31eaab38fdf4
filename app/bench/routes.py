"""What a comparison can be saved as: who knows a run's id has seen it."""

from starlette.requests import Request
from starlette.responses import PlainTextResponse, Response
from starlette.routing import Route

from app.bench.files import FILES
from app.bench.handlers import Boards
from app.faults import explain
from app.routes import not_found


def build_routes(boards: Boards) -> list[Route]:
    """Routes over the results that were shown."""

    def export(request: Request) -> Response:
        """In a thread of its own: drawing a figure takes seconds."""
        results, name = boards.find(request.path_params["run"]), request.path_params["name"]
        if results is None or name not in FILES:
            return not_found("file")
        media_type, make = FILES[name]
        headers = {
            "Content-Disposition": f'attachment; filename="forespeak-{name}"',
            "Cache-Control": "no-store",
        }
        try:
            content = make(results)
        except Exception as error:
            return PlainTextResponse(explain(error), 500)
        return Response(content, media_type=media_type, headers=headers)

    return [Route("/forespeak/bench/{run}/{name}", export)]
