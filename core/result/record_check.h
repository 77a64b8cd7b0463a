/* SPDX-License-Identifier: MIT */
/* Whether a record that came without a seal is one that assay could have written. Inside
 * core/result only. */
#ifndef RESULT_RECORD_CHECK_H
#define RESULT_RECORD_CHECK_H

#include <assay/api.h>

#include <jansson.h>

/* A case or samples record: members of the right type, known units, figures inside their intervals,
 * series of one length. Members that are not there are no fault. NULL when all is well, else what
 * is wrong; static. */
const char *record_check(const json_t *record);

#endif
