/* SPDX-License-Identifier: MIT */
#include "experiment/plugin_open.h"

#include "base/os.h"

#include <dlfcn.h>
#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

/* What both headers of ELF have in common. */
struct head {
    unsigned char ident[EI_NIDENT];
    uint16_t type, machine;
};

static bool read_head(const char *path, struct head *head, struct assay_error *error)
{
    memset(head, 0, sizeof(*head));
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (fd < 0)
        return assay_fail(error, ASSAY_INTERNAL, "it cannot be read: %s", strerror(errno));
    ssize_t got = read(fd, head, sizeof(*head));
    close(fd);
    return got >= 0 || assay_fail(error, ASSAY_INTERNAL, "it is no file that can be read");
}

static bool check_head(const char *path, struct assay_error *error)
{
    struct head own, head;
    if (!read_head("/proc/self/exe", &own, error) || !read_head(path, &head, error))
        return false;
    if (memcmp(head.ident, ELFMAG, SELFMAG) != 0)
        return assay_fail(error, ASSAY_INTERNAL,
                          "it is no library: it does not start with the mark of an ELF file");
    if (head.ident[EI_CLASS] != own.ident[EI_CLASS] || head.ident[EI_DATA] != own.ident[EI_DATA] ||
        head.machine != own.machine)
        return assay_fail(error, ASSAY_INTERNAL,
                          "it is for another machine: %d bits, ELF machine %d; this assay: %d "
                          "bits, machine %d",
                          head.ident[EI_CLASS] == ELFCLASS64 ? 64 : 32, head.machine,
                          own.ident[EI_CLASS] == ELFCLASS64 ? 64 : 32, own.machine);
    if (head.type != ET_DYN)
        return assay_fail(error, ASSAY_INTERNAL, "it is no shared library, but ELF type %d",
                          head.type);
    return true;
}

/* dlopen says it in words alone. */
static bool not_opened(const char *file, const char *said, struct assay_error *error)
{
    static const char undefined[] = "undefined symbol: ", absent[] = ": cannot open shared object";
    if (!said)
        said = "dlopen gives no reason";
    const char *symbol = strstr(said, undefined);
    if (symbol) {
        symbol += sizeof(undefined) - 1;
        return assay_fail(error, ASSAY_INTERNAL,
                          "it needs the function '%.*s', which this assay does not have: it was "
                          "built for a newer one, or lacks a library",
                          (int)strcspn(symbol, " ,"), symbol);
    }
    const char *library = strstr(said, absent);
    if (library && strncmp(said, file, strlen(file)) != 0)
        return assay_fail(error, ASSAY_INTERNAL, "it needs the library %.*s, which is not there",
                          (int)(library - said), said);
    return assay_fail(error, ASSAY_INTERNAL, "it cannot be opened: %s", said);
}

assay_plugin_entry *plugin_open(const char *file, struct assay_error *error)
{
    if (!check_head(file, error))
        return NULL;
    void *library = dlopen(file, RTLD_NOW | RTLD_LOCAL);
    if (!library) {
        not_opened(file, dlerror(), error);
        return NULL;
    }
    /* POSIX has functions and objects be of one size. */
    void *symbol = dlsym(library, PLUGIN_SYMBOL);
    assay_plugin_entry *entry = NULL;
    if (symbol)
        memcpy(&entry, &symbol, sizeof(entry));
    else
        assay_fail(error, ASSAY_INTERNAL,
                   "it exports no function '" PLUGIN_SYMBOL "', so it is no plugin of assay "
                   "(ASSAY_PLUGIN_ENTRY defines one)");
    return entry;
}
