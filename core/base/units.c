/* SPDX-License-Identifier: MIT */
/* Dimensions, and parsing of units and quantities. */
#include "base/units.h"

#include <math.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

bool dimension_equal(struct dimension a, struct dimension b)
{
    return a.bytes == b.bytes && a.seconds == b.seconds && a.flops == b.flops &&
           a.items == b.items && a.degrees == b.degrees && a.watts == b.watts;
}

bool dimension_is_number(struct dimension d)
{
    return dimension_equal(d, (struct dimension){0});
}

static int8_t clamped(int exponent)
{
    return (int8_t)(exponent > 127 ? 127 : exponent < -127 ? -127 : exponent);
}

static struct dimension dimension_combine(struct dimension a, struct dimension b, int sign)
{
    return (struct dimension){
        .bytes = clamped(a.bytes + sign * b.bytes),
        .seconds = clamped(a.seconds + sign * b.seconds),
        .flops = clamped(a.flops + sign * b.flops),
        .items = clamped(a.items + sign * b.items),
        .degrees = clamped(a.degrees + sign * b.degrees),
        .watts = clamped(a.watts + sign * b.watts),
    };
}

struct dimension dimension_product(struct dimension a, struct dimension b)
{
    return dimension_combine(a, b, 1);
}

struct dimension dimension_quotient(struct dimension a, struct dimension b)
{
    return dimension_combine(a, b, -1);
}

/* A message may name several dimensions at once: the buffers of a thread are used in turn. */
#define WORDS_BYTES 96
static char *words_buffer(void)
{
    static _Thread_local char buffers[4][WORDS_BYTES];
    static _Thread_local unsigned next;
    char *buffer = buffers[next++ % 4];
    buffer[0] = '\0';
    return buffer;
}

static void append(char *buffer, const char *more)
{
    size_t used = strlen(buffer), count = strnlen(more, WORDS_BYTES - 1 - used);
    memcpy(buffer + used, more, count);
    buffer[used + count] = '\0';
}

static void append_power(char *buffer, const char *separator, const char *symbol, int exponent)
{
    append(buffer, separator);
    append(buffer, symbol);
    if (exponent != 1) {
        char power[16];
        snprintf(power, sizeof power, "^%d", exponent);
        append(buffer, power);
    }
}

const char *dimension_symbol(struct dimension d)
{
    const int exponents[] = {d.bytes, d.flops, d.items, d.degrees, d.watts, d.seconds};
    static const char *const symbols[] = {"B", "flop", "item", "degC", "W", "s"};
    char *buffer = words_buffer();
    for (size_t i = 0; i < 6; i++)
        if (exponents[i] > 0)
            append_power(buffer, buffer[0] ? "*" : "", symbols[i], exponents[i]);
    if (!buffer[0])
        append(buffer, "1");
    for (size_t i = 0; i < 6; i++)
        if (exponents[i] < 0)
            append_power(buffer, "/", symbols[i], -exponents[i]);
    return buffer;
}

const char *dimension_words(struct dimension d)
{
    static const struct {
        struct dimension dimension;
        const char *words;
    } known[] = {
        {{0}, "a number"},
        {{.bytes = 1}, "a size"},
        {{.seconds = 1}, "a time"},
        {{.bytes = 1, .seconds = -1}, "a rate (bytes per second)"},
        {{.flops = 1}, "an amount of arithmetic"},
        {{.flops = 1, .seconds = -1}, "an arithmetic rate"},
        {{.items = 1}, "a number of items"},
        {{.items = 1, .seconds = -1}, "a rate (items per second)"},
        {{.seconds = -1}, "a frequency"},
        {{.degrees = 1}, "a temperature"},
        {{.watts = 1}, "a power"},
        {{.watts = 1, .seconds = 1}, "an energy"},
    };
    for (size_t i = 0; i < sizeof known / sizeof *known; i++)
        if (dimension_equal(d, known[i].dimension))
            return known[i].words;
    return dimension_symbol(d);
}

enum prefixes {
    PREFIX_NONE = 0,
    PREFIX_UP = 1,     /* k, M, G, T, P, E */
    PREFIX_BINARY = 2, /* Ki, Mi, Gi, Ti, Pi, Ei */
    PREFIX_DOWN = 4,   /* m, u, n, p */
};

struct symbol {
    const char *name;
    struct unit unit;
    unsigned prefixes;
    bool only_in_rates; /* "elements" alone is a label */
};

#define COUNTED(name)                                                                              \
    {                                                                                              \
        name, {{.items = 1}, 1}, PREFIX_UP, true                                                   \
    }
static const struct symbol symbols[] = {
    {"B", {{.bytes = 1}, 1}, PREFIX_UP | PREFIX_BINARY, false},
    {"bit", {{.bytes = 1}, 0.125}, PREFIX_UP | PREFIX_BINARY, false},
    {"s", {{.seconds = 1}, 1}, PREFIX_DOWN, false},
    {"min", {{.seconds = 1}, 60}, PREFIX_NONE, false},
    {"h", {{.seconds = 1}, 3600}, PREFIX_NONE, false},
    {"flop", {{.flops = 1}, 1}, PREFIX_UP, false},
    {"FLOP", {{.flops = 1}, 1}, PREFIX_UP, false},
    {"Hz", {{.seconds = -1}, 1}, PREFIX_UP, false},
    {"W", {{.watts = 1}, 1}, PREFIX_UP | PREFIX_DOWN, false},
    {"J", {{.watts = 1, .seconds = 1}, 1}, PREFIX_UP | PREFIX_DOWN, false},
    {"degC", {{.degrees = 1}, 1}, PREFIX_NONE, false},
    {"\xC2\xB0"
     "C",
     {{.degrees = 1}, 1},
     PREFIX_NONE,
     false},
    {"%", {{0}, 0.01}, PREFIX_NONE, false},
    {"1", {{0}, 1}, PREFIX_NONE, false},
    {"item", {{.items = 1}, 1}, PREFIX_UP, false},
    {"items", {{.items = 1}, 1}, PREFIX_UP, false},
    COUNTED("req"),
    COUNTED("request"),
    COUNTED("requests"),
    COUNTED("element"),
    COUNTED("elements"),
    COUNTED("image"),
    COUNTED("images"),
    COUNTED("batch"),
    COUNTED("batches"),
    COUNTED("frame"),
    COUNTED("frames"),
    COUNTED("token"),
    COUNTED("tokens"),
    COUNTED("query"),
    COUNTED("queries"),
    COUNTED("sample"),
    COUNTED("samples"),
};

static const struct prefix {
    const char *name;
    double scale;
    unsigned kind;
} prefix_table[] = {
    {"", 1, PREFIX_UP | PREFIX_BINARY | PREFIX_DOWN},
    {"k", 1e3, PREFIX_UP},
    {"K", 1e3, PREFIX_UP}, /* KB is 1000 B too: KiB is the only 1024 */
    {"M", 1e6, PREFIX_UP},
    {"G", 1e9, PREFIX_UP},
    {"T", 1e12, PREFIX_UP},
    {"P", 1e15, PREFIX_UP},
    {"E", 1e18, PREFIX_UP},
    {"Ki", 0x1p10, PREFIX_BINARY},
    {"Mi", 0x1p20, PREFIX_BINARY},
    {"Gi", 0x1p30, PREFIX_BINARY},
    {"Ti", 0x1p40, PREFIX_BINARY},
    {"Pi", 0x1p50, PREFIX_BINARY},
    {"Ei", 0x1p60, PREFIX_BINARY},
    {"m", 1e-3, PREFIX_DOWN},
    {"u", 1e-6, PREFIX_DOWN},
    {"\xC2\xB5", 1e-6, PREFIX_DOWN}, /* micro sign */
    {"\xCE\xBC", 1e-6, PREFIX_DOWN}, /* Greek mu */
    {"n", 1e-9, PREFIX_DOWN},
    {"p", 1e-12, PREFIX_DOWN},
};
#define SYMBOL_COUNT (sizeof symbols / sizeof *symbols)
#define PREFIX_COUNT (sizeof prefix_table / sizeof *prefix_table)

static bool atom_parse(const char *name, size_t length, bool in_rate, struct unit *unit)
{
    for (size_t i = 0; i < SYMBOL_COUNT; i++) {
        const struct symbol *symbol = &symbols[i];
        size_t tail = strlen(symbol->name);
        if (length == 0 || name[length - 1] != symbol->name[tail - 1] || tail > length ||
            (symbol->only_in_rates && !in_rate) ||
            memcmp(name + length - tail, symbol->name, tail) != 0)
            continue;
        for (size_t p = 0; p < PREFIX_COUNT; p++) {
            const struct prefix *prefix = &prefix_table[p];
            if (p > 0 && !(prefix->kind & symbol->prefixes))
                continue;
            if (strlen(prefix->name) != length - tail ||
                memcmp(name, prefix->name, length - tail) != 0)
                continue;
            *unit = symbol->unit;
            unit->scale *= prefix->scale;
            return true;
        }
    }
    return false;
}

/* "B", "ms", "s^2" */
static bool factor_parse(const char **at, bool in_rate, struct unit *unit)
{
    size_t length = strcspn(*at, "*/^ \t");
    struct unit atom;
    if (!atom_parse(*at, length, in_rate, &atom))
        return false;
    *at += length;
    int power = 1;
    if (**at == '^') {
        ++*at;
        for (power = 0; **at >= '0' && **at <= '9' && power < 100; ++*at)
            power = power * 10 + (**at - '0');
        if (power < 1 || power > 127)
            return false;
    }
    *unit = (struct unit){.scale = 1};
    for (int i = 0; i < power; i++) {
        unit->dimension = dimension_product(unit->dimension, atom.dimension);
        unit->scale *= atom.scale;
    }
    return true;
}

static bool parse(const char *text, struct unit *unit)
{
    bool in_rate = strchr(text, '/') != NULL;
    const char *at = text;
    if (!factor_parse(&at, in_rate, unit))
        return false;
    while (*at == '*' || *at == '/') {
        char joined_by = *at++;
        struct unit factor;
        if (!factor_parse(&at, in_rate, &factor))
            return false;
        if (joined_by == '*') {
            unit->dimension = dimension_product(unit->dimension, factor.dimension);
            unit->scale *= factor.scale;
        } else {
            unit->dimension = dimension_quotient(unit->dimension, factor.dimension);
            unit->scale /= factor.scale;
        }
    }
    return *at == '\0';
}

static const char *nearest_unit(const char *text)
{
    static const char *const usual[] = {
        "B",       "kB",      "MB",      "GB",     "TB",     "KiB",   "MiB",      "GiB",
        "TiB",     "PiB",     "EiB",     "B/s",    "kB/s",   "MB/s",  "GB/s",     "TB/s",
        "MiB/s",   "GiB/s",   "bit/s",   "Mbit/s", "Gbit/s", "s",     "ms",       "us",
        "ns",      "min",     "h",       "FLOP",   "MFLOP",  "GFLOP", "TFLOP",    "FLOP/s",
        "GFLOP/s", "TFLOP/s", "PFLOP/s", "item",   "item/s", "req/s", "images/s", "degC",
        "W",       "mW",      "J",       "%",      "Hz",     "kHz",   "MHz",      "GHz",
    };
    /* What people write who mix letters up: FLOPS is a rate or a plural, b a bit or a byte. */
    static const char *const mistaken[][2] = {
        {"FLOPS", "FLOP/s"}, {"GFLOPS", "GFLOP/s"}, {"TFLOPS", "TFLOP/s"}, {"sec", "s"},
        {"Gb", "Gbit"},      {"Gbps", "Gbit/s"},    {"Mbps", "Mbit/s"},    {"Gb/s", "Gbit/s"},
        {"Mb/s", "Mbit/s"},  {"percent", "%"},      {"C", "degC"},         {"bytes", "B"},
        {"seconds", "s"},    {"msec", "ms"},        {"usec", "us"},        {"watts", "W"},
        {"byte", "B"},
    };
    for (size_t i = 0; i < sizeof mistaken / sizeof *mistaken; i++)
        if (strcmp(text, mistaken[i][0]) == 0)
            return mistaken[i][1];
    for (size_t i = 0; i < sizeof usual / sizeof *usual; i++)
        if (strcasecmp(text, usual[i]) == 0)
            return usual[i];
    return text_nearest(text, usual, sizeof usual / sizeof *usual);
}

bool unit_parse(const char *text, struct unit *unit, struct assay_error *error)
{
    if (parse(text, unit))
        return true;
    const char *nearest = nearest_unit(text);
    if (nearest)
        return assay_fail(error, ASSAY_INVALID, "'%s' is no unit; did you mean '%s'?", text,
                          nearest);
    return assay_fail(
        error, ASSAY_INVALID,
        "'%s' is no unit; units are B, bit, s, FLOP, item, Hz, degC, W, %% with their "
        "prefixes (kB, KiB, ms) and quotients (GB/s, req/s)",
        text);
}

struct unit unit_of_label(const char *text)
{
    struct unit unit;
    if (text && parse(text, &unit))
        return unit;
    return (struct unit){.scale = 1};
}

bool quantity_parse(const char *text, struct quantity *quantity, struct assay_error *error)
{
    const char *at;
    double number;
    if (!number_parse(text, &at, &number))
        return assay_fail(error, ASSAY_INVALID,
                          "'%s' is no quantity; a number and a unit are wanted, as in \"64 MiB\"",
                          text);
    while (*at == ' ' || *at == '\t')
        at++;
    size_t length = strlen(at);
    while (length > 0 && (at[length - 1] == ' ' || at[length - 1] == '\t'))
        length--;
    struct unit unit = {.scale = 1};
    char name[64];
    if (*at == ',')
        return assay_fail(error, ASSAY_INVALID,
                          "'%s' is no quantity; the decimal mark is a point, as in \"1.5 ms\"",
                          text);
    if (length >= sizeof name)
        return assay_fail(error, ASSAY_INVALID, "'%s' has no unit that is known", text);
    memcpy(name, at, length);
    name[length] = '\0';
    if (length > 0 && !unit_parse(name, &unit, error))
        return false;
    /* 1.5 ms is 1.5 / 1000 correctly rounded; 1.5 * 0.001 would be off by a bit. */
    double value = unit.scale < 1 && unit.scale > 0 && rint(1 / unit.scale) * unit.scale == 1
                       ? number / rint(1 / unit.scale)
                       : number * unit.scale;
    if (!isfinite(value))
        return assay_fail(error, ASSAY_INVALID, "'%s' is too large for a number", text);
    *quantity = (struct quantity){value, unit.dimension};
    return true;
}
