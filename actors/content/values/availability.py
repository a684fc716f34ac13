"""Availability in the labels of shops: "In stock", "ausverkauft", "残りわずか".

Only short texts are read: in a paragraph the same words mean something else.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import NamedTuple

from storage.records.event import Availability

MOST_WORDS = 12
"""Maximum words of a label."""
_BARE_WORDS = 4
"""Maximum words of a label where "available" alone counts."""

_WORDS: Mapping[Availability, str] = {
    "discontinued": r"discontinued|no longer (?:available|sold|made)|nicht mehr (?:lieferbar|verfügbar|erhältlich)"
    r"|plus (?:disponible|commercialisé)|descatalogado|fuera de catálogo|fuori produzione|descontinuado|utgått"
    r"|utgået|uit het assortiment|poistunut|wycofan\w+|販売終了|生産終了|已停产|停售|снят с производства",
    "out_of_stock": r"out[ -]of[ -]stock|sold[ -]out|not (?:in stock|available|in store)|un(?:available|avail\.)"
    r"|no stock|temporarily out|ausverkauft|vergriffen|nicht (?:auf lager|vorrätig|lieferbar|verfügbar|erhältlich)"
    r"|derzeit nicht|en rupture|rupture de stock|épuisé\w*|indisponible|non disponible|agotad[oa]s?|sin stock"
    r"|no disponible|sin existencias|esaurit[oaie]|non disponibile|esgotad[oa]s?|indisponível|sem estoque"
    r"|uitverkocht|niet (?:op voorraad|leverbaar|beschikbaar)|slutsål[dt]a?|slut i lager|tillfälligt slut"
    r"|(?:ej|inte|finns inte) i lager|udsolgt|ikke på lager|utsolgt|loppu(?:unmyyty|nut)|ei varastossa"
    r"|wyprzedan[eay]|niedostępn[yae]|brak w magazynie|vyprodáno|není skladem|elfogyott|nincs raktáron"
    r"|stoc epuizat|indisponibil|нет в наличии|распродано|немає в наявності|tükendi|stokta yok|εξαντλημένο"
    r"|売り切れ|売切れ?|在庫(?:切れ|なし)|完売|缺货|缺貨|售罄|售完|已售完|无货|無貨"
    r"|품절|매진|หมด|hết hàng|stok habis|अनुपलब्ध|स्टॉक में नहीं"
    r"|نفد|غير متوفر|אזל",
    "backorder": r"back[ -]?order(?:ed)?|nachbestellt|wird nachgeliefert|sur commande|bajo pedido|su ordinazione"
    r"|sob encomenda|in nabestelling|restnoterad|beställningsvara|bestillingsvare|na zamówienie|取り寄せ|под заказ",
    "preorder": r"pre[ -]?orders?(?:able)?|vorbestell\w*|vorbestellbar|précommande\w*|preventa|reserva anticipada"
    r"|preordin\w*|pré-venda|pré-encomenda|voorbestell\w*|förbeställ\w*|förhandsboka\w*|forudbestil\w*"
    r"|forhåndsbestill\w*|ennakko\w*|przedsprzedaż|předobjedn\w*|előrendel\w*|предзаказ|передзамовлення"
    r"|ön sipariş|予約(?:受付中|商品)|预购|預購|예약",
    "limited": r"(?:only|just) \d+ left|limited (?:stock|availability)|low stock|few left|last (?:items|pieces|chance)"
    r"|almost gone|nur noch \d+|wenige (?:stück|exemplare)|geringer bestand|plus que \d+"
    r"|derniers? (?:articles?|exemplaires?)|stock limité|quedan? \d+|últimas unidades|ultimi (?:\d+|pezzi)"
    r"|nog (?:maar )?\d+|laatste stuks|(?:endast|bara|kun|få) \d*\s?(?:kvar|igen|tilbage|på lager)|få i lager"
    r"|viimeiset|ostatnie sztuki|poslední kusy|残りわずか|残り\d+|仅剩|僅剩|осталось \d+|son \d+",
    "in_stock": r"in[ -]stock|on stock|ready to ship|ships (?:today|now|within)|auf lager|vorrätig"
    r"|sofort (?:lieferbar|verfügbar)|lieferbar|en stock|in(?:mediata)? disponibilidad"
    r"|disponibilidad inmediata|disponibile|em estoque|disponível|op voorraad|leverbaar|(?:finns )?i lager"
    r"|finns i butik|på lager|varastossa|w magazynie|dostępn[yae]|na stanie|skladem|raktáron|în stoc|в наличии"
    r"|є в наявності|stokta(?: var)?|διαθέσιμο|在庫(?:あり|有り?)|有[货貨]|现货|現貨"
    r"|재고 있음|có sẵn|còn hàng|tersedia|उपलब्ध"
    r"|متوفر|במלאי|พร้อมส่ง|มีสินค้า",
}
_BARE = r"available|verfügbar|erhältlich|disponibles?|beschikbaar|tillgänglig|tilgængelig|tilgjengelig|saatavilla"
_SCHEMA: Mapping[str, Availability] = {
    "instock": "in_stock", "instoreonly": "in_stock", "onlineonly": "in_stock", "limitedavailability": "limited",
    "preorder": "preorder", "presale": "preorder", "backorder": "backorder", "madetoorder": "backorder",
    "outofstock": "out_of_stock", "soldout": "out_of_stock", "reserved": "out_of_stock",
    "discontinued": "discontinued",
}  # fmt: skip
"""The members of schema.org's ItemAvailability, in lower case."""
_OF_SCHEMA = re.compile(rf"schema\.org/({'|'.join(_SCHEMA)})\b")
_FLAG = re.compile(r'"((?:is_?)?(?:(?:in_?)?stock|available|sold_?out|out_?of_?stock))" ?: ?(true|false)')
_STATE = re.compile("|".join(f"(?P<{state}>{words})" for state, words in _WORDS.items()))
_BY_ITSELF = re.compile(_BARE)
_TIME_LEFT = re.compile(
    r"\d*\s?(?:tage?|stunden?|minuten?|wochen?|monate?|jours?|heures?|minutes?|semaines?|mois|días?|horas?|minutos?"
    r"|semanas?|meses|giorni|ore|minuti|settimane|mesi|dag(?:en)?|uur|uren|minuut|we(?:ek|ken)|maand(?:en)?"
    r"|д(?:ень|ня|ней)|час\w*|минут\w*|недел\w*|gün|saat|dakika|hafta)\b|\d*\s?(?:日|時間|分|週間|天|小时|小時|周)"
)
"""Days or hours that are few: "nur noch 3 Tage" counts down to an end."""
_LETTER = re.compile(r"[^\W\d_]")
_UNSPACED = re.compile("[\u0e00-\u0e7f\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]")


class Said(NamedTuple):
    """An availability from `start` to `end` of a text."""

    start: int
    end: int
    state: Availability


def availability_in(lowered: str) -> Iterator[Said]:
    """Yield the availabilities in a short lower-case text or in a program's record, in order."""
    for found in _OF_SCHEMA.finditer(lowered):
        yield Said(found.start(), found.end(), _SCHEMA[found[1]])
    for found in _FLAG.finditer(lowered):
        has = (found[2] == "true") != ("sold" in found[1] or "out" in found[1])
        yield Said(found.start(), found.end(), "in_stock" if has else "out_of_stock")
    words = len(lowered.split())
    if words > MOST_WORDS or len(lowered) > 160:
        return
    said = [
        Said(found.start(), found.end(), found.lastgroup)  # type: ignore[arg-type]  # a name of `_WORDS`
        for found in _STATE.finditer(lowered)
        if _stands_alone(lowered, found.start(), found.end())
        and not (found.lastgroup == "limited" and _TIME_LEFT.match(lowered, found.end()))
    ]
    are_few = any(one.state == "limited" for one in said)
    yield from (one for one in said if not (are_few and one.state == "in_stock"))
    bare = None if said or words > _BARE_WORDS else _BY_ITSELF.search(lowered)
    if bare is not None and _stands_alone(lowered, bare.start(), bare.end()):
        yield Said(bare.start(), bare.end(), "in_stock")


def _stands_alone(text: str, start: int, end: int) -> bool:
    """Whether no letter touches a match, except in scripts without spaces."""
    before, after = text[start - 1 : start], text[end : end + 1]
    return not any(_LETTER.match(one) and not _UNSPACED.match(one) for one in (before, after))
