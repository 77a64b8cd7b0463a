/* SPDX-License-Identifier: MIT */
/* What 'assay noise' found out, kept by device, driver and host in the cache. */
#ifndef CLI_NOISE_STORE_H
#define CLI_NOISE_STORE_H

#include "base/error.h"
#include "base/text.h"

#include <jansson.h>

struct noise_figures {
    double paired, unpaired; /* widths, in the logarithm: how far a ratio's interval reaches */
    double within;           /* of one run's median, in `run_ns` */
    int64_t run_ns;
};

/* `device`: of a case record or the inventory. */
bool noise_save(const json_t *device, const struct noise_figures *figures,
                struct assay_error *error);
/* False: nothing is known. `date` gets when it was found out. */
bool noise_load(const json_t *device, struct noise_figures *figures, struct text *date);

#endif
