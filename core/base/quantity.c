/* SPDX-License-Identifier: MIT */
/* Printing of quantities. */
#include "base/format.h"
#include "base/units.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#define DIGITS 4

struct scale {
    const char *name;
    double per_unit; /* how many of it make one base unit: 1000 for ms */
    double unit;     /* base units in one of it: 1e9 for GB; 1 where per_unit is used */
};

#define SMALLER(name, per_unit)                                                                    \
    {                                                                                              \
        name, per_unit, 1                                                                          \
    }
#define LARGER(name, unit)                                                                         \
    {                                                                                              \
        name, 1, unit                                                                              \
    }
#define ENDING                                                                                     \
    {                                                                                              \
        NULL, 0, 0                                                                                 \
    }

/* From large to small. */
static const struct scale bytes_scale[] = {
    LARGER("EB", 1e18), LARGER("PB", 1e15), LARGER("TB", 1e12), LARGER("GB", 1e9),
    LARGER("MB", 1e6),  LARGER("kB", 1e3),  LARGER("B", 1),     ENDING};
static const struct scale binary_scale[] = {LARGER("EiB", 0x1p60),
                                            LARGER("PiB", 0x1p50),
                                            LARGER("TiB", 0x1p40),
                                            LARGER("GiB", 0x1p30),
                                            LARGER("MiB", 0x1p20),
                                            LARGER("KiB", 0x1p10),
                                            ENDING};
static const struct scale byte_rate_scale[] = {LARGER("PB/s", 1e15),
                                               LARGER("TB/s", 1e12),
                                               LARGER("GB/s", 1e9),
                                               LARGER("MB/s", 1e6),
                                               LARGER("kB/s", 1e3),
                                               LARGER("B/s", 1),
                                               ENDING};
static const struct scale time_scale[] = {LARGER("s", 1), SMALLER("ms", 1e3), SMALLER("us", 1e6),
                                          SMALLER("ns", 1e9), ENDING};
static const struct scale flop_scale[] = {
    LARGER("EFLOP", 1e18), LARGER("PFLOP", 1e15), LARGER("TFLOP", 1e12), LARGER("GFLOP", 1e9),
    LARGER("MFLOP", 1e6),  LARGER("kFLOP", 1e3),  LARGER("FLOP", 1),     ENDING};
static const struct scale flop_rate_scale[] = {LARGER("EFLOP/s", 1e18), LARGER("PFLOP/s", 1e15),
                                               LARGER("TFLOP/s", 1e12), LARGER("GFLOP/s", 1e9),
                                               LARGER("MFLOP/s", 1e6),  LARGER("kFLOP/s", 1e3),
                                               LARGER("FLOP/s", 1),     ENDING};
static const struct scale item_rate_scale[] = {LARGER("Gitem/s", 1e9), LARGER("Mitem/s", 1e6),
                                               LARGER("kitem/s", 1e3), LARGER("item/s", 1), ENDING};
static const struct scale frequency_scale[] = {LARGER("GHz", 1e9), LARGER("MHz", 1e6),
                                               LARGER("kHz", 1e3), LARGER("Hz", 1), ENDING};
static const struct scale watt_scale[] = {LARGER("kW", 1e3), LARGER("W", 1), SMALLER("mW", 1e3),
                                          ENDING};
static const struct scale joule_scale[] = {LARGER("kJ", 1e3), LARGER("J", 1), SMALLER("mJ", 1e3),
                                           SMALLER("uJ", 1e6), ENDING};

static const struct scale *scale_table(struct dimension d)
{
    static const struct {
        struct dimension dimension;
        const struct scale *scales;
    } tables[] = {
        {{.bytes = 1}, bytes_scale},
        {{.bytes = 1, .seconds = -1}, byte_rate_scale},
        {{.seconds = 1}, time_scale},
        {{.flops = 1}, flop_scale},
        {{.flops = 1, .seconds = -1}, flop_rate_scale},
        {{.items = 1, .seconds = -1}, item_rate_scale},
        {{.seconds = -1}, frequency_scale},
        {{.watts = 1}, watt_scale},
        {{.watts = 1, .seconds = 1}, joule_scale},
    };
    for (size_t i = 0; i < sizeof tables / sizeof *tables; i++)
        if (dimension_equal(d, tables[i].dimension))
            return tables[i].scales;
    return NULL;
}

static double in_scale(double value, const struct scale *scale)
{
    return value * scale->per_unit / scale->unit;
}

/* The largest unit in which the value, rounded to four digits, is at least one; the smallest one
 * for tiny values, the base unit for zero. */
static const struct scale *fitting(const struct scale *scales, double value)
{
    if (value == 0) {
        while (scales->per_unit != 1 || scales->unit != 1)
            scales++;
        return scales;
    }
    while (fabs(in_scale(value, scales)) < 0.99995 && scales[1].name)
        scales++;
    return scales;
}

static double power_of_ten(int exponent)
{
    return exponent < 0 ? 1 / number_tens[-exponent] : number_tens[exponent];
}

/* Decimals after the point that show `digits` significant digits of value, at least 0. */
static int decimals_for(double value, int digits)
{
    double size = fabs(value);
    if (size == 0)
        return 0;
    int exponent = 0;
    while (exponent < 9 && size >= power_of_ten(exponent + 1))
        exponent++;
    while (exponent > -9 && size < power_of_ten(exponent))
        exponent--;
    /* Rounding may carry it into the next power of ten. */
    if (exponent == 9 || exponent == -9 || size > 0.9 * power_of_ten(exponent + 1)) {
        char form[40];
        format_number(form, sizeof form, "%.*e", digits - 1, size);
        const char *e = strchr(form, 'e');
        if (!e || sscanf(e + 1, "%d", &exponent) != 1)
            return 0;
    }
    int decimals = digits - 1 - exponent;
    return decimals > 0 ? decimals : 0;
}

static bool needs_exponent(double value)
{
    double size = fabs(value);
    return size != 0 && (size >= 1e7 || size < 1e-4);
}

static void add_fixed(struct text *text, double value, int decimals, bool exponent)
{
    char digits[40];
    if (exponent) {
        format_number(digits, sizeof digits, "%.*e", DIGITS - 1, value);
        text_add(text, digits);
        return;
    }
    size_t before = text->length;
    number_add_fixed(text, value, decimals);
    if (text->failed || text->data[before] != '-')
        return;
    size_t rest = text->length - before - 1;
    if (strspn(text->data + before + 1, "0.") == rest) { /* no "-0.00" */
        memmove(text->data + before, text->data + before + 1, rest + 1);
        text->length--;
    }
}

/* Four digits; an exact value goes without trailing zeros ("500", not "500.0"). */
static void add_digits(struct text *text, double value)
{
    if (value == rint(value) && fabs(value) < 1e7) {
        text_add_integer(text, (int64_t)value);
        return;
    }
    int decimals = decimals_for(value, DIGITS);
    if (!needs_exponent(value)) {
        double power = pow(10, decimals);
        if (fabs(rint(value * power) / power - value) <= fabs(value) * 1e-13)
            while (decimals > 0 && fabs(rint(value * power / 10) - value * power / 10) <=
                                       fabs(value * power) * 1e-13) {
                decimals--;
                power /= 10;
            }
    }
    add_fixed(text, value, decimals, needs_exponent(value));
}

static const char *plain_symbol(struct dimension d)
{
    return dimension_is_number(d) ? "" : dimension_symbol(d);
}

static void add_unit(struct text *text, const char *name)
{
    if (*name) {
        text_add_char(text, ' ');
        text_add(text, name);
    }
}

/* "64 MiB", "1536 KiB": whole multiples only. */
static bool add_binary_size(struct text *text, double value)
{
    for (const struct scale *scale = binary_scale; scale->name; scale++) {
        double count = value / scale->unit;
        if (count != 0 && count == rint(count) && fabs(count) < 1e4) {
            text_add_integer(text, (int64_t)count);
            add_unit(text, scale->name);
            return true;
        }
    }
    return false;
}

void quantity_add(struct text *text, double value, struct dimension dimension)
{
    const struct scale *scales = scale_table(dimension);
    if (scales == bytes_scale && add_binary_size(text, value))
        return;
    const struct scale *scale = scales ? fitting(scales, value) : NULL;
    add_digits(text, scale ? in_scale(value, scale) : value);
    add_unit(text, scale ? scale->name : plain_symbol(dimension));
}

/* The interval decides how many digits the estimate deserves: one digit of its half-width is shown,
 * and never more than four digits of the estimate. */
static int interval_decimals(double value, double low, double high)
{
    double half = (high - low) / 2;
    double largest = fmax(fabs(value), fmax(fabs(low), fabs(high)));
    int most = decimals_for(value != 0 ? value : largest, DIGITS);
    int wanted = half > 0 ? decimals_for(half, 1) : most;
    int least = decimals_for(value != 0 ? value : largest, 2);
    if (wanted < least)
        wanted = least;
    return wanted < most ? wanted : most;
}

void quantity_add_interval(struct text *text, double value, double low, double high,
                           struct dimension dimension)
{
    const struct scale *scales = scale_table(dimension);
    const struct scale *scale = scales ? fitting(scales, value != 0 ? value : high) : NULL;
    if (scale) {
        value = in_scale(value, scale);
        low = in_scale(low, scale);
        high = in_scale(high, scale);
    }
    int decimals = interval_decimals(value, low, high);
    bool exponent = needs_exponent(value != 0 ? value : high);
    add_fixed(text, value, decimals, exponent);
    add_unit(text, scale ? scale->name : plain_symbol(dimension));
    text_add(text, " [");
    add_fixed(text, low, decimals, exponent);
    text_add(text, ", ");
    add_fixed(text, high, decimals, exponent);
    text_add_char(text, ']');
}

/* The largest unit of a family that divides the size. */
static int64_t exact_unit(int64_t bytes, int64_t base, size_t *step)
{
    for (*step = 0; bytes != 0 && *step < 6 && bytes % base == 0; ++*step)
        bytes /= base;
    return bytes;
}

void quantity_add_exact_bytes(struct text *text, int64_t bytes)
{
    static const char *const binary[] = {"B", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB"};
    static const char *const decimal[] = {"B", "kB", "MB", "GB", "TB", "PB", "EB"};
    size_t twos, tens;
    int64_t by_two = exact_unit(bytes, 1024, &twos), by_ten = exact_unit(bytes, 1000, &tens);
    if (by_two >= 1024 && by_ten < by_two)
        text_addf(text, "%lld%s", (long long)by_ten, decimal[tens]);
    else
        text_addf(text, "%lld%s", (long long)by_two, binary[twos]);
}
