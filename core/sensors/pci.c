/* SPDX-License-Identifier: MIT */
#include "sensors/pci.h"

#include "base/json.h"
#include "base/text.h"

#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define VENDOR_AMD 0x1002
#define VENDOR_NVIDIA 0x10de
#define VENDOR_INTEL 0x8086

#define CLASS_DISPLAY 0x03
#define CLASS_ACCELERATOR 0x12

/* Consoles of servers and virtual machines: they draw a picture and cannot compute. */
static const uint32_t console_vendors[] = {
    0x1a03, /* ASPEED */
    0x102b, /* Matrox */
    0x1234, /* QEMU, Bochs */
    0x1013, /* Cirrus Logic */
    0x15ad, /* VMware */
    0x1af4, /* virtio */
    0x1b36, /* QXL */
    0x1414, /* Hyper-V */
    0x80ee, /* VirtualBox */
    0x1039, /* SiS */
    0x18ca, /* XGI */
    0x126f, /* Silicon Motion */
    0x19e5, /* Huawei Hibmc */
    0x1d0f, /* Amazon */
    0x5853, /* Xen */
    0x1023, /* Trident */
    0x5333, /* S3 */
};

/* AMD's consoles of servers: Rage XL, ES1000. */
static const uint32_t amd_consoles[] = {0x4752, 0x515e, 0x5969};

static bool contains(const uint32_t *values, size_t count, uint32_t value)
{
    for (size_t i = 0; i < count; i++)
        if (values[i] == value)
            return true;
    return false;
}

static bool can_compute(const struct pci_gpu *gpu)
{
    const uint32_t base_class = gpu->class >> 16;
    if (base_class == CLASS_ACCELERATOR)
        return gpu->vendor == VENDOR_NVIDIA || gpu->vendor == VENDOR_AMD;
    if (base_class != CLASS_DISPLAY)
        return false;
    if (gpu->vendor == VENDOR_AMD)
        return !contains(amd_consoles, sizeof(amd_consoles) / sizeof(amd_consoles[0]), gpu->device);
    return !contains(console_vendors, sizeof(console_vendors) / sizeof(console_vendors[0]),
                     gpu->vendor);
}

/* "0x10de\n" of an attribute file. False when it is not there or holds something else. */
static bool read_hex(int directory, const char *name, uint32_t *value)
{
    char line[32];
    const int fd = openat(directory, name, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return false;
    const ssize_t n = read(fd, line, sizeof(line) - 1);
    close(fd);
    if (n <= 0)
        return false;
    line[n] = '\0';
    char *end;
    errno = 0;
    const unsigned long number = strtoul(line, &end, 16);
    if (end == line || errno || number > UINT32_MAX || (*end && !isspace((unsigned char)*end)))
        return false;
    *value = (uint32_t)number;
    return true;
}

/* The last part of where the link `driver` points to. */
static void read_driver(int directory, char out[64])
{
    char target[256];
    const ssize_t n = readlinkat(directory, "driver", target, sizeof(target) - 1);
    out[0] = '\0';
    if (n <= 0)
        return;
    target[n] = '\0';
    const char *slash = strrchr(target, '/');
    struct text clean = {0};
    text_add_clean(&clean, slash ? slash + 1 : target);
    if (!clean.failed && clean.length < 64)
        memcpy(out, text_string(&clean), clean.length + 1);
    text_free(&clean);
}

static bool read_gpu(int bus, const char *name, struct pci_gpu *gpu)
{
    memset(gpu, 0, sizeof(*gpu));
    const size_t length = strlen(name);
    if (name[0] == '.' || length >= sizeof(gpu->address))
        return false;
    memcpy(gpu->address, name, length + 1);
    const int directory = openat(bus, name, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (directory < 0)
        return false;
    const bool ok = read_hex(directory, "class", &gpu->class) &&
                    read_hex(directory, "vendor", &gpu->vendor) &&
                    read_hex(directory, "device", &gpu->device) && can_compute(gpu);
    if (ok)
        read_driver(directory, gpu->driver);
    close(directory);
    return ok;
}

static int compare(const struct dirent **a, const struct dirent **b)
{
    return strcmp((*a)->d_name, (*b)->d_name);
}

static bool append(struct pci_gpu **gpus, size_t *count, const struct pci_gpu *gpu,
                   struct assay_error *error)
{
    struct pci_gpu *grown = realloc(*gpus, (*count + 1) * sizeof(**gpus));
    if (!grown)
        return assay_fail(error, ASSAY_OUT_OF_MEMORY, "out of memory for the list of GPUs");
    grown[(*count)++] = *gpu;
    *gpus = grown;
    return true;
}

static bool scan_bus(const char *path, struct pci_gpu **gpus, size_t *count,
                     struct assay_error *error)
{
    struct dirent **entries = NULL;
    const int bus = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    const int entry_count = bus < 0 ? -1 : scandir(path, &entries, NULL, compare);
    bool ok = true;
    for (int i = 0; i < entry_count; i++) {
        struct pci_gpu gpu;
        if (ok && read_gpu(bus, entries[i]->d_name, &gpu))
            ok = append(gpus, count, &gpu, error);
        free(entries[i]);
    }
    free(entries);
    if (bus >= 0)
        close(bus);
    return ok;
}

static void add_root(struct text *path)
{
    const char *root = getenv("ASSAY_SYSFS");
    text_add(path, root && root[0] ? root : "/sys");
}

bool pci_readable(void)
{
    struct text path = {0};
    add_root(&path);
    text_add(&path, "/bus");
    const bool there = !path.failed && access(text_string(&path), R_OK | X_OK) == 0;
    text_free(&path);
    return there;
}

bool pci_scan(struct pci_gpu **gpus, size_t *count, struct assay_error *error)
{
    struct text path = {0};
    *gpus = NULL;
    *count = 0;
    add_root(&path);
    text_add(&path, "/bus/pci/devices");
    const bool ok = path.failed ? assay_fail(error, ASSAY_OUT_OF_MEMORY, "out of memory for a path")
                                : scan_bus(text_string(&path), gpus, count, error);
    text_free(&path);
    if (!ok) {
        free(*gpus);
        *gpus = NULL;
        *count = 0;
    }
    return ok;
}

/* The device that serves a GPU, or -1. `taken` holds those that already serve another one: two
 * equal cards behind a driver that tells no address are two devices. */
static json_int_t find_server(const struct pci_gpu *gpu, const json_t *devices, bool *taken)
{
    const size_t count = json_array_size(devices);
    for (int by_address = 1; by_address >= 0; by_address--) {
        for (size_t i = 0; i < count; i++) {
            const json_t *device = json_array_get(devices, i);
            const char *pci = json_text(device, "pci", NULL);
            const bool same_model = json_whole(device, "vendor_id", -1) == gpu->vendor &&
                                    json_whole(device, "device_id", -1) == gpu->device;
            /* One that cannot be used (Vulkan 1.1) serves nobody. */
            if (json_text(device, "unusable", NULL))
                continue;
            if (by_address ? pci && strcasecmp(pci, gpu->address) == 0
                           : !pci && same_model && !taken[i]) {
                taken[i] = true;
                return json_whole(device, "index", (int64_t)i);
            }
        }
    }
    return -1;
}

static const char *unusable_reason(const struct pci_gpu *gpu, const json_t *devices)
{
    for (size_t i = 0; i < json_array_size(devices); i++) {
        const json_t *device = json_array_get(devices, i);
        const char *pci = json_text(device, "pci", NULL);
        if (pci ? strcasecmp(pci, gpu->address) == 0
                : json_whole(device, "vendor_id", -1) == gpu->vendor &&
                      json_whole(device, "device_id", -1) == gpu->device)
            return json_text(device, "unusable", NULL);
    }
    return NULL;
}

/* Kernel drivers that Vulkan drivers work with; the first is the one to have. */
struct vendor {
    uint32_t id;
    const char *name, *drivers[3], *kernel_advice, *vulkan_advice;
};

static const struct vendor vendors[] = {
    {VENDOR_NVIDIA,
     "NVIDIA",
     {"nvidia", "nouveau"},
     "install NVIDIA's driver (Debian: nvidia-driver; Ubuntu: nvidia-driver-NNN) and load its "
     "kernel module nvidia",
     "install NVIDIA's Vulkan driver (Debian: nvidia-driver and nvidia-vulkan-icd; elsewhere "
     "libGLX_nvidia with nvidia_icd.json)"},
    {VENDOR_AMD,
     "AMD",
     {"amdgpu"},
     "bind the kernel driver amdgpu (Debian: firmware-amd-graphics)",
     "install mesa-vulkan-drivers (Debian, Ubuntu), and let this user open /dev/dri/renderD* "
     "(group "
     "render)"},
    {VENDOR_INTEL,
     "Intel",
     {"i915", "xe"},
     "bind the kernel driver i915 or xe",
     "install mesa-vulkan-drivers (Debian, Ubuntu), and let this user open /dev/dri/renderD* "
     "(group "
     "render)"},
};

static const struct vendor *find_vendor(uint32_t id)
{
    for (size_t i = 0; i < sizeof(vendors) / sizeof(vendors[0]); i++)
        if (vendors[i].id == id)
            return &vendors[i];
    return NULL;
}

static bool fitting_driver(const struct vendor *vendor, const char *driver)
{
    for (size_t i = 0; i < sizeof(vendor->drivers) / sizeof(vendor->drivers[0]); i++)
        if (vendor->drivers[i] && strcmp(vendor->drivers[i], driver) == 0)
            return true;
    return false;
}

static void add_missing(struct text *out, const struct pci_gpu *gpu, const char *unusable)
{
    const struct vendor *vendor = find_vendor(gpu->vendor);
    if (unusable) {
        text_addf(out, "its Vulkan driver cannot be used: %s", unusable);
        return;
    }
    if (!gpu->driver[0])
        text_add(out, "no kernel driver is bound");
    else if (vendor && !fitting_driver(vendor, gpu->driver))
        text_addf(out, "the kernel driver %s is bound, which does not serve Vulkan", gpu->driver);
    else
        text_addf(out, "the kernel driver %s is bound, but no Vulkan driver serves it",
                  gpu->driver);
    if (!vendor) {
        text_add(out, "; install the Vulkan driver of its vendor");
        return;
    }
    const bool kernel = fitting_driver(vendor, gpu->driver);
    if (!kernel)
        text_addf(out, "; %s", vendor->kernel_advice);
    text_addf(out, "%s%s", kernel ? "; " : ", and ", vendor->vulkan_advice);
}

static json_t *gpu_json(const struct pci_gpu *gpu, const json_t *devices, bool *taken)
{
    const json_int_t server = find_server(gpu, devices, taken);
    struct text missing = {0};
    if (server < 0)
        add_missing(&missing, gpu, unusable_reason(gpu, devices));
    json_t *json = json_pack("{s:s, s:I, s:I, s:I, s:o, s:o, s:o}", "address", gpu->address,
                             "vendor", (json_int_t)gpu->vendor, "device", (json_int_t)gpu->device,
                             "class", (json_int_t)gpu->class, "driver",
                             gpu->driver[0] ? json_string(gpu->driver) : json_null(), "served_by",
                             server >= 0 ? json_integer(server) : json_null(), "missing",
                             server >= 0 ? json_null() : json_clean_string(text_string(&missing)));
    text_free(&missing);
    return json;
}

json_t *pci_inventory(const struct pci_gpu *gpus, size_t count, const json_t *devices)
{
    bool *taken = calloc(json_array_size(devices) + 1, sizeof(*taken));
    json_t *list = taken ? json_array() : NULL;
    for (size_t i = 0; list && i < count; i++) {
        if (json_array_append_new(list, gpu_json(&gpus[i], devices, taken)) != 0) {
            json_decref(list);
            list = NULL;
        }
    }
    free(taken);
    return list;
}
