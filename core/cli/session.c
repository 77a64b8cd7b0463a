/* SPDX-License-Identifier: MIT */
#include "cli/session.h"

bool session_open(struct session *session, const struct supervisor_params *params,
                  struct assay_error *error)
{
    *session = (struct session){0};
    session->supervisor = supervisor_create(params, error);
    if (!session->supervisor)
        goto fail;
    session->description = supervisor_describe(session->supervisor, error);
    if (!session->description)
        goto fail;
    session->catalog = catalog_create(session->description, error);
    if (session->catalog)
        return true;
fail:
    session_close(session);
    return false;
}

void session_close(struct session *session)
{
    catalog_destroy(&session->catalog);
    json_decref(session->description);
    session->description = NULL;
    supervisor_destroy(&session->supervisor);
}
