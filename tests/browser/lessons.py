"""A Learn tab of two small chapters, over a recording of the fake voice, without any model."""

from contextlib import contextmanager
from dataclasses import replace

import numpy as np

from app.page import build_page
from app.studio import Studio
from core.engine import Settings
from core.errors import ForespeakError
from core.ideas import imagine, was_rejected
from core.recording import Recording, record
from core.sampling import Sampling
from tests.browser.conftest import served
from tests.fake_voice import FakeVoice, fake_engine

TEXT = "hello there how are you today"
SETTINGS = Settings(Sampling(0.9), gamma=3, seed=5)
LEARN = "document.querySelector('.learn').learn"
STEPS = "document.querySelector('.steps').steps"
SHOWN = f"""(({{ picture }}) => Object.fromEntries(Object.entries(picture.bars.shown.series)
  .map(([name, values]) => [name, Array.from(values)])))({STEPS})"""
# All that is seen of an action: elements, and what canvases hold.
SEEN = """(async () => {
  for (let i = 0; i < 2; i++) await new Promise(requestAnimationFrame); // widths may change
  const steps = document.querySelector(".steps");
  const copy = steps.cloneNode(true);
  copy.querySelectorAll("[hidden]").forEach((element) => element.remove());
  const pictures = steps.querySelectorAll("canvas:not([hidden])");
  return [copy.outerHTML, ...Array.from(pictures, (canvas) => canvas.toDataURL())];
})()"""

FIRST = """# First things

A *small* model guesses. <b>Not bold</b>, and `code`.

```figure step
recording = "shipped"
round = 1
show = "draft"
```

Words between figures.

```figure step
recording = "shipped"
round = 0
```

```figure step
recording = "shipped"
round = 1
show = "verify"
```
"""
SECOND = """# Second things

```figure step
recording = "shipped"
show = "everything"
```

```figure step
recording = "lost"
```
"""


def recorded() -> Recording:
    """With the sounds of its rejected ideas, as shipped ones are."""
    recording = record(fake_engine(), TEXT, SETTINGS)
    codec, trace = FakeVoice().codec, recording.trace
    rejected = [n for n, round_ in enumerate(trace.rounds) if was_rejected(round_)]
    ideas = {n: imagine(codec, trace, trace.rounds[n]) for n in rejected}
    return replace(recording, ideas=ideas)


def write_lessons(folder) -> None:
    """Two chapters; in the second nothing is as it should be."""
    (folder / "01-first.md").write_text(FIRST)
    (folder / "02-second.md").write_text(SECOND)


def no_voice(_):
    raise ForespeakError("There is no voice here.")


@contextmanager
def served_lessons(folder, recording):
    """The page over the two chapters and their recording, without a voice; its address."""
    recording.save(folder / "shipped.safetensors")
    write_lessons(folder)
    with served(build_page(Studio(no_voice), "joe", lessons=folder)) as address:
        yield address


@contextmanager
def visited(browser, url, script=""):
    """The page in a tab, where the script ran before all others; nothing may fail in it."""
    page = browser.new_page(viewport={"width": 1280, "height": 720})
    errors = []
    page.on("pageerror", lambda error: errors.append(str(error)))
    page.add_init_script(script)
    page.goto(url)
    yield page
    page.close()
    assert errors == []


def partly_accepted(recording) -> int:
    """A round of which at least one guess stood and one did not."""
    rounds = enumerate(recording.trace.rounds)
    return next(n for n, each in rounds if 0 < each.accepted < len(each.draft_tokens))


def learn(page) -> None:
    """Turn to the Learn tab, with the focus nowhere."""
    page.get_by_role("tab", name="Learn").click()
    page.wait_for_selector(".learn .pages > .current")
    page.evaluate("document.activeElement.blur()")


def step_mode(page, round_=0) -> None:
    """Turn to the beginning of a round in step mode."""
    learn(page)
    page.keyboard.press("End")
    page.wait_for_selector(".steps.current .chip")
    go_to(page, round_)


def go_to(page, round_, action=0) -> None:
    """One action of a round, as soon as it is shown."""
    page.evaluate(f"{STEPS}.turn({round_})")
    page.wait_for_function(f"!{STEPS}.waiting")
    for _ in range(action):
        page.evaluate(f"{STEPS}.step(1)")


def actions(page) -> list[tuple[str, int]]:
    """(kind, row) of the round that is shown."""
    return [tuple(pair) for pair in page.evaluate(f"{STEPS}.actions.map((a) => [a.kind, a.row])")]


def share(value: float) -> str:
    """A probability as the page must write it."""
    if value in (0, 1):
        return f"{value:.0f}"
    if value > 0.9999:
        return "> 0.9999"
    if value >= 0.1:
        return f"{value:.{4 if value >= 0.9995 else 3}f}"
    return str(float(f"{value:.3g}")) if value >= 0.0001 else "< 0.0001"


def softmax(logits, temperature=0.9):
    scaled = np.asarray(logits, np.float64) / temperature
    weights = np.exp(scaled - scaled.max(-1, keepdims=True))
    return weights / weights.sum(-1, keepdims=True)


def distributions(recording, n, temperature=0.9):
    """p [G + 1, V] and q [G, V] of a round."""
    target, draft = recording.target_logits[n], recording.draft_logits[n]
    return softmax(target.numpy(), temperature), softmax(draft.numpy(), temperature)


def change(page, name, value):
    """Move a what-if slider by hand."""
    page.evaluate(
        """([name, value]) => {
          const input = document.querySelector(`.whatif .${name}`);
          input.value = value;
          input.dispatchEvent(new Event("input", { bubbles: true }));
        }""",
        [name, value],
    )


def settled(page, text):
    page.wait_for_function(
        "(text) => document.querySelector('.whatif .note').textContent.startsWith(text)", arg=text
    )
