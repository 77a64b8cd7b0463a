/* SPDX-License-Identifier: MIT */
/* Timestamp arithmetic, and device and host time on one axis. */
#ifndef VULKAN_TIMER_H
#define VULKAN_TIMER_H

#include "vulkan/device.h"

/* Difference of two raw timestamps of a queue with `valid_bits` bits: masked, survives one wrap.
 * Pure. valid_bits 1 to 64. */
uint64_t timer_ticks(uint64_t begin, uint64_t end, uint32_t valid_bits);
/* Ticks to ns with the fractional period, rounded to nearest. Pure. */
int64_t timer_ns(uint64_t ticks, double period_ns);

struct timer_calibration {
    uint64_t device_ticks;
    int64_t host_ns;      /* CLOCK_MONOTONIC at that tick */
    int64_t deviation_ns; /* as the driver states it */
};
/* ASSAY_UNSUPPORTED without VK_EXT_calibrated_timestamps or without the monotonic domain. */
bool timer_calibrate(struct vulkan_device *member, struct timer_calibration *out,
                     struct assay_error *error);

#endif
