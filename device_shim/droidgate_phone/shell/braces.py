"""Brace expansion: `a{b,c}` is `ab ac`. As in mksh it comes last, and sees what other expansions made."""

from __future__ import annotations

from typing import Final

from droidgate_phone.shell.errors import BudgetExceededError
from droidgate_phone.shell.patterns import PatternPart
from droidgate_phone.shell.run import Run

MAXIMUM_BRACES: Final = 200

_Token = str | PatternPart
"""One of `{`, `,`, `}` with their meaning, or text without."""


def expand_braces(parts: list[PatternPart], run: Run) -> list[list[PatternPart]]:
    """Return the fields that a field stands for; itself where it has no braces with a comma."""
    if not any(active and "{" in text for text, active in parts):
        return [parts]
    tokens = _tokens(parts)
    if tokens.count("{") > MAXIMUM_BRACES:
        raise BudgetExceededError(f"a word has more than {MAXIMUM_BRACES} braces")
    done: list[list[PatternPart]] = []
    waiting = [(tokens, 0)]
    while waiting:
        one, start = waiting.pop()
        alternatives = _first_alternatives(one, start)
        if alternatives is None:
            done.append([(token, True) if isinstance(token, str) else token for token in one])
        else:
            waiting.extend(reversed(alternatives))
        run.demand_fields(len(done) + len(waiting))
    return done


def _tokens(parts: list[PatternPart]) -> list[_Token]:
    tokens: list[_Token] = []
    for text, active in parts:
        if not active:
            tokens.append((text, False))
            continue
        plain = ""
        for letter in text:
            if letter in "{,}":
                if plain:
                    tokens.append((plain, True))
                    plain = ""
                tokens.append(letter)
            else:
                plain += letter
        if plain:
            tokens.append((plain, True))
    return tokens


def _first_alternatives(tokens: list[_Token], start: int) -> list[tuple[list[_Token], int]] | None:
    """Return the words that the first braces make, each with where to look on; None for no braces."""
    for index in range(start, len(tokens)):
        if tokens[index] != "{":
            continue
        cuts = _cuts(tokens, index)
        if cuts is None:
            continue
        rest = tokens[cuts[-1] + 1 :]
        return [
            (tokens[:index] + tokens[left + 1 : right] + rest, index)
            for left, right in zip([index, *cuts], cuts, strict=False)
        ]
    return None


def _cuts(tokens: list[_Token], start: int) -> list[int] | None:
    """Return where the commas and the closing brace of an opening one are; None without both."""
    depth = 0
    commas: list[int] = []
    for index in range(start, len(tokens)):
        one = tokens[index]
        if one == "{":
            depth += 1
        elif one == "," and depth == 1:
            commas.append(index)
        elif one == "}":
            depth -= 1
            if depth == 0:
                return [*commas, index] if commas else None
    return None
