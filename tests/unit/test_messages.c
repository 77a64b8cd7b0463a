/* SPDX-License-Identifier: MIT */
/* Messages of the validation layers, as their callback gets them. */
#include "vulkan/messages.h"

#include <setjmp.h>
#include <stdarg.h>

#include <cmocka.h>

static void say(struct messages *messages, const char *id, const char *message)
{
    const VkDebugUtilsObjectNameInfoEXT objects[] = {
        {.pObjectName = "x"}, {.pObjectName = NULL}, {.pObjectName = "y"}};
    const VkDebugUtilsMessengerCallbackDataEXT data = {
        .pMessageIdName = id, .pMessage = message, .objectCount = 3, .pObjects = objects};
    VkDebugUtilsMessengerCreateInfoEXT info;
    messages_describe(messages, &info);
    assert_int_equal(info.pfnUserCallback(VK_DEBUG_UTILS_MESSAGE_SEVERITY_ERROR_BIT_EXT,
                                          VK_DEBUG_UTILS_MESSAGE_TYPE_VALIDATION_BIT_EXT, &data,
                                          info.pUserData),
                     VK_FALSE);
}

static void are_collected_one_a_line(void **state)
{
    (void)state;
    struct assay_error error = {0};
    struct messages *messages = messages_create(&error);
    struct text text = {0};
    say(messages, "VUID-a", "Validation Error: [ VUID-a ] ... | MessageID = 0x1f | is wrong");
    say(messages, NULL, "also\nwrong");
    assert_int_equal(messages_take(messages, &text), 2);
    assert_string_equal(text_string(&text), "VUID-a: is wrong (objects: 'x', 'y')\n"
                                            "also wrong (objects: 'x', 'y')\n");
    assert_int_equal(messages_take(messages, &text), 0);
    text_free(&text);
    messages_destroy(&messages);
    assert_null(messages);
}

static void of_the_layer_itself_are_left_out(void **state)
{
    (void)state;
    struct assay_error error = {0};
    struct messages *messages = messages_create(&error);
    struct text text = {0};
    say(messages, "UNASSIGNED-GPU-Assisted Validation Warning",
        "shaderInt64 feature is not available.  No buffer device address checking");
    say(messages, "WARNING-GPU-Assisted-Validation",
        "vkCreateDevice(): Internal Warning: Forcing bufferDeviceAddress to VK_TRUE");
    say(messages, "VALIDATION-SETTINGS", "vkCreateInstance(): this will be very slow");
    assert_int_equal(messages_take(messages, &text), 0);
    say(messages, "UNASSIGNED-GPU-Assisted Validation Error.", "it did not start");
    assert_int_equal(messages_take(messages, &text), 1);
    text_free(&text);
    messages_destroy(&messages);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(are_collected_one_a_line),
        cmocka_unit_test(of_the_layer_itself_are_left_out),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
