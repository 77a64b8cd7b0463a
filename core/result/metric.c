/* SPDX-License-Identifier: MIT */
#include "result/metric.h"

#include "base/json.h"
#include "result/record.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define NAME_LIMIT 240 /* a longer operand is left out of the expression: loops double it */

void metric_add(struct text *text, const struct metric *metric)
{
    if (metric->absent) {
        text_addf(text, "absent (%s)", metric->absent);
    } else if (metric->n == 0) {
        quantity_add(text, metric->value, metric->dimension);
    } else {
        quantity_add_interval(text, metric->value, metric->low, metric->high, metric->dimension);
        text_add(text, " n=");
        text_add_integer(text, (int64_t)metric->n);
    }
}

/* The operators of an expression that stand outside parentheses, as a set of characters. */
static bool holds_operator(const char *expression, const char *operators)
{
    int depth = 0;
    for (const char *c = expression; *c; c++)
        if (*c == '(')
            depth++;
        else if (*c == ')')
            depth--;
        else if (depth == 0 && c > expression && c[-1] == ' ' && c[1] == ' ' &&
                 strchr(operators, *c))
            return true;
    return false;
}

static void add_operand(struct text *text, const struct metric *operand, const char *weaker)
{
    struct text number = {0};
    const char *name = operand->name;
    if (!name) {
        quantity_add(&number, operand->value, operand->dimension);
        name = text_string(&number);
    }
    if (strlen(name) > NAME_LIMIT)
        text_add(text, "(...)");
    else
        text_addf(text, holds_operator(name, weaker) ? "(%s)" : "%s", name);
    text_free(&number);
}

static const char *expression(enum metric_operator by, const struct metric *a,
                              const struct metric *b, struct arena *arena)
{
    bool product = by == METRIC_MULTIPLY || by == METRIC_DIVIDE;
    const char *weaker_right = by == METRIC_ADD        ? ""
                               : by == METRIC_SUBTRACT ? "+-"
                               : by == METRIC_MULTIPLY ? "+-/"
                                                       : "+-*/";
    struct text text = {0};
    if (by == METRIC_LARGER) {
        text_add(&text, "max(");
        add_operand(&text, a, "");
        text_add(&text, ", ");
        add_operand(&text, b, "");
        text_add_char(&text, ')');
    } else {
        add_operand(&text, a, product ? "+-" : "");
        text_addf(&text, " %c ", (char)by);
        add_operand(&text, b, weaker_right);
    }
    const char *name = text.failed ? NULL : arena_copy(arena, text_string(&text));
    text_free(&text);
    return name;
}

static void multiply(const struct metric *a, const struct metric *b, struct metric *out)
{
    const double ends[] = {a->low * b->low, a->low * b->high, a->high * b->low, a->high * b->high};
    out->low = fmin(fmin(ends[0], ends[1]), fmin(ends[2], ends[3]));
    out->high = fmax(fmax(ends[0], ends[1]), fmax(ends[2], ends[3]));
    out->value = a->value * b->value;
}

static void divide(const struct metric *a, const struct metric *b, struct metric *out)
{
    if (b->low <= 0 && b->high >= 0) {
        out->absent = b->value == 0 && b->low == b->high ? "division by 0"
                                                         : "division by an interval that holds 0";
        return;
    }
    const double ends[] = {a->low / b->low, a->low / b->high, a->high / b->low, a->high / b->high};
    out->low = fmin(fmin(ends[0], ends[1]), fmin(ends[2], ends[3]));
    out->high = fmax(fmax(ends[0], ends[1]), fmax(ends[2], ends[3]));
    out->value = a->value / b->value;
}

void metric_compute(enum metric_operator by, const struct metric *a, const struct metric *b,
                    struct metric *out)
{
    switch (by) {
    case METRIC_ADD:
        out->value = a->value + b->value;
        out->low = a->low + b->low;
        out->high = a->high + b->high;
        break;
    case METRIC_SUBTRACT:
        out->value = a->value - b->value;
        out->low = a->low - b->high;
        out->high = a->high - b->low;
        break;
    case METRIC_MULTIPLY:
        multiply(a, b, out);
        break;
    case METRIC_DIVIDE:
        divide(a, b, out);
        break;
    case METRIC_LARGER:
        out->value = fmax(a->value, b->value);
        out->low = fmax(a->low, b->low);
        out->high = fmax(a->high, b->high);
        break;
    }
    if (out->absent)
        return;
    if (!isfinite(out->value) || !isfinite(out->low) || !isfinite(out->high)) {
        out->absent = "the result is not finite";
        return;
    }
    out->low = fmin(out->low, out->value); /* rounding may cross them by a bit */
    out->high = fmax(out->high, out->value);
}

static struct dimension combined_dimension(enum metric_operator by, const struct metric *a,
                                           const struct metric *b)
{
    if (by == METRIC_MULTIPLY)
        return dimension_product(a->dimension, b->dimension);
    if (by == METRIC_DIVIDE)
        return dimension_quotient(a->dimension, b->dimension);
    return a->absent ? b->dimension : a->dimension;
}

bool metric_combine(enum metric_operator by, const struct metric *a, const struct metric *b,
                    struct arena *arena, struct metric *out, struct assay_error *error)
{
    bool alike = by != METRIC_MULTIPLY && by != METRIC_DIVIDE;
    /* What is absent may have no known dimension; arithmetic with it stays absent. */
    if (alike && !a->absent && !b->absent && !dimension_equal(a->dimension, b->dimension))
        return assay_fail(error, ASSAY_INVALID, "%s and %s cannot be %s",
                          dimension_words(a->dimension), dimension_words(b->dimension),
                          by == METRIC_ADD        ? "added"
                          : by == METRIC_SUBTRACT ? "subtracted"
                                                  : "compared");
    struct metric result = {.dimension = combined_dimension(by, a, b),
                            .absent = a->absent ? a->absent : b->absent};
    result.n = a->n == 0 ? b->n : b->n == 0 || a->n < b->n ? a->n : b->n;
    result.name = expression(by, a, b, arena);
    if (!result.absent)
        metric_compute(by, a, b, &result);
    if (result.absent) {
        result.value = result.low = result.high = 0;
        result.absent = arena_copy(arena, result.absent);
        if (!result.absent)
            return assay_fail(error, ASSAY_OUT_OF_MEMORY, "no memory for a metric");
    }
    if (!result.name)
        return assay_fail(error, ASSAY_OUT_OF_MEMORY, "no memory for a metric");
    *out = result;
    return true;
}

struct metric_set {
    struct arena *arena;
    struct metric *metrics;
    size_t count, capacity;
};

struct metric_set *metric_set_create(void)
{
    struct metric_set *set = calloc(1, sizeof *set);
    if (!set)
        return NULL;
    set->arena = arena_create();
    if (!set->arena)
        metric_set_destroy(&set);
    return set;
}

void metric_set_destroy(struct metric_set **set)
{
    if (!set || !*set)
        return;
    arena_destroy(&(*set)->arena);
    free((*set)->metrics);
    free(*set);
    *set = NULL;
}

static bool grow(struct metric_set *set)
{
    if (set->count < set->capacity)
        return true;
    size_t capacity = set->capacity ? 2 * set->capacity : 32;
    struct metric *metrics = realloc(set->metrics, capacity * sizeof *metrics);
    if (!metrics)
        return false;
    set->metrics = metrics;
    set->capacity = capacity;
    return true;
}

bool metric_set_add(struct metric_set *set, const struct metric *metric, struct assay_error *error)
{
    for (size_t i = 0; i < set->count; i++)
        if (strcmp(set->metrics[i].name, metric->name) == 0)
            return assay_fail(error, ASSAY_INTERNAL, "metric '%s' is given twice", metric->name);
    struct metric copy = *metric;
    if (!copy.absent && !(isfinite(copy.value) && isfinite(copy.low) && isfinite(copy.high)))
        copy.absent = "the value is not finite";
    if (!copy.absent && !(copy.low <= copy.value && copy.value <= copy.high))
        return assay_fail(error, ASSAY_INTERNAL, "metric '%s' lies outside its interval",
                          metric->name);
    bool absent = copy.absent != NULL;
    copy.name = arena_copy(set->arena, copy.name);
    if (absent) {
        copy.absent = arena_copy(set->arena, copy.absent);
        copy.value = copy.low = copy.high = 0;
    }
    if (!copy.name || (absent && !copy.absent) || !grow(set))
        return assay_fail(error, ASSAY_OUT_OF_MEMORY, "no memory for a metric");
    set->metrics[set->count++] = copy;
    return true;
}

static void add_number(struct text *out, const char *member, double value)
{
    text_add(out, member);
    number_add(out, value);
}

void metric_set_add_json(const struct metric_set *set, struct text *out)
{
    text_add_char(out, '{');
    for (size_t i = 0; i < set->count; i++) {
        const struct metric *metric = &set->metrics[i];
        if (i > 0)
            text_add_char(out, ',');
        record_add_string(out, metric->name);
        text_add(out, ":{\"unit\":");
        record_add_string(out, dimension_symbol(metric->dimension));
        if (metric->absent) {
            text_add(out, ",\"absent\":");
            record_add_string(out, metric->absent);
        } else {
            add_number(out, ",\"value\":", metric->value);
            add_number(out, ",\"low\":", metric->low);
            add_number(out, ",\"high\":", metric->high);
            text_add(out, ",\"n\":");
            text_add_integer(out, (int64_t)metric->n);
        }
        text_add_char(out, '}');
    }
    text_add_char(out, '}');
}

void metric_from_json(const json_t *metrics, const char *name, struct metric *out)
{
    *out = (struct metric){.name = name, .absent = "there is no such metric"};
    const json_t *json = json_object_get(metrics, name);
    if (!json)
        return;
    /* jansson's iterators want a pointer to non-const and change nothing. */
    void *member = json_object_iter_at((json_t *)(uintptr_t)metrics, name);
    out->name = json_object_iter_key(member);
    struct unit unit = {.scale = 1};
    bool known = unit_parse(json_text(json, "unit", ""), &unit, NULL);
    out->dimension = unit.dimension;
    const char *absent = json_text(json, "absent", NULL);
    const json_t *value = json_object_get(json, "value");
    if (absent || !known || !json_is_number(value)) {
        out->absent = absent ? absent : "its record is damaged";
        return;
    }
    out->absent = NULL;
    out->value = json_number_value(value) * unit.scale;
    out->low = json_number(json, "low", json_number_value(value)) * unit.scale;
    out->high = json_number(json, "high", json_number_value(value)) * unit.scale;
    if (!(isfinite(out->value) && isfinite(out->low) && isfinite(out->high)))
        out->absent = "its record is damaged: it is too large for a number";
    else if (!(out->low <= out->value && out->value <= out->high))
        out->absent = "its record is damaged: it lies outside its interval";
    int64_t n = json_whole(json, "n", 0);
    out->n = n > 0 ? (size_t)n : 0;
}
