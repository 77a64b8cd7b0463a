/* SPDX-License-Identifier: MIT */
/* Data written as a Lua table of constants: `return { name = "x", { 1, 2.5, true } }`, with Lua's
 * comments. Nothing is run: texts, numbers, true, false and tables are all there is. Unlike a table
 * that Lua made, it knows its lines. */
#ifndef BASE_DATA_H
#define BASE_DATA_H

#include "base/error.h"
#include "base/text.h"

#define DATA_MAX_BYTES ((size_t)1 << 20)
#define DATA_MAX_DEPTH 16

enum data_kind { DATA_BOOLEAN, DATA_NUMBER, DATA_TEXT, DATA_TABLE };

struct data {
    enum data_kind kind;
    int line;
    const char *key; /* of a member of a table; NULL: an element of its list */
    bool boolean;
    double number;
    const char *text;   /* of a number: as it was written */
    struct data *first; /* of a table, in the order written */
    struct data *next;
    size_t count;
};

/* Everything belongs to the arena. `name` stands in front of messages: ASSAY_SCRIPT, "NAME:LINE:
 * what is wrong". */
const struct data *data_read(const char *source, size_t length, const char *name,
                             struct arena *arena, struct assay_error *error);
/* The member of a table, or NULL. */
const struct data *data_member(const struct data *table, const char *key);
/* "a text", "a number", "a table", "true or false". */
const char *data_kind_words(enum data_kind kind);

#endif
