/* SPDX-License-Identifier: MIT */
/* What a file of thresholds says by itself: devices, and the bounds for what runs on them. Inside
 * core/judge only. */
#ifndef JUDGE_THRESHOLD_FILE_H
#define JUDGE_THRESHOLD_FILE_H

#include "base/data.h"
#include "judge/judge.h"

struct threshold_setting { /* of `where` */
    const char *name;
    const struct data *value;
};

struct threshold {
    int line;
    const char *experiment, *workload, *metric; /* patterns, but the metric; NULL: any */
    struct threshold_setting *where;
    size_t where_count;
    enum bound_kind kind; /* AT_LEAST, AT_MOST or NEAR */
    struct quantity value;
    double tolerance;
    const char *text; /* the limit as written */
    bool judged;      /* a case */
};

struct threshold_entry {
    int line;
    const char *uuid, *name, *driver; /* patterns; NULL: any */
    struct threshold *bounds;
    size_t bound_count;
    bool met; /* a device that it fits */
};

struct threshold_file {
    struct arena *arena; /* of all that follows */
    const char *path;
    char hash[HASH_HEX_BYTES];
    struct threshold_entry *entries;
    size_t entry_count;
};
/* ASSAY_SCRIPT, "FILE:LINE: what is wrong", for keys that are not known and values that make no
 * sense; ASSAY_INVALID: no such file. To be freed in either case. */
bool threshold_file_read(struct threshold_file *self, const char *path, struct assay_error *error);
void threshold_file_free(struct threshold_file *self);
/* False, and fails with "FILE:LINE: ...". */
bool threshold_file_wrong(const struct threshold_file *self, int line, struct assay_error *error,
                          const char *format, ...) ASSAY_PRINTF(4, 5);

#endif
