-- SPDX-License-Identifier: MIT
-- What a batch buys and what it costs. Each batch has a fixed cost (submissions, waits, kernels that begin and end) and one for
-- each product: T(b) = c + t b. The throughput b / T(b) rises with b towards 1 / t, as the fixed cost is shared; the latency
-- T(b), which every product of the batch has, rises as well, but never faster than the batch. Which of both matters says how
-- large a batch should be: it pays up to about c / t products, and only costs latency from there on.
--   assay run scripts/batch_latency.lua
--   assay run scripts/batch_latency.lua --option size=1024      products that fill the device: then a batch gains little
local assay = require "assay"
local size = assay.option("size", 128, "rows and columns of each product")

assay.experiment {
  name = "throughput against latency", workload = "gemm",
  fixed = { size = size },
  vary = { batch = { 1, 2, 4, 8, 16 } },
  pair = "batch", budget = "1 s", -- sampled in turn, so that ratios hold on a busy machine
  check = function(g, expect)
    local first, last = g[1], g[#g]
    -- T(16) / T(1): more than one, at most 16, with a fifth for what larger operands cost in caches.
    expect(last.time / first.time):between(1.05, 1.2 * last.p.batch)
    for i = 2, #g do
      -- Twice the products take at most twice as long: throughput does not fall, but for those caches.
      expect(g[i].time / g[i - 1].time):at_most(1.2 * g[i].p.batch / g[i - 1].p.batch)
    end
    -- Throughput rises: by half for small products, of whose time the fixed cost is a good part. Products that fill the device
    -- have little to gain; what caches cost must not add up from step to step.
    expect(last.p.batch * first.time / last.time):at_least(first.p.size <= 128 and 1.5 or 1 / 1.2)
  end,
  summary = function(all)
    local first, last = all[1], all[#all]
    for r in all:each() do
      print(("batch %2d: latency %s, throughput %s"):format(r.p.batch, r.time,
        r.p.batch * assay.quantity "1 item" / r.time))
    end
    -- The line through the ends.
    local each = (last.time - first.time) / (last.p.batch - first.p.batch)
    print(("a product takes %s, a batch %s beside that"):format(each, first.time - each))
  end,
}
