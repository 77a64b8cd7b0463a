/* SPDX-License-Identifier: MIT */
/* All that a choice hangs on: another driver, environment or version asks anew. */
#include "measure/tune_identity.h"

#include "base/hash.h"
#include "base/json.h"
#include "base/os.h"
#include "vulkan/device.h"

#include <stdlib.h>

extern char **environ;

/* What drivers read. Where they keep their caches and where they lie changes no time. */
static const char *const prefixes[] = {
    "ACO_",  "AMD_",         "ANV_",  "GALLIUM_", "GALLIVM_", "INTEL_", "IR3_",
    "LP_",   "LVP_",         "MESA_", "NIR_",     "NVK_",     "NV_",    "PAN_",
    "RADV_", "SWIFTSHADER_", "TU_",   "V3D_",     "VK_",      "VKD3D_", "__GL_"};
static const char *const passed_over[] = {"VK_ICD_FILENAMES", "VK_DRIVER_FILES",
                                          "VK_ADD_DRIVER_FILES", "VK_LAYER_PATH",
                                          "VK_ADD_LAYER_PATH"};

static bool counts(const char *name)
{
    bool ours = false;
    for (size_t i = 0; i < sizeof(prefixes) / sizeof(prefixes[0]); i++)
        ours = ours || strncmp(name, prefixes[i], strlen(prefixes[i])) == 0;
    for (size_t i = 0; ours && i < sizeof(passed_over) / sizeof(passed_over[0]); i++)
        ours = strcmp(name, passed_over[i]) != 0;
    return ours && !strstr(name, "CACHE") && !strstr(name, "_LOG");
}

static json_t *environment_json(void)
{
    json_t *object = json_object();
    for (char **at = environ; object && at && *at; at++) {
        struct text name = {0};
        size_t length = strcspn(*at, "=");
        text_add_bytes(&name, *at, length);
        if (counts(text_string(&name)))
            json_object_set_new(object, text_string(&name),
                                json_clean_string((*at)[length] ? *at + length + 1 : ""));
        text_free(&name);
    }
    return object;
}

/* The driver of a CPU is as fast as that is; the device's name does not say which one it is. */
static json_t *host_json(void)
{
    struct text cpu = {0};
    os_cpu_name(&cpu);
    json_t *host = json_pack("{s:o, s:I}", "cpu", json_clean_string(text_string(&cpu)), "cores",
                             (json_int_t)os_cpu_count());
    text_free(&cpu);
    return host;
}

static json_t *device_json(const struct assay_device *device)
{
    static const char *const members[] = {"name", "label", "class", "uuid", "driver"};
    json_t *record = device_record(device), *kept = json_object();
    for (size_t i = 0; record && kept && i < sizeof(members) / sizeof(members[0]); i++)
        json_object_set(kept, members[i], json_object_get(record, members[i]));
    if (strcmp(json_text(kept, "class", ""), "cpu") == 0)
        json_object_set_new(kept, "host", host_json());
    json_decref(record);
    return kept;
}

/* The candidates' names as one hash: a list that changed is another choice. */
static json_t *candidates_json(const struct tune_candidate *candidates, size_t count)
{
    struct text names = {0};
    char hex[HASH_HEX_BYTES];
    for (size_t i = 0; i < count; i++)
        text_addf(&names, "%s\n", candidates[i].name);
    struct hash128 hash = hash_bytes(text_string(&names), names.length);
    hash_hex(&hash, hex);
    json_t *json = names.failed ? NULL : json_string(hex);
    text_free(&names);
    return json;
}

json_t *tune_identity(const struct measure_request *request,
                      const struct tune_candidate *candidates, size_t count)
{
    const struct assay_workload *workload = request->workload;
    char what[ASSAY_TUNING_BYTES] = "";
    workload->tuning->key(request->device, request->params, what, sizeof(what));
    what[sizeof(what) - 1] = '\0';
    return json_pack("{s:s, s:s, s:o, s:o, s:o, s:o, s:b}", "workload", workload->name, "version",
                     workload->version, "what", json_clean_string(what), "device",
                     request->device ? device_json(request->device) : json_null(), "environment",
                     environment_json(), "candidates", candidates_json(candidates, count),
                     "validate", request->validate ? 1 : 0);
}
