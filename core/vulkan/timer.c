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
    const VkResult result = member->vk.vkGetCalibratedTimestampsEXT(member->handle, 2, infos,
                                                                    stamps, &deviation);
    if (result != VK_SUCCESS)
        return assay_fail(error, ASSAY_VULKAN, "vkGetCalibratedTimestampsEXT failed (%d)", result);
    out->device_ticks = stamps[0];
    out->host_ns = (int64_t)stamps[1];
    out->deviation_ns = deviation > INT64_MAX ? INT64_MAX : (int64_t)deviation;
    return true;
}
