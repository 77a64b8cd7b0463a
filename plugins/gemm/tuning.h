/* SPDX-License-Identifier: MIT */
#ifndef GEMM_TUNING_H
#define GEMM_TUNING_H

#include <assay/workload.h>

/* How variant and tile are chosen for variant = auto; candidates are "tile 64x64" and the like. */
extern const struct assay_tuning gemm_tuning;

#endif
