/* SPDX-License-Identifier: MIT */
/* Numbers as text, whatever the locale. */
#include "base/format.h"
#include "base/units.h"

#include <math.h>
#include <stdlib.h>

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
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

void number_add(struct text *text, double value)
{
    if (fabs(value) < 1e15 && value == rint(value) && (value != 0 || !signbit(value))) {
        text_add_integer(text, (int64_t)value);
        return;
    }
    char digits[40];
    for (int precision = 15; precision <= 17; precision++) {
        format_number(digits, sizeof digits, "%.*g", precision, value);
        double back;
        if (precision == 17 || (number_parse(digits, NULL, &back) && back == value))
            break;
    }
    text_add(text, digits);
}
