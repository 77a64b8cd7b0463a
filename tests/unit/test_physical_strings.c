/* SPDX-License-Identifier: MIT */
#include "vulkan/physical.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static void plain(void **state)
{
    (void)state;
    struct vulkan_physical physical = {0};
    struct vulkan_raw_strings raw = {
        .name = "NVIDIA H200", .driver = "NVIDIA", .driver_info = "550.1"};
    for (unsigned i = 0; i < VK_UUID_SIZE; i++)
        raw.uuid[i] = (uint8_t)(i * 17);
    raw.driver_uuid[15] = 0xa5;
    assert_true(vulkan_physical_set_strings(&physical, &raw));
    assert_string_equal(physical.name, "NVIDIA H200");
    assert_string_equal(physical.driver, "NVIDIA");
    assert_string_equal(physical.driver_info, "550.1");
    assert_string_equal(physical.uuid, "00112233-4455-6677-8899-aabbccddeeff");
    assert_string_equal(physical.driver_uuid, "00000000-0000-0000-0000-0000000000a5");
}

static void hostile(void **state)
{
    (void)state;
    struct vulkan_physical physical = {0};
    const struct vulkan_raw_strings raw = {
        .name = "Caf\xe9 GPU\nline\x1b[31m", .driver = "\xff\xfe", .driver_info = "a\r\nb\tc"};
    assert_true(vulkan_physical_set_strings(&physical, &raw));
    assert_string_equal(physical.name, "Caf\xef\xbf\xbd GPU line [31m");
    assert_string_equal(physical.driver, "\xef\xbf\xbd\xef\xbf\xbd");
    assert_null(strpbrk(physical.driver_info, "\r\n\t"));
    json_t *string = json_string(physical.name); /* refuses what is not UTF-8 */
    assert_non_null(string);
    json_decref(string);
}

static void no_end(void **state)
{
    (void)state;
    struct vulkan_physical physical = {0};
    struct vulkan_raw_strings raw;
    memset(&raw, 0xff, sizeof(raw));
    assert_true(vulkan_physical_set_strings(&physical, &raw));
    assert_int_equal(strlen(physical.name), 3 * VK_MAX_PHYSICAL_DEVICE_NAME_SIZE);
    assert_int_equal(strlen(physical.driver), 3 * VK_MAX_DRIVER_NAME_SIZE);
    memset(&raw, 'x', sizeof(raw));
    assert_true(vulkan_physical_set_strings(&physical, &raw));
    assert_int_equal(strlen(physical.driver_info), VK_MAX_DRIVER_INFO_SIZE);
}

static void labels(void **state)
{
    (void)state;
    struct vulkan_physical physical = {.name = "llvmpipe (LLVM 15)",
                                       .driver_id = VK_DRIVER_ID_MESA_LLVMPIPE};
    assert_string_equal(vulkan_physical_label(&physical), "lavapipe");
    physical.driver_id = VK_DRIVER_ID_GOOGLE_SWIFTSHADER;
    assert_string_equal(vulkan_physical_label(&physical), "SwiftShader");
    physical.driver_id = VK_DRIVER_ID_MESA_RADV;
    assert_string_equal(vulkan_physical_label(&physical), "llvmpipe (LLVM 15)");
    assert_string_equal(vulkan_class_name(VULKAN_CLASS_DISCRETE), "discrete");
    assert_string_equal(vulkan_class_name(VULKAN_CLASS_CPU), "cpu");
}

static void what_watching_needs(void **state)
{
    (void)state;
    VkPhysicalDeviceFeatures features = {.fragmentStoresAndAtomics = VK_TRUE};
    assert_string_equal(physical_unwatchable(&features),
                        "vertexPipelineStoresAndAtomics is not supported");
    features.vertexPipelineStoresAndAtomics = VK_TRUE;
    assert_null(physical_unwatchable(&features));
    features.fragmentStoresAndAtomics = VK_FALSE;
    assert_string_equal(physical_unwatchable(&features),
                        "fragmentStoresAndAtomics is not supported");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(plain),
        cmocka_unit_test(hostile),
        cmocka_unit_test(no_end),
        cmocka_unit_test(labels),
        cmocka_unit_test(what_watching_needs),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
