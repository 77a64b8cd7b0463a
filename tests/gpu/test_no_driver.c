/* SPDX-License-Identifier: MIT */
/* A loader that finds no driver; and a layer that is asked for and not there. */
#include "vulkan/instance.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static void no_driver(void **state)
{
    (void)state;
    struct assay_error error = {0};
    const struct vulkan_instance_params params = {.validate = false};
    assert_null(vulkan_instance_create(&params, &error));
    assert_int_equal(error.status, ASSAY_NO_DEVICE);
    assert_string_equal(error.text,
                        "no Vulkan driver: the loader found none that works; install one, such as "
                        "mesa-vulkan-drivers (Debian, Ubuntu), and see that VK_DRIVER_FILES and "
                        "VK_ICD_FILENAMES, where set, name files that exist");
}

static void no_layer(void **state)
{
    (void)state;
    struct assay_error error = {0};
    const struct vulkan_instance_params params = {.validate = true};
    assert_int_equal(setenv("VK_LAYER_PATH", "/nonexistent", 1), 0);
    assert_null(vulkan_instance_create(&params, &error));
    assert_int_equal(error.status, ASSAY_INVALID);
    assert_string_equal(error.text,
                        "validation is asked for, but the layer VK_LAYER_KHRONOS_validation is not "
                        "there; install vulkan-validationlayers (Debian, Ubuntu) or the Vulkan "
                        "SDK's layers");
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(no_driver), cmocka_unit_test(no_layer)};
    if (volkInitialize() != VK_SUCCESS) {
        printf("skipped: no Vulkan loader\n");
        return 77;
    }
    if (setenv("VK_DRIVER_FILES", "/nonexistent.json", 1) != 0 ||
        setenv("VK_ICD_FILENAMES", "/nonexistent.json", 1) != 0)
        return 1;
    return cmocka_run_group_tests(tests, NULL, NULL);
}
