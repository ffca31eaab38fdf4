"""What drafting yields and costs with a voice on this computer: by real rounds of one sentence."""

from dataclasses import replace
from itertools import islice

from core.costs import Sweep, costs_of, is_complete, mean_acceptance
from core.engine import Engine, Settings
from core.errors import ForespeakError
from core.speedup import Outlook
from core.trace import Round

LONGEST = 8  # the greatest γ that is considered
TRIAL = "A small model guesses ahead."
TRIALS = 8  # how often it is spoken at most: a voice that ends its sentences may do so too soon
ENOUGH = 27 * (LONGEST + 1)  # rounds; a computer is not always equally fast


def measure_outlook(engine: Engine, settings: Settings) -> Outlook:
    """From rounds of every γ up to LONGEST, otherwise with these settings; takes a second or two.

    Raises ForespeakError if the voice says next to nothing, seed after seed.
    """
    rounds = _sample_rounds(engine, replace(settings, gamma=LONGEST, adaptive=None))
    if not rounds:
        raise ForespeakError(
            f"The voice ended its sentence {TRIALS} times with too few tokens to time γ "
            f"{LONGEST}: try another seed."
        )
    return Outlook(mean_acceptance(rounds, settings.rule), costs_of(rounds, LONGEST))


def _sample_rounds(engine: Engine, settings: Settings) -> list[Round]:
    """Of complete sweeps through the trial sentence, seed after seed."""
    rounds: list[Round] = []
    plan = None
    for seed in range(settings.seed, settings.seed + TRIALS):
        seeded = replace(settings, seed=seed)
        plan = plan or engine.plan(TRIAL, seeded)
        said = list(islice(engine.rounds(plan, seeded, Sweep(LONGEST)), ENOUGH))
        if is_complete(said, LONGEST):
            rounds += said
        else:
            plan = None  # another may say more
        if len(rounds) >= ENOUGH:
            break
    return rounds
