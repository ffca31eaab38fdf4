"""All ways over the same sentences, side by side; what was found, in medians and quartiles."""

import platform
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from itertools import zip_longest
from typing import Any

import torch
import transformers
from transformers import DynamicCache
from transformers.utils import is_sklearn_available

from core.bench import Spread
from core.voices.base import Plan
from tests.peers.model import Peer
from tests.peers.ways import Run, Way

WARM_UP = 48  # tokens


@dataclass(frozen=True)
class Sample:
    """One way's run over one sentence (its number)."""

    way: str
    temperature: float
    sentence: int
    run: Run


def measure(
    ways: Mapping[str, Way], plans: Sequence[Plan], codebooks: int, temperatures: Sequence[float]
) -> Iterator[Sample]:
    """Each sentence in all ways, one right after the other; each time another one begins.

    Whatever else the machine does so meets all alike.
    """
    names = list(ways)
    for index, plan in enumerate(plans):
        for turn, temperature in enumerate(temperatures):
            first = (index * len(temperatures) + turn) % len(names)
            for name in names[first:] + names[:first]:
                if index == 0:
                    ways[name](plan, WARM_UP, temperature, index)
                run = ways[name](plan, plan.sentence.frames * codebooks, temperature, index)
                yield Sample(name, temperature, index, run)


@dataclass(frozen=True)
class Difference:
    """Where greedy tokens part from the baseline's.

    gap: by how much the two likeliest tokens' logits differ there, in float32. A tie that rounding
    has decided is a gap near the kernels' error, about 1e-3.
    """

    sentence: int
    position: int
    gap: float


def first_difference(one: Sequence[int], other: Sequence[int]) -> int | None:
    """The first place where they are not the same."""
    pairs = enumerate(zip_longest(one, other))
    return next((place for place, (mine, yours) in pairs if mine != yours), None)


@torch.inference_mode()
def logit_gap(target: Peer, plan: Plan, prefix: Sequence[int]) -> float:
    """Between the two likeliest tokens after `prefix`."""
    target.hear(plan.conditioning.cond, plan.conditioning.hint)
    ids = torch.tensor([[target.sizes.codebook_size, *prefix]])
    cache = DynamicCache(config=target.config)
    logits = target(input_ids=ids, spoken=ids, cache=cache, logits_to_keep=1).logits[0, 0]
    best, second = logits.topk(2).values.tolist()
    return best - second


@dataclass(frozen=True)
class Row:
    """One way at one temperature.

    slower: how many times as long it takes as each of the reference ways, sentence by sentence.
    differences: of greedy tokens, from the baseline's; None where tokens are drawn.
    """

    way: str
    temperature: float
    tokens_per_s: Spread
    acceptance_length: Spread
    acceptance_rate: Spread | None
    slower: dict[str, Spread]
    differences: list[Difference] | None


def summarize(
    samples: Sequence[Sample],
    baseline: str,
    references: Sequence[str],
    plans: Sequence[Plan],
    judge: Peer,
) -> list[Row]:
    """One row per temperature and way; judge: the target that says how close a difference was."""
    runs: dict[tuple[float, str], dict[int, Run]] = {}
    for sample in samples:
        runs.setdefault((sample.temperature, sample.way), {})[sample.sentence] = sample.run
    rows = []
    ways = list(dict.fromkeys(sample.way for sample in samples))  # not each temperature's own order
    for (temperature, way), mine in sorted(
        runs.items(), key=lambda item: (item[0][0], ways.index(item[0][1]))
    ):
        greedy = runs[temperature, baseline] if temperature == 0 else None
        rows.append(
            Row(
                way=way,
                temperature=temperature,
                tokens_per_s=Spread.of(run.tokens_per_s for run in mine.values()),
                acceptance_length=Spread.of(run.acceptance_length for run in mine.values()),
                acceptance_rate=Spread.of(run.acceptance_rate for run in mine.values()),
                slower={
                    name: Spread.of(
                        run.seconds / runs[temperature, name][sentence].seconds
                        for sentence, run in mine.items()
                    )
                    for name in references
                },
                differences=None if greedy is None else _differences(greedy, mine, plans, judge),
            )
        )
    return rows


def _differences(
    right: Mapping[int, Run], mine: Mapping[int, Run], plans: Sequence[Plan], judge: Peer
) -> list[Difference]:
    found = []
    for sentence, run in mine.items():
        place = first_difference(right[sentence].tokens, run.tokens)
        if place is not None:
            gap = logit_gap(judge, plans[sentence], run.tokens[:place])
            found.append(Difference(sentence, place, gap))
    return found


def as_json(
    rows: Sequence[Row], samples: Sequence[Sample], plans: Sequence[Plan], gamma: int
) -> dict[str, Any]:
    """All that was found and how; every run by itself, without its tokens."""
    return {
        "gamma": gamma,
        "threads": torch.get_num_threads(),
        "machine": platform.machine(),
        "torch": torch.__version__,
        "transformers": transformers.__version__,
        # With scikit-learn, assisted generation tunes its confidence threshold as it goes.
        "threshold_adapts": is_sklearn_available(),
        "sentences": [plan.sentence.text for plan in plans],
        "ways": [asdict(row) for row in rows],
        "runs": [
            {
                "way": sample.way,
                "temperature": sample.temperature,
                "sentence": sample.sentence,
                "tokens": len(sample.run.tokens),
                "seconds": sample.run.seconds,
                "passes": sample.run.passes,
                "drafted": sample.run.drafted,
            }
            for sample in samples
        ],
    }
