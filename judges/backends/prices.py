"""What calls cost: a price table the user can edit, what was spent, and a cap that is never passed."""

from __future__ import annotations

import os
import re
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from judges.backends.answer import Answer
from judges.toml_text import read_toml
from store.errors import InputError

_OWN = Path(__file__).with_name("prices.toml")
_PER = 1_000_000
_VERSION = re.compile(r"[-@](?:\d{4}-\d{2}-\d{2}|\d{8}|latest)$")
"""What providers put behind a model's name for one version of it."""


@dataclass(frozen=True, slots=True)
class Price:
    """US dollars for a million tokens in and out; source and date where they are not those of its table."""

    input: float
    output: float
    source: str = field(default="", compare=False)
    as_of: str = field(default="", compare=False)

    def of(self, tokens_in: float, tokens_out: float) -> float:
        """Dollars for that many tokens."""
        return (tokens_in * self.input + tokens_out * self.output) / _PER


@dataclass(frozen=True, slots=True)
class PriceTable:
    """Prices by model, and what a batch costs as a share.

    Attributes:
        source: where the prices are from. as_of: when they were looked up, "" where the table does not say.
        over: the table whose prices stand where this one has none.
    """

    models: Mapping[str, Price]
    batch: float = 0.5
    source: str = ""
    as_of: str = ""
    over: PriceTable | None = None

    def price_of(self, model: str) -> Price | None:
        """The price of a model: by its name, with or without the date of its version behind it."""
        table, name = self._entry(model)
        return table.models[name] if name else None

    def origin_of(self, model: str) -> tuple[str, str]:
        """Where the price of a model is from, and when it was looked up."""
        table, name = self._entry(model)
        own = table.models.get(name, Price(0.0, 0.0))
        return own.source or table.source, own.as_of or table.as_of

    def _entry(self, model: str) -> tuple[PriceTable, str]:
        """The table and the name under which the model stands; a mere beginning is another model (gpt-5, gpt-5-pro)."""
        for name in (model, _VERSION.sub("", model)):
            if name in self.models:
                return self, name
        return (self, "") if self.over is None else self.over._entry(model)


def user_file() -> Path:
    """Where a user's own prices are looked for."""
    home = os.environ.get("APPDATA") if os.name == "nt" else os.environ.get("XDG_CONFIG_HOME")
    return Path(home or Path.home() / ".config") / "overread" / "prices.toml"


def load_prices(given: Path | None = None) -> PriceTable:
    """The built-in table with the user's over it: `given`, else the file in the folder for settings if there is one.

    Raises:
        InputError: a file cannot be read or has another form; says where.
    """
    table = _read(_OWN)
    own = given if given is not None else user_file()
    if given is not None or own.exists():
        theirs = _read(own)
        return replace(theirs, over=table)
    return table


def _read(path: Path) -> PriceTable:
    try:
        data = read_toml(path.read_text(encoding="utf-8"))
    except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError) as error:
        raise InputError(f"The prices in {path.name} cannot be read.", str(error), "Mend the file.") from error
    models = data.get("models", {})
    if not isinstance(models, dict) or not _is_price(data.get("batch", 0.5)):
        raise _wrong(path, "`models` is a table, `batch` a number")
    return PriceTable(
        {name: _price(path, name, value) for name, value in models.items()}, float(data.get("batch", 0.5)),
        str(data.get("source", path.name)), str(data.get("as_of", "")),
    )  # fmt: skip


def _price(path: Path, name: str, value: Any) -> Price:
    given: list[Any] = [value.get("input"), value.get("output")] if isinstance(value, dict) else []
    if not given or not all(_is_price(number) for number in given):
        raise _wrong(path, f"the price of {name!r} has the numbers `input` and `output`")
    return Price(float(given[0]), float(given[1]), str(value.get("source", "")), str(value.get("as_of", "")))


def _is_price(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and 0 <= value < 1e9


def _wrong(path: Path, what: str) -> InputError:
    return InputError(
        f"{path.name} is no table of prices.", f"{what}.", 'As in: "my-model" = { input = 1, output = 2 }'
    )


class Budget:
    """Counts tokens and money. Every call is reserved before it is sent, so that the cap holds whatever comes back.

    Attributes:
        price: None when nobody knows it; then there is no cost, and no cap can be kept.
        cap: dollars, None for none.
        share: of the price that is paid (a batch costs less). tokens_in, tokens_out, spent: so far.
        unsure: dollars that calls without an answer may have cost at most, beside what was spent.
    """

    def __init__(self, price: Price | None, cap: float | None = None, share: float = 1.0) -> None:
        self.price, self.cap, self.share = price, cap, share
        self.tokens_in = self.tokens_out = 0
        self.spent = self.unsure = self._reserved = 0.0

    @property
    def gone(self) -> float:
        """Dollars that are spent, may be spent, or are set aside."""
        return self.spent + self.unsure + self._reserved

    def most(self, size: int, max_tokens: int) -> float:
        """The most a call can cost: no token is shorter than a byte, no answer longer than `max_tokens`.

        Args:
            size: of the prompt, in bytes.
        """
        return self.price.of(size, max_tokens) * self.share if self.price else 0.0

    def reserve(self, amount: float) -> bool:
        """Set money aside for a call; False when that could pass the cap."""
        if self.cap is not None and self.gone + amount > self.cap:
            return False
        self._reserved += amount
        return True

    def release(self, amount: float) -> None:
        """Give a reservation back."""
        self._reserved -= amount

    def lose(self, amount: float) -> None:
        """Count what a call may have cost whose answer never came."""
        if self.price is not None:
            self.unsure += amount

    def settle(
        self, amount: float, tokens_in: int | None, tokens_out: int | None, *, answered: bool = True
    ) -> float | None:
        """Give a reservation back and count what the call did cost; None when it is not known.

        A server that answers and counts no tokens is taken to have used all that was set aside.
        """
        self.release(amount)
        self.tokens_in += tokens_in or 0
        self.tokens_out += tokens_out or 0
        if self.price is None or not answered:
            return None
        if tokens_in is None:
            self.spent += amount
            return None
        cost = self.price.of(tokens_in, tokens_out or 0) * self.share
        self.spent += cost
        return cost


def unsure_words(unsure: float) -> str:
    """What calls without an answer may have cost, to stand behind what was spent; "" for nothing."""
    return f", and up to ${unsure:,.4f} more for calls whose answer never came" if unsure else ""


class Claim:
    """The money of one call: what was reserved for it, and as much again for each time that it is sent once more after
    an answer was lost, for the first may have to be paid all the same."""

    def __init__(self, budget: Budget, amount: float) -> None:
        """`amount` is reserved already."""
        self._budget, self._amount, self._times = budget, amount, 0

    def pay(self) -> bool:
        """The call is about to be sent: the first time, or once more, for which the same is reserved again; False when
        that could pass the cap."""
        if self._times and not self._budget.reserve(self._amount):
            return False
        self._times += 1
        return True

    def give_up(self) -> None:
        """Nobody waits for the call any more, and once sent it may have to be paid all the same."""
        self._budget.release(self._amount * max(1, self._times))
        self._budget.lose(self._amount * self._times)

    def settle(self, answer: Answer) -> float | None:
        """Give back what was reserved, and count what the call did cost and may have cost; see `Budget.settle`."""
        self._budget.lose(self._amount * answer.lost)
        answered = not answer.failure
        self._budget.release(self._amount * max(0, self._times - 1))
        return self._budget.settle(self._amount, answer.tokens_in, answer.tokens_out, answered=answered)
