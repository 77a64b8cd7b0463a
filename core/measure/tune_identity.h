/* SPDX-License-Identifier: MIT */
/* Inside core/measure only. */
#ifndef MEASURE_TUNE_IDENTITY_H
#define MEASURE_TUNE_IDENTITY_H

#include "measure/tune_trial.h"

/* {"workload","version","what","device","environment","candidates","validate"}: what the choice is
 * kept under. New reference; NULL: no memory. */
json_t *tune_identity(const struct measure_request *request,
                      const struct tune_candidate *candidates, size_t count);

#endif
