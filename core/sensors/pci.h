/* SPDX-License-Identifier: MIT */
/* GPUs that the PCI bus shows, from sysfs. */
#ifndef SENSORS_PCI_H
#define SENSORS_PCI_H

#include "base/error.h"

#include <jansson.h>

struct pci_gpu {
    char address[16]; /* "0000:01:00.0" */
    uint32_t vendor, device, class;
    char driver[64]; /* kernel driver bound, "" when none */
};

/* Display controllers (class 03) and AMD/NVIDIA processing accelerators (class 12) that can
 * compute: the 2D consoles of servers and virtual machines (ASPEED, Matrox G200, QEMU/Bochs,
 * Cirrus, VMware, virtio, QXL, Hyper-V, ...) are left out. Root: $ASSAY_SYSFS or /sys. A bus that
 * cannot be read (none there) gives an empty list. malloc'ed array. */
bool pci_scan(struct pci_gpu **gpus, size_t *count, struct assay_error *error);

/* Whether sysfs shows its buses at all: where it does not (a container without /sys), an empty list
 * says nothing. */
bool pci_readable(void);

/* The "pci" array of supervisor_devices: each GPU, the inventory index that serves it (by PCI
 * address, else by vendor and device id when the driver tells no address), and otherwise what is
 * missing: no kernel driver bound, or the Vulkan driver package for this vendor. New reference. */
json_t *pci_inventory(const struct pci_gpu *gpus, size_t count, const json_t *devices);

#endif
