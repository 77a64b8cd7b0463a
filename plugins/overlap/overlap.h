/* SPDX-License-Identifier: MIT */
/* What the files of this plugin share: the parameters, the layout that follows from them, and one
 * slot. */
#ifndef OVERLAP_H
#define OVERLAP_H

#include <assay/assay.h>

#include <sys/types.h>

#define WORD_BYTES 4u
#define CHAINS 8u /* of the kernel, and STEPS */
#define STEPS 64u
#define PAGE_BYTES 4096u /* of what O_DIRECT reads: offset, length and address */

enum overlap_place { PLACE_DEVICE, PLACE_HOST };
enum overlap_source { SOURCE_MEMORY, SOURCE_FILES, SOURCE_FEED };
enum overlap_prepare {
    PREPARE_NONE,
    PREPARE_SELECT, /* the first `used` of the `fields` of each record */
    PREPARE_NARROW, /* fp32 to fp16 */
    PREPARE_BOTH,
    PREPARE_DECODE, /* a copy, and processor time that is stated */
};

/* Sizes are of one item. */
struct params {
    int64_t upload, flops, compute_time, download;
    int prepare;
    int64_t fields, used, decode_time;
    int source;
    int64_t file_count, file_bytes, readers;
    bool direct;
    double feed_rate;
    int64_t feed_latency;
    const char *directory;
    int host_memory;
    int64_t items;
    int compute_on;
};

/* Counts of a batch. */
struct layout {
    uint64_t records, record_words; /* of all records together: what the source delivers */
    uint64_t kept_words;            /* of them, those that prepare keeps */
    uint64_t sent_words;            /* 32-bit words that are uploaded */
    uint64_t download_words;
};
struct layout layout_of(const struct params *p);
bool prepare_selects(const struct params *p);
bool prepare_narrows(const struct params *p);

/* How the flops of a batch are spread: one invocation for each result. */
struct work {
    uint64_t working; /* results behind which there is arithmetic, the first ones */
    uint64_t rounds;  /* of each of them */
    uint64_t results; /* words */
};
struct work work_of(const struct layout *layout, uint64_t flops);
uint64_t work_flops(const struct work *work);

struct overlap {
    const struct params *params;
    struct assay_slot *slot;
    uint64_t seed;
    struct layout layout;
    struct work work;
    struct assay_buffer *feed;       /* what the far side holds; NULL unless source feed */
    struct assay_buffer *records;    /* what the source delivers; NULL: straight into `staged` */
    struct assay_buffer *staged;     /* what is uploaded */
    struct assay_buffer *input;      /* on the device; NULL with compute_on host */
    struct assay_buffer *results;    /* where it is computed */
    struct assay_buffer *returned;   /* NULL: nothing is downloaded */
    struct assay_kernel *kernels[2]; /* without and with arithmetic */
    struct files *files;
    uint64_t first_word; /* of the batch in all that the source holds */
};
/* Where the source puts the records. */
void *overlap_records(const struct overlap *overlap);

/* data.c: what records hold. Word `index` of a source of this seed is a float in [-1, 1). */
float data_value(uint64_t seed, uint64_t index);
void data_fill(uint64_t seed, uint64_t first, uint64_t count, float *out);
bool overlap_verify(void *self, struct assay_verification *verification, struct assay_error *error);

/* The word of the input that result `at` is made of, as the kernel has it. */
uint64_t data_gathered(const struct overlap *overlap, uint64_t at);

/* host.c: what the kernel does, on the host: from `staged` to `results` */
bool overlap_host_compute(const struct assay_stage *stage, void *self, struct assay_error *error);

/* prepare.c: from `records` to `staged` */
bool overlap_prepare(const struct assay_stage *stage, void *self, struct assay_error *error);
/* The nearest half, ties to even, of values within its range; `out` 2 bytes each. */
void narrow(const float *in, uint64_t count, uint16_t *out);

/* source.c: into overlap_records() */
bool overlap_receive(const struct assay_stage *stage, void *self, struct assay_error *error);

/* scratch.c: a directory that is removed with all that is in it by scratch_destroy, or when this
 * process ends, however it does */
struct scratch {
    char *path;
    int fd;       /* of it */
    int pipe;     /* its end is the sign to remove it ... */
    pid_t keeper; /* ... for this process */
};
/* In `in`; "": in $TMPDIR or /tmp. To be destroyed when it failed, too. */
bool scratch_create(const char *in, struct scratch *scratch, struct assay_error *error);
void scratch_destroy(struct scratch *scratch);
/* Whether so many files of this size fit into what is free. */
bool scratch_holds(const struct scratch *scratch, uint64_t count, uint64_t bytes,
                   struct assay_error *error);

/* files.c: a directory with the records of one slot, in files that batches read one after the
 * other. */
struct files_params {
    const char *directory; /* that it is made in; "": $TMPDIR or /tmp */
    uint64_t seed, count, bytes, readers;
    bool direct;
};
struct files *files_create(const struct files_params *params, struct assay_error *error);
void files_destroy(struct files **files); /* removes them */
/* The next `bytes` of them, from the begin again where fewer are left; *offset is where. */
bool files_read(struct files *files, void *to, uint64_t bytes, uint64_t *offset,
                struct assay_error *error);

#endif
