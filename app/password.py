"""One password for the whole page: HTTP Basic authentication, whatever the user's name."""

from base64 import b64decode
from secrets import compare_digest
from unicodedata import normalize

from starlette.responses import PlainTextResponse
from starlette.types import ASGIApp, Receive, Scope, Send

# Gradio asks its own server there, once, whether it is up; the answer is true or false.
OPEN = "/gradio_api/startup-events"
ASK = {"WWW-Authenticate": 'Basic realm="Forespeak", charset="UTF-8"'}


class Password:
    """Lets those through who know the password, and asks the others for it."""

    def __init__(self, app: ASGIApp, password: str):
        self._app = app
        self._password = _composed(password).encode()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "lifespan" or scope["path"] == OPEN or self._knows(scope):
            await self._app(scope, receive, send)
        else:
            refusal = PlainTextResponse("This page asks for a password.", 401, ASK)
            await refusal(scope, receive, send)

    def _knows(self, scope: Scope) -> bool:
        given = dict(scope["headers"]).get(b"authorization", b"")
        scheme, _, credentials = given.partition(b" ")
        if scheme.lower() != b"basic":
            return False
        try:
            _, _, password = b64decode(credentials, validate=True).decode().partition(":")
        except ValueError:  # of the decoding of text, too
            return False
        return compare_digest(_composed(password).encode(), self._password)


def _composed(text: str) -> str:
    """Some keyboards give ö as one character, and some as two."""
    return normalize("NFC", text)
