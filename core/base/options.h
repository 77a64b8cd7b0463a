/* SPDX-License-Identifier: MIT */
/* Values of typed parameters (assay/option.h): parsing, ranges, JSON, storage in a params struct.
 * Both sides use it: the worker on the plugin's own table, the supervisor on the copy it got as
 * JSON. */
#ifndef BASE_OPTIONS_H
#define BASE_OPTIONS_H

#include <assay/option.h>

#include "base/units.h"

#include <jansson.h>

struct option_value {
    enum assay_option_kind kind;
    union {
        int64_t integer;
        double real;
        bool boolean;
        int choice;
        const char *text; /* owned by the arena given to the function that made the value */
    } as;
};

/* Of the member of a params struct that holds one; 0: no such kind. */
size_t option_bytes(enum assay_option_kind kind);
size_t option_count(const struct assay_option *const *options);
/* Index of the option, or -1. */
int option_find(const struct assay_option *const *options, const char *name);
/* ASSAY_INVALID: "'copy' has no parameter 'byts'; did you mean 'bytes'? It has direction,
 * host_memory, ... and chunk". */
bool option_unknown(const struct assay_option *const *options, const char *owner, const char *name,
                    struct assay_error *error);

/* From what a user wrote. Errors are ASSAY_INVALID and complete: "bytes: 2 GB/s is a rate (bytes
 * per second), but a size is wanted", "bytes: 0 B is out of range, allowed are 1 B to 8 PiB",
 * "direction: 'sideways' is none of upload, download, ...; did you mean ...". A whole number is
 * wanted for INTEGER: "1.5 B is not whole". Numbers without a unit are in `unit`. */
bool option_parse(const struct assay_option *option, const char *text, struct arena *arena,
                  struct option_value *value, struct assay_error *error);
bool option_from_number(const struct assay_option *option, double number,
                        struct option_value *value, struct assay_error *error);
bool option_from_integer(const struct assay_option *option, int64_t number,
                         struct option_value *value, struct assay_error *error);
bool option_from_quantity(const struct assay_option *option, struct quantity quantity,
                          struct option_value *value, struct assay_error *error);
bool option_from_boolean(const struct assay_option *option, bool given, struct option_value *value,
                         struct assay_error *error);
bool option_default(const struct assay_option *option, struct arena *arena,
                    struct option_value *value, struct assay_error *error);
bool option_value_equal(const struct option_value *a, const struct option_value *b);

/* JSON of a value: integers and reals in the option's unit, choices and texts as strings, booleans.
 * New reference. */
json_t *option_value_to_json(const struct assay_option *option, const struct option_value *value);
bool option_value_from_json(const struct assay_option *option, const json_t *json,
                            struct arena *arena, struct option_value *value,
                            struct assay_error *error);
/* For people and command lines: "64MiB", "upload", "1.5ms"; option_parse reads it back to the same
 * value. */
void option_value_add(struct text *text, const struct assay_option *option,
                      const struct option_value *value);

/* Writes the value at option->offset of a params struct, and reads it. */
void option_store(const struct assay_option *option, const struct option_value *value,
                  void *params);
void option_load(const struct assay_option *option, const void *params, struct option_value *value);

/* The table itself as JSON (array, in order) and back. The table and its strings live in the arena.
 */
json_t *option_table_to_json(const struct assay_option *const *options);
const struct assay_option *const *option_table_from_json(const json_t *json, struct arena *arena,
                                                         struct assay_error *error);

#endif
