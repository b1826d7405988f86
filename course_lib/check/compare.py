"""Is this answer the same as that one, and if not, what is different?

A `compare(answer, expected, args)` returns None, or in words what is wrong. Two rules hold for each
of them: an answer passes only if its error is *below* the tolerance (`if not error < tol`, so that
NaN never passes), and what is not finite never passes.

`close`, `same_pose`, `same_rotation` and `same_items` make one. Who writes one by hand reads the
answer by `as_numbers`, `parts`, `as_direction`, `as_rotation` or `as_pose`; where it can't be read,
they raise `Unreadable`, whose text is then what the learner is told. `turn_between` measures,
`in_mm` and `in_degrees` say it.

Public names: those of __all__.
"""

import re
from collections.abc import Callable
from dataclasses import is_dataclass
from typing import Any

import numpy as np

__all__ = ["close", "same_pose", "same_rotation", "same_items", "as_numbers", "parts"]
__all__ += ["as_direction", "as_rotation", "as_pose", "Unreadable", "turn_between", "in_mm"]
__all__ += ["in_degrees", "numbers_in", "kind_of", "show"]

Compare = Callable[[Any, Any, tuple], str | None]
COUNTS = ("no", "one", "two", "three", "four", "five", "six")
NOT_FINITE = "There is a NaN or an infinite number in {}."
ROTATION_TOL = 1e-6  # of the entries of RᵀR - 1
BOTTOM_ROW_TOL = 1e-9


class Unreadable(ValueError):
    """An answer that can't be compared; the text tells the learner why."""


# ---------------------------------------------------------------- equal data


def close(tol: float = 1e-9) -> Compare:
    """A `compare` for numbers, arrays, words and nests of them.

    An entry passes if |answer - expected| < tol (1 + |expected|). Lists and tuples count as arrays,
    float32 and whole numbers as floats, and words without regard to case and blanks around them.
    """

    def compare(answer, expected, args=()):
        return _difference(answer, expected, tol)

    return compare


def _difference(answer, expected, tol):
    """None if `answer` equals `expected`, else the difference in words."""
    if isinstance(expected, str):
        if not isinstance(answer, str):
            return f"Expected a word, got {kind_of(answer)}."
        same = answer.strip().casefold() == expected.strip().casefold()
        return None if same else f"It is not {show(answer)}."
    if isinstance(expected, bool | np.bool_):
        if not isinstance(answer, bool | np.bool_):
            return f"Expected True or False, got {kind_of(answer)}."
        return None if answer == expected else f"It is not {bool(answer)}."
    if isinstance(expected, dict):
        return _dict_difference(answer, expected, tol)
    numbers = numbers_in(expected)
    if numbers is None:
        return _sequence_difference(answer, expected, tol)
    return _array_difference(answer, numbers, tol)


def _dict_difference(answer, expected, tol):
    if not isinstance(answer, dict):
        return f"Expected a dict, got {kind_of(answer)}."
    if set(answer) != set(expected):
        return f"Expected the keys {sorted(expected)}, got {sorted(map(str, answer))}."
    pairs = ((f"Under {key!r}", answer[key], expected[key]) for key in expected)
    return _first_difference(pairs, tol)


def _sequence_difference(answer, expected, tol):
    if not isinstance(answer, list | tuple | np.ndarray):
        return f"Expected a list of {len(expected)}, got {kind_of(answer)}."
    if len(answer) != len(expected):
        return f"Expected {len(expected)} entries, got {len(answer)}."
    pairs = ((f"Entry {i}", a, e) for i, (a, e) in enumerate(zip(answer, expected), 1))
    return _first_difference(pairs, tol)


def _first_difference(triples, tol):
    for where, answer, expected in triples:
        reason = _difference(answer, expected, tol)
        if reason:
            return f"{where}: {reason}"
    return None


def _array_difference(answer, expected, tol):
    numbers = numbers_in(answer)
    if numbers is None or numbers.shape != expected.shape:
        return f"Expected {kind_of(expected)}, got {kind_of(answer)}."
    if not np.isfinite(numbers).all():
        return NOT_FINITE.format("it")
    kind = complex if "c" in numbers.dtype.kind + expected.dtype.kind else float
    numbers, expected = numbers.astype(kind), expected.astype(kind)
    error = np.abs(numbers - expected)
    off = ~(error < tol * (1 + np.abs(expected)))
    if not off.any():
        return None
    largest = error[off].max()
    if off.ndim == 0:
        return f"It is off by {largest:.4g}."
    return f"{off.sum()} of {off.size} numbers are wrong, the worst by {largest:.4g}{_where(off)}."


def _where(off):
    """Where the wrong numbers sit, for vectors and matrices."""
    if off.ndim == 1:
        return f" (entries {_list(np.flatnonzero(off))}, counted from 0)"
    if off.ndim == 2:
        rows, columns = (_list(np.flatnonzero(off.any(axis=axis))) for axis in (1, 0))
        return f" (rows {rows}; columns {columns}; counted from 0)"
    return ""


def _list(indices):
    return ", ".join([*map(str, indices[:6]), *["…"] * (len(indices) > 6)])


def same_items(what: str, extra: str) -> Compare:
    """A `compare` for lists of names in any order.

    what: what is listed, as in "links' names"; extra: what to say of a name that should not be
    there, as in "Named although it is sound".
    """

    def compare(answer, expected, args=()):
        if not isinstance(answer, list | tuple) or not all(isinstance(a, str) for a in answer):
            return f"Expected a list of {what}."
        missed, added = sorted({*expected} - {*answer}), sorted({*answer} - {*expected})
        if missed:
            return f"Not found: {', '.join(missed)}."
        if added:
            return f"{extra}: {', '.join(added)}."
        return None if len(answer) == len(expected) else "A name comes twice."

    return compare


# ---------------------------------------------------------------- poses


def same_pose(tol_m: float, tol_rad: float, than: str = "the right pose") -> Compare:
    """A `compare` for poses (4, 4) whose position and orientation may differ a little."""

    def compare(answer, expected, args=()):
        T, right = as_pose(answer), as_pose(expected)
        metres, radians = np.linalg.norm(T[:3, 3] - right[:3, 3]), turn_between(T, right)
        off = [] if metres < tol_m else [in_mm(metres)]
        off += [] if radians < tol_rad else [in_degrees(radians)]
        return f"It is {' and '.join(off)} away from {than}." if off else None

    return compare


def same_rotation(tol_rad: float) -> Compare:
    """A `compare` for rotation matrices (..., 3, 3); says how far the worst is turned."""

    def compare(answer, expected, args=()):
        R = as_rotation(answer, np.shape(expected))
        worst = turn_between(R, expected).max()
        return None if worst < tol_rad else f"It is {in_degrees(worst)} away from the right one."

    return compare


def turn_between(A: np.ndarray, B: np.ndarray) -> np.ndarray:
    """Angle [rad] of the rotation between two rotations or poses (..., 3, 3) or (..., 4, 4).

    From the distance of the matrices, 2√2 sin(θ/2), which keeps its digits for tiny angles.
    """
    apart = np.asarray(A, float)[..., :3, :3] - np.asarray(B, float)[..., :3, :3]
    return 2 * np.arcsin(np.minimum(np.linalg.norm(apart, axis=(-2, -1)) / 8**0.5, 1))


def in_mm(metres: float) -> str:
    """A length that is not 0, in millimetres and words: "12.3 mm", "0.00012 mm"."""
    return f"{_digits(1e3 * metres)} mm"


def in_degrees(radians: float) -> str:
    """An angle that is not 0, in degrees and words: "12.3°", "0.00012°"."""
    return f"{_digits(np.degrees(radians))}°"


def _digits(value):
    return f"{value:.1f}" if 1 <= value < 1e6 else f"{value:.2g}"


# ---------------------------------------------------------------- reading an answer


def as_numbers(answer: Any, shape: tuple[int, ...], name: str = "the answer") -> np.ndarray:
    """`answer` as a finite float array of `shape`; Unreadable says what `name` is instead.

    An array of one number counts as a number; complex numbers count where they are real.
    """
    if shape == ():
        answer = _out_of_array(answer)
    elif len(shape) == 1 and isinstance(answer, list | tuple):
        answer = [_out_of_array(part) for part in answer]
    array = numbers_in(answer)
    if array is None or array.shape != shape:
        expected = _array_words(shape)
        raise Unreadable(f"{_capital(name)} should be {expected}; it is {kind_of(answer)}.")
    if not np.isfinite(array).all():
        raise Unreadable(NOT_FINITE.format(name))
    if array.dtype.kind == "c" and array.imag.any():
        raise Unreadable(f"There is a complex number in {name}.")
    return array.real.astype(float)


def _out_of_array(value):
    array = numbers_in(value)
    return array.item() if array is not None and array.size == 1 else value


def parts(answer: Any, *wanted: tuple[str, tuple[int, ...] | type[str] | None]) -> list:
    """The parts of an answer that should be several things.

    wanted: for each part its name, and what it should be: a shape (then it comes back as a float
    array), `str`, or None for anything. Unreadable lists them all where the count is wrong.
    """
    several = isinstance(answer, list | tuple) or isinstance(answer, np.ndarray) and answer.ndim
    if not several or len(answer) != len(wanted) or _is_one_array(answer, wanted):
        *first, last = (name + _expectation(kind) for name, kind in wanted)
        raise Unreadable(f"Expected {COUNTS[len(wanted)]} things: {', '.join(first)} and {last}.")
    return [_part(part, name, kind) for part, (name, kind) in zip(answer, wanted)]


def _is_one_array(answer, wanted):
    """True for one table or vector in the place of several: its rows have too few dimensions."""
    array = numbers_in(answer)
    needed = (len(kind) for _, kind in wanted if isinstance(kind, tuple))
    return array is not None and array.ndim - 1 < max(needed, default=0)


def _part(part, name, kind):
    if isinstance(kind, tuple):
        return as_numbers(part, kind, name)
    if kind is str and not isinstance(part, str):
        raise Unreadable(f"{_capital(name)} should be a word; it is {kind_of(part)}.")
    return part


def _expectation(kind):
    if not isinstance(kind, tuple) or kind == ():
        return ""
    return f" ({_array_words(kind).removeprefix('an array of ')})"


def as_direction(answer: Any, name: str = "the direction", tol: float = 1e-6) -> np.ndarray:
    """`answer` as a unit vector (3,); Unreadable says by how much it is too long or too short."""
    v = as_numbers(answer, (3,), name)
    over = np.linalg.norm(v) - 1
    if not abs(over) < tol:
        much = f"{abs(over):.2g} too {'long' if over > 0 else 'short'}"
        raise Unreadable(f"{_capital(name)} should have the length 1; yours is {much}.")
    return v


def as_rotation(answer: Any, shape: tuple = (3, 3), name: str = "the rotation") -> np.ndarray:
    """`answer` as rotation matrices of `shape` (..., 3, 3); Unreadable says why it is none."""
    R = as_numbers(answer, shape, name)
    off = np.abs(np.swapaxes(R, -1, -2) @ R - np.eye(3)).max(initial=0.0)
    if not off < ROTATION_TOL:
        why = "its columns are not unit vectors at right angles (RᵀR = 1)"
        raise Unreadable(f"That is no rotation: {why}.")
    if np.linalg.det(R).min(initial=1.0) < 0:
        raise Unreadable("That is a mirror, no rotation: its determinant is -1.")
    return R


def as_pose(answer: Any, name: str = "the pose") -> np.ndarray:
    """`answer` as a pose (4, 4); Unreadable says why it is none."""
    T = as_numbers(answer, (4, 4), name)
    if not np.abs(T[3] - [0, 0, 0, 1]).max() < BOTTOM_ROW_TOL:
        raise Unreadable(f"The bottom row of a pose is (0, 0, 0, 1); yours is {T[3].tolist()}.")
    as_rotation(T[:3, :3])
    return T


# ---------------------------------------------------------------- in words


def numbers_in(value: Any) -> np.ndarray | None:
    """`value` as a numeric array, or None if it is not one (words, ragged rows, objects)."""
    if isinstance(value, str | bytes | dict) or value is None:
        return None
    try:
        array = np.asarray(value)
    except (ValueError, TypeError):
        return None
    return array if array.dtype.kind in "iufcb" else None


def kind_of(value: Any) -> str:
    """What a value is, in words: "a 4×4 array", "a number", "a word"."""
    if value is None:
        return "None"
    if isinstance(value, str):
        return f"the text {show(value)}"
    if isinstance(value, dict):
        return "a dict"
    array = numbers_in(value)
    if array is None:
        return f"{'an' if type(value).__name__[0] in 'aeiou' else 'a'} {type(value).__name__}"
    if array.ndim == 0 and array.dtype.kind == "b":
        return "True or False"
    return _array_words(array.shape)


def _array_words(shape):
    if shape == ():
        return "a number"
    if len(shape) == 1:
        return f"an array of {shape[0]} numbers" if shape[0] != 1 else "an array of one number"
    return f"a {'×'.join(map(str, shape))} array"


def _capital(name):
    return name[0].upper() + name[1:]


def show(value: Any, lines: int = 6) -> str:
    """`value` in a few short lines, numbers rounded, the same on every machine."""
    if isinstance(value, str):
        return repr(value if len(value) <= 60 else value[:57] + "…")
    if is_dataclass(value) and isinstance(getattr(value, "name", None), str):  # an arm, a scene
        return f"{type(value).__name__} {value.name}"
    if isinstance(value, list | tuple) and any(isinstance(v, np.ndarray) for v in value):
        return "\nand\n".join(show(v, lines) for v in value[:3]) + "\n…" * (len(value) > 3)
    array = numbers_in(value)
    text = repr(value) if array is None else _show_numbers(array)
    text = re.sub(r" at 0x[0-9a-fA-F]+", "", text)
    rows = text.splitlines() or [""]
    rows = rows if len(rows) <= lines else rows[:lines] + ["…"]
    return "\n".join(row if len(row) <= 100 else row[:97] + "…" for row in rows)


def _show_numbers(array):
    """`+ 0` turns -0.0 into 0.0."""
    if array.ndim == 0:
        return str(array.item()) if array.dtype.kind == "b" else f"{array.item() + 0:.5g}"
    if array.dtype.kind not in "bi":
        with np.errstate(over="ignore", invalid="ignore"):
            rounded = np.round(array, 4) + 0.0
        array = np.where(np.isfinite(rounded), rounded, array)
    return np.array2string(
        array, precision=4, suppress_small=True, threshold=60, separator=", ", max_line_width=88
    )
