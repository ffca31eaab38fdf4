"""What the tests of the chapters' figures share: one figure in an empty page, without a server."""

from typing import Any

import numpy as np

P, Q = [0.5, 0.3, 0.2], [0.3, 0.2, 0.5]
MACHINE = {
    "alpha": 0.8,
    "c": 0.2,
    "v": [1.0, 1.1, 1.3, 1.4, 1.7],
    "gamma": 4,
    "tokens_per_s": 150.0,
    "measured": None,
}

MOUNT = """async ({ name, options, recordings, machine, sound }) => {
  const [{ mount, OPTIONS }, { check }] = await Promise.all(
    [`figure-${name}`, "fig-options"].map((module) => import(`./page/${module}.js`)));
  check(options, OPTIONS);
  const element = document.createElement("figure");
  element.className = `figure ${name}`;
  document.body.replaceChildren(element);
  await mount(element, options, {
    recording: async (id) => {
      if (!(id in recordings)) throw new Error(`no recording ${id}`);
      return recordings[id];
    },
    machine: async () => machine && { ...(window.machine = machine) },
    sound: () => new URL(`data:audio/wav;base64,${sound}`),
  });
}"""
CALL = """async ({ module, name, args }) => (await import(`./page/${module}.js`))[name](...args)"""


def mount(page, name: str, options=None, recordings=None, machine=None, sound=""):
    """Puts the figure alone into the page."""
    page.evaluate(
        MOUNT,
        {
            "name": name,
            "options": options or {},
            "recordings": recordings or {},
            "machine": machine,
            "sound": sound,
        },
    )


def call(page, module: str, name: str, *args) -> Any:
    """What a function of a module answers."""
    return page.evaluate(CALL, {"module": module, "name": name, "args": list(args)})


def said(page) -> str:
    """What the figure tells in words."""
    return page.inner_text(".fig-says")


def rows(page) -> dict[str, list[str]]:
    """The figure's table: name of a row -> its cells."""
    found = page.evaluate(
        """() => [...document.querySelectorAll(".fig-table tbody tr")].map((row) =>
          [...row.children].map((cell) => cell.textContent))"""
    )
    return {name: cells for name, *cells in found}


def drag(page, label: str, value: float):
    """Moves the slider of that name, as an input by hand would."""
    page.get_by_role("slider", name=label, exact=True).evaluate(
        """(input, value) => {
          input.value = value;
          input.dispatchEvent(new Event("input", { bubbles: true }));
        }""",
        value,
    )


def percents(cells: list[str]) -> list[float]:
    """Shares, of cells such as "12.5 %"."""
    return [float(cell.removesuffix(" %")) / 100 for cell in cells]


def by_hand(p, q, accept, redraw) -> np.ndarray:
    """How often each symbol comes out, from every pair of a drafted and a redrawn one."""
    out = np.zeros(len(p))
    for drafted, chance in enumerate(q):
        out[drafted] += chance * accept(drafted)
        for redrawn, share in enumerate(redraw):
            out[redrawn] += chance * (1 - accept(drafted)) * share
    return out
