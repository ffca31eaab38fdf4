"""Which word each phoneme belongs to: espeak-ng does not say, so it is worked out here.

espeak-ng's groups of phonemes are not the words: "of the" is one group, "21" is two. So the
clause is aligned, character by character, to its words pronounced one by one. The alignment
starts afresh at every clause, and a word that is said quite differently from what it is alone
shifts no other word.
"""

from __future__ import annotations

from collections import Counter

_VOWELS = frozenset("aeiouæɐɑɒɔəɚɛɜɪʊʌᵻ")
_BEFORE = frozenset("ˈˌ")  # marks that belong to the phoneme after them
_GAP = 1


def align_words(ipa: str, references: list[tuple[int, str]]) -> list[int]:
    """The word that each character of a clause belongs to, -1 for spaces between words.

    ipa: the clause's phonemes, groups apart by one space.
    references: (word index, phonemes of that word said alone), in the order of the text.
    """
    expected = "".join(pronunciation for _, pronunciation in references)
    owner = [index for index, pronunciation in references for _ in pronunciation]
    groups = ipa.split(" ")
    matches = iter(_match_characters(ipa.replace(" ", ""), expected))
    votes = [[-1 if (at := next(matches)) is None else owner[at] for _ in g] for g in groups]
    result: list[int] = []
    for group, row in zip(groups, _settle(votes), strict=True):
        if result:  # a space inside one word ("twenty one" for 21) is that word's
            result.append(row[0] if row and row[0] == result[-1] else -1)
        result += _stress_forward(group, row)
    return result


def _settle(votes: list[list[int]]) -> list[list[int]]:
    """Votes per group -> one word per character; a word stays out of its neighbours' groups.

    A group belongs to the word with most votes in it, shared only with words that have nowhere
    more votes than here (the merged "of the"). Characters without a say follow the one before.
    """
    counts = [Counter(word for word in group if word >= 0) for group in votes]
    home: dict[int, int] = {}  # the group with most votes for the word
    for i, count in enumerate(counts):
        for word, number in count.items():
            if word not in home or number > counts[home[word]][word]:
                home[word] = i
    settled = []
    current = min(home, default=-1)
    for i, (group, count) in enumerate(zip(votes, counts, strict=True)):
        main = count.most_common(1)[0][0] if count else current
        row = [word if word == main or home.get(word) == i else -1 for word in group]
        current = next((word for word in row if word >= 0), main)
        for j, word in enumerate(row):
            current = row[j] = word if word >= 0 else current
        settled.append(row)
    return settled


def _stress_forward(group: str, row: list[int]) -> list[int]:
    """Stress marks go with the phoneme that they stress."""
    row = list(row)
    for j in range(len(row) - 2, -1, -1):
        if group[j] in _BEFORE:
            row[j] = row[j + 1]
    return row


def _difference(a: str, b: str) -> int:
    """Cost of reading `b` as `a`: a vowel and a consonant are never the same sound."""
    if a == b:
        return 0
    return 1 if (a in _VOWELS) == (b in _VOWELS) else 2 * _GAP


def _match_characters(actual: str, expected: str) -> list[int | None]:
    """For each character of `actual`, its position in `expected` by edit distance, or None."""
    cost = [[j * _GAP for j in range(len(expected) + 1)]]
    for i, a in enumerate(actual):
        above, here = cost[i], [(i + 1) * _GAP]
        for j, b in enumerate(expected):
            same = above[j] + _difference(a, b)
            here.append(min(same, above[j + 1] + _GAP, here[j] + _GAP))
        cost.append(here)
    matched: list[int | None] = [None] * len(actual)
    i, j = len(actual), len(expected)
    while i and j:
        step = _difference(actual[i - 1], expected[j - 1])
        if step < 2 * _GAP and cost[i][j] == cost[i - 1][j - 1] + step:
            i, j = i - 1, j - 1
            matched[i] = j
        elif cost[i][j] == cost[i - 1][j] + _GAP:
            i -= 1
        else:
            j -= 1
    return matched
