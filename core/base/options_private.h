/* SPDX-License-Identifier: MIT */
/* What the options_*.c files share. */
#ifndef BASE_OPTIONS_PRIVATE_H
#define BASE_OPTIONS_PRIVATE_H

#include "base/options.h"

/* INTEGER and REAL: the value without its range check. */
bool option_read_number(const struct assay_option *option, const char *text,
                        struct option_value *value, struct assay_error *error);
/* The number in the option's unit, exact: "64MiB", "1.5ms"; with a space between for messages. */
void option_add_integer(struct text *text, const struct assay_option *option, int64_t value,
                        bool spaced);
void option_add_real(struct text *text, const struct assay_option *option, double value,
                     bool spaced);

#endif
