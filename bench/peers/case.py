"""A line of the suite, and how it is made runnable in a framework."""
from __future__ import annotations

import dataclasses
from collections.abc import Callable

BYTES = {"f32": 4, "tf32": 4, "bf16": 2, "f16": 2}
MI = 1 << 20

COMPILE_MODES = {
    "inductor": {},
    "flex": {},
    "inductor-max": {"mode": "max-autotune-no-cudagraphs"},
    "flex-max": {"mode": "max-autotune-no-cudagraphs"},
    "inductor-graphs": {"mode": "reduce-overhead"},
}
PEERS = ["plumb", "eager", "eager-fused", "sdpa-flash", "sdpa-cudnn", "inductor", "inductor-graphs", "flex", "jax",
         "inductor-max", "flex-max"]


@dataclasses.dataclass
class Work:
    """A case made runnable in one framework.

    fn is what a compiler is given; make returns one fresh input set; call runs fn once on a set.
    variants holds other implementations of the same case by peer name. assemble, where set, builds the callable
    from a compiler function and the peer's name instead (programs made of several compiled parts).
    """

    fn: Callable | None
    make: Callable[[], tuple]
    call: Callable = lambda fn, args: fn(*args)
    grad: bool = False
    sets: int | None = None
    variants: dict[str, Callable] = dataclasses.field(default_factory=dict)
    assemble: Callable | None = None


@dataclasses.dataclass
class Case:
    """One line of the suite. `rate` names the measured matrix rate that bounds `flops`."""

    id: str
    group: str
    what: str
    dtype: str
    bytes: float
    flops: float
    torch_work: Callable[[], Work]
    jax_work: Callable[[], Work] | None = None
    extra: tuple[str, ...] = ()

    def peers(self) -> list[str]:
        own = {"plumb", "eager", "inductor", *self.extra} | ({"jax"} if self.jax_work else set())
        return [peer for peer in PEERS if peer in own]
