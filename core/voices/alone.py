"""A voice's draft in its target's place."""

from collections.abc import Iterable

from core.drafters import LanguageModel
from core.voices.base import Plan, Voice


class DraftAlone:
    """Implements `Voice`: the draft speaks, and nothing corrects it.

    The anchor of a listening test: whatever it lacks is what verification mends.
    """

    def __init__(self, voice: Voice):
        self._voice = voice
        self.name = f"{voice.name}, its draft alone"
        self.codec = voice.codec
        self.drafts = ("model", "ngram")

    def sentences(self, text: str) -> Iterable[str]:
        return self._voice.sentences(text)

    def plan(self, sentence: str, rate: float) -> Plan:
        return self._voice.plan(sentence, rate)

    def target(self, plan: Plan) -> LanguageModel:
        return self._voice.draft(plan)

    def draft(self, plan: Plan) -> LanguageModel:
        return self._voice.draft(plan)
