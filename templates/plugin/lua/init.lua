-- SPDX-License-Identifier: MIT
-- y = factor * x, one float an invocation: a plugin for assay with one workload. Each field is explained in assay's
-- docs/scripting.md.
local assay = require "assay"

local function bytes(p) return 4 * p.n end

assay.workload {
  name    = "skeleton",
  summary = "y = factor * x, verified",
  params  = { -- what a script can set: name, default, unit
    { "n", 1 << 20, "elements", min = 1, max = 1 << 28, help = "length of x and y" },
    { "factor", 2.0, help = "of each element" },
  },
  slot    = function(s, p) -- one set of buffers; several may be alive at once
    s.x = s.device:buffer { bytes = bytes(p), fill = assay.uniform(1, 2) }
    s.y = s.device:buffer { bytes = bytes(p) }
    s.kernel = s.device:kernel { "skeleton.comp", constants = { WORKGROUP = 64 } } -- beside this file
  end,
  stages  = {
    { "compute", help = "one product an element",
      record = function(s, p, cmd) -- once, and replayed for each sample
        cmd:dispatch(s.kernel, { x = s.x, y = s.y }, { n = p.n, factor = p.factor }, { invocations = p.n })
      end,
      -- What one execution does by construction: rates and floors come from it.
      bytes = bytes, read = bytes, written = bytes, flops = function(p) return p.n end },
  },
  verify  = function(s, p) -- after one more batch on fresh inputs; a case whose result is wrong has no figures
    local x, factor = s.x:read "float", assay.f32(p.factor)
    return assay.compare(s.y:read "float", function(i) return factor * x[i] end, { relative = 1e-6, absolute = 1e-30 })
  end,
}
