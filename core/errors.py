"""The one exception that is meant for the person at the keyboard."""


class ForespeakError(Exception):
    """Something the user can mend.

    The message is a single line that says what is wrong and what to do about it;
    the command prints it without a traceback and exits with code 2, the page shows it.
    """
