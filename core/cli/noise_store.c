/* SPDX-License-Identifier: MIT */
#include "cli/noise_store.h"

#include "base/hash.h"
#include "base/json.h"
#include "base/os.h"

#include <stdio.h>
#include <string.h>
#include <sys/utsname.h>
#include <time.h>

#define FILE_MAX_BYTES 4096

/* False: there is no cache directory. */
static bool path_of(const json_t *device, struct text *directory, struct text *path)
{
    const json_t *driver = json_object_get(device, "driver");
    struct utsname host = {0};
    struct text key = {0}, name = {0};
    char hex[HASH_HEX_BYTES];
    if (!os_cache_directory(directory))
        return false;
    uname(&host);
    text_addf(&key, "%s\n%s\n%s\n%s\n%s", host.nodename, json_text(device, "name", ""),
              json_text(device, "uuid", ""), json_text(driver, "name", ""),
              json_text(driver, "info", ""));
    struct hash128 hash = hash_bytes(text_string(&key), key.length);
    hash_hex(&hash, hex);
    text_addf(&name, "noise-%s.json", hex);
    os_path_join(path, text_string(directory), text_string(&name));
    bool good = !key.failed && !name.failed && !path->failed;
    text_free(&key);
    text_free(&name);
    return good;
}

bool noise_save(const json_t *device, const struct noise_figures *figures,
                struct assay_error *error)
{
    struct text directory = {0}, path = {0}, line = {0};
    char date[32];
    time_t now = time(NULL);
    struct tm parts;
    gmtime_r(&now, &parts);
    strftime(date, sizeof(date), "%Y-%m-%d", &parts);
    json_t *json = json_pack("{s:s, s:f, s:f, s:f, s:I}", "date", date, "paired", figures->paired,
                             "unpaired", figures->unpaired, "within", figures->within, "run_ns",
                             (json_int_t)figures->run_ns);
    bool good = path_of(device, &directory, &path)
                    ? os_make_directories(text_string(&directory), error)
                    : assay_fail(error, ASSAY_INVALID,
                                 "there is no cache directory: neither XDG_CACHE_HOME nor HOME is "
                                 "an absolute path");
    if (good && !json)
        good = assay_fail(error, ASSAY_OUT_OF_MEMORY, "no memory for the figures");
    good = good && json_add_line(&line, json, false, error) &&
           os_file_write_atomic(text_string(&path), text_string(&line), line.length, error);
    json_decref(json);
    text_free(&directory);
    text_free(&path);
    text_free(&line);
    return good;
}

bool noise_load(const json_t *device, struct noise_figures *figures, struct text *date)
{
    struct text directory = {0}, path = {0}, line = {0};
    struct assay_error ignored = {0}; /* nothing is known, then */
    json_t *json = NULL;
    if (path_of(device, &directory, &path) &&
        os_file_read(text_string(&path), FILE_MAX_BYTES, &line, &ignored))
        json = json_read(text_string(&line), line.length, text_string(&path), &ignored);
    *figures = (struct noise_figures){
        .paired = json_number(json, "paired", -1),
        .unpaired = json_number(json, "unpaired", -1),
        .within = json_number(json, "within", -1),
        .run_ns = json_whole(json, "run_ns", 0),
    };
    bool good = json && figures->paired >= 0 && figures->unpaired >= 0 && figures->within >= 0 &&
                figures->run_ns > 0;
    text_add_clean(date, json_text(json, "date", ""));
    json_decref(json);
    text_free(&directory);
    text_free(&path);
    text_free(&line);
    return good;
}
