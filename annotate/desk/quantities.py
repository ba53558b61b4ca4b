"""Numbers, units, dates and times in a text, whatever way they are spelt."""

from __future__ import annotations

import re
from collections.abc import Iterator
from decimal import Decimal
from typing import Final, Literal, NamedTuple

QuantityKind = Literal["number", "unit", "date"]


class Quantity(NamedTuple):
    """A quantity in a text.

    Attributes:
        exact: its readings; two quantities are the same when they share one ("04/09/2025" has two).
        loose: what it also says: "September 4, 2025" says "September 4". A loose reading equals an exact one only.
        value: the number, of a unit the number before it, in digits.
    """

    start: int
    end: int
    kind: QuantityKind
    exact: frozenset[str]
    loose: frozenset[str] = frozenset()
    value: str = ""


_DIGITS: Final = {zero + value: str(value) for zero in (0xFF10, 0x660, 0x6F0, 0x966) for value in range(10)}
_WIDE_LETTERS: Final = {0xFF00 + code - 0x20: chr(code) for code in (*range(0x41, 0x5B), *range(0x61, 0x7B))}
_SIGNS: Final = {
    ord("−"): "-",
    ord("－"): "-",
    ord("٫"): ".",
    ord("．"): ".",
    ord("٬"): ",",
    ord("％"): "%",
    ord("٪"): "%",
}
_PLAIN: Final = {**_DIGITS, **_WIDE_LETTERS, **_SIGNS, 0xA0: " ", 0x202F: " ", 0x3000: " ", ord("µ"): "μ"}

_UNITS: Final = {
    "mg": "mg milligram milligrams milligramme milligrammes 毫克 ملغ ملغم ملجم مجم مغ",
    "µg": "μg ug mcg microgram micrograms 微克",
    "g": "g gram grams gramme grammes 克 غرام جرام غم",
    "kg": "kg kgs kilo kilos kilogram kilograms 公斤 千克 كغ كجم كيلوغرام كيلوجرام كيلو",
    "jin": "斤",
    "lb": "lb lbs pound pounds 磅",
    "ml": "ml millilitre millilitres milliliter milliliters cc 毫升 مل ملليلتر",
    "dl": "dl decilitre deciliter 分升",
    "l": "l litre litres liter liters 升 لتر",
    "mg/dl": "mg/dl 毫克/分升",
    "mmol/l": "mmol/l 毫摩尔/升 毫摩尔每升",
    "mmhg": "mmhg 毫米汞柱",
    "IU": "iu units unit 单位",
    "%": "% percent",
    "mm": "mm millimetre millimetres millimeter millimeters 毫米",
    "cm": "cm centimetre centimetres centimeter centimeters 厘米 公分 سم",
    "m": "m metre metres meter meters 米 متر",
    "km": "km kilometre kilometres kilometer kilometers 公里 千米 كم كيلومتر",
    "mile": "mile miles 英里",
    "s": "s sec secs second seconds 秒 ثانية ثوان",
    "min": "min mins minute minutes 分钟 دقيقة دقائق",
    "h": "h hr hrs hour hours 小时 个小时 钟头 ساعة ساعات",
    "day": "d day days 天 يوم يوما أيام",
    "week": "wk wks week weeks 周 星期 个星期 أسبوع أسابيع",
    "month": "mo month months 个月 شهر أشهر شهور",
    "year": "y yr yrs year years year-old years-old 年 岁 سنة سنوات عام عاما أعوام",
    "times": "times time 次 مرة مرات",
    "tablet": "tablet tablets pill pills tab tabs 片 粒 颗 حبة حبات أقراص قرص",
    "dose": "dose doses 剂 جرعة جرعات",
    "°C": "°c ℃ 摄氏度",
    "°F": "°f ℉ 华氏度",
    "bpm": "bpm 次/分",
    "kcal": "kcal 千卡 大卡",
    "USD": "dollars dollar usd 美元 دولار",
    "CNY": "yuan rmb cny 元 块 人民币",
}
_PER_CENT: Final = "百分之"
_UNIT_OF: Final = {spelling: unit for unit, spellings in _UNITS.items() for spelling in spellings.split(" ")}
_UNIT_PATTERN: Final = "|".join(re.escape(spelling) for spelling in sorted(_UNIT_OF, key=len, reverse=True))
_UNIT: Final = re.compile(rf"[ -]?({_UNIT_PATTERN})(?![A-Za-z\u0600-\u06ff])", re.IGNORECASE)

_NUMBER: Final = re.compile(
    r"(?<![A-Za-z\d])(?<!\d[.,])((?<![\w)\]%])-)?(\d{1,3}(?:,\d{3})+(?!\d)|\d{1,3}(?: \d{3})+(?!\d)|\d+)([.,]\d+)?"
    r"(?:(?:st|nd|rd|th)\b)?"
)

_SMALL: Final = """
zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen seventeen eighteen
nineteen
"""
_TENS: Final = "twenty thirty forty fifty sixty seventy eighty ninety"
_SCALES: Final = {"hundred": 100, "thousand": 1_000, "million": 1_000_000, "billion": 1_000_000_000}
_ORDINALS: Final = ("first", "second", "third", "fourth", "fifth", "sixth", "seventh", "eighth", "ninth", "tenth")
_WORD_VALUES: Final = {
    **{word: value for value, word in enumerate(_SMALL.split())},
    **{word: 10 * (place + 2) for place, word in enumerate(_TENS.split())},
    "dozen": 12,
}
_ONE_WORD: Final = "|".join((*_WORD_VALUES, *_SCALES))
_NUMBER_WORDS: Final = re.compile(rf"\b(?:{_ONE_WORD})(?:(?:-| and | )(?:{_ONE_WORD}))*\b", re.IGNORECASE)
_ORDINAL: Final = re.compile(rf"(?<!per )(?<!\d )\b({'|'.join(_ORDINALS)})\b(?! of all)", re.IGNORECASE)

_HAN_DIGITS: Final = {character: value % 10 for value, character in enumerate("零一二三四五六七八九")} | {
    "〇": 0,
    "两": 2,
}
_HAN_SCALES: Final = {"十": 10, "百": 100, "千": 1_000}
_HAN_BIG: Final = {"万": 10_000, "亿": 100_000_000}
_HAN_NUMBER: Final = re.compile(
    "[零〇一二两三四五六七八九十][零〇一二两三四五六七八九十百千万亿]*(?:点[零〇一二三四五六七八九]+)?"
)
_HAN_MEASURE: Final = re.compile(
    "[个名位岁年月日号天周次片粒颗瓶支份倍成毫微公千克斤升米厘里元块种项条张只头匹度剂秒度]|小时|分钟|星期|%"
)
_NOT_COUNTED: Final = re.compile("一[个种位次些样直起般定]|十分(?!钟)")

_MONTHS: Final = (
    ("january", "jan", "يناير"),
    ("february", "feb", "فبراير"),
    ("march", "mar", "مارس"),
    ("april", "apr", "أبريل"),
    ("may", "may", "مايو"),
    ("june", "jun", "يونيو"),
    ("july", "jul", "يوليو"),
    ("august", "aug", "أغسطس"),
    ("september", "sept", "sep", "سبتمبر"),
    ("october", "oct", "أكتوبر"),
    ("november", "nov", "نوفمبر"),
    ("december", "dec", "ديسمبر"),
)
_MONTH_OF: Final = {name: number for number, names in enumerate(_MONTHS, 1) for name in names}
_MONTH: Final = "|".join(sorted(_MONTH_OF, key=len, reverse=True))
_WEEKDAYS: Final = ("monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday")
_DAY, _YEAR = r"(?P<d>\d{1,2})(?:st|nd|rd|th)?", r"(?P<y>[12]\d{3})"
_DATES: Final = tuple(
    re.compile(pattern, re.IGNORECASE)
    for pattern in (
        r"(?<!\d)(?P<y>[12]\d{3})[-/.](?P<m>\d{1,2})[-/.](?P<d>\d{1,2})(?!\d)",
        r"(?<![\d/.])(?P<a>\d{1,2})([/.])(?P<b>\d{1,2})\2(?P<y>[12]\d{3})(?!\d)",
        r"(?:(?P<y>[12]\d{3}) ?年 ?)?(?P<m>\d{1,2}) ?月(?: ?(?P<d>\d{1,2}) ?[日号])?",
        rf"{_YEAR} ?年(?!龄|纪)",
        rf"\b(?P<n>{_MONTH})\b\.? {_DAY}(?!\d)(?:,? {_YEAR})?",
        rf"(?<!\d){_DAY}(?: of)? (?P<n>{_MONTH})\b\.?(?:,? {_YEAR})?",
        rf"\b(?P<n>{_MONTH})\b\.?,? {_YEAR}",
    )
)
_TIME: Final = re.compile(
    r"(?<![\d:])(?P<h>\d{1,2})(?::(?P<m>[0-5]\d)(?::(?P<s>[0-5]\d))?)?(?P<half> ?[ap]\.?m\b\.?)?(?![\d:])",
    re.IGNORECASE,
)
_WEEKDAY: Final = re.compile(rf"\b({'|'.join(_WEEKDAYS)})s?\b|(?:星期|周|礼拜)([一二三四五六日天])", re.IGNORECASE)


def plain_text(text: str) -> str:
    """`text` with the digits, signs and full-width letters of other scripts as ASCII, every offset kept."""
    return text if text.isascii() else text.translate(_PLAIN)


def quantities_of(text: str) -> list[Quantity]:
    """The dates, times, numbers and units of `text`, in order; none overlaps another."""
    plain = plain_text(text)
    taken = bytearray(len(plain))
    found: list[Quantity] = []
    for finder in (_dates, _times, _weekdays, _numbers, _number_words, _ordinals, _han_numbers):
        for quantity in finder(plain):
            if not any(taken[quantity.start : quantity.end]):
                taken[quantity.start : quantity.end] = b"\x01" * (quantity.end - quantity.start)
                found.append(quantity)
    for number in [quantity for quantity in found if quantity.kind == "number"]:
        unit = _unit_of(plain, number)
        if unit is not None and not any(taken[unit.start : unit.end]):
            found.append(unit)
    return sorted(_without_bare_one(plain, found))


def _without_bare_one(text: str, found: list[Quantity]) -> list[Quantity]:
    """`found` without the word "one" where it counts nothing ("one of them")."""
    counted = {quantity.start for quantity in found if quantity.kind == "unit"}
    return [
        quantity
        for quantity in found
        if text[quantity.start : quantity.end].lower() != "one"
        or any(start in counted for start in range(quantity.end, quantity.end + 2))
    ]


_Day = tuple[int | None, int | None, int | None]
"""Year, month and day, as far as they are said."""


def _date(start: int, end: int, days: list[_Day]) -> Quantity:
    """A date with its possible readings."""
    exact, loose = set(), set()
    for year, month, day in days:
        exact.add(f"{year or ''}-{month or ''}-{day or ''}")
        if year and month:
            loose |= {f"{year}--", f"{year}-{month}-"}
            loose |= {f"-{month}-{day or ''}", f"-{month}-"}
        elif month and day:
            loose.add(f"-{month}-")
    return Quantity(start, end, "date", frozenset(exact), frozenset(loose - exact))


def _dates(text: str) -> Iterator[Quantity]:
    for pattern in _DATES:
        for match in pattern.finditer(text):
            part = match.groupdict()
            year = int(part["y"]) if part.get("y") else None
            if part.get("a"):
                first, second = int(part["a"]), int(part["b"])
                days: list[_Day] = [(year, first, second), (year, second, first)]
            else:
                month = _MONTH_OF[part["n"].lower()] if part.get("n") else int(part["m"]) if part.get("m") else None
                days = [(year, month, int(part["d"]) if part.get("d") else None)]
            real = [day for day in days if (day[1] or 1) <= 12 and (day[2] or 1) <= 31]
            if real:
                yield _date(match.start(), match.end(), real)


def _times(text: str) -> Iterator[Quantity]:
    for match in _TIME.finditer(text):
        hour = int(match["h"])
        if not (match["m"] or match["half"]) or hour > 23:
            continue
        half = (match["half"] or "").strip().lower()
        if half:
            hour = hour % 12 + (12 if half.startswith("p") else 0)
        reading = f"T{hour:02}:{match['m'] or '00'}"
        yield Quantity(match.start(), match.end(), "date", frozenset((reading,)))


def _weekdays(text: str) -> Iterator[Quantity]:
    for match in _WEEKDAY.finditer(text):
        number = _WEEKDAYS.index(match[1].lower()) if match[1] else "一二三四五六日天".index(match[2])
        yield Quantity(match.start(), match.end(), "date", frozenset((f"W{min(number, 6)}",)))


def _as_number(start: int, end: int, value: Decimal) -> Quantity:
    digits = f"{value.normalize():f}"
    # A year alone also says the year of a date.
    readings = (digits, f"{digits}--") if len(digits) == 4 and digits.isdigit() else (digits,)
    return Quantity(start, end, "number", frozenset(readings), value=digits)


def _numbers(text: str) -> Iterator[Quantity]:
    """Numbers in digits. A comma or blank before three digits groups them, another comma is a decimal point."""
    for match in _NUMBER.finditer(text):
        digits = match[2].replace(",", "").replace(" ", "")
        fraction = (match[3] or "").replace(",", ".")
        if len(digits) <= 30 and len(fraction) <= 30:
            yield _as_number(match.start(), match.end(), Decimal((match[1] or "") + digits + fraction))


def _number_words(text: str) -> Iterator[Quantity]:
    for match in _NUMBER_WORDS.finditer(text):
        yield _as_number(match.start(), match.end(), Decimal(_english_value(re.split("[ -]", match[0].lower()))))


def _english_value(words: list[str]) -> int:
    """What "two hundred and forty" counts."""
    total = current = 0
    for word in words:
        if word == "hundred" or (word == "dozen" and current):
            current = max(current, 1) * (100 if word == "hundred" else 12)
        elif word in _SCALES:
            total += max(current, 1) * _SCALES[word]
            current = 0
        elif word != "and":
            current += _WORD_VALUES[word]
    return total + current


def _ordinals(text: str) -> Iterator[Quantity]:
    for match in _ORDINAL.finditer(text):
        yield _as_number(match.start(), match.end(), Decimal(_ORDINALS.index(match[1].lower()) + 1))


def _han_numbers(text: str) -> Iterator[Quantity]:
    """Chinese numerals that count something: a single one must stand before a measure word."""
    for match in _HAN_NUMBER.finditer(text):
        counts = _HAN_MEASURE.match(text, match.end()) is not None and not _NOT_COUNTED.match(text, match.start())
        if len(match[0]) > 1 or counts:
            yield _as_number(match.start(), match.end(), _han_value(match[0]))


def _han_value(numeral: str) -> Decimal:
    """What 一百二十 or 二〇二五 or 三点五 counts."""
    whole, _, fraction = numeral.partition("点")
    decimals = "".join(str(_HAN_DIGITS[character]) for character in fraction)
    if all(character in _HAN_DIGITS for character in whole):
        return Decimal("".join(str(_HAN_DIGITS[character]) for character in whole) + "." + (decimals or "0"))
    total = section = digit = 0
    for character in whole:
        if character in _HAN_DIGITS:
            digit = _HAN_DIGITS[character]
        elif character in _HAN_SCALES:
            section += (digit or 1) * _HAN_SCALES[character]
            digit = 0
        else:
            total = (total + section + digit) * _HAN_BIG[character]
            section = digit = 0
    return Decimal(f"{total + section + digit}.{decimals or '0'}")


def _unit_of(text: str, number: Quantity) -> Quantity | None:
    """The unit behind a number, or 百分之 before it."""
    before = number.start - len(_PER_CENT)
    if text.startswith(_PER_CENT, max(before, 0)) and before >= 0:
        return Quantity(before, number.start, "unit", frozenset("%"), value=number.value)
    match = _UNIT.match(text, number.end)
    if match is None:
        return None
    unit = _UNIT_OF[match[1].lower()]
    return Quantity(match.start(1), match.end(1), "unit", frozenset((unit,)), value=number.value)
