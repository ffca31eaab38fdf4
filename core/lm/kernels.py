"""Compiled loops for models so small that calling torch costs more than their arithmetic.

A draft's step is a few hundred thousand products, which one core does in the time of five calls
of torch. So a whole step is one function, compiled by numba where it runs. Weights are int8 with
a scale per row: half a megabyte stays in a core's own cache, and a draft's rounding errors cost a
little speed and no more.

All of them stand in this one file: what numba keeps on disk it makes anew when the file of that
function has changed, and does not look at the files of those that it calls.
"""

from collections.abc import Callable
from functools import partial
from math import exp, sqrt
from typing import NamedTuple

import numpy as np
from numba import njit
from torch import Tensor


def kernel(function: Callable) -> Callable:
    """Compiled when it is first called, and kept on disk where there is a place for it."""
    # Sums may be reordered, which is what lets a core do many of their products at once.
    compiled = partial(njit, nogil=True, error_model="numpy", fastmath={"reassoc", "contract"})
    try:
        return compiled(cache=True)(function)
    except RuntimeError:  # no folder can be written to: then every start waits some seconds
        return compiled()(function)


class Weight(NamedTuple):
    """A matrix: entries [out, in], and the scale of each of its rows [out]."""

    entries: np.ndarray
    scale: np.ndarray


def packed(weight: Tensor) -> Weight:
    """As int8; [out, in]."""
    scale = weight.detach().abs().amax(1).clamp(min=1e-30) / 127
    entries = (weight.detach() / scale[:, None]).round().char()
    return Weight(entries.numpy(), scale.float().numpy())


class Head(NamedTuple):
    """A codebook's output weights, and their bias [V]."""

    weight: Weight
    bias: np.ndarray


class Layer(NamedTuple):
    """One of the decoder's, what is constant folded into its weights."""

    qkv: Weight
    out: Weight
    gate_up: Weight
    down: Weight


def prepare_heads(weights: Tensor, norm: Tensor, biases: Tensor) -> list[Head]:
    """Of all codebooks, [Q, V, width] and [Q, V]; folds in the norm before them, [width]."""
    weights = weights * (norm * len(norm) ** 0.5)
    return [
        Head(packed(weight), bias.detach().numpy())
        for weight, bias in zip(weights, biases, strict=True)
    ]


@kernel
def add_product(out, weight, x):
    """Add `weight` times x [in] to out [out], in place."""
    for row in range(len(out)):
        total = np.float32(0)
        for i in range(len(x)):
            total += np.float32(weight.entries[row, i]) * x[i]
        out[row] += total * weight.scale[row]


@kernel
def product(weight, x):
    """`weight` times x [in]; [out]."""
    out = np.zeros(len(weight.scale), np.float32)
    add_product(out, weight, x)
    return out


@kernel
def add_rows(x, table, rows):
    """Add these rows of a table to x, in place."""
    for row in rows:
        for i in range(len(x)):
            x[i] += np.float32(table.entries[row, i]) * table.scale[row]


@kernel
def copy(to, x):
    """x [heads, head] into a place of a cache. Assigning to a slice would take numba seconds."""
    for head in range(len(x)):
        for i in range(len(x[head])):
            to[head, i] = x[head, i]


@kernel
def unit(x):
    """x scaled to length 1: RMSNorm without its constants, which the weights have taken."""
    total = np.float32(0)
    for i in range(len(x)):
        total += x[i] * x[i]
    out = np.empty_like(x)
    for i in range(len(x)):
        out[i] = x[i] / sqrt(total)
    return out


@kernel
def say(head, x):
    """Logits [V] of a position's last state [width]."""
    out = head.bias.copy()
    add_product(out, head.weight, unit(x))
    return out


@kernel
def gated(gate_up):
    """silu(gate) * up, of the two side by side; [2 m] -> [m]."""
    out = np.empty(len(gate_up) // 2, np.float32)
    for i in range(len(out)):
        gate, up = gate_up[i], gate_up[len(out) + i]
        out[i] = gate / (np.float32(1) + exp(-gate)) * up
    return out


@kernel
def rotate(x, rotation):
    """Neighbouring pairs turned, in place; x [heads, head], rotation [head / 2] complex."""
    for head in range(len(x)):
        for i in range(len(rotation)):
            cos, sin = rotation[i].real, rotation[i].imag
            a, b = x[head, 2 * i], x[head, 2 * i + 1]
            x[head, 2 * i] = a * cos - b * sin
            x[head, 2 * i + 1] = a * sin + b * cos


@kernel
def attend(query, keys, values, first, last):
    """A position's view of positions first..last; [heads, head].

    query [heads, head], keys and values [positions, heads, head].
    """
    heads, size = query.shape
    out = np.zeros((heads, size), np.float32)
    share = np.empty(last + 1 - first, np.float32)
    for head in range(heads):
        for n in range(first, last + 1):
            total = np.float32(0)
            for i in range(size):
                total += query[head, i] * keys[n, head, i]
            share[n - first] = total
        softmax(share)
        for n in range(first, last + 1):
            for i in range(size):
                out[head, i] += share[n - first] * values[n, head, i]
    return out


@kernel
def softmax(x):
    """In place."""
    most, total = x[0], np.float32(0)
    for i in range(1, len(x)):
        most = max(most, x[i])
    for i in range(len(x)):
        x[i] = exp(x[i] - most)
        total += x[i]
    for i in range(len(x)):
        x[i] /= total


@kernel
def take_in(layers, x, position, keys, values, rotation, window):
    """Make a position's input x [width] its last state, in place; the cache gets its keys and
    values.

    keys and values [layers, capacity, heads, head]; rotation [head / 2].
    """
    heads, head = keys.shape[2:]
    first = max(0, position + 1 - window)
    for index, layer in enumerate(layers):
        qkv = product(layer.qkv, unit(x)).reshape(3, heads, head)
        rotate(qkv[0], rotation)
        rotate(qkv[1], rotation)
        copy(keys[index, position], qkv[1])
        copy(values[index, position], qkv[2])
        seen = attend(qkv[0], keys[index], values[index], first, position)
        add_product(x, layer.out, seen.reshape(heads * head))
        add_product(x, layer.down, gated(product(layer.gate_up, unit(x))))


@kernel
def decoder_step(layers, head, base, table, rows, position, keys, values, rotation, window):
    """Logits [V] of what follows a position, whose input is base [width] and rows of a table."""
    x = base.copy()
    add_rows(x, table, rows)
    take_in(layers, x, position, keys, values, rotation, window)
    return say(head, x)


@kernel
def chain_begin(weight, feature, width):
    """The state [width] behind a position with this feature [F]: its last part, and a product."""
    state = feature[len(feature) - width :].copy()
    add_product(state, weight, unit(feature))
    return state


@kernel
def chain_step(weight, down, head, state, base, table, rows):
    """The next state [width], and logits [V] of what follows the token that is read.

    base [gates] and rows of a table are what its input does to the gates.
    """
    gates = base.copy()
    add_rows(gates, table, rows)
    add_product(gates, weight, unit(state))
    state = state.copy()
    add_product(state, down, gated(gates))
    return state, say(head, state)


@kernel
def heads_step(weights, downs, heads, state, base, ahead, table, rows, position, count):
    """Logits [count, V] of what follows a state [width], from position on: one per head.

    base [gates] and rows of a table: what the gates of all make of the input at the position;
    ahead [S, gates]: of what is known of each position beforehand.
    """
    heard = base.copy()
    add_rows(heard, table, rows)
    normed = unit(state)
    logits = np.empty((count, len(heads[0].bias)), np.float32)
    for j in range(count):
        gates = heard.copy()
        add_product(gates, weights[j], normed)
        for i in range(len(gates)):
            gates[i] += ahead[position + j, i]
        guess = state.copy()
        add_product(guess, downs[j], gated(gates))
        said = say(heads[(position + j) % len(heads)], guess)
        for i in range(len(said)):
            logits[j, i] = said[i]
    return logits
