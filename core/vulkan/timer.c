/* SPDX-License-Identifier: MIT */
#include "vulkan/timer.h"

#include <math.h>

uint64_t timer_ticks(uint64_t begin, uint64_t end, uint32_t valid_bits)
{
    const uint64_t mask = valid_bits >= 64 ? UINT64_MAX : (UINT64_C(1) << valid_bits) - 1;
    return (end - begin) & mask;
}

int64_t timer_ns(uint64_t ticks, double period_ns)
{
    /* Whole part apart, so that large counts at a period of 1 stay exact beyond 2^53. */
    const double whole = floor(period_ns);
    const double part = period_ns - whole;
    const double rest = (double)ticks * part;
    if ((double)ticks * period_ns >= 9.2e18)
        return INT64_MAX;
    return (int64_t)(ticks * (uint64_t)whole) + (int64_t)llround(rest);
}

static bool has_monotonic(const struct vulkan_device *member, struct assay_error *error)
{
    VkTimeDomainEXT domains[16];
    uint32_t count = 0;
    VkResult result = vkGetPhysicalDeviceCalibrateableTimeDomainsEXT(member->physical->handle,
                                                                     &count, NULL);
    if (result == VK_SUCCESS) {
        count = count > 16 ? 16 : count;
        result = vkGetPhysicalDeviceCalibrateableTimeDomainsEXT(member->physical->handle, &count,
                                                                domains);
    }
    if (result < 0)
        return assay_fail(error, ASSAY_VULKAN,
                          "vkGetPhysicalDeviceCalibrateableTimeDomainsEXT failed (%d)", result);
    bool device = false, monotonic = false;
    for (uint32_t i = 0; i < count; i++) {
        device |= domains[i] == VK_TIME_DOMAIN_DEVICE_EXT;
        monotonic |= domains[i] == VK_TIME_DOMAIN_CLOCK_MONOTONIC_EXT;
    }
    if (!device || !monotonic)
        return assay_fail(error, ASSAY_UNSUPPORTED,
                          "%s cannot calibrate its timestamps against CLOCK_MONOTONIC",
                          member->physical->name);
    return true;
}

bool timer_calibrate(struct vulkan_device *member, struct timer_calibration *out,
                     struct assay_error *error)
{
    if (!member->calibrated_timestamps)
        return assay_fail(error, ASSAY_UNSUPPORTED,
                          "VK_EXT_calibrated_timestamps is not there on %s",
                          member->physical->name);
    if (!has_monotonic(member, error))
        return false;
    const VkCalibratedTimestampInfoEXT infos[2] = {
        {.sType = VK_STRUCTURE_TYPE_CALIBRATED_TIMESTAMP_INFO_EXT,
         .timeDomain = VK_TIME_DOMAIN_DEVICE_EXT},
        {.sType = VK_STRUCTURE_TYPE_CALIBRATED_TIMESTAMP_INFO_EXT,
         .timeDomain = VK_TIME_DOMAIN_CLOCK_MONOTONIC_EXT},
    };
    uint64_t stamps[2] = {0, 0}, deviation = 0;
    const int64_t before_ns = clock_now(clock_monotonic());
    const VkResult result = member->vk.vkGetCalibratedTimestampsEXT(member->handle, 2, infos,
                                                                    stamps, &deviation);
    if (result != VK_SUCCESS)
        return assay_fail(error, ASSAY_VULKAN, "vkGetCalibratedTimestampsEXT failed (%d)", result);
    const int64_t after_ns = clock_now(clock_monotonic());
    if (stamps[1] < (uint64_t)before_ns || stamps[1] > (uint64_t)after_ns)
        return assay_fail(error, ASSAY_UNSUPPORTED,
                          "%s gives a time of the host that is not that of the call",
                          member->physical->name);
    out->device_ticks = stamps[0];
    out->host_ns = (int64_t)stamps[1];
    out->deviation_ns = deviation > INT64_MAX ? INT64_MAX : (int64_t)deviation;
    return true;
}

/* From the first look on; the upper half of the range is before it. */
static int64_t ticks_since(const struct timer_axis *axis, uint64_t ticks)
{
    const uint64_t since = timer_ticks(axis->first.device_ticks, ticks, axis->valid_bits);
    const uint64_t half = UINT64_C(1) << (axis->valid_bits - 1);
    if (since < half)
        return (int64_t)since;
    return -(int64_t)timer_ticks(ticks, axis->first.device_ticks, axis->valid_bits);
}

int64_t timer_host_ns(const struct timer_axis *axis, uint64_t ticks)
{
    const int64_t span_ns = axis->last.host_ns - axis->first.host_ns;
    const int64_t span = ticks_since(axis, axis->last.device_ticks);
    const int64_t since = ticks_since(axis, ticks);
    const double nominal_ns = (double)span * axis->tick_ns;
    double rate = axis->tick_ns;
    if (span > 0 && span_ns > 0 && fabs(nominal_ns - (double)span_ns) <= (double)span_ns / 1000)
        rate = (double)span_ns / (double)span;
    return axis->first.host_ns + (int64_t)llround((double)since * rate);
}

int64_t timer_uncertainty_ns(const struct timer_axis *axis)
{
    const int64_t first = axis->first.deviation_ns, last = axis->last.deviation_ns;
    return (first > last ? first : last) + (int64_t)ceil(axis->tick_ns);
}
