/* SPDX-License-Identifier: MIT */
/* Workloads as describe mode tells them, without any plugin. */
#ifndef TESTS_FAKE_CATALOG_H
#define TESTS_FAKE_CATALOG_H

#include "base/json.h"
#include "experiment/catalog.h"

#include <string.h>

static const char fake_description[] =
    "[{\"name\":\"copy\",\"version\":\"1\",\"summary\":\"moves bytes\",\"plugin\":\"copy\","
    "\"model\":false,\"options\":["
    "{\"name\":\"direction\",\"kind\":\"choice\",\"unit\":null,\"default\":\"upload\","
    "\"choices\":[\"upload\",\"download\",\"device\",\"both\"],\"help\":\"which way\"},"
    "{\"name\":\"host_memory\",\"kind\":\"choice\",\"unit\":null,\"default\":\"pinned\","
    "\"choices\":[\"pageable\",\"pinned\",\"cached\"],\"help\":\"where on the host\"},"
    "{\"name\":\"bytes\",\"kind\":\"integer\",\"unit\":\"B\",\"default\":\"64 MiB\",\"min\":1,"
    "\"max\":1099511627776,\"help\":\"how much\"},"
    "{\"name\":\"scale\",\"kind\":\"real\",\"unit\":\"factor\",\"default\":\"1\",\"help\":\"a "
    "real\"},"
    "{\"name\":\"checked\",\"kind\":\"boolean\",\"unit\":null,\"default\":\"true\",\"help\":\"\"},"
    "{\"name\":\"label\",\"kind\":\"text\",\"unit\":null,\"default\":\"x\",\"help\":\"\"}],"
    "\"stages\":[{\"name\":\"copy\",\"kind\":\"transfer\",\"help\":\"the transfer\"}],"
    "\"metrics\":[{\"name\":\"checks\",\"unit\":\"items\",\"help\":\"how many\"}]},"
    "{\"name\":\"null\",\"version\":\"2\",\"summary\":\"nothing\",\"plugin\":\"null\",\"model\":"
    "true,"
    "\"options\":[{\"name\":\"count\",\"kind\":\"integer\",\"unit\":\"items\",\"default\":\"1\","
    "\"min\":0,\"help\":\"\"}],"
    "\"stages\":[{\"name\":\"first\",\"kind\":\"model\",\"help\":\"\"},"
    "{\"name\":\"second\",\"kind\":\"model\",\"help\":\"\"}],\"metrics\":[]}]";

static inline struct catalog *fake_catalog(struct assay_error *error)
{
    json_t *json = json_read(fake_description, strlen(fake_description), "description", error);
    struct catalog *catalog = json ? catalog_create(json, error) : NULL;
    json_decref(json);
    return catalog;
}

#endif
