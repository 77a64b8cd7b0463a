/* SPDX-License-Identifier: MIT */
/* Numbers as text, whatever the locale. */
#include "base/format.h"
#include "base/units.h"

#include <math.h>
#include <stdlib.h>

const double number_tens[EXACT_TENS + 1] = {1e0,  1e1,  1e2,  1e3,  1e4,  1e5,  1e6,  1e7,
                                            1e8,  1e9,  1e10, 1e11, 1e12, 1e13, 1e14, 1e15,
                                            1e16, 1e17, 1e18, 1e19, 1e20, 1e21, 1e22};

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

bool number_exact(const char *from, const char *to, double *value)
{
    bool negative = *from == '-', fraction = false;
    uint64_t digits = 0;
    int count = 0, exponent = 0, written = 0, sign = 1;
    for (from += negative; from < to && *from != 'e' && *from != 'E'; from++) {
        if (*from == '.') {
            fraction = true;
            continue;
        }
        digits = digits * 10 + (uint64_t)(*from - '0');
        count += digits > 0;
        exponent -= fraction;
        if (count > EXACT_DIGITS)
            return false;
    }
    for (; from < to; from++)
        if (*from == '-')
            sign = -1;
        else if (*from >= '0' && *from <= '9' && written < 1000)
            written = written * 10 + (*from - '0');
    exponent += sign * written;
    if (exponent < -EXACT_TENS || exponent > EXACT_TENS)
        return false;
    double whole = (double)digits;
    *value = exponent < 0 ? whole / number_tens[-exponent] : whole * number_tens[exponent];
    if (negative)
        *value = -*value;
    return true;
}

static const char *skip_digits(const char *at)
{
    while (is_digit(*at))
        at++;
    return at;
}

/* Where a decimal number that begins with a sign or a digit ends. */
static const char *number_end(const char *at)
{
    at = skip_digits(*at == '-' ? at + 1 : at);
    if (*at == '.')
        at = skip_digits(at + 1);
    if (*at == 'e' || *at == 'E') {
        const char *digits = at[1] == '-' || at[1] == '+' ? at + 2 : at + 1;
        if (is_digit(*digits))
            at = skip_digits(digits);
    }
    return at;
}

bool number_parse(const char *text, const char **end, double *value)
{
    const char *start = text;
    while (*start == ' ' || *start == '\t')
        start++;
    const char *first = *start == '-' || *start == '+' ? start + 1 : start;
    /* strtod would also take inf, nan and hexadecimal. */
    if (!(is_digit(first[0]) || (first[0] == '.' && is_digit(first[1]))))
        return false;
    if (first[0] == '0' && (first[1] == 'x' || first[1] == 'X'))
        return false;
    const char *last = number_end(start);
    if (*start != '+' && number_exact(start, last, value)) {
        if (end)
            *end = last;
        return true;
    }
    locale_t locale = format_locale();
    char *after = NULL;
    double parsed = locale ? strtod_l(start, &after, locale) : strtod(start, &after);
    if (after == start || !isfinite(parsed))
        return false;
    *value = parsed;
    if (end)
        *end = after;
    return true;
}

/* The form of "%.15g" from its digits, a whole number of 15 of them, and the exponent of the first.
 */
static void add_general(struct text *text, bool negative, uint64_t whole, int exponent)
{
    char digits[EXACT_DIGITS];
    int count = EXACT_DIGITS;
    for (int i = EXACT_DIGITS - 1; i >= 0; i--, whole /= 10)
        digits[i] = (char)('0' + whole % 10);
    while (count > 1 && digits[count - 1] == '0')
        count--;
    if (negative)
        text_add_char(text, '-');
    if (exponent < -4) {
        text_add_char(text, digits[0]);
        if (count > 1) {
            text_add_char(text, '.');
            text_add_bytes(text, digits + 1, (size_t)(count - 1));
        }
        text_add(text, exponent > -10 ? "e-0" : "e-");
        text_add_integer(text, -exponent);
        return;
    }
    if (exponent < 0) {
        text_add_bytes(text, "0.000", (size_t)(1 - exponent));
        text_add_bytes(text, digits, (size_t)count);
        return;
    }
    int before = exponent + 1; /* digits before the point; count > before: it is no whole number */
    text_add_bytes(text, digits, (size_t)before);
    text_add_char(text, '.');
    text_add_bytes(text, digits + before, (size_t)(count - before));
}

/* The common case without printf: the number is a decimal of at most 15 digits. Such a decimal is
 * the only one of 15 digits that reads back to the number, and the quotient of two exact factors is
 * rounded once, as reading rounds (Clinger 1990); so what is found is what "%.15g" gives. */
static bool add_short(struct text *text, double value)
{
    double size = fabs(value);
    if (!(size >= 1e-8 && size < 1e14))
        return false;
    int exponent = (int)floor(log10(size));
    int scale = EXACT_DIGITS - 1 - exponent;
    double whole = scale >= 0 && scale <= EXACT_TENS ? rint(size * number_tens[scale]) : 0;
    if (!(whole >= 1e14 && whole < 1e15) || whole / number_tens[scale] != size)
        return false;
    add_general(text, value < 0, (uint64_t)whole, exponent);
    return true;
}

void number_add_fixed(struct text *text, double value, int decimals)
{
    double scaled = decimals >= 0 && decimals <= 9 ? fabs(value) * number_tens[decimals] : 1e9;
    double whole = rint(scaled);
    /* Rounded once more, the product is off by less than 1e-7: it decides, unless near a tie. */
    if (!(scaled < 1e9) || fabs(fabs(scaled - whole) - 0.5) < 1e-6) {
        char digits[400];
        format_number(digits, sizeof digits, "%.*f", decimals, value);
        text_add(text, digits);
        return;
    }
    uint64_t count = (uint64_t)whole, unit = (uint64_t)number_tens[decimals];
    if (signbit(value))
        text_add_char(text, '-');
    text_add_integer(text, (int64_t)(count / unit));
    if (decimals == 0)
        return;
    text_add_char(text, '.');
    for (count %= unit; unit > 1; count %= unit) {
        unit /= 10;
        text_add_char(text, (char)('0' + count / unit));
    }
}

void number_add(struct text *text, double value)
{
    if (fabs(value) < 1e15 && value == rint(value) && (value != 0 || !signbit(value))) {
        text_add_integer(text, (int64_t)value);
        return;
    }
    if (add_short(text, value))
        return;
    char digits[40];
    for (int precision = 15; precision <= 17; precision++) {
        format_number(digits, sizeof digits, "%.*g", precision, value);
        double back;
        if (precision == 17 || (number_parse(digits, NULL, &back) && back == value))
            break;
    }
    text_add(text, digits);
}
