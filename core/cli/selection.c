/* SPDX-License-Identifier: MIT */
#include "cli/selection.h"

#include "base/json.h"
#include "cli/arguments.h"
#include "experiment/peaks.h"
#include "vulkan/selector.h"

#include <string.h>

bool selection_needs_device(const struct plan *plan)
{
    for (size_t i = 0; i < plan->case_count; i++)
        if (plan->cases[i].selected && !plan->cases[i].workload->model)
            return true;
    return false;
}

size_t selection_add_unserved(const json_t *found, const char *prefix, struct text *out)
{
    size_t i, count = 0;
    json_t *gpu;
    const char *unreadable = json_text(found, "pci_error", NULL);
    if (unreadable) {
        text_addf(out, "%s%s, so a GPU that no Vulkan driver serves would not be seen\n", prefix,
                  unreadable);
        count++;
    }
    json_array_foreach(json_object_get(found, "pci"), i, gpu)
    {
        const char *missing = json_text(gpu, "missing", NULL);
        if (missing) {
            text_addf(out,
                      "%sthe GPU at PCI %s (%04x:%04x) is served by no Vulkan driver: ", prefix,
                      json_text(gpu, "address", "?"), (unsigned)json_whole(gpu, "vendor", 0),
                      (unsigned)json_whole(gpu, "device", 0));
            text_add_clean(out, missing);
            text_add_char(out, '\n');
            count++;
        }
    }
    return count;
}

static bool any_usable(const json_t *devices)
{
    size_t i;
    json_t *device;
    json_array_foreach(devices, i, device)
    {
        if (!json_text(device, "unusable", NULL))
            return true;
    }
    return false;
}

static void say_device(const json_t *device, struct text *said)
{
    const json_t *driver = json_object_get(device, "driver");
    const char *class = json_text(device, "class", "other");
    const char *name = json_text(device, "name", "?"), *label = json_text(device, "label", name);
    text_add(said, "on ");
    text_add_clean(said, label);
    if (strcmp(class, "cpu") == 0) {
        text_add(said, ", a CPU driver: figures are of this CPU, no GPU was measured\n");
        return;
    }
    bool gpu = strcmp(class, "other") != 0;
    text_addf(said, ", %s %s%s (driver ", strchr("aeiou", class[0]) ? "an" : "a", class,
              gpu ? " GPU" : " device");
    text_add_clean(said, json_text(driver, "name", "?"));
    text_add_char(said, ' ');
    text_add_clean(said, json_text(driver, "info", ""));
    if (json_text(device, "pci", NULL))
        text_addf(said, ", PCI %s", json_text(device, "pci", ""));
    text_add(said, ")\n");
}

static bool resolve_one(const json_t *found, const char *selector, struct text *said,
                        bool *only_cpu, struct assay_error *error)
{
    const json_t *devices = json_object_get(found, "devices");
    struct assay_error why = {0};
    size_t index;
    if (!vulkan_select(devices, selector, &index, &why)) {
        enum assay_status status = !selector && !any_usable(devices) ? ASSAY_NO_DEVICE
                                                                     : ASSAY_INVALID;
        return assay_fail(error, status, "%s%s",
                          status == ASSAY_NO_DEVICE ? "nothing was measured: " : "", why.text);
    }
    const json_t *device = json_array_get(devices, index);
    if (!selector || strcmp(json_text(device, "class", ""), "cpu") != 0)
        *only_cpu = false;
    struct text line = {0};
    say_device(device, &line);
    if (!strstr(text_string(said), text_string(&line)))
        text_add(said, text_string(&line));
    text_free(&line);
    return true;
}

void selection_fit_peaks(struct plan *plan, const json_t *found)
{
    const json_t *devices = json_object_get(found, "devices");
    for (size_t i = 0; i < plan->experiment_count; i++) {
        const struct plan_experiment *experiment = &plan->experiments[i];
        struct assay_error ignored = {0}; /* one that cannot be had says so in its cases */
        size_t index;
        if (!experiment->is_peaks)
            continue;
        const char *selector = plan->cases[experiment->first_case].device;
        if (!selector)
            selector = plan->device;
        if (vulkan_select(devices, selector && *selector ? selector : NULL, &index, &ignored))
            peaks_fit(plan, (uint32_t)i,
                      strcmp(json_text(json_array_get(devices, index), "class", ""), "cpu") == 0);
    }
}

static bool seen(const struct arguments_list *list, const char *selector)
{
    for (size_t i = 0; i < list->count; i++)
        if (strcmp(list->items[i], selector ? selector : "") == 0)
            return true;
    return false;
}

bool selection_resolve(const struct plan *plan, const json_t *found, struct text *said,
                       bool *only_cpu, struct assay_error *error)
{
    if (json_array_size(json_object_get(found, "devices")) == 0) {
        return assay_fail(error, ASSAY_NO_DEVICE, "nothing was measured (no device): %s",
                          json_text(found, "error", "Vulkan shows no device"));
    }
    struct arguments_list list = {0};
    bool good = true;
    *only_cpu = true;
    for (size_t i = 0; good && i < plan->case_count; i++) {
        const struct plan_case *item = &plan->cases[i];
        if (!item->selected || item->workload->model)
            continue;
        const char *selector = item->device ? item->device : plan->device;
        if (selector && !*selector)
            selector = NULL;
        if (seen(&list, selector))
            continue;
        good = resolve_one(found, selector, said, only_cpu, error) &&
               arguments_list_add(&list, selector ? selector : "", error);
    }
    arguments_list_free(&list);
    return good;
}

json_t *selection_devices(const struct plan *plan, const json_t *found)
{
    const json_t *inventory = json_object_get(found, "devices");
    json_t *devices = json_array();
    struct arguments_list list = {0};
    struct assay_error ignored = {0}; /* selection_resolve has said it */
    for (size_t i = 0; i < plan->case_count; i++) {
        const struct plan_case *item = &plan->cases[i];
        const char *selector = item->device ? item->device : plan->device;
        size_t index;
        bool known = false;
        if (!item->selected || item->workload->model || seen(&list, selector))
            continue;
        if (!arguments_list_add(&list, selector ? selector : "", &ignored) ||
            !vulkan_select(inventory, selector && *selector ? selector : NULL, &index, &ignored))
            continue;
        json_t *device = json_array_get(inventory, index);
        for (size_t k = 0; k < json_array_size(devices); k++)
            known = known || json_array_get(devices, k) == device;
        if (!known)
            json_array_append(devices, device);
    }
    arguments_list_free(&list);
    return devices;
}
