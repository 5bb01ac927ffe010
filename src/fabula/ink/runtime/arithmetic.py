"""Numbers as the reference computes and prints them: int32 that wraps, float32 that rounds after every step.

A Python int stands for an int32 and a Python float for a float32; callers keep them so by passing results through
`int32` and `float32`.
"""

from __future__ import annotations

import math
import struct
from decimal import ROUND_CEILING, ROUND_FLOOR, ROUND_HALF_EVEN, Context, Decimal
from functools import lru_cache

from fabula.ink.runtime.errors import InkRuntimeError

INT_MIN = -(2**31)
INT_MAX = 2**31 - 1
_FLOAT_PRECISION = 7
_SINGLE = struct.Struct("<f")


def int32(number: int) -> int:
    """Wraps a whole number around into 32 bits.

    >>> int32(2147483647 + 1)
    -2147483648
    """
    if INT_MIN <= number <= INT_MAX:
        return number
    return (number + 2**31) % 2**32 - 2**31


def float32(number: float) -> float:
    """Rounds to the nearest float32, to infinity beyond its range.

    >>> float32(0.1) == 0.1
    False
    """
    try:
        return float(_SINGLE.unpack(_SINGLE.pack(number))[0])
    except OverflowError:
        return math.copysign(math.inf, number)


def divide_ints(dividend: int, divisor: int) -> int:
    """Divides and drops the fraction, toward zero.

    >>> divide_ints(-7, 2)
    -3
    """
    _refuse_zero(dividend, divisor)
    quotient = abs(dividend) // abs(divisor)
    return quotient if (dividend < 0) == (divisor < 0) else -quotient


def modulo_ints(dividend: int, divisor: int) -> int:
    """What is left after `divide_ints`; it has the dividend's sign.

    >>> modulo_ints(-7, 2)
    -1
    """
    _refuse_zero(dividend, divisor)
    rest = abs(dividend) % abs(divisor)
    return -rest if dividend < 0 else rest


def _refuse_zero(dividend: int, divisor: int) -> None:
    if divisor == 0:
        raise InkRuntimeError("Attempted to divide by zero.")
    if divisor == -1 and dividend == INT_MIN:
        raise InkRuntimeError("Arithmetic operation resulted in an overflow.")


def divide_floats(dividend: float, divisor: float) -> float:
    """Divides as IEEE 754 does: by zero is infinity or not-a-number, never an error.

    >>> divide_floats(7.0, 2.0)
    3.5
    """
    if divisor != 0.0:
        return float32(dividend / divisor)
    if dividend == 0.0 or math.isnan(dividend):
        return math.nan
    return math.copysign(math.inf, dividend) * math.copysign(1.0, divisor)


def modulo_floats(dividend: float, divisor: float) -> float:
    """The rest of a truncating float division.

    >>> modulo_floats(-5.5, 2.0)
    -1.5
    """
    if divisor == 0.0 or math.isinf(dividend):
        return math.nan
    return float32(math.fmod(dividend, divisor))


def power(base: float, exponent: float) -> float:
    """Raises to a power; the result is always a float, as in the reference.

    >>> power(2, 3)
    8.0
    """
    try:
        result = math.pow(base, exponent)
    except OverflowError:
        odd = float(exponent).is_integer() and int(exponent) % 2 == 1
        return -math.inf if base < 0 and odd else math.inf
    except ValueError:
        return math.inf if base == 0 else math.nan
    return float32(result)


def truncate(number: float) -> int:
    """A float as an int32, fraction dropped; what does not fit becomes the smallest int.

    >>> truncate(-2.9)
    -2
    """
    if math.isnan(number) or not INT_MIN <= number <= INT_MAX:
        return INT_MIN
    return int(number)


def floor(number: float) -> float:
    """The whole float at or below."""
    return float(math.floor(number)) if math.isfinite(number) else number


def ceiling(number: float) -> float:
    """The whole float at or above."""
    return float(math.ceil(number)) if math.isfinite(number) else number


@lru_cache(maxsize=1024)
def print_float(number: float) -> str:
    """The shortest text that reads back as the same float32.

    >>> print_float(float32(7 / 3)), print_float(2.0), print_float(1e7), print_float(float32(0.00001))
    ('2.3333333', '2', '1E+07', '1E-05')
    """
    if math.isnan(number):
        return "NaN"
    if math.isinf(number):
        return "Infinity" if number > 0 else "-Infinity"
    sign = "-" if math.copysign(1.0, number) < 0 else ""
    if number == 0.0:
        return sign + "0"
    digits, scale = _shortest_digits(abs(number))
    if scale > max(len(digits), _FLOAT_PRECISION) or scale < -3:
        return sign + _scientific(digits, scale - 1)
    return sign + _positional(digits, scale)


def json_float(number: float) -> str:
    """A float as the reference writes it into JSON, so that whole floats stay floats.

    >>> json_float(1.0), json_float(0.5)
    ('1.0', '0.5')
    """
    text = print_float(number)
    special = {"Infinity": "3.4E+38", "-Infinity": "-3.4E+38", "NaN": "0.0"}.get(text)
    if special is not None:
        return special
    return text if "." in text or "E" in text else text + ".0"


def _shortest_digits(number: float) -> tuple[str, int]:
    exact = Decimal(number)
    for precision in range(1, 10):
        candidates = [
            Context(prec=precision, rounding=how).plus(exact) for how in (ROUND_HALF_EVEN, ROUND_FLOOR, ROUND_CEILING)
        ]
        fitting = [candidate for candidate in candidates if float32(float(candidate)) == number]
        if fitting:
            best = min(fitting, key=lambda candidate: abs(candidate - exact))
            return _digits_and_scale(best)
    return _digits_and_scale(Context(prec=9).plus(exact))


def _digits_and_scale(number: Decimal) -> tuple[str, int]:
    parts = number.as_tuple()
    digits = "".join(map(str, parts.digits))
    exponent = parts.exponent if isinstance(parts.exponent, int) else 0
    return digits.rstrip("0") or "0", len(digits) + exponent


def _scientific(digits: str, exponent: int) -> str:
    fraction = f".{digits[1:]}" if len(digits) > 1 else ""
    return f"{digits[0]}{fraction}E{'-' if exponent < 0 else '+'}{abs(exponent):02d}"


def _positional(digits: str, scale: int) -> str:
    if scale <= 0:
        return "0." + "0" * -scale + digits
    if scale >= len(digits):
        return digits + "0" * (scale - len(digits))
    return f"{digits[:scale]}.{digits[scale:]}"
