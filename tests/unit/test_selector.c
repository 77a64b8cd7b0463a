/* SPDX-License-Identifier: MIT */
#include "vulkan/selector.h"

#include <setjmp.h>
#include <stdarg.h>
#include <string.h>

#include <cmocka.h>

#define DEVICE(name, class, driver, uuid, pci)                                                     \
    "{\"name\":\"" name "\",\"class\":\"" class "\",\"driver\":{\"name\":\"" driver                \
                                                "\"},\"uuid\":\"" uuid "\",\"pci\":" pci           \
                                                ",\"unusable\":null}"

#define CPU                                                                                        \
    DEVICE("llvmpipe (LLVM 15.0.6, 256 bits)", "cpu", "llvmpipe",                                  \
           "6d657361-3232-2e33-2e36-000000000000", "null")
#define TWIN_A                                                                                     \
    DEVICE("GeForce RTX 4090", "discrete", "NVIDIA", "aaaaaaaa-0000-0000-0000-000000000001",       \
           "\"0000:01:00.0\"")
#define TWIN_B                                                                                     \
    DEVICE("GeForce RTX 4090", "discrete", "NVIDIA", "aaaaaaaa-0000-0000-0000-000000000002",       \
           "\"0001:01:00.0\"")
#define APU                                                                                        \
    DEVICE("AMD Radeon Graphics", "integrated", "radv", "12345678-0000-0000-0600-000000000000",    \
           "\"0000:06:00.0\"")
#define OLD                                                                                        \
    "{\"name\":\"Old GPU\",\"class\":\"discrete\",\"driver\":{\"name\":\"old\"},"                  \
    "\"uuid\":\"bbbbbbbb-0000-0000-0000-000000000000\",\"pci\":null,"                              \
    "\"unusable\":\"its driver is of Vulkan 1.1, 1.2 is the floor\"}"

#define CPU_LINE                                                                                   \
    "llvmpipe (LLVM 15.0.6, 256 bits) (cpu, llvmpipe, uuid "                                       \
    "6d657361-3232-2e33-2e36-000000000000)"
#define TWIN_A_LINE                                                                                \
    "GeForce RTX 4090 (discrete, NVIDIA, uuid aaaaaaaa-0000-0000-0000-000000000001, pci "          \
    "0000:01:00.0)"
#define TWIN_B_LINE                                                                                \
    "GeForce RTX 4090 (discrete, NVIDIA, uuid aaaaaaaa-0000-0000-0000-000000000002, pci "          \
    "0001:01:00.0)"
#define APU_LINE                                                                                   \
    "AMD Radeon Graphics (integrated, radv, uuid 12345678-0000-0000-0600-000000000000, pci "       \
    "0000:06:00.0)"
#define OLD_LINE                                                                                   \
    "Old GPU (discrete, old, uuid bbbbbbbb-0000-0000-0000-000000000000), cannot be used: its "     \
    "driver is of Vulkan 1.1, 1.2 is the floor"

static void selects(const char *inventory, const char *selector, size_t wanted)
{
    json_t *json = json_loads(inventory, 0, NULL);
    assert_non_null(json);
    struct assay_error error = {0};
    size_t index = 99;
    if (!vulkan_select(json, selector, &index, &error))
        print_error("%s\n", error.text);
    assert_int_equal(index, wanted);
    json_decref(json);
}

static void refuses(const char *inventory, const char *selector, const char *text)
{
    json_t *json = json_loads(inventory, 0, NULL);
    assert_non_null(json);
    struct assay_error error = {0};
    size_t index = 99;
    assert_false(vulkan_select(json, selector, &index, &error));
    assert_int_equal(error.status, ASSAY_NO_DEVICE);
    assert_string_equal(error.text, text);
    assert_int_equal(index, 99);
    json_decref(json);
}

#define CPU_AND_GPU "[" CPU "," TWIN_A "]"
#define TWINS "[" TWIN_A "," TWIN_B "]"
#define MANY "[" CPU "," APU "," TWIN_A "," TWIN_B "]"

static void best_class(void **state)
{
    (void)state;
    selects(CPU_AND_GPU, NULL, 1);
    selects(CPU_AND_GPU, "", 1);
    selects("[" CPU "]", NULL, 0);
    selects("[" CPU "," APU "," TWIN_A "]", NULL, 2);
    selects("[" CPU "," APU "]", NULL, 1);
    refuses(TWINS, NULL,
            "the best class has 2 devices, 0 and 1; choose one by index, UUID or PCI address:"
            "\n  0  " TWIN_A_LINE "\n  1  " TWIN_B_LINE);
    refuses("[]", NULL, "there is no Vulkan device");
}

static void class_words(void **state)
{
    (void)state;
    selects(CPU_AND_GPU, "cpu", 0);
    selects(CPU_AND_GPU, "gpu", 1);
    selects(CPU_AND_GPU, "GPU", 1);
    selects("[" CPU "," APU "," TWIN_A "]", "gpu", 2);
    refuses("[" CPU "]", "gpu", "device 'gpu': there is no GPU that can be used:\n  0  " CPU_LINE);
    refuses("[" TWIN_A "]", "cpu", "device 'cpu': there is no CPU driver:\n  0  " TWIN_A_LINE);
    refuses("[" CPU "," CPU "]", "cpu",
            "device 'cpu' fits 2 devices, 0 and 1; choose one by index, UUID or PCI address:"
            "\n  0  " CPU_LINE "\n  1  " CPU_LINE);
}

static void by_index(void **state)
{
    (void)state;
    selects(TWINS, "0", 0);
    selects(TWINS, "1", 1);
    selects(MANY, "03", 3);
    refuses(TWINS, "7",
            "device 7: there are 2 devices, 0 and 1:\n  0  " TWIN_A_LINE "\n  1  " TWIN_B_LINE);
    refuses(TWINS, "99999999999999999999999",
            "device 99999999999999999999999: there are 2 devices, 0 and 1:\n  0  " TWIN_A_LINE
            "\n  1  " TWIN_B_LINE);
    refuses("[" CPU "]", "1", "device 1: there is 1 device, 0:\n  0  " CPU_LINE);
}

static void by_uuid(void **state)
{
    (void)state;
    selects(TWINS, "aaaaaaaa-0000-0000-0000-000000000002", 1);
    selects(TWINS, "AAAAAAAA000000000000000000000001", 0);
    selects(MANY, "6d657361", 0);
    selects(MANY, "6d657361-3232", 0);
    selects(MANY, "12345678", 1); /* a number, but as an index out of range */
    refuses(TWINS, "aaaaaaaa",
            "device 'aaaaaaaa' fits 2 devices, 0 and 1; choose one by index, UUID or PCI address:"
            "\n  0  " TWIN_A_LINE "\n  1  " TWIN_B_LINE);
    refuses("[" CPU "]", "6d6573", "device '6d6573' is none of the devices here:\n  0  " CPU_LINE);
}

static void by_pci(void **state)
{
    (void)state;
    selects(MANY, "0001:01:00.0", 3);
    selects(MANY, "0000:01:00.0", 2);
    selects(MANY, "06:00.0", 1);
    refuses(TWINS, "01:00.0",
            "device '01:00.0' fits 2 devices, 0 and 1; choose one by index, UUID or PCI address:"
            "\n  0  " TWIN_A_LINE "\n  1  " TWIN_B_LINE);
}

static void by_name(void **state)
{
    (void)state;
    selects(CPU_AND_GPU, "GeForce RTX 4090", 1);
    selects(CPU_AND_GPU, "geforce", 1);
    selects(CPU_AND_GPU, "nvidia", 1);
    selects(CPU_AND_GPU, "LLVMPIPE", 0);
    selects(MANY, "radv", 1);
    refuses(MANY, "4090",
            "device 4090: there are 4 devices, 0, 1, 2 and 3:\n  0  " CPU_LINE "\n  1  " APU_LINE
            "\n  2  " TWIN_A_LINE "\n  3  " TWIN_B_LINE);
    refuses(MANY, "rtx 4090",
            "device 'rtx 4090' fits 2 devices, 2 and 3; choose one by index, UUID or PCI address:"
            "\n  0  " CPU_LINE "\n  1  " APU_LINE "\n  2  " TWIN_A_LINE "\n  3  " TWIN_B_LINE);
    refuses("[" CPU "]", "Voodoo\n2",
            "device 'Voodoo 2' is none of the devices here:\n  0  " CPU_LINE);
}

/* The exact name wins over being a part of another one. */
static void exact_name_first(void **state)
{
    (void)state;
    selects("[" DEVICE("Arc A7", "discrete", "anv", "1-1",
                       "null") "," DEVICE("Arc A770", "discrete", "anv", "2-2", "null") "]",
            "Arc A7", 0);
}

static void unusable(void **state)
{
    (void)state;
    selects("[" OLD "," CPU "]", NULL, 1);
    refuses("[" OLD "," CPU "]", "gpu",
            "device 'gpu': there is no GPU that can be used:\n  0  " OLD_LINE "\n  1  " CPU_LINE);
    refuses("[" OLD "," CPU "]", "0",
            "device 0, Old GPU, cannot be used: its driver is of Vulkan 1.1, 1.2 is the floor");
    refuses("[" OLD "," CPU "]", "old gpu",
            "device 0, Old GPU, cannot be used: its driver is of Vulkan 1.1, 1.2 is the floor");
    refuses("[" OLD "]", NULL, "there is no device that can be used:\n  0  " OLD_LINE);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(best_class),       cmocka_unit_test(class_words),
        cmocka_unit_test(by_index),         cmocka_unit_test(by_uuid),
        cmocka_unit_test(by_pci),           cmocka_unit_test(by_name),
        cmocka_unit_test(exact_name_first), cmocka_unit_test(unusable),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
