-- SPDX-License-Identifier: MIT
-- The same batch from Lua and from the plugin saxpy.c, in turn: stages in Lua cost nothing while they are measured.
local assay = require "assay"

assay.workload {
  name    = "saxpy_lua", summary = "y = a x + y over one vector",
  params  = { { "n", 1 << 16, "elements", min = 1 } },
  slot    = function(s, p)
    s.from = s.device:buffer{ bytes = 4 * p.n, fill = assay.uniform(-1, 1), memory = "pinned" }
    s.x = s.device:buffer{ bytes = 4 * p.n }
    s.y = s.device:buffer{ bytes = 4 * p.n, fill = 1.0 }
    s.to = s.device:buffer{ bytes = 4 * p.n, memory = "cached" }
    s.kernel = s.device:kernel{ "saxpy.comp", constants = { WORKGROUP = 64 } }
  end,
  stages  = {
    { "upload",   record = function(s, _, cmd) cmd:copy(s.x, s.from) end, bytes = function(p) return 4 * p.n end },
    { "compute",  record = function(s, p, cmd)
        cmd:dispatch(s.kernel, { x = s.x, y = s.y }, { n = p.n, a = 2.0 }, { invocations = p.n })
      end, flops = function(p) return 2 * p.n end },
    { "download", record = function(s, _, cmd) cmd:copy(s.to, s.y) end, bytes = function(p) return 4 * p.n end },
  },
  verify  = function(s)
    local x = s.from:read "float"
    return assay.compare(s.to:read "float", function(i) return 2 * x[i] + 1.0 end, { absolute = 1e-6, relative = 1e-6 })
  end,
}

assay.experiment {
  name = "saxpy", workload = { "saxpy_c", "saxpy_lua" }, pair = "workload",
  vary = { n = { 1 << 10, 1 << 18 }, replica = { 1, 2, 3 } }, -- each pair has memory of its own: where it lies moves a ratio
  budget = assay.option("budget", "3 s", "of each case"), max_samples = 10000, target = "0.2 %",
  check = function(g, expect)
    local ratio = g:one{ workload = "saxpy_lua" }.time / g:one{ workload = "saxpy_c" }.time
    print(("ratio %d %.5f"):format(g:one{ workload = "saxpy_c" }.p.n, ratio.value))
    expect(ratio):between(0.97, 1.03)
  end,
}
