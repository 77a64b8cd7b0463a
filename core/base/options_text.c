/* SPDX-License-Identifier: MIT */
/* Values as texts that parse back. */
#include "base/options_private.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Units for printing, from large to small. */
static const char *const *unit_names(struct dimension d)
{
    static const char *const times[] = {"s", "ms", "us", "ns", NULL};
    static const char *const rates[] = {"TB/s", "GB/s", "MB/s", "kB/s", "B/s", NULL};
    static const char *const flops[] = {"PFLOP", "TFLOP", "GFLOP", "MFLOP", "kFLOP", "FLOP", NULL};
    static const char *const flop_rates[] = {"PFLOP/s", "TFLOP/s", "GFLOP/s", "MFLOP/s",
                                             "kFLOP/s", "FLOP/s",  NULL};
    static const char *const frequencies[] = {"GHz", "MHz", "kHz", "Hz", NULL};
    static const struct {
        struct dimension dimension;
        const char *const *names;
    } table[] = {
        {{.seconds = 1}, times},        {{.bytes = 1, .seconds = -1}, rates},
        {{.flops = 1}, flops},          {{.flops = 1, .seconds = -1}, flop_rates},
        {{.seconds = -1}, frequencies},
    };
    for (size_t i = 0; i < sizeof table / sizeof *table; i++)
        if (dimension_equal(d, table[i].dimension))
            return table[i].names;
    return NULL;
}

static void add_number(struct text *text, const struct option_value *value)
{
    if (value->kind == ASSAY_OPTION_INTEGER)
        text_add_integer(text, value->as.integer);
    else
        number_add(text, value->as.real);
}

/* "1.5ms" when that is short and reads back to the same value. */
static bool add_in_unit(struct text *text, const struct assay_option *option,
                        const struct option_value *value, const char *name, bool spaced)
{
    struct unit own = unit_of_label(option->unit), other = unit_of_label(name);
    double stored = value->kind == ASSAY_OPTION_INTEGER ? (double)value->as.integer
                                                        : value->as.real;
    double number = stored * (own.scale / other.scale);
    double thousandths = rint(number * 1000) / 1000; /* a scale below one costs the last bit */
    if (fabs(thousandths - number) <= fabs(number) * 2e-15)
        number = thousandths;
    if (fabs(number) < 1)
        return false;
    struct text form = {0};
    number_add(&form, number);
    bool good = form.length <= 12;
    text_addf(&form, "%s%s", spaced ? " " : "", name);
    struct option_value back;
    good = good && !form.failed && option_read_number(option, text_string(&form), &back, NULL) &&
           option_value_equal(&back, value);
    if (good)
        text_add(text, text_string(&form));
    text_free(&form);
    return good;
}

static void add_value(struct text *text, const struct assay_option *option,
                      const struct option_value *value, bool spaced)
{
    struct dimension dimension = unit_of_label(option->unit).dimension;
    const char *const *names = unit_names(dimension);
    for (; names && *names; names++)
        if (add_in_unit(text, option, value, *names, spaced))
            return;
    add_number(text, value);
    /* Labels ("elements", "depth") are left out: a bare number means the same. */
    if (!dimension_is_number(dimension))
        text_addf(text, "%s%s", spaced ? " " : "", option->unit);
}

static bool is_bytes(const struct assay_option *option)
{
    struct unit unit = unit_of_label(option->unit);
    return dimension_equal(unit.dimension, (struct dimension){.bytes = 1}) && unit.scale == 1;
}

void option_add_integer(struct text *text, const struct assay_option *option, int64_t value,
                        bool spaced)
{
    if (!is_bytes(option)) {
        add_value(text, option,
                  &(struct option_value){.kind = ASSAY_OPTION_INTEGER, .as.integer = value},
                  spaced);
        return;
    }
    struct text form = {0};
    quantity_add_exact_bytes(&form, value);
    const char *whole = text_string(&form);
    size_t digits = strspn(whole, "-0123456789");
    text_add_bytes(text, whole, digits);
    text_addf(text, "%s%s", spaced ? " " : "", whole + digits);
    text->failed |= form.failed;
    text_free(&form);
}

void option_add_real(struct text *text, const struct assay_option *option, double value,
                     bool spaced)
{
    add_value(text, option, &(struct option_value){.kind = ASSAY_OPTION_REAL, .as.real = value},
              spaced);
}

void option_value_add(struct text *text, const struct assay_option *option,
                      const struct option_value *value)
{
    switch (option->kind) {
    case ASSAY_OPTION_INTEGER:
        option_add_integer(text, option, value->as.integer, false);
        return;
    case ASSAY_OPTION_REAL:
        option_add_real(text, option, value->as.real, false);
        return;
    case ASSAY_OPTION_BOOLEAN:
        text_add(text, value->as.boolean ? "true" : "false");
        return;
    case ASSAY_OPTION_CHOICE:
        text_add(text, option->choices[value->as.choice]);
        return;
    case ASSAY_OPTION_TEXT:
    case ASSAY_OPTION_SOURCE:
        text_add(text, value->as.text);
        return;
    }
}
