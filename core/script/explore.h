/* SPDX-License-Identifier: MIT */
/* assay.explore(name, function(device) ... end): work by hand, once, in the worker. Inside
 * core/script only. */
#ifndef SCRIPT_EXPLORE_H
#define SCRIPT_EXPLORE_H

#include "script/inside.h"

#include <assay/device.h>

int explore_define(lua_State *L); /* assay.explore */
/* device:run(function(cmd) ... end), device:time(function(cmd) ... end, count) */
int explore_device_run(lua_State *L);
int explore_device_time(lua_State *L);
/* print, in a worker: to the log, and to what is kept of an exploration. */
int explore_print(lua_State *L);

/* For worker_scripts. */
bool explore_has(const void *loaded, const char *workload);
bool explore_run(void *loaded, const char *workload, struct assay_slot *slot, struct text *output,
                 struct assay_error *error);

#endif
