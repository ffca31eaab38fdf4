"""What the doctor found, in the terminal. It must work where packages are missing."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

from core.doctor import Check, State

if TYPE_CHECKING:
    from rich.table import Table

MARKS = {State.OK: ("ok", "green"), State.WARNING: ("note", "yellow"), State.BAD: ("BAD", "red")}


def print_checks(checks: Sequence[Check]) -> None:
    """A table, or plain lines where rich is missing."""
    try:
        from rich.console import Console

        table = checks_table(checks)
    except ImportError:
        for check in checks:
            mark, _ = MARKS[check.state]
            remedy = f" -> {check.remedy}" if check.remedy else ""
            print(f"{mark:4}  {check.name}: {check.found}{remedy}")
    else:
        Console().print(table)


def checks_table(checks: Sequence[Check]) -> "Table":
    """What was found, and what to do about what was not."""
    from rich import box
    from rich.table import Table
    from rich.text import Text

    table = Table("", "", "found", "what to do", box=box.SIMPLE)
    for check in checks:
        mark = Text(*MARKS[check.state])
        table.add_row(mark, Text(check.name), Text(check.found), Text(check.remedy))
    return table
