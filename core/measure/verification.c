/* SPDX-License-Identifier: MIT */
#include "measure/verification.h"

#include "base/error.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define PIECE_BYTES (UINT64_C(1) << 20)

bool assay_verification_bytes(struct assay_verification *verification, const char *what,
                              const void *got, const void *wanted, uint64_t bytes,
                              uint64_t first_index, struct assay_error *error)
{
    if (bytes == 0)
        return true;
    if (memcmp(got, wanted, bytes) == 0) {
        verification->checked_bytes += bytes;
        return true;
    }
    const unsigned char *g = got, *w = wanted;
    uint64_t i = 0;
    while (g[i] == w[i])
        i++;
    verification->checked_bytes += i + 1;
    return assay_fail(error, ASSAY_WRONG_RESULT, "%s: byte %" PRIu64 " is 0x%02x, wanted 0x%02x",
                      what, first_index + i, g[i], w[i]);
}

bool assay_verification_copy_of(struct assay_verification *verification, struct assay_buffer *got,
                                const struct assay_buffer *source, struct assay_error *error)
{
    uint64_t bytes = assay_buffer_bytes(got);
    if (bytes > assay_buffer_bytes(source))
        return assay_fail(error, ASSAY_INTERNAL,
                          "a buffer of %" PRIu64 " B cannot be a copy of one of %" PRIu64 " B",
                          bytes, assay_buffer_bytes(source));
    uint64_t piece = bytes < PIECE_BYTES ? bytes : PIECE_BYTES;
    unsigned char *block = malloc(2 * piece);
    if (!block)
        return assay_fail(error, ASSAY_OUT_OF_MEMORY, "out of host memory for verification");
    bool right = true;
    for (uint64_t offset = 0; right && offset < bytes; offset += piece) {
        uint64_t count = bytes - offset < piece ? bytes - offset : piece;
        assay_buffer_fill_bytes(source, offset, count, block + piece);
        right = assay_buffer_read(got, offset, count, block, error) &&
                assay_verification_bytes(verification, "copy", block, block + piece, count, offset,
                                         error);
    }
    free(block);
    return right;
}

void assay_verification_checked(struct assay_verification *verification, uint64_t bytes)
{
    verification->checked_bytes += bytes;
}

bool assay_verification_error(struct assay_verification *verification, double error_over_bound,
                              struct assay_error *error)
{
    if (!isfinite(error_over_bound) || error_over_bound < 0)
        return assay_fail(error, ASSAY_WRONG_RESULT,
                          "the error of the result is not a finite number of 0 or more: the result "
                          "or its reference holds NaN or infinity");
    if (!verification->has_error || error_over_bound > verification->error)
        verification->error = error_over_bound;
    verification->has_error = true;
    if (error_over_bound > 1)
        return assay_fail(error, ASSAY_WRONG_RESULT, "the error is %.4g times its bound",
                          error_over_bound);
    return true;
}

static int metrics_find(const struct assay_workload *workload, const char *name)
{
    for (int i = 0; workload->metrics && workload->metrics[i]; i++)
        if (strcmp(workload->metrics[i]->name, name) == 0)
            return i;
    return -1;
}

bool assay_metrics_add(struct assay_metrics *metrics, const char *name, double value,
                       struct assay_error *error)
{
    int index = metrics_find(metrics->workload, name);
    if (index < 0)
        return assay_fail(error, ASSAY_INTERNAL,
                          "'%s' reports a metric '%s' that it does not declare",
                          metrics->workload->name, name);
    uint64_t bit = UINT64_C(1) << index;
    if (metrics->reported & bit)
        return assay_fail(error, ASSAY_INTERNAL, "'%s' reports its metric '%s' twice",
                          metrics->workload->name, name);
    metrics->reported |= bit;
    struct unit unit = unit_of_label(metrics->workload->metrics[index]->unit);
    double scaled = value * unit.scale;
    struct metric metric = {.name = name, .dimension = unit.dimension};
    if (isfinite(scaled))
        metric.value = metric.low = metric.high = scaled;
    else
        metric.absent = "the workload reported a value that is not finite";
    return metric_set_add(metrics->set, &metric, error);
}

bool metrics_finish(struct assay_metrics *metrics, struct assay_error *error)
{
    const struct assay_metric_info *const *infos = metrics->workload->metrics;
    for (int i = 0; infos && infos[i]; i++) {
        if (metrics->reported & UINT64_C(1) << i)
            continue;
        struct metric metric = {.name = infos[i]->name,
                                .dimension = unit_of_label(infos[i]->unit).dimension,
                                .absent = "the workload did not report it"};
        if (!metric_set_add(metrics->set, &metric, error))
            return false;
    }
    return true;
}
