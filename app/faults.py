"""What the page says when something fails."""

from traceback import print_exception

from core.errors import ForespeakError


def explain(error: Exception) -> str:
    """One line for the user; a fault of the program goes to the terminal, too."""
    if isinstance(error, ForespeakError):
        return str(error)
    print_exception(error)
    return f"Something went wrong ({type(error).__name__}): the terminal has the details."
