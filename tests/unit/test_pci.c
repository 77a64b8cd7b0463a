/* SPDX-License-Identifier: MIT */
/* The PCI scan over a made-up sysfs tree. */
#include "sensors/pci.h"

#include "base/json.h"

#include <ftw.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

static char root[64];

static int remove_entry(const char *path, const struct stat *status, int flag, struct FTW *place)
{
    (void)status, (void)flag, (void)place;
    return remove(path);
}

static void make_directory(const char *path)
{
    char full[1024];
    snprintf(full, sizeof(full), "%s/%s", root, path);
    assert_int_equal(mkdir(full, 0700), 0);
}

static int set_up(void **state)
{
    (void)state;
    snprintf(root, sizeof(root), "/tmp/assay-pci-XXXXXX");
    if (!mkdtemp(root) || setenv("ASSAY_SYSFS", root, 1) != 0)
        return -1;
    make_directory("bus");
    make_directory("bus/pci");
    make_directory("bus/pci/devices");
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    return nftw(root, remove_entry, 8, FTW_DEPTH | FTW_PHYS);
}

static void write_file(const char *address, const char *name, const char *text)
{
    char path[512];
    snprintf(path, sizeof(path), "%s/bus/pci/devices/%s/%s", root, address, name);
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    fputs(text, file);
    assert_int_equal(fclose(file), 0);
}

static void add(const char *address, const char *class, const char *vendor, const char *device,
                const char *driver)
{
    char path[512];
    snprintf(path, sizeof(path), "bus/pci/devices/%s", address);
    make_directory(path);
    write_file(address, "class", class);
    write_file(address, "vendor", vendor);
    write_file(address, "device", device);
    if (!driver)
        return;
    char link[1024], target[512];
    snprintf(link, sizeof(link), "%s/%s/driver", root, path);
    snprintf(target, sizeof(target), "../../../bus/pci/drivers/%s", driver);
    assert_int_equal(symlink(target, link), 0);
}

static json_t *scan(const char *devices, size_t wanted)
{
    struct assay_error error = {0};
    struct pci_gpu *gpus;
    size_t count;
    assert_true(pci_scan(&gpus, &count, &error));
    assert_int_equal(count, wanted);
    json_t *inventory = json_loads(devices, 0, NULL);
    assert_non_null(inventory);
    json_t *list = pci_inventory(gpus, count, inventory);
    assert_int_equal(json_array_size(list), wanted);
    json_decref(inventory);
    free(gpus);
    return list;
}

static void assert_missing(const json_t *list, size_t index, const char *text)
{
    const json_t *gpu = json_array_get(list, index);
    assert_true(json_is_null(json_object_get(gpu, "served_by")));
    assert_string_equal(json_text(gpu, "missing", ""), text);
}

static void assert_served(const json_t *list, size_t index, int device)
{
    const json_t *gpu = json_array_get(list, index);
    assert_int_equal(json_whole(gpu, "served_by", -1), device);
    assert_true(json_is_null(json_object_get(gpu, "missing")));
}

#define NVIDIA_PACKAGE                                                                             \
    "install NVIDIA's Vulkan driver (Debian: nvidia-driver and nvidia-vulkan-icd; elsewhere "      \
    "libGLX_nvidia with nvidia_icd.json)"
#define MESA_PACKAGE                                                                               \
    "install mesa-vulkan-drivers (Debian, Ubuntu), and let this user open /dev/dri/renderD* "      \
    "(group render)"

static void served_by_address(void **state)
{
    (void)state;
    add("0000:41:00.0", "0x030200\n", "0x10de\n", "0x2335\n", "nvidia");
    add("0000:03:00.0", "0x030000\n", "0x1002\n", "0x73bf\n", "amdgpu");
    json_t *list = scan("[{\"index\":0,\"pci\":null,\"vendor_id\":65541,\"device_id\":0},"
                        "{\"index\":1,\"pci\":\"0000:41:00.0\",\"vendor_id\":4318,"
                        "\"device_id\":9013},"
                        "{\"index\":2,\"pci\":\"0000:03:00.0\",\"vendor_id\":4098,"
                        "\"device_id\":29631}]",
                        2);
    assert_served(list, 0, 2);
    assert_served(list, 1, 1);
    const json_t *gpu = json_array_get(list, 1);
    assert_string_equal(json_text(gpu, "address", ""), "0000:41:00.0");
    assert_string_equal(json_text(gpu, "driver", ""), "nvidia");
    assert_int_equal(json_whole(gpu, "vendor", 0), 0x10de);
    assert_int_equal(json_whole(gpu, "device", 0), 0x2335);
    assert_int_equal(json_whole(gpu, "class", 0), 0x030200);
    json_decref(list);
}

static void unserved(void **state)
{
    (void)state;
    add("0000:01:00.0", "0x030200\n", "0x10de\n", "0x2335\n", "nvidia");
    add("0000:02:00.0", "0x030200\n", "0x10de\n", "0x2335\n", NULL);
    add("0000:03:00.0", "0x038000\n", "0x1002\n", "0x740f\n", "vfio-pci");
    add("0000:04:00.0", "0x120000\n", "0x1002\n", "0x74a1\n", "amdgpu");
    add("0000:05:00.0", "0x030000\n", "0x8086\n", "0x56a0\n", NULL);
    add("0000:06:00.0", "0x030000\n", "0x8086\n", "0x56a0\n", "xe");
    add("0000:07:00.0", "0x030000\n", "0x1ed5\n", "0x0200\n", "mtgpu");
    json_t *list = scan("[{\"index\":0,\"pci\":null,\"vendor_id\":65541,\"device_id\":0}]", 7);
    assert_missing(
        list, 0,
        "the kernel driver nvidia is bound, but no Vulkan driver serves it; " NVIDIA_PACKAGE);
    assert_missing(
        list, 1,
        "no kernel driver is bound; install NVIDIA's driver (Debian: nvidia-driver; "
        "Ubuntu: nvidia-driver-NNN) and load its kernel module nvidia, and " NVIDIA_PACKAGE);
    assert_missing(list, 2,
                   "the kernel driver vfio-pci is bound, which does not serve Vulkan; bind the "
                   "kernel driver amdgpu (Debian: firmware-amd-graphics), and " MESA_PACKAGE);
    assert_missing(
        list, 3,
        "the kernel driver amdgpu is bound, but no Vulkan driver serves it; " MESA_PACKAGE);
    assert_missing(
        list, 4, "no kernel driver is bound; bind the kernel driver i915 or xe, and " MESA_PACKAGE);
    assert_missing(list, 5,
                   "the kernel driver xe is bound, but no Vulkan driver serves it; " MESA_PACKAGE);
    assert_missing(list, 6,
                   "the kernel driver mtgpu is bound, but no Vulkan driver serves it; install the "
                   "Vulkan driver of its vendor");
    assert_true(json_is_null(json_object_get(json_array_get(list, 1), "driver")));
    json_decref(list);
}

/* Without an address in Vulkan, one device serves one card. */
static void served_by_model(void **state)
{
    (void)state;
    add("0000:01:00.0", "0x030000\n", "0x1002\n", "0x73bf\n", "amdgpu");
    add("0000:02:00.0", "0x030000\n", "0x1002\n", "0x73bf\n", "amdgpu");
    json_t *list = scan("[{\"index\":0,\"pci\":null,\"vendor_id\":4098,\"device_id\":29631}]", 2);
    assert_served(list, 0, 0);
    assert_missing(
        list, 1,
        "the kernel driver amdgpu is bound, but no Vulkan driver serves it; " MESA_PACKAGE);
    json_decref(list);
}

static void unusable_serves_nobody(void **state)
{
    (void)state;
    add("0000:01:00.0", "0x030000\n", "0x8086\n", "0x0166\n", "i915");
    json_t *list = scan("[{\"index\":0,\"pci\":\"0000:01:00.0\",\"vendor_id\":32902,"
                        "\"device_id\":358,\"unusable\":\"its driver is of Vulkan 1.1\"}]",
                        1);
    assert_missing(list, 0, "its Vulkan driver cannot be used: its driver is of Vulkan 1.1");
    json_decref(list);
}

static void consoles_are_ignored(void **state)
{
    (void)state;
    add("0000:00:01.0", "0x030000\n", "0x1234\n", "0x1111\n", "bochs-drm");
    add("0000:00:02.0", "0x030000\n", "0x1af4\n", "0x1050\n", "virtio-pci");
    add("0000:00:03.0", "0x030000\n", "0x1a03\n", "0x2000\n", "ast");
    add("0000:00:04.0", "0x030000\n", "0x102b\n", "0x0536\n", "mgag200");
    add("0000:00:05.0", "0x030000\n", "0x1002\n", "0x515e\n", "radeon");
    add("0000:00:06.0", "0x020000\n", "0x8086\n", "0x100e\n", "e1000"); /* a network card */
    add("0000:00:07.0", "0x120000\n", "0x1e52\n", "0xfaca\n", NULL);    /* not for Vulkan */
    json_decref(scan("[]", 0));
}

static void damaged_entries_are_left_out(void **state)
{
    (void)state;
    add("0000:00:01.0", "rubbish\n", "0x10de\n", "0x2335\n", NULL);
    add("0000:00:02.0", "0x030000\n", "", "0x2335\n", NULL);
    add("0000:00:03.0", "0x030000\n", "0x10deZ\n", "0x2335\n", NULL);
    json_decref(scan("[]", 0));
}

static void no_bus(void **state)
{
    (void)state;
    assert_int_equal(setenv("ASSAY_SYSFS", "/nonexistent", 1), 0);
    json_decref(scan("[]", 0));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(served_by_address, set_up, tear_down),
        cmocka_unit_test_setup_teardown(unserved, set_up, tear_down),
        cmocka_unit_test_setup_teardown(served_by_model, set_up, tear_down),
        cmocka_unit_test_setup_teardown(unusable_serves_nobody, set_up, tear_down),
        cmocka_unit_test_setup_teardown(consoles_are_ignored, set_up, tear_down),
        cmocka_unit_test_setup_teardown(damaged_entries_are_left_out, set_up, tear_down),
        cmocka_unit_test_setup_teardown(no_bus, set_up, tear_down),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
