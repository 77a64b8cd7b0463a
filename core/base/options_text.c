/* SPDX-License-Identifier: MIT */
/* Values as texts that parse back. */
#include "base/options_private.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

struct scale {
    const char *name; /* NULL: the end */
    double scale;
};

/* Units for printing, from large to small. */
static const struct scale *unit_scales(struct dimension d)
{
    static const struct scale times[] = {{"s", 1}, {"ms", 1e-3}, {"us", 1e-6}, {"ns", 1e-9}, {0}};
    static const struct scale rates[] = {{"TB/s", 1e12}, {"GB/s", 1e9}, {"MB/s", 1e6},
                                         {"kB/s", 1e3},  {"B/s", 1},    {0}};
    static const struct scale flops[] = {{"PFLOP", 1e15},
                                         {"TFLOP", 1e12},
                                         {"GFLOP", 1e9},
                                         {"MFLOP", 1e6},
                                         {"kFLOP", 1e3},
                                         {"FLOP", 1},
                                         {0}};
    static const struct scale flop_rates[] = {{"PFLOP/s", 1e15},
                                              {"TFLOP/s", 1e12},
                                              {"GFLOP/s", 1e9},
                                              {"MFLOP/s", 1e6},
                                              {"kFLOP/s", 1e3},
                                              {"FLOP/s", 1},
                                              {0}};
    static const struct scale frequencies[] = {
        {"GHz", 1e9}, {"MHz", 1e6}, {"kHz", 1e3}, {"Hz", 1}, {0}};
    static const struct {
        struct dimension dimension;
        const struct scale *scales;
    } table[] = {
        {{.seconds = 1}, times},        {{.bytes = 1, .seconds = -1}, rates},
        {{.flops = 1}, flops},          {{.flops = 1, .seconds = -1}, flop_rates},
        {{.seconds = -1}, frequencies},
    };
    for (size_t i = 0; i < sizeof table / sizeof *table; i++)
        if (dimension_equal(d, table[i].dimension))
            return table[i].scales;
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
                        const struct option_value *value, struct unit own,
                        const struct scale *other, bool spaced)
{
    double stored = value->kind == ASSAY_OPTION_INTEGER ? (double)value->as.integer
                                                        : value->as.real;
    double number = stored * (own.scale / other->scale);
    double thousandths = rint(number * 1000) / 1000; /* a scale below one costs the last bit */
    if (fabs(thousandths - number) <= fabs(number) * 2e-15)
        number = thousandths;
    if (fabs(number) < 1)
        return false;
    struct text form = {0};
    number_add(&form, number);
    bool good = form.length <= 12;
    text_add(&form, spaced ? " " : "");
    text_add(&form, other->name);
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
    struct unit own = unit_of_label(option->unit);
    struct dimension dimension = own.dimension;
    const struct scale *scales = unit_scales(dimension);
    for (; scales && scales->name; scales++)
        if (add_in_unit(text, option, value, own, scales, spaced))
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
    text_add(text, spaced ? " " : "");
    text_add(text, whole + digits);
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
