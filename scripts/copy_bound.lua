-- SPDX-License-Identifier: MIT
-- A batch whose copy takes five times its compute: what helps, and what does not?
--   assay run scripts/copy_bound.lua
--   assay run scripts/copy_bound.lua --option upload=1GB --option flops=20GFLOP        (a fast card on a fast link)
--
-- The classical case: 100 ms upload, 20 ms compute, 10 ms return, 130 ms in all. Three ideas, in the order in which people
-- have them:
--   1. A faster kernel. Compute halved: 120 ms, 8 % more batches a second. The largest part is elsewhere.
--   2. Fewer bytes. Records have fields that the kernel does not read, and fp32 where fp16 would do. One field of
--      five dropped and the rest narrowed is 40 % of the bytes: 40 ms in place of 100. The host has to do that first,
--      and its time counts: on a link as fast as the host's own memory (a software driver, an integrated GPU) it can
--      cost more than it saves. And narrowing changes numbers: the largest error over its bound (half a unit in the
--      last place) is verified with every case.
--   3. Overlap. What is left is pipelined: while one batch computes the next one is uploaded and the one after it
--      prepared. The period is then that of the slowest stage, or of those that share a queue.
--
-- Each step is predicted from the case before it by the model (docs/method.md, "Pipelines"), then measured, and the two are
-- compared: within 10 %. That is what makes such a model worth having: it tells what an idea will bring before somebody
-- spends a month on it. In step 2 the time of the new stage cannot come from the case before it; it is measured, and all
-- else is predicted. Where prediction and measurement differ, something happens that the model does not know: stages that
-- slow each other down (memory bandwidth, one processor for two of them), or a queue that serves another one first.
--
-- The two cases of a step are sampled in turn (pair), so that the machine's mood hits both alike.
local assay = require "assay"
local upload = assay.quantity(assay.option("upload", "80 MB", "records of a batch, of five fp32 fields"))
local flops = assay.quantity(assay.option("flops", "60 MFLOP", "of the kernel: its time should be a fifth of the upload's"))
local download = assay.quantity(assay.option("download", "64 KiB", "results of a batch"))

local function near_prediction(expect, step, measured, predicted)
  local ratio = measured / predicted
  print("measured over predicted, step " .. step .. ": " .. tostring(ratio))
  expect(ratio):between(0.9, 1.1)
end

assay.experiment {
  name = "1: a faster kernel", workload = "overlap",
  fixed = { upload = upload, download = download, fields = 5, used = 4 },
  vary = { flops = { flops, flops / 2 } }, pair = "flops", budget = "2 s",
  check = function(g, expect)
    local before, after = g:one{ flops = flops }, g:one{ flops = flops / 2 }
    print("the copy takes " .. tostring(before.upload.time / before.compute.time) .. " times the compute; bottleneck: "
      .. tostring(before.bottleneck.stage))
    expect(before.bottleneck.stage):equals("upload")
    near_prediction(expect, 1, after.time, before:what_if{ compute = 0.5 }.serial_time)
    expect(before.time / after.time):at_most(1.3)              -- little changes
  end,
}

assay.experiment {
  name = "2: fewer bytes", workload = "overlap",
  fixed = { upload = upload, download = download, fields = 5, used = 4, flops = flops },
  vary = { prepare = { "none", "both" } }, pair = "prepare", budget = "2 s",
  check = function(g, expect)
    local before, after = g:one{ prepare = "none" }, g:one{ prepare = "both" }
    local model = assay.model.pipeline { stages = {
      { "prepare", after.prepare.time },                       -- the conversion counts
      { "upload", before.upload.time * 0.4 }, { "compute", before.compute.time }, { "download", before.download.time } } }
    expect(after.sent_bytes / before.sent_bytes):equals(0.4)
    near_prediction(expect, 2, after.time, model.serial_time)
    expect(after.verification.error):at_most(1)                -- narrowed as well as can be
    print("narrowing costs " .. tostring(after.prepare.time) .. " and saves " .. tostring(before.upload.time - after.upload.time))
  end,
}

assay.experiment {
  name = "3: overlap", workload = "overlap",
  fixed = { upload = upload, download = download, fields = 5, used = 4, flops = flops, prepare = "both" },
  schedule = { assay.serial(), assay.pipelined{ depth = 2 } }, pair = "schedule", budget = "6 s",
  check = function(g, expect)
    local before, after = g:one{ schedule = "serial" }, g:one{ schedule = "pipelined" }
    local groups = {}                                          -- what shares a queue is the device's business
    for _, stage in ipairs(after:what_if{}.stages) do groups[stage.name] = stage.group end
    near_prediction(expect, 3, after.period, before:what_if({}, { depth = 2, groups = groups }).period)
    print("limit: " .. after:what_if{}.limit)
  end,
}
