/* SPDX-License-Identifier: MIT */
/* A case record of which only the members that somebody asks for are parsed: a judgement of a
 * hundred thousand cases looks at a metric or two of each. */
#ifndef RESULT_LAZY_H
#define RESULT_LAZY_H

#include "result/metric.h"

struct lazy;
/* Of a line of a journal (an object), which is copied. NULL: no memory. */
struct lazy *lazy_create(const char *line, size_t length, struct assay_error *error);
/* Of a tree that is there already; takes a reference. */
struct lazy *lazy_create_tree(json_t *tree, struct assay_error *error);
void lazy_destroy(struct lazy **record);
/* A top-level member, or NULL when there is none, when it is damaged or when there is no memory.
 * Lives as long as the record. */
const json_t *lazy_member(struct lazy *record, const char *name);
/* A top-level member as it is written, or NULL: none, or `record` was made of a tree. */
const char *lazy_raw(struct lazy *record, const char *name, size_t *length);
const char *lazy_text(struct lazy *record, const char *name, const char *fallback);
bool lazy_has_metric(struct lazy *record, const char *name);
/* One of its "metrics", as metric_from_json has it; the others are not parsed. Its name is `name`,
 * why it is absent lives as long as the record. */
void lazy_metric(struct lazy *record, const char *name, struct metric *out);
/* The whole record: borrowed. NULL: it is damaged. */
json_t *lazy_tree(struct lazy *record);
/* The members named in the NULL-terminated list, as far as they are there, as a tree. New
 * reference. NULL: as lazy_check. */
json_t *lazy_part(struct lazy *record, const char *const *members, const char *what,
                  struct assay_error *error);
/* False when a member that was asked for could not be read: ASSAY_INVALID with the place in the
 * line of `what`. */
bool lazy_check(const struct lazy *record, const char *what, struct assay_error *error);

#endif
