"""The rule on numbers: what the prose states with three digits or more is shown by an output."""

import io
import re
import tokenize
from dataclasses import dataclass

from support.lesson_rules.reading import code_cells, markdown_cells, output_text, prose

SUPERSCRIPTS = str.maketrans("⁰¹²³⁴⁵⁶⁷⁸⁹⁻", "0123456789-")
NUMBER = re.compile(
    r"(?<![\w.])"  # not within a name, a version or a word
    r"(?P<digits>\d{1,3}(?:[, \xa0\u202f]\d{3})+(?!\d)|\d+)?"
    r"(?P<decimals>\.\d+)?"
    r"(?:e(?P<exponent>[-+]?\d+)|\s?[·×⋅]\s?10(?P<power>[⁻⁰¹²³⁴⁵⁶⁷⁸⁹]+))?"
    r"(?![\w])"
)


@dataclass(frozen=True)
class Number:
    """A number as it is written: its value, the unit of its last digit, its significant digits."""

    text: str
    value: float
    last: float
    significant: int
    at: int


def numbers_in(text: str) -> list[Number]:
    """All unsigned numbers: 1,000 and 1 000 are one number, 2.4·10⁻¹² and 2.4e-12 the same."""
    found = []
    for match in NUMBER.finditer(text):
        digits, decimals = match["digits"] or "", match["decimals"] or ""
        if digits or decimals:
            digits = re.sub(r"[^\d]", "", digits)
            power = int((match["exponent"] or match["power"] or "0").translate(SUPERSCRIPTS))
            last = 10.0 ** (power - max(len(decimals) - 1, 0))
            shown = (digits + decimals[1:]).lstrip("0") if decimals else digits.strip("0")
            value = float(f"{digits or '0'}{decimals}e{power}")
            found.append(Number(match[0], value, last, len(shown), match.start()))
    return found


def without_latex(text: str) -> str:
    """Numbers as LaTeX sets them, in plain signs: 2.4\\cdot10^{-12} is 2.4e-12."""
    text = re.sub(r"\s*\\(?:cdot|times)\s*10\^\{?(-?\d+)\}?", r"e\1", text)
    text = re.sub(r"(?<=\d)(?:\\[,;: ]|\{,\})(?=\d{3})", " ", text)
    return re.sub(r"\\[a-zA-Z]+|\\.|(?<=\w)[_^]\{?\w+\}?|[{}]", " ", text)


def shown_values(notebook) -> list[float]:
    """The values of all numbers in the outputs and in the code of a lesson."""
    texts = []
    for _, cell in code_cells(notebook):
        texts += [output_text(output) for output in cell.outputs] + code_numbers(cell.source)
    # "(120,150)" may be two numbers or one.
    both = [text for whole in texts for text in (whole, re.sub(r"[,_\[\]()^*]", " ; ", whole))]
    return sorted({n.value for text in both for n in numbers_in(text.replace("−", "-"))})


def code_numbers(source: str) -> list[str]:
    """The number literals of a cell, as texts."""
    try:
        tokens = list(tokenize.generate_tokens(io.StringIO(source).readline))
    except (tokenize.TokenError, SyntaxError):
        return [source]
    return [token.string.replace("_", "") for token in tokens if token.type == tokenize.NUMBER]


def prose_numbers(notebook) -> list[tuple[int, Number]]:
    """(cell, number) of those with three or more significant digits that the prose states."""
    found = []
    for i, cell in markdown_cells(notebook):
        text = prose(re.split(r"\*\*References", cell.source)[0])
        text = re.sub(r"\$\$?[^$]*\$\$?", lambda formula: without_latex(formula[0]), text)
        for n in numbers_in(text):
            year = re.fullmatch(r"1[89]\d\d|20\d\d", n.text) and not re.match(
                r"\s*(?:°|%|[a-zA-Zµ]{1,3}\b)", text[n.at + 4 :]
            )
            model = re.search(r"\b[A-Z]{2,}[- ]$", text[: n.at])  # IRB 6640, ISO 9283
            if n.significant >= 3 and not year and not model:
                found.append((i, n))
    return found


def numbers_are_shown(notebook):
    """Each number of three digits or more in the prose is, rounded as it stands, shown or typed."""
    values = shown_values(notebook)
    return [
        f"cell {i}: {n.text} is said, but no output shows it"
        for i, n in prose_numbers(notebook)
        if not any(abs(value - n.value) <= 0.5 * n.last * (1 + 1e-9) for value in values)
    ]
