/* SPDX-License-Identifier: MIT */
#include "vulkan/queue.h"

#include <setjmp.h>
#include <stdarg.h>

#include <cmocka.h>

#define G VK_QUEUE_GRAPHICS_BIT
#define C VK_QUEUE_COMPUTE_BIT
#define T VK_QUEUE_TRANSFER_BIT
#define S VK_QUEUE_SPARSE_BINDING_BIT
#define VIDEO 0x20 /* VK_QUEUE_VIDEO_DECODE_BIT_KHR */

struct expected {
    unsigned family, index;
};

static void check(const VkQueueFamilyProperties *families, uint32_t count,
                  enum vulkan_queue_choice choice, uint32_t queues, struct expected compute,
                  struct expected transfer, struct expected back)
{
    const struct expected wanted[VULKAN_ROLE_COUNT] = {compute, transfer, back};
    struct queue_plan plan;
    const char *why_not = NULL;
    assert_true(queue_plan_make(families, count, choice, &plan, &why_not));
    assert_int_equal(plan.count, queues);
    for (int i = 0; i < VULKAN_ROLE_COUNT; i++) {
        assert_true(plan.role[i] < plan.count);
        assert_int_equal(plan.queues[plan.role[i]].family, wanted[i].family);
        assert_int_equal(plan.queues[plan.role[i]].index, wanted[i].index);
    }
}

#define E(f, i) ((struct expected){(f), (i)})

static void one_queue_serves_all(void **state)
{
    (void)state;
    const VkQueueFamilyProperties software[] = {{.queueFlags = G | C | T, .queueCount = 1}};
    check(software, 1, VULKAN_QUEUES_AUTO, 1, E(0, 0), E(0, 0), E(0, 0));
    struct queue_plan plan;
    const char *why_not = NULL;
    assert_false(queue_plan_make(software, 1, VULKAN_QUEUES_DEDICATED, &plan, &why_not));
    assert_string_equal(why_not, "no queue family is for transfers alone");
}

static const VkQueueFamilyProperties nvidia[] = {{.queueFlags = G | C | T | S, .queueCount = 16},
                                                 {.queueFlags = T | S, .queueCount = 2},
                                                 {.queueFlags = C | T | S, .queueCount = 8},
                                                 {.queueFlags = T | S | VIDEO, .queueCount = 1}};

static void dedicated_families(void **state)
{
    (void)state;
    check(nvidia, 4, VULKAN_QUEUES_AUTO, 3, E(2, 0), E(1, 0), E(1, 1));
    check(nvidia, 4, VULKAN_QUEUES_DEDICATED, 3, E(2, 0), E(1, 0), E(1, 1));
    check(nvidia, 4, VULKAN_QUEUES_ONE, 1, E(2, 0), E(2, 0), E(2, 0));
}

static void one_copy_queue(void **state)
{
    (void)state;
    /* The way back goes to whatever else can copy and is free. */
    const VkQueueFamilyProperties amd[] = {{.queueFlags = G | C | T, .queueCount = 1},
                                           {.queueFlags = C | T, .queueCount = 4},
                                           {.queueFlags = T, .queueCount = 1}};
    check(amd, 3, VULKAN_QUEUES_AUTO, 3, E(1, 0), E(2, 0), E(0, 0));
}

static void several_queues_of_one_family(void **state)
{
    (void)state;
    /* Compute families copy even where they do not say so. */
    const VkQueueFamilyProperties family[] = {{.queueFlags = C, .queueCount = 2}};
    check(family, 1, VULKAN_QUEUES_AUTO, 2, E(0, 0), E(0, 1), E(0, 1));
}

static void video_is_no_copy_engine(void **state)
{
    (void)state;
    const VkQueueFamilyProperties families[] = {{.queueFlags = T | VIDEO, .queueCount = 1},
                                                {.queueFlags = G | C | T, .queueCount = 1}};
    struct queue_plan plan;
    const char *why_not = NULL;
    assert_false(queue_plan_make(families, 2, VULKAN_QUEUES_DEDICATED, &plan, &why_not));
    assert_true(queue_plan_make(families, 2, VULKAN_QUEUES_AUTO, &plan, &why_not));
    assert_int_equal(plan.queues[plan.role[VULKAN_ROLE_TRANSFER]].family, 1);
}

static void compute_is_needed(void **state)
{
    (void)state;
    const VkQueueFamilyProperties families[] = {{.queueFlags = G | T, .queueCount = 1},
                                                {.queueFlags = C, .queueCount = 0}};
    struct queue_plan plan;
    const char *why_not = NULL;
    assert_false(queue_plan_make(families, 2, VULKAN_QUEUES_AUTO, &plan, &why_not));
    assert_string_equal(why_not, "no queue family can compute");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(one_queue_serves_all),    cmocka_unit_test(dedicated_families),
        cmocka_unit_test(one_copy_queue),          cmocka_unit_test(several_queues_of_one_family),
        cmocka_unit_test(video_is_no_copy_engine), cmocka_unit_test(compute_is_needed),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
