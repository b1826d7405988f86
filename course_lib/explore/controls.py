"""What can a learner set?  Sliders, choices and players: their range, their value, how it is said.

Public names: `slider`, `choice`, `player`; `joint_slider`, `joint_sliders` (an arm's limits);
`Control`, `Slider`, `Choice`, `Player`, which they make.

They know no widget: `panel` shows them. An angle whose range ends at multiples of π is shown in
multiples of π.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterable
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from course_lib.arm import Arm

__all__ = ["Choice", "Control", "Player", "Slider", "choice", "joint_slider", "joint_sliders"]
__all__ += ["player", "slider"]

NUMBER = re.compile(
    r"(?P<sign>[+-]?)(?P<factor>\d+\.?\d*(?:e[+-]?\d+)?|\.\d+(?:e[+-]?\d+)?)?\*?(?P<pi>π|pi)?"
    r"(?:/(?P<over>\d+\.?\d*))?(?P<degrees>°|deg)?"
)


@dataclass(frozen=True, kw_only=True)
class Control:
    """What all controls have: a value to start with, a label (default: the argument's name)."""

    value: Any
    label: str | None = None
    unit: str = ""

    options = None  # a Choice has some

    def named(self, name: str) -> str:
        """Its label, with the unit in brackets."""
        return (self.label or name) + (f" [{self.unit}]" if self.unit else "")


@dataclass(frozen=True, kw_only=True)
class Slider(Control):
    """A number from lo to hi; step [same unit] is the way of one arrow key."""

    lo: Any
    hi: Any
    step: Any

    @property
    def in_pi(self) -> bool:
        """Whether both ends are multiples of π/2: then values are shown in multiples of π."""
        halves = np.array([self.lo, self.hi]) / (np.pi / 2)
        return self.unit == "rad" and bool(np.abs(halves - halves.round()).max() < 1e-9)

    def ticks(self) -> list:
        """Where it can stand: its start and every step from there (from lo for π), both ends."""
        origin = self.lo if self.in_pi else self.value
        down = int((origin - self.lo) / self.step + 1e-9)
        up = int((self.hi - origin) / self.step + 1e-9)
        inner = [round(origin + k * self.step, 12) for k in range(-down, up + 1)]
        own = 1e-9 * (self.hi - self.lo)
        inner = [v for v in inner if self.lo + own < v < self.hi - own]
        inner = [v for v in inner if abs(v - self.value) > own]
        return sorted({self.lo, *inner, self.value, self.hi})

    def places(self) -> list:
        """Both ends."""
        return [self.lo, self.hi]

    def check(self, name: str, value: Any) -> None:
        """`ValueError` when value is outside lo … hi."""
        if not (np.isreal(value) and np.isfinite(value) and self.lo <= value <= self.hi):
            expected = f"a number from {self.lo:g} to {self.hi:g}"
            raise ValueError(f"{name}: {value!r}, expected {expected}")

    def text(self, value: float) -> str:
        """A value as the box shows it: one digit more than a step needs, π/2 where it is that.

        >>> angle = slider(-math.pi, math.pi, 0.35, unit="rad")
        >>> angle.text(-math.pi / 2), angle.text(0.35), angle.text(0.01 * math.pi)
        ('-π/2', '0.35', '0.01π')
        """
        if self.in_pi and (said := _in_pi(value / np.pi)):
            return said
        digits = max(0, -math.floor(math.log10(self.step) + 1e-9)) + 1
        return f"{round(value, digits) + 0:.{digits}f}".rstrip("0").rstrip(".")

    def read(self, text: str) -> Any:
        """The number that someone typed, brought inside the range: 1.57, 1,57, pi/2, 90°.

        `ValueError` when it is no number.
        """
        bare = re.sub(r"\s", "", text).lower().replace("−", "-").replace(",", ".")
        bare = bare.removesuffix(self.unit.lower()) if self.unit not in ("", "°") else bare
        found = NUMBER.fullmatch(bare)
        if not found or not (found["factor"] or found["pi"]):
            raise ValueError(f"{text!r}, expected a number from {self.lo:g} to {self.hi:g}")
        value = float(found["factor"] or 1) * (np.pi if found["pi"] else 1)
        value /= float(found["over"] or 1) or 1.0
        value = np.radians(value) if found["degrees"] and self.unit == "rad" else value
        value = float(np.clip(-value if found["sign"] == "-" else value, self.lo, self.hi))
        ends = [end for end in (self.lo, self.hi) if self.text(end) == self.text(value)]
        return round(value) if isinstance(self.lo, int) else ends[0] if ends else value


@dataclass(frozen=True, kw_only=True)
class Player(Slider):
    """A slider that runs: every interval [ms] it goes on by step."""

    interval: int


@dataclass(frozen=True, kw_only=True)
class Choice(Control):
    """One of some options, label -> value."""

    options: dict

    def places(self) -> list:
        """All options' values."""
        return list(self.options.values())

    lo = property(lambda self: self.places()[0])
    hi = property(lambda self: self.places()[-1])

    def index(self, value: Any) -> int | None:
        """Where value stands among the options, or None."""
        return next((i for i, v in enumerate(self.places()) if _same(v, value)), None)

    def check(self, name: str, value: Any) -> None:
        """`ValueError` when value is not among the options."""
        if self.index(value) is None:
            raise ValueError(f"{name}: {value!r}, expected one of {self.places()}")


# ---- what lessons call ----------------------------------------------------------------------


def slider(
    lo: float,
    hi: float,
    value: float,
    step: float | None = None,
    unit: str = "",
    label: str | None = None,
) -> Slider:
    """A slider from lo to hi that starts at value, with a box to type in.

    step   default: a round number near a hundredth of the range, π/100 where both ends are
           multiples of π/2 and the unit is "rad"; four whole numbers make a whole-number slider
    label  plain text, default: the argument's name; unit as in "rad"
    """
    _require_range(lo, hi)
    given = [v for v in (lo, hi, value, step) if v is not None]
    whole = all(isinstance(v, (int, np.integer)) for v in given)
    if step is not None and not step > 0:
        raise ValueError(f"step: {step!r}, expected a positive number")
    cast = int if whole else float
    step = step if step is not None else 1 if whole else _round_step(hi - lo)
    made = Slider(lo=cast(lo), hi=cast(hi), value=value, step=cast(step), unit=unit, label=label)
    made.check("value", value)
    if made.in_pi and len(given) == 3:
        made = replace(made, step=np.pi / 100)
    return replace(made, value=cast(value))


def choice(options: Iterable, value: Any = None, label: str | None = None) -> Choice:
    """A list to choose from: values, or a dict label -> value. Starts at value, or the first."""
    options = dict(options) if isinstance(options, dict) else {str(v): v for v in options}
    if not options:
        raise ValueError("options: empty, expected at least one")
    first = next(iter(options.values()))
    made = Choice(options=options, value=first if value is None else value, label=label)
    made.check("value", made.value)
    return made


def player(
    lo: float,
    hi: float,
    value: float | None = None,
    step: float | None = None,
    interval: int = 50,
    unit: str = "s",
    label: str | None = None,
) -> Player:
    """A slider with a play button, for what runs in time: every interval [ms] it goes on by step.

    step   default: real time where unit is "s", else about a hundredth of the range
    """
    _require_range(lo, hi)
    if not interval >= 20:
        raise ValueError(f"interval: {interval!r}, expected at least 20 ms")
    step = step if step is not None else interval / 1000 if unit == "s" else _round_step(hi - lo)
    if not 0 < step <= hi - lo:
        raise ValueError(f"step: {step!r}, expected a number above 0 and at most {hi - lo:g}")
    value = lo if value is None else value
    same = vars(slider(float(lo), hi, value, step, unit, label))
    return Player(**same, interval=int(interval))


def joint_slider(
    arm: Arm, joint: int, value: float | None = None, *, label: str | None = None
) -> Slider:
    """A slider for a joint of an arm, joint 1 to n: its limits and its unit are those of the arm.

    value   default: 0, or the limit next to it. A turning joint without limits goes once round.

    >>> from course_lib.arm import load_arm
    >>> s = joint_slider(load_arm("cobot6"), 2)
    >>> s.lo, s.hi, s.unit, s.label
    (-2.618, 2.618, 'rad', 'q2')
    """
    if not 1 <= joint <= arm.n:
        raise ValueError(f"joint: {joint!r}, expected 1 to {arm.n}")
    turns = bool(arm.revolute[joint - 1])
    lo, hi = float(arm.q_min[joint - 1]), float(arm.q_max[joint - 1])
    if turns:
        lo, hi = (lo if math.isfinite(lo) else -np.pi), (hi if math.isfinite(hi) else np.pi)
    value = float(np.clip(0.0, lo, hi)) if value is None else value
    return slider(lo, hi, value, unit="rad" if turns else "m", label=label or f"q{joint}")


def joint_sliders(arm: Arm, q: ArrayLike | None = None) -> dict[str, Slider]:
    """A `joint_slider` for every joint, by name q1 … qn; q (n,) where they start."""
    start = [None] * arm.n if q is None else [float(v) for v in np.asarray(q, float)]
    if len(start) != arm.n:
        raise ValueError(f"q: {len(start)} numbers, expected {arm.n}")
    return {f"q{i}": joint_slider(arm, i, v) for i, v in enumerate(start, 1)}


def _same(a: Any, b: Any) -> bool:
    return a is b or (type(a) is type(b) and bool(np.all(a == b)))


def _in_pi(turns: float) -> str | None:
    """A multiple of π in words: "0", "π/2", "-3π/4", "0.35π"; None where it is no round one."""
    near = Fraction(turns).limit_denominator(12)
    if abs(turns - near) < 1e-9:
        top = {1: "π", -1: "-π", 0: "0"}.get(near.numerator, f"{near.numerator}π")
        return top if near.denominator == 1 or not near else f"{top}/{near.denominator}"
    return f"{round(turns, 2):g}π" if abs(100 * turns - round(100 * turns)) < 1e-6 else None


def _require_range(lo: float, hi: float) -> None:
    if not (np.isfinite(lo) and np.isfinite(hi) and lo < hi):
        raise ValueError(f"lo, hi: {lo!r}, {hi!r}, expected two finite numbers with lo < hi")


def _round_step(span: float) -> float:
    """A step of 1, 2 or 5 times a power of ten, about a hundredth of span."""
    power = 10.0 ** np.floor(np.log10(span / 100))
    most = max(k for k in (1, 2, 5) if k * power <= span / 100 * (1 + 1e-9))
    return float(round(most * power, 12))
