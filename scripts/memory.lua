-- SPDX-License-Identifier: MIT
-- How much device memory can really be had, in which steps, and what is left in one piece; plugins/memory/README.md.
-- --set limit=4GiB --set share=0.9 asks for more than the modest default.
local assay = require "assay"

assay.experiment {
  name     = "capacity",
  workload = "memory_capacity",
  budget   = "200 ms",
  vary     = { step = { "64 KiB", "1 MiB", "16 MiB" } },
  check    = function(r, expect)
    -- Either all that was allowed was had, up to the last whole step, or the driver refused some.
    expect(r.allocated):at_most("8 EiB")
    expect(r.allowed / r.heap):at_most(1)
    if r.refused.value == 0 then expect(r.allocated / r.allowed):at_least(0.7) end
  end,
}

assay.experiment {
  name     = "fragments",
  workload = "memory_fragments",
  budget   = "100 ms",
  vary     = { long_lived = { 0, 0.1, 0.5 }, fit = { "first", "best" } },
  check    = function(r, expect)
    expect(r.largest_free / r.total_free):at_most(1)
    -- Where nothing stays, all that is free is one piece; where half stays, it is in many.
    if r.p.long_lived == 0 then expect(r.fragmentation):at_most(0) end
    if r.p.long_lived == 0.5 then expect(r.fragmentation):at_least(0.1) end
  end,
}
