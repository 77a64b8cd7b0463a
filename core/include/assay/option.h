/* SPDX-License-Identifier: MIT */
/* Parameters as a typed table: one row drives parsing, help, range errors, the case's id and the
 * record. Constant data: everything is valid and unchanged until the process ends. Read by any
 * thread. */
#ifndef ASSAY_OPTION_H
#define ASSAY_OPTION_H

#include <assay/api.h>

ASSAY_BEGIN_DECLARATIONS

/* What a value is, and how the params struct holds it. */
enum assay_option_kind {
    ASSAY_OPTION_INTEGER, /* int64_t in the params struct */
    ASSAY_OPTION_REAL,    /* double, finite */
    ASSAY_OPTION_BOOLEAN, /* bool */
    ASSAY_OPTION_CHOICE,  /* int: the index in `choices` */
    ASSAY_OPTION_TEXT,    /* const char *: owned by the core, valid as long as the slot */
    ASSAY_OPTION_SOURCE,  /* const char *: name of a GLSL (or SPIR-V) file, searched beside the
                             script, beside the plugin's file, then in shaders/ */
};

/* Bits of `flags`. */
enum assay_option_flags {
    ASSAY_OPTION_ITEMS =
        1 << 0, /* this parameter is the number of items in a batch; at most one a workload */
};

/* One parameter; constant, with all it points to. */
struct assay_option {
    size_t size;                 /* sizeof(struct assay_option) */
    const char *name;            /* a Lua identifier, unique in the workload */
    enum assay_option_kind kind; /* decides which of the others count */
    size_t offset;               /* of the member in the params struct, in bytes */
    const char *
        unit; /* of the stored number: "B", "ns", "flop", "B/s"; a word that is no unit ("elements",
                 "depth") is a label and the number dimensionless; NULL for kinds without one */
    const char *fallback; /* the default, as a user would write it: "64 MiB" */
    int64_t min, max;     /* INTEGER: allowed range, inclusive, in `unit`; max 0 means INT64_MAX */
    double real_min, real_max;  /* REAL: the same, in `unit`; both 0 means unlimited */
    const char *const *choices; /* CHOICE: NULL-terminated */
    const char *help;           /* one line */
    unsigned flags;             /* bits of enum assay_option_flags */
};

ASSAY_END_DECLARATIONS

#endif
