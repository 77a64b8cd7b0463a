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
/* ASSAY_UNSUPPORTED without VK_EXT_calibrated_timestamps or without the monotonic domain, and where
 * the host's time that the driver gives is not that of the call. */
bool timer_calibrate(struct vulkan_device *member, struct timer_calibration *out,
                     struct assay_error *error);

/* The timestamps of a queue on the host's axis: both clocks were looked at before and after. */
struct timer_axis {
    struct timer_calibration first, last;
    uint32_t valid_bits;
    double tick_ns;
};
/* CLOCK_MONOTONIC at a timestamp: between the two looks in proportion, so that a drift between the
 * clocks does not show; where these say nothing of the rate (within one tick, or further from the
 * period than 1 in 1000), by the period from the first on. Timestamps may lie half their range
 * before the first look or after. Pure. */
int64_t timer_host_ns(const struct timer_axis *axis, uint64_t ticks);
/* How far that may be off: the larger of the deviations that the driver states, and a tick. */
int64_t timer_uncertainty_ns(const struct timer_axis *axis);

#endif
