-- SPDX-License-Identifier: MIT
-- A load that waits for the one before it takes the latency of memory. Nothing makes that shorter, but other work hides it:
-- while some chains of loads wait others go on, until the memory system holds as many loads as it can.
--   assay run scripts/residency.lua
--   assay run scripts/residency.lua --option groups=16384      until a large GPU is saturated
local assay = require "assay"
local bytes = assay.option("bytes", "64 MiB", "a working set that is larger than the caches")
local most = assay.option("groups", 64, "workgroups of the last case")

-- One chain alone. Cases that are compared are sampled in turn, so that their ratios hold on a busy machine.
assay.experiment {
  name = "latency by working set", workload = "residency",
  fixed = { groups = 1, width = 1, loads = 4096 },
  vary = { bytes = { "16 KiB", "256 KiB", "4 MiB", bytes } },
  pair = "bytes", budget = "1 s",
  check = function(g, expect)
    local function latency(r) return r.chase.device_time / r.p.loads end
    for i = 2, #g do
      expect(latency(g[i]) / latency(g[i - 1])):at_least(0.7)   -- no larger set is nearer
    end
    expect(latency(g[#g]) / latency(g[1])):at_least(2)          -- memory against the first cache
  end,
  summary = function(all)
    for r in all:each() do
      print(("%8d KiB: a load takes %s"):format(r.p.bytes // 1024, r.chase.device_time / r.p.loads))
    end
  end,
}

-- How many times as many loads a second as `base`.
local function throughput(r, base)
  return base.chase.device_time / r.chase.device_time * (r.p.groups * r.p.width / (base.p.groups * base.p.width))
end

-- The loads of a subgroup wait together.
assay.experiment {
  name = "chains in a workgroup", workload = "residency",
  fixed = { groups = 1, loads = 512, bytes = bytes },
  vary = { width = { 1, 2, 4, 8, 16, 32 } },
  pair = "width", budget = "1 s",
  check = function(g, expect)
    expect(throughput(g:one{ width = 8 }, g:one{ width = 1 })):between(2, 12)   -- 8, but for what the instructions cost
    expect(throughput(g:one{ width = 32 }, g:one{ width = 8 })):at_least(0.5)   -- more never harm
  end,
}

-- And those of a workgroup wait while another one goes on.
local groups = { 1 }
while groups[#groups] * 4 <= most do groups[#groups + 1] = groups[#groups] * 4 end

assay.experiment {
  name = "workgroups in flight", workload = "residency",
  fixed = { width = 8, loads = 256, bytes = bytes },
  vary = { groups = groups },
  pair = "groups", budget = "1 s",
  check = function(g, expect)
    local last = g[#g]
    for i = 2, #g do
      -- Four times the groups: at most four times the throughput, and no less than before.
      expect(throughput(g[i], g[i - 1])):between(0.5, 8)
    end
    if last.device.class ~= "cpu" and last.p.groups >= 64 then
      expect(throughput(last, g[1])):at_least(8)
    end
    -- A software driver has as many groups in flight as threads; a group more waits for its turn, it hides nothing.
  end,
}
