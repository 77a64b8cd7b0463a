/* SPDX-License-Identifier: MIT */
#include "base/json.h"
#include "run/session.h"
#include "sensors/pci.h"
#include "vulkan/selector.h"

#include <stdlib.h>

bool session_open_vulkan(struct session *session, struct assay_error *error)
{
    if (session->instance)
        return true;
    if (session->no_instance.status != ASSAY_OK) {
        *error = session->no_instance;
        return false;
    }
    struct vulkan_instance_params params = {.validate = session->validate,
                                            .bounds = session->validate};
    session->instance = vulkan_instance_create(&params, error);
    if (!session->instance) {
        session->no_instance = *error;
        return false;
    }
    session->inventory = vulkan_inventory(session->instance);
    if (session->inventory)
        return true;
    vulkan_instance_destroy(&session->instance);
    return assay_fail(error, ASSAY_OUT_OF_MEMORY, "out of host memory for the devices");
}

/* The record of a device without its opening brace, so that the selector can go in front. */
static bool device_open(struct session *session, struct session_device *entry,
                        struct assay_error *error)
{
    size_t indices[VULKAN_MEMBERS_MAX];
    struct vulkan_device_params params = {
        .physical = indices, .member_count = entry->choice.members, .queues = entry->choice.queues};
    for (unsigned i = 0; i < params.member_count; i++)
        indices[i] = entry->index;
    entry->device = device_create(session->instance, &params, error);
    if (!entry->device || !device_measure_empty_regions(entry->device, error))
        goto fail;
    json_t *record = device_record(entry->device);
    bool written = record && json_add_line(&entry->record, record, false, error);
    json_decref(record);
    if (written && !entry->record.failed)
        return true;
    assay_fail(error, ASSAY_OUT_OF_MEMORY, "out of host memory for a device's record");
fail:
    text_free(&entry->record);
    device_destroy(&entry->device);
    return false;
}

struct session_device *session_open_device(struct session *session, const char *selector,
                                           struct session_device_choice choice,
                                           struct assay_error *error)
{
    size_t index;
    if (!session_open_vulkan(session, error) ||
        !vulkan_select(session->inventory, selector, &index, error))
        return NULL;
    for (struct session_device *entry = session->devices; entry; entry = entry->next)
        if (entry->index == index && entry->choice.queues == choice.queues &&
            entry->choice.members == choice.members)
            return entry;
    struct session_device *entry = malloc(sizeof(*entry));
    if (!entry) {
        assay_fail(error, ASSAY_OUT_OF_MEMORY, "out of host memory for a device");
        return NULL;
    }
    *entry = (struct session_device){.next = session->devices, .index = index, .choice = choice};
    if (!device_open(session, entry, error)) {
        free(entry);
        return NULL;
    }
    session->devices = entry;
    return entry;
}

void session_close_devices(struct session *session)
{
    while (session->devices) {
        struct session_device *entry = session->devices;
        session->devices = entry->next;
        text_free(&entry->record);
        device_destroy(&entry->device);
        free(entry);
    }
    json_decref(session->inventory);
    vulkan_instance_destroy(&session->instance);
}

json_t *session_describe_devices(struct session *session, struct assay_error *error)
{
    struct assay_error none = {0};
    bool there = session_open_vulkan(session, &none);
    if (!there && none.status != ASSAY_NO_DEVICE) {
        *error = none;
        return NULL;
    }
    struct pci_gpu *gpus = NULL;
    size_t count = 0;
    if (!pci_scan(&gpus, &count, error))
        return NULL;
    json_t *devices = there ? json_incref(session->inventory) : json_array();
    json_t *pci = pci_inventory(gpus, count, devices);
    free(gpus);
    json_t *unreadable = pci_readable()
                             ? json_null()
                             : json_string("sysfs shows no buses: the PCI bus cannot be read");
    json_t *answer = json_pack("{s:s, s:o, s:o, s:o, s:o}", "tell", "devices", "devices", devices,
                               "error", there ? json_null() : json_clean_string(none.text), "pci",
                               pci, "pci_error", unreadable);
    if (!answer)
        assay_fail(error, ASSAY_OUT_OF_MEMORY, "out of host memory for the devices");
    return answer;
}
