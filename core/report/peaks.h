/* SPDX-License-Identifier: MIT */
/* The peaks records of a run as tables. Inside core/report only. */
#ifndef REPORT_PEAKS_H
#define REPORT_PEAKS_H

#include "report/report.h"

/* One table a record; nothing without records. */
bool report_peaks(const json_t *records, const struct report_style *style, struct text *out,
                  struct assay_error *error);

#endif
