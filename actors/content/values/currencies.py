"""Currencies on pages, by ISO 4217 code. For a sign shared by several, the text's language decides."""

from __future__ import annotations

import re
from collections.abc import Mapping

from actors.content.values.amounts import Writing

CODES = frozenset(
    (  # noqa: SIM905
        "AED AFN AMD ANG AOA ARS AUD AWG AZN BAM BBD BDT BGN BHD BIF BMD BND BOB BRL BSD BTN BWP BYN BZD CAD CDF "
        "CHF CLP CNY COP CRC CUP CVE CZK DJF DKK DOP DZD EGP ERN ETB EUR FJD GBP GEL GHS GIP GMD GNF GTQ GYD HKD "
        "HNL HTG HUF IDR ILS INR IQD IRR ISK JMD JOD JPY KES KGS KHR KMF KRW KWD KYD KZT LAK LBP LKR LRD LSL LYD "
        "MAD MDL MGA MKD MMK MNT MOP MRU MUR MVR MWK MXN MYR MZN NAD NGN NIO NOK NPR NZD OMR PAB PEN PGK PHP PKR "
        "PLN PYG QAR RON RSD RUB RWF SAR SBD SCR SDG SEK SGD SHP SLE SOS SRD SSP SYP SZL THB TJS TMT TND TOP TRY "
        "TTD TWD TZS UAH UGX USD UYU UZS VES VND VUV WST XAF XCD XOF XPF YER ZAR ZMW ZWL"
    ).split()
)
_WORDS_TOO = frozenset("AMD BOB CUP GEL LAK LSL MAD MOP PEN SOS TOP TRY WST".split())  # noqa: SIM905
"""Codes that are also words and names: before a number they are ignored ("AMD 7800", "TOP 10")."""
_LOWER = "eur usd sek nok dkk chf gbp pln czk huf ron"
SIGNS: Mapping[str, str] = {
    "US$": "USD", "U$S": "USD", "AU$": "AUD", "A$": "AUD", "CA$": "CAD", "C$": "CAD", "NZ$": "NZD", "HK$": "HKD",
    "S$": "SGD", "NT$": "TWD", "R$": "BRL", "MX$": "MXN", "Mex$": "MXN", "RD$": "DOP", "$": "USD", "€": "EUR",
    "£": "GBP", "¥": "JPY", "CN¥": "CNY", "₹": "INR", "₩": "KRW", "₽": "RUB", "₺": "TRY", "₴": "UAH", "₪": "ILS",
    "฿": "THB", "₫": "VND", "₦": "NGN", "₱": "PHP", "₲": "PYG", "₡": "CRC", "₵": "GHS", "₸": "KZT", "₼": "AZN",
    "₾": "GEL", "៛": "KHR", "₮": "MNT", "৳": "BDT", "Rs.": "INR", "Rs": "INR", "Fr.": "CHF", "SFr.": "CHF", "Rp": "IDR",
    "RM": "MYR", "Kč": "CZK", "zł": "PLN", "Ft": "HUF", "kr.": "DKK", "kr": "SEK", "Kr": "SEK",
    "ر.س.": "SAR", "ر.س": "SAR", "د.إ.": "AED", "د.إ": "AED", "ج.م.": "EGP", "ج.م": "EGP", "د.ك.": "KWD", "د.ك": "KWD",
    "ر.ق.": "QAR", "ر.ق": "QAR", "د.ت.": "TND", "د.ت": "TND", "د.م.": "MAD", "د.م": "MAD",
}  # fmt: skip
_NAMES: Mapping[str, str] = {
    "円": "JPY", "元": "CNY", "원": "KRW", "zl": "PLN", "lei": "RON", "leu": "RON", "лв": "BGN", "руб": "RUB",
    "р.": "RUB", "грн": "UAH", "тг": "KZT", "din": "RSD", "дин": "RSD", "TL": "TRY", "Euro": "EUR", "euro": "EUR",
    "Euros": "EUR", "euros": "EUR", "ευρώ": "EUR", "Franken": "CHF", "francs": "CHF", "dollars": "USD", "Dollar": "USD",
    "dollar": "USD", "pounds": "GBP", "kronor": "SEK", "kroner": "NOK", "kronen": "SEK", "złotych": "PLN", "kč": "CZK",
    "ש״ח": "ILS", "بات": "THB", "บาท": "THB", "đ": "VND", "đồng": "VND", ":-": "", ",-": "",
    "ریال": "IRR", "ريال": "SAR", "ريالات": "SAR", "ريالا": "SAR", "درهم": "AED", "دراهم": "AED", "درهما": "AED",
    "جنيه": "EGP", "جنيها": "EGP", "جنيهات": "EGP", "شيكل": "ILS", "שקל": "ILS", "שקלים": "ILS",
    "रुपये": "INR", "रुपए": "INR", "रु.": "INR", "rupees": "INR",
    "рублей": "RUB", "рубля": "RUB", "рубль": "RUB", "гривень": "UAH", "гривні": "UAH", "тенге": "KZT",
    "korun": "CZK", "euroa": "EUR", "forint": "HUF", "reais": "BRL", "dólares": "USD", "yen": "JPY", "yuan": "CNY",
}  # fmt: skip
"""Names that only follow an amount; "" is the currency of the language's country."""
_OF_LANGUAGE: Mapping[str, Mapping[str, str]] = {
    "kr": {"sv": "SEK", "nb": "NOK", "no": "NOK", "nn": "NOK", "da": "DKK", "is": "ISK"},
    "¥": {"zh": "CNY"},
    "$": {
        "en-ca": "CAD", "fr-ca": "CAD", "en-au": "AUD", "en-nz": "NZD", "en-sg": "SGD", "en-hk": "HKD", "zh-hk": "HKD",
        "zh-tw": "TWD", "es-mx": "MXN", "es-ar": "ARS", "es-cl": "CLP", "es-co": "COP", "es-uy": "UYU",
    },
    "Rs": {"ur": "PKR", "en-pk": "PKR", "en-lk": "LKR", "ne": "NPR"},
    "": {"sv": "SEK", "nb": "NOK", "no": "NOK", "nn": "NOK", "da": "DKK", "de-ch": "CHF", "de": "EUR", "nl": "EUR",
         "fi": "EUR", "cs": "CZK", "is": "ISK"},
    "kronen": {"nb": "NOK", "da": "DKK"},
    "kroner": {"da": "DKK"},
    **{name: {"ar-qa": "QAR", "ar-om": "OMR", "ar-ye": "YER"} for name in ("ريال", "ريالات", "ريالا")},
    **{name: {"ar-ma": "MAD"} for name in ("درهم", "دراهم", "درهما")},
    **{name: {"ar-sd": "SDG"} for name in ("جنيه", "جنيها", "جنيهات")},
}  # fmt: skip
_HOME: Mapping[str, frozenset[str]] = {
    "en": frozenset("USD GBP AUD CAD NZD SGD HKD INR ZAR PHP NGN KES".split()),  # noqa: SIM905
    "de": frozenset({"EUR", "CHF"}),
    "fr": frozenset({"EUR", "CHF", "CAD", "XOF", "XAF", "XPF", "MAD", "DZD", "TND"}),
    "es": frozenset("EUR ARS CLP COP UYU MXN PEN BOB PYG DOP GTQ CRC".split()),  # noqa: SIM905
    "pt": frozenset({"EUR", "BRL"}),
    "sv": frozenset({"SEK", "EUR"}), "nb": frozenset({"NOK"}), "no": frozenset({"NOK"}), "da": frozenset({"DKK"}),
    "pl": frozenset({"PLN"}), "cs": frozenset({"CZK"}), "sk": frozenset({"EUR"}), "hu": frozenset({"HUF"}),
    "ro": frozenset({"RON"}), "bg": frozenset({"BGN", "EUR"}), "ru": frozenset({"RUB"}), "uk": frozenset({"UAH"}),
    "tr": frozenset({"TRY"}), "id": frozenset({"IDR"}), "vi": frozenset({"VND"}), "ja": frozenset({"JPY"}),
    "zh": frozenset({"CNY", "TWD", "HKD"}), "ko": frozenset({"KRW"}), "hi": frozenset({"INR"}),
    "he": frozenset({"ILS"}), "th": frozenset({"THB"}),
}  # fmt: skip
_THREE_PLACES = frozenset({"BHD", "JOD", "KWD", "LYD", "OMR", "TND"})


def _any_of(words: Mapping[str, str] | frozenset[str]) -> str:
    return "|".join(re.escape(word) for word in sorted(words, key=len, reverse=True) if word)


_BEFORE_CODES = _any_of(CODES - _WORDS_TOO)
BEFORE = rf"(?<![\w$])(?:(?:{_BEFORE_CODES})(?=[ \u00a0\d]|$)|{_any_of(SIGNS)})"
"""A currency before an amount."""
AFTER = (
    rf"(?:(?:{_any_of(CODES)}|{_LOWER.replace(' ', '|')})(?!\w)"
    rf"|(?:{_any_of({**SIGNS, **_NAMES})})(?![^\W円元원]))"
)
"""A currency after an amount."""
_PRICE = re.compile(rf"{BEFORE}\s?\d|\d\s?{AFTER}")
WORD_BEFORE = re.compile(rf"(?<!\w)({_any_of(_WORDS_TOO)})[ \u00a0]{{0,2}}$")
"""A code before an amount that is also a word, and counts only in its own country."""
CURRENCY_ENDS = frozenset(word[-1] for word in (*CODES, *SIGNS))
"""Last characters of the currencies before an amount."""
CURRENCY = re.compile(rf"(?<!\w)(?:{_any_of(CODES - _WORDS_TOO)}|{_any_of(SIGNS)})(?!\w)")
"""A currency alone, as in column heads: "Price (EUR)"."""


def code_of(written: str, writing: Writing) -> str:
    """Return the code of a written currency; "" if the text does not determine it."""
    if written.upper() in CODES:
        return written.upper()
    plain = SIGNS.get(written, _NAMES.get(written, ""))
    name = {"kr.": "kr", "Kr": "kr", "Rs.": "Rs", ":-": "", ",-": ""}.get(written, written)
    shared = _OF_LANGUAGE.get(name, {})
    tag = "-".join(writing.language.replace("_", "-").lower().split("-")[:2])
    return shared.get(tag) or shared.get(writing.spoken) or plain


def is_at_home(code: str, writing: Writing) -> bool:
    """Whether countries with the text's language use a currency, so that their number format applies."""
    return code in _HOME.get(writing.spoken, frozenset())


def has_price(text: str) -> bool:
    """Whether an amount is next to a currency."""
    return _PRICE.search(text) is not None


def has_three_places(code: str) -> bool:
    """Whether amounts of a currency may have three decimals."""
    return code in _THREE_PLACES
