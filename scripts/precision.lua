-- SPDX-License-Identifier: MIT
-- What precision costs: the rate of a matrix product and the error of its sums, side by side.
--   assay run scripts/precision.lua
--   assay run scripts/precision.lua --option size=4096      enough to fill a large GPU
--
-- Rates. Half the bits are half the bytes, and where the hardware multiplies narrow numbers, twice the products; where it does
-- not, they are converted first and gain little. So fp32 is held against fp64 everywhere, fp16, bf16 and int8 against fp32 only
-- where the kernel that was chosen uses matrix units or dot products (r.choice) of a device that is no CPU.
--
-- Errors. With u the unit roundoff of the numbers that are added (2^-53 for fp64, 2^-24 for fp32, 2^-11 for fp16), every
-- addition rounds by u times the sum so far. gemm verifies |C - A B| <= gamma |A| |B| with gamma = exp(8 sqrt(k) u + k u^2) - 1
-- (plugins/gemm/README.md), so its error over that bound times gamma is the error in parts of |A| |B|. Sums in fp16 have a
-- bound of their own: 8 sqrt(k) u times the root of the sum of squared products, which is 4 / (3 sqrt(k)) of |A| |B| for
-- values that are uniform in [-1, 1). The error is some u in every
-- precision, so it grows by 2^29 from fp64 to fp32 and by 2^13 on to sums in fp16. Narrow inputs with sums in fp32 add nothing
-- to it, since products of two such numbers are exact in fp32; that they have fewer digits to begin with is no error of the
-- product. int8 is exact. With the length k of a sum the error in C grows between sqrt(k), of sums in pairs, and k, of one
-- after the other.
local assay = require "assay"
local size = assay.option("size", 256, "rows and columns of the products whose rates are measured")

-- Of the sums: u = 2^-exponent.
local exponents = { fp64 = 53, fp32 = 24, fp16 = 24, fp16_acc16 = 11, bf16 = 24, fp8 = 24 }

-- In parts of |A| |B|.
local function error_of(r)
  local u = 2.0 ^ -exponents[r.p.precision]
  if r.p.precision == "fp16_acc16" then return r.verification.error * (8 * u * 4 / 3) end
  local x = 8 * math.sqrt(r.p.k) * u + r.p.k * u * u
  return r.verification.error * (x < 1e-8 and x or math.exp(x) - 1)
end

local function in_hardware(r)
  local choice = r.choice or ""
  return r.device and r.device.class ~= "cpu" and (choice:find("coopmat", 1, true) or choice:find("dot", 1, true))
end

-- Printed beside the errors, which come after them.
local rates = {}

-- Sampled in turn, so that ratios hold on a busy machine. Sums in fp16 are left out: they are for devices with such arithmetic.
assay.experiment {
  name = "rate by precision", workload = "gemm",
  fixed = { size = size, resident = true },
  vary = { precision = { "fp64", "fp32", "fp16", "bf16", "int8", "fp8" } },
  pair = "precision", budget = "2 s",
  check = function(g, expect)
    local function of(precision) return g:one{ precision = precision } end
    expect(of "fp64".compute.time / of "fp32".compute.time):at_least(1)
    for _, precision in ipairs { "fp16", "bf16", "int8" } do
      if in_hardware(of(precision)) then
        expect(of "fp32".compute.time / of(precision).compute.time):at_least(1)
      end
    end
  end,
  summary = function(all)
    for r in all:each() do rates[r.p.precision] = ("%s by %s"):format(r.compute.flop_rate, r.choice or r.p.variant) end
  end,
}

-- All of C is verified, not random sums of it.
assay.experiment {
  name = "error by precision", workload = "gemm",
  fixed = { m = 64, n = 64, k = 256, resident = true },
  vary = { precision = { "fp64", "fp32", "fp16", "fp16_acc16", "bf16", "int8", "fp8" } },
  budget = "100 ms",
  summary = function(all, expect)
    local function of(precision) return all:one{ precision = precision } end
    -- A sixteenth of u to 32 u for the largest of 4096 errors. The reference is in fp64 as well, and may err alike.
    expect(error_of(of "fp64")):at_most(32 * 2.0 ^ -53)
    expect(error_of(of "fp32")):between(2.0 ^ -24 / 16, 32 * 2.0 ^ -24)
    expect(error_of(of "fp16_acc16")):between(2.0 ^ -11 / 16, 32 * 2.0 ^ -11)
    for _, precision in ipairs { "fp16", "bf16", "fp8" } do
      expect(error_of(of(precision)) / error_of(of "fp32")):at_most(8) -- matrix units may cut off where they do not round
    end
    expect(of "int8".verification.error):at_most(0)
    for r in all:each() do
      local precision = r.p.precision
      local shown = ("%s of |A||B|"):format(exponents[precision] and error_of(r) or 0)
      -- The reference adds up in fp64, too: where both round alike nothing is told of the error.
      if precision == "fp64" and error_of(r).value == 0 then shown = "not resolved by its reference" end
      print(("%-10s  error %s, %s"):format(precision, shown, rates[precision] or "not timed"))
    end
  end,
}

assay.experiment {
  name = "error by the length of the sums", workload = "gemm",
  fixed = { m = 64, n = 64, precision = "fp32", resident = true },
  vary = { k = { 64, 512, 4096 } },
  budget = "100 ms",
  summary = function(all, expect)
    -- |A| |B| grows as k.
    local function error_in_c(k) return error_of(all:one{ k = k }) * k end
    -- sqrt(64) to 64 times, and a factor of 2 and 4 for the largest of 4096 errors.
    expect(error_in_c(4096) / error_in_c(64)):between(8 / 2, 64 * 4)
    expect(error_in_c(512) / error_in_c(64)):at_least(1)
    expect(error_in_c(4096) / error_in_c(512)):at_least(1)
  end,
}
