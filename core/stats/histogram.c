/* SPDX-License-Identifier: MIT */
#include "stats/histogram.h"

#include "base/hash.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define BITS 7
#define PER_OCTAVE (1u << BITS)
#define BUCKETS ((63 - BITS + 1) * PER_OCTAVE) /* the first octave's place holds 0 ... 127 */
#define HASH_DIGITS 8

static const char layout[] = "log7";

struct histogram {
    uint64_t total;
    uint64_t counts[BUCKETS];
};

struct histogram *histogram_create(struct assay_error *error)
{
    struct histogram *histogram = calloc(1, sizeof *histogram);
    if (!histogram)
        assay_fail(error, ASSAY_OUT_OF_MEMORY, "out of memory for a histogram");
    return histogram;
}

void histogram_destroy(struct histogram **histogram)
{
    free(*histogram);
    *histogram = NULL;
}

void histogram_clear(struct histogram *histogram)
{
    *histogram = (struct histogram){0};
}

/* How many bits a value of the octave has over those that tell its buckets apart. */
static unsigned octave_shift(uint64_t value)
{
    return value < PER_OCTAVE ? 0 : 63 - BITS - (unsigned)__builtin_clzll(value);
}

static size_t bucket_of(uint64_t value)
{
    unsigned shift = octave_shift(value);
    return (size_t)(value < PER_OCTAVE ? 0 : shift * PER_OCTAVE) + (size_t)(value >> shift);
}

static void bucket_bounds(size_t bucket, int64_t *lowest, int64_t *highest)
{
    unsigned shift = bucket < 2 * PER_OCTAVE ? 0 : (unsigned)(bucket / PER_OCTAVE) - 1;
    uint64_t first = (uint64_t)(bucket - (size_t)shift * PER_OCTAVE) << shift;
    *lowest = (int64_t)first;
    *highest = (int64_t)(first + (UINT64_C(1) << shift) - 1);
}

bool histogram_add(struct histogram *histogram, int64_t value)
{
    if (value < 0 || histogram->total == UINT64_MAX)
        return false;
    histogram->counts[bucket_of((uint64_t)value)]++;
    histogram->total++;
    return true;
}

uint64_t histogram_count(const struct histogram *histogram)
{
    return histogram->total;
}

bool histogram_merge(struct histogram *into, const struct histogram *from)
{
    if (from->total > UINT64_MAX - into->total)
        return false;
    for (size_t i = 0; i < BUCKETS; i++)
        into->counts[i] += from->counts[i];
    into->total += from->total;
    return true;
}

void histogram_bucket(int64_t value, int64_t *lowest, int64_t *highest)
{
    bucket_bounds(bucket_of(value > 0 ? (uint64_t)value : 0), lowest, highest);
}

/* The bucket of the value of `rank`, from 1, at most the total. */
static size_t bucket_at(const struct histogram *histogram, uint64_t rank)
{
    uint64_t passed = 0;
    size_t i = 0;
    while (i < BUCKETS - 1 && rank - passed > histogram->counts[i])
        passed += histogram->counts[i++];
    return i;
}

bool histogram_quantile(const struct histogram *histogram, double q, struct interval *out)
{
    *out = (struct interval){0};
    if (histogram->total == 0)
        return false;
    double wanted = ceil(q * (double)histogram->total - 1e-9); /* 0.07 * 100 is over 7 */
    uint64_t rank = wanted >= (double)histogram->total ? histogram->total
                    : wanted >= 1                      ? (uint64_t)wanted
                                                       : 1;
    int64_t lowest, highest;
    bucket_bounds(bucket_at(histogram, rank), &lowest, &highest);
    *out = (struct interval){
        .estimate = (double)lowest + (double)(highest - lowest) / 2,
        .low = (double)lowest,
        .high = (double)highest,
    };
    return true;
}

bool histogram_quantile_interval(const struct histogram *histogram, double q, double confidence,
                                 struct interval *out)
{
    if (!histogram_quantile(histogram, q, out))
        return false;
    size_t low, high;
    int64_t lowest, highest, unused;
    bool covered = stats_quantile_ranks(histogram->total, q, confidence, &low, &high);
    bucket_bounds(bucket_at(histogram, (uint64_t)low + 1), &lowest, &unused);
    bucket_bounds(bucket_at(histogram, (uint64_t)high + 1), &unused, &highest);
    out->low = fmin(out->low, (double)lowest);
    out->high = fmax(out->high, (double)highest);
    return covered;
}

bool histogram_next(const struct histogram *histogram, size_t *at, int64_t *lowest,
                    int64_t *highest, uint64_t *count)
{
    while (*at < BUCKETS && histogram->counts[*at] == 0)
        ++*at;
    if (*at >= BUCKETS)
        return false;
    bucket_bounds(*at, lowest, highest);
    *count = histogram->counts[(*at)++];
    return true;
}

static void add_hash(struct text *text, const char *bytes, size_t count)
{
    char hex[HASH_HEX_BYTES];
    struct hash128 hash = hash_bytes(bytes, count);
    hash_hex(&hash, hex);
    text_add_bytes(text, hex, HASH_DIGITS);
}

void histogram_add_text(const struct histogram *histogram, struct text *text)
{
    size_t start = text->length, last = (size_t)-1;
    text_add(text, layout);
    for (size_t i = 0; i < BUCKETS; i++)
        if (histogram->counts[i] > 0) {
            text_addf(text, " %zu:%" PRIu64, i - last, histogram->counts[i]);
            last = i;
        }
    if (text->failed)
        return;
    struct text hash = {0};
    add_hash(&hash, text->data + start, text->length - start);
    text_add(text, " #");
    text_add(text, text_string(&hash));
    text->failed = text->failed || hash.failed;
    text_free(&hash);
}

/* A positive decimal number without leading zeros; moves `at` behind it. */
static bool read_number(const char **at, uint64_t *value)
{
    const char *p = *at;
    uint64_t number = 0;
    if (*p < '1' || *p > '9')
        return false;
    for (; *p >= '0' && *p <= '9'; p++) {
        uint64_t digit = (uint64_t)(*p - '0');
        if (number > (UINT64_MAX - digit) / 10)
            return false;
        number = number * 10 + digit;
    }
    *at = p;
    *value = number;
    return true;
}

/* " STEP:COUNT" pairs up to something else. */
static bool read_pairs(struct histogram *histogram, const char **at)
{
    size_t next = 0; /* bucket at step 1 */
    while ((*at)[0] == ' ' && (*at)[1] != '#') {
        const char *p = *at + 1;
        uint64_t step, count;
        if (!read_number(&p, &step) || *p++ != ':' || !read_number(&p, &count) ||
            step > BUCKETS - next || count > UINT64_MAX - histogram->total)
            return false;
        next += (size_t)step;
        histogram->counts[next - 1] = count;
        histogram->total += count;
        *at = p;
    }
    return true;
}

static bool read_hash(const char *text, const char *at)
{
    if (strncmp(at, " #", 2) != 0)
        return false;
    struct text hash = {0};
    add_hash(&hash, text, (size_t)(at - text));
    bool same = !hash.failed && strcmp(text_string(&hash), at + 2) == 0;
    text_free(&hash);
    return same;
}

bool histogram_read_text(struct histogram *histogram, const char *text, struct assay_error *error)
{
    histogram_clear(histogram);
    if (strncmp(text, layout, sizeof layout - 1) != 0)
        return assay_fail(error, ASSAY_INVALID,
                          "a histogram's text starts with \"%s\"; this one is damaged or from "
                          "another version",
                          layout);
    const char *at = text + sizeof layout - 1;
    bool good = read_pairs(histogram, &at) && read_hash(text, at);
    if (!good) {
        histogram_clear(histogram);
        return assay_fail(
            error, ASSAY_INVALID,
            "a histogram's text is damaged at character %zu: it holds \" STEP:COUNT\" "
            "pairs and ends in \" #\" and the hash of what is before",
            (size_t)(at - text) + 1);
    }
    return true;
}
