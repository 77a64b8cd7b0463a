/* SPDX-License-Identifier: MIT */
/* Units and dimensions. Powers of ten and of two are never mixed: GB is 10^9 B, GiB 2^30 B; a bit
 * is an eighth of a byte. Base units: B, s, flop, item, degC, W; 1 for numbers. */
#ifndef BASE_UNITS_H
#define BASE_UNITS_H

#include "base/error.h"
#include "base/text.h"

/* Exponents of the base units. */
struct dimension {
    int8_t bytes, seconds, flops, items, degrees, watts;
};

struct unit {
    struct dimension dimension;
    double scale; /* value in base units = number * scale */
};

struct quantity {
    double value; /* in base units */
    struct dimension dimension;
};

bool dimension_equal(struct dimension a, struct dimension b);
bool dimension_is_number(struct dimension d);
struct dimension dimension_product(struct dimension a, struct dimension b);
struct dimension dimension_quotient(struct dimension a, struct dimension b);
/* In words for messages: "a size", "a time", "a rate (bytes per second)", "an arithmetic rate", "a
 * number", ...; composes for the rest ("B^2/s"). Valid until the fourth next call in this thread.
 */
const char *dimension_words(struct dimension d);
/* The base unit's symbol: "B", "s", "B/s", "flop/s", "item/s", "1", ... Same lifetime. */
const char *dimension_symbol(struct dimension d);

/* "GB/s", "MiB", "Gbit/s", "ms", "us", "ns", "req/s", "TFLOP/s", "GFLOP", "degC", "W", "%", "Hz",
 * "B", "1". `req`, `item`, `elements`, `images` and the like are items where they stand in a rate
 * ("40 req/s"). ASSAY_INVALID names the nearest unit. */
bool unit_parse(const char *text, struct unit *unit, struct assay_error *error);
/* The unit of a parameter's declaration: like unit_parse, but a word that is no unit is a label:
 * dimensionless, scale 1. Never fails. */
struct unit unit_of_label(const char *text);
/* "256 MiB", "1.5ms", "20 GB/s", "5 %", "64" (a number). Locale-independent; refuses NaN, Inf,
 * trailing text. */
bool quantity_parse(const char *text, struct quantity *quantity, struct assay_error *error);

/* Adds value with four significant digits and a fitting prefix: sizes as KiB, MiB, GiB when they
 * are whole multiples of a power of two, else decimal kB, MB; rates decimal; times s, ms, us, ns.
 * A value that needs fewer digits is printed with fewer ("500 MB/s").
 * "1.234 GB/s", "64 MiB", "12.50 us", "0.9812". */
void quantity_add(struct text *text, double value, struct dimension dimension);
/* The three numbers of an interval in one common unit: "1.21 GB/s [1.18, 1.23]". As many digits as
 * the interval deserves: one of its half-width, at least two and at most four of the value. */
void quantity_add_interval(struct text *text, double value, double low, double high,
                           struct dimension dimension);
/* A size in its shortest exact form: "64MiB", "1000B"; for records of parameters and commands. */
void quantity_add_exact_bytes(struct text *text, int64_t bytes);

/* Locale-independent number parsing and printing ("%.17g" shortened while it round-trips). */
bool number_parse(const char *text, const char **end, double *value);
void number_add(struct text *text, double value);
/* The same as "%.*f" of a finite number; decimals >= 0. */
void number_add_fixed(struct text *text, double value, int decimals);

#endif
