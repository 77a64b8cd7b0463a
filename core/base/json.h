/* SPDX-License-Identifier: MIT */
/* Thin helpers on jansson. It refuses NaN, Inf and invalid UTF-8, which is wanted: give a status
 * instead. */
#ifndef BASE_JSON_H
#define BASE_JSON_H

#include "base/error.h"
#include "base/text.h"

#include <jansson.h>

/* One line, no newline, integers exact, reals with up to 17 digits. sorted: canonical key order
 * (for ids). False on out of memory or an unprintable tree. */
bool json_add_line(struct text *text, const json_t *json, bool sorted, struct assay_error *error);
/* The same for a string of valid UTF-8, in quotes, and for a finite number: for records that are
 * written often. */
void json_add_string(struct text *text, const char *bytes, size_t count);
void json_add_real(struct text *text, double value);
/* Parses one line that holds an object or an array, strictly (RFC 8259; no character 0 in strings,
 * integers of at most 64 bits, at most 256 deep); ASSAY_SYSTEM with position on failure. New
 * reference. */
json_t *json_read(const char *data, size_t length, const char *what, struct assay_error *error);
/* The same of any value. */
json_t *json_read_value(const char *data, size_t length, const char *what,
                        struct assay_error *error);
/* Members with a default; a member of the wrong type counts as absent. */
const char *json_text(const json_t *object, const char *key, const char *fallback);
int64_t json_whole(const json_t *object, const char *key, int64_t fallback);
double json_number(const json_t *object, const char *key, double fallback);
bool json_flag(const json_t *object, const char *key, bool fallback);
/* json_string of a text that may hold anything (text_add_clean first). New reference. */
json_t *json_clean_string(const char *text);

#endif
