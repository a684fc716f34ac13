"""Generated prices among words, as a locale's rules (Unicode CLDR, by Babel) and its shops write them."""

from __future__ import annotations

from collections.abc import Iterator
from decimal import Decimal
from random import Random
from typing import NamedTuple

from babel import Locale
from babel.numbers import format_currency, format_decimal

TWELVE = {
    "en_US": "USD", "en_GB": "GBP", "de_DE": "EUR", "de_CH": "CHF", "fr_FR": "EUR", "es_ES": "EUR", "it_IT": "EUR",
    "pt_BR": "BRL", "nl_NL": "EUR", "sv_SE": "SEK", "pl_PL": "PLN", "ja_JP": "JPY",
}  # fmt: skip
"""The locales that the reader was written with."""
HELD_OUT = {
    "en_IN": "INR", "hi_IN": "INR", "da_DK": "DKK", "nb_NO": "NOK", "fi_FI": "EUR", "cs_CZ": "CZK", "ru_RU": "RUB",
    "tr_TR": "TRY", "ko_KR": "KRW", "zh_CN": "CNY", "de_AT": "EUR", "fr_CA": "CAD", "en_AU": "AUD", "es_MX": "MXN",
    "uk_UA": "UAH", "hu_HU": "HUF", "id_ID": "IDR", "ar_SA": "SAR", "sk_SK": "EUR", "bg_BG": "EUR",
}  # fmt: skip
"""Locales first seen after the reader was written."""
_BEFORE = ("", "ab ", "Pris: ", "from ", "Preis ", "now only ", "• ", "(")
_AFTER = ("", " / month", ".", " inkl. moms", ", VAT incl.", ")", " *")
_WHOLE = {"JPY", "KRW", "HUF", "IDR"}


class Price(NamedTuple):
    """A text with one price. amount: in units of the currency."""

    locale: str
    text: str
    amount: Decimal
    currency: str


def prices(locales: dict[str, str], count: int, seed: int) -> Iterator[Price]:
    chance = Random(seed)
    names = sorted(locales)
    for _ in range(count):
        name = chance.choice(names)
        currency = locales[name]
        amount = _amount(chance, whole=currency in _WHOLE)
        written = _written(chance, name, currency, amount)
        yield Price(name, chance.choice(_BEFORE) + written + chance.choice(_AFTER), amount, currency)


def _amount(chance: Random, *, whole: bool) -> Decimal:
    number = Decimal(int(10 ** chance.uniform(0, 6.5)))
    if whole or chance.random() < 0.3:
        return number
    return number + Decimal(chance.choice((0, 5, 50, 90, 95, 99, chance.randrange(100)))) / 100


def _written(chance: Random, name: str, currency: str, amount: Decimal) -> str:
    locale = Locale.parse(name)
    way = chance.random()
    if way < 0.5:
        return format_currency(amount, currency, locale=locale)
    if amount == int(amount) and way < 0.7:
        plain = format_decimal(amount, locale=locale, decimal_quantization=False)
        return chance.choice((f"{currency} {plain}", f"{plain} {currency}"))
    pattern = chance.choice(("¤ #,##0.00", "#,##0.00 ¤¤", "¤¤ #,##0.00"))
    if locale.language in {"hi"} or name == "en_IN":
        pattern = pattern.replace("#,##0", "#,##,##0")
    if currency in _WHOLE:
        pattern = pattern.replace(".00", "")
    return format_currency(amount, currency, pattern, locale=locale, currency_digits=False)
