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
-- (plugins/gemm/README.md), so its error over that bound times gamma is the error in parts of |A| |B|. It must grow by the ratio
-- of the roundoffs, 2^29 from fp64 to fp32 and 2^13 on to fp16. Narrow inputs with sums in fp32 add nothing to it, since
-- products of two such numbers are exact in fp32; that they have fewer digits to begin with is no error of the product. int8 is
-- exact. With the length k of a sum the error in C grows between sqrt(k), of sums in pairs, and k, of one after the other.
local assay = require "assay"
local size = assay.option("size", 256, "rows and columns; up to 256 all of C is verified, then random sums of it")

local exponents = { fp64 = 53, fp32 = 24, fp16 = 24, fp16_acc16 = 11, bf16 = 24, fp8 = 24 } -- of the sums' roundoff

local function gamma(k, precision)
  local u = 2.0 ^ -exponents[precision]
  local x = 8 * math.sqrt(k) * u + k * u * u
  return x < 1e-8 and x or math.exp(x) - 1
end

-- In parts of |A| |B|.
local function error_of(r)
  return r.verification.error * gamma(r.p.k > 0 and r.p.k or r.p.size, r.p.precision)
end

local function in_hardware(r)
  local choice = r.choice or ""
  return r.device and r.device.class ~= "cpu" and (choice:find("coopmat", 1, true) or choice:find("dot", 1, true))
end

-- Sampled in turn, so that ratios of rates hold on a busy machine.
assay.experiment {
  name = "rate and error by precision", workload = "gemm",
  fixed = { size = size, resident = true },
  vary = { precision = { "fp64", "fp32", "fp16", "fp16_acc16", "bf16", "int8", "fp8" } },
  pair = "precision", budget = "1 s",
  check = function(g, expect)
    local function of(precision) return g:one{ precision = precision } end
    local fp64, fp32, fp16_sums = of "fp64", of "fp32", of "fp16_acc16"

    expect(fp64.compute.time / fp32.compute.time):at_least(1)
    for _, precision in ipairs { "fp16", "bf16", "int8" } do
      if in_hardware(of(precision)) then
        expect(fp32.compute.time / of(precision).compute.time):at_least(1)
      end
    end

    -- Four bits to either side for how many sums there are, and the largest of many errors.
    expect(error_of(fp32) / error_of(fp64)):between(2.0 ^ 25, 2.0 ^ 33)
    expect(error_of(fp16_sums) / error_of(fp32)):between(2.0 ^ 9, 2.0 ^ 17)
    for _, precision in ipairs { "fp16", "bf16", "fp8" } do
      expect(error_of(of(precision)) / error_of(fp32)):at_most(8) -- matrix units may round by truncation
    end
    expect(of("int8").verification.error):at_most(0)
  end,
  summary = function(all)
    for r in all:each() do
      local exact = r.p.precision == "int8" and "exact" or nil
      print(("%-10s  %-16s  %s, error %s of |A||B|"):format(r.p.precision, r.choice or "-", r.compute.flop_rate,
        exact or error_of(r)))
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
