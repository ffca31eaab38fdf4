"""What a listener asks for that cannot be: with the HTTP status that says so."""

from core.errors import ForespeakError


class Refusal(ForespeakError):  # noqa: N818 - no fault of anyone
    """status: 4xx or 5xx; the text is for the page."""

    def __init__(self, status: int, text: str):
        super().__init__(text)
        self.status = status
