-- SPDX-License-Identifier: MIT
-- The roofline of a device: work takes at least its operations over the best rate of arithmetic, and at least its bytes over the
-- best bandwidth, both measured in this run (peaks = true). Which of both floors is the higher one hangs on the intensity, the
-- operations for each byte: n / 6 for a product of two n x n matrices in fp32, none for a copy. Where it equals the balance of
-- the device, peaks.balance.fp32, the two floors meet: below, memory is the limit, above, arithmetic.
--   assay run scripts/roofline.lua
--   assay run scripts/roofline.lua --option size=4096      enough to fill a large GPU
-- What lies under half of a floor is a broken measurement: such a case fails by itself, by the bound `floor`.
local assay = require "assay"
local size = assay.option("size", 512, "rows and columns of the largest product")
local peaks = assay.peaks()

local sizes = {}
for n = 16, size do
  if n & (n - 1) == 0 and n % 3 == 1 or n == size then sizes[#sizes + 1] = n end -- 16, 64, 256, 1024, ...
end

-- Sampled in turn, so that ratios hold on a busy machine.
assay.experiment {
  name = "products towards the roof", workload = "gemm", peaks = true,
  fixed = { resident = true },
  vary = { size = sizes },
  pair = "size", budget = "1 s",
  check = function(g, expect)
    local largest = g[#g]
    for i = 2, #g do
      -- Intensity rises and fixed costs are shared: the rate does not fall, but for what caches do.
      local more = (g[i].p.size / g[i - 1].p.size) ^ 3
      expect(more * g[i - 1].compute.time / g[i].compute.time):at_least(0.5)
    end
    expect((largest.p.size / g[1].p.size) ^ 3 * g[1].compute.time / largest.compute.time):at_least(4)
    if largest.p.size >= 512 then
      -- Arithmetic is its floor.
      expect(assay.quantity(largest.p.size / 6 .. " flop/B") / peaks.balance.fp32):at_least(1)
    end
    -- A part of it is reached that no product without tiles comes near. Not asked of a CPU, which does other things as well:
    -- it may be another machine while its peaks are measured than now.
    if largest.p.size >= 2048 and largest.device.class ~= "cpu" then
      expect(largest.compute.floor / largest.compute.time):at_least(0.1)
    end
  end,
  summary = function(all)
    for r in all:each() do
      local intensity = r.p.size / 6
      local limit = intensity < peaks.balance.fp32.value and "memory" or "arithmetic"
      print(("n = %4d: %6.1f flop/B, %s is the floor, %s of it is reached, %s"):format(r.p.size, intensity, limit,
        r.compute.floor / r.compute.time, r.compute.flop_rate))
    end
  end,
}

-- Bytes alone, within the caches and beyond.
assay.experiment {
  name = "copies along the slope", workload = "copy", peaks = true,
  fixed = { direction = "device" },
  vary = { bytes = { "1 MiB", "16 MiB", "64 MiB" } },
  pair = "bytes", budget = "1 s",
  check = function(g, expect)
    local large, medium = g:one{ bytes = "64 MiB" }, g:one{ bytes = "16 MiB" }
    -- Four times the bytes: about four times as long, more where the caches end between the two.
    expect(large.copy.time / medium.copy.time):between(2.5, 16)
    -- The floor is of copies like these.
    if large.device.class ~= "cpu" then
      expect(large.copy.floor / large.copy.time):at_least(0.5)
    end
  end,
  summary = function(all)
    for r in all:each() do
      print(("%8d KiB: %s, %s of the floor is reached"):format(r.p.bytes // 1024, r.copy.rate, r.copy.floor / r.copy.time))
    end
  end,
}
