/* SPDX-License-Identifier: MIT */
#include "cli/arguments.h"
#include "cli/cli.h"
#include "cli/selection.h"
#include "run/supervisor.h"

#include "base/json.h"
#include "base/units.h"

#include <string.h>

static const struct dimension bytes = {.bytes = 1};

static bool take(void *user, const char *name, const char *value, struct assay_error *error)
{
    (void)value;
    (void)error;
    *(bool *)user = strcmp(name, "json") == 0;
    return true;
}

static void add_words(struct text *out, const json_t *words)
{
    size_t i;
    json_t *word;
    json_array_foreach(words, i, word)
    {
        text_addf(out, "%s%s", i ? ", " : "", json_is_string(word) ? json_string_value(word) : "?");
    }
    text_add(out, json_array_size(words) ? "" : "none");
}

static void add_heaps(struct text *out, const json_t *device)
{
    size_t i;
    json_t *heap;
    text_add(out, "    heaps       ");
    json_array_foreach(json_object_get(device, "heaps"), i, heap)
    {
        text_add(out, i ? ", " : "");
        quantity_add(out, (double)json_whole(heap, "bytes", 0), bytes);
        text_add(out, json_flag(heap, "device_local", false) ? " device-local" : " host");
    }
    text_add(out, "\n    memory      ");
    add_words(out, json_object_get(device, "memory"));
    text_add_char(out, '\n');
}

static void add_queues(struct text *out, const json_t *device)
{
    size_t i;
    json_t *queue;
    json_array_foreach(json_object_get(device, "queues"), i, queue)
    {
        int64_t bits = json_whole(queue, "timestamp_bits", 0);
        text_addf(out, "    queues      family %lld: %lld, for ",
                  (long long)json_whole(queue, "family", 0),
                  (long long)json_whole(queue, "count", 0));
        add_words(out, json_object_get(queue, "roles"));
        if (bits > 0)
            text_addf(out, "; %lld-bit timestamps\n", (long long)bits);
        else
            text_add(out, "; no timestamps, so times are of the host\n");
    }
}

static void add_features(struct text *out, const json_t *device)
{
    const char *name;
    json_t *value;
    bool any = false;
    text_add(out, "    features    ");
    json_object_foreach(json_object_get(device, "features"), name, value)
    {
        if (json_is_true(value)) {
            text_addf(out, "%s%s", any ? ", " : "", name);
            any = true;
        }
    }
    text_add(out, any ? "\n" : "none\n");
    json_object_foreach(json_object_get(device, "features"), name, value)
    {
        if (json_is_string(value)) {
            text_addf(out, "    missing     %s: ", name);
            text_add_clean(out, json_string_value(value));
            text_add_char(out, '\n');
        }
    }
}

static void add_device(struct text *out, const json_t *device)
{
    const json_t *driver = json_object_get(device, "driver");
    const char *class = json_text(device, "class", "other"), *name = json_text(device, "name", "?");
    const char *label = json_text(device, "label", name);
    text_addf(out, "%lld  ", (long long)json_whole(device, "index", 0));
    text_add_clean(out, name);
    if (strcmp(label, name) != 0) {
        text_add(out, " (");
        text_add_clean(out, label);
        text_add_char(out, ')');
    }
    text_addf(out, "\n    class       %s\n    driver      ", class);
    text_add_clean(out, json_text(driver, "name", "?"));
    text_add_char(out, ' ');
    text_add_clean(out, json_text(driver, "info", ""));
    text_addf(out, "\n    api         Vulkan %s\n    uuid        %s\n    pci         %s\n",
              json_text(device, "api_version", "?"), json_text(device, "uuid", "?"),
              json_text(device, "pci", "none"));
    if (json_text(device, "unusable", NULL)) {
        text_add(out, "    unusable    ");
        text_add_clean(out, json_text(device, "unusable", ""));
        text_add_char(out, '\n');
    }
    add_heaps(out, device);
    add_queues(out, device);
    text_addf(out, "    subgroup    %lld\n", (long long)json_whole(device, "subgroup_size", 0));
    add_features(out, device);
}

static void add_all(struct text *out, const json_t *found)
{
    size_t i;
    json_t *device;
    json_array_foreach(json_object_get(found, "devices"), i, device)
    {
        text_add(out, i ? "\n" : "");
        add_device(out, device);
    }
    if (i == 0) {
        text_add(out, "no Vulkan device: ");
        text_add_clean(out, json_text(found, "error", "the drivers that are there show none"));
        text_add_char(out, '\n');
    }
    struct text unserved = {0};
    if (selection_add_unserved(found, "", &unserved))
        text_addf(out, "\n%s", text_string(&unserved));
    text_free(&unserved);
}

static bool add_json(struct text *out, const json_t *found, struct assay_error *error)
{
    json_t *copy = json_copy((json_t *)found);
    if (!copy)
        return assay_fail(error, ASSAY_OUT_OF_MEMORY, "no memory for the inventory");
    json_object_del(copy, "tell"); /* of the protocol */
    bool good = json_add_line(out, copy, false, error);
    text_add_char(out, '\n');
    json_decref(copy);
    return good;
}

static const struct arguments_option options[] = {
    {"json", 0, NULL, "one JSON object: devices, error, pci"},
    {0},
};

static const struct arguments arguments = {
    .command = "devices",
    .usage = "[--json]",
    .about = "What Vulkan shows: each device with its index, name, driver, memory, queues and what "
             "it lacks;\nthen the GPUs on the PCI bus that no Vulkan driver serves, and what is "
             "missing.\n",
    .options = options,
    .take = take,
    .footer = "exit status: 0, or 5 when there is no Vulkan device at all\n",
};

static int run(int argc, char **argv)
{
    bool json = false;
    char **words;
    int status = arguments_parse(&arguments, argc, argv, &json, &words);
    if (status != ARGUMENTS_GO)
        return status;
    struct assay_error error = {0};
    struct text out = {0};
    struct supervisor *supervisor = supervisor_create(&(struct supervisor_params){0}, &error);
    json_t *found = supervisor ? supervisor_devices(supervisor, &error) : NULL;
    bool good = found != NULL;
    if (good && json)
        good = add_json(&out, found, &error);
    else if (good)
        add_all(&out, found);
    if (good) {
        bool any = json_array_size(json_object_get(found, "devices")) > 0;
        status = cli_finish(&out, any ? CLI_PASS : CLI_NOTHING_MEASURED);
    } else {
        text_free(&out);
        status = cli_error(&error);
    }
    json_decref(found);
    supervisor_destroy(&supervisor);
    return status;
}

const struct cli_command cli_devices = {"devices", "what Vulkan and the PCI bus show", run};
