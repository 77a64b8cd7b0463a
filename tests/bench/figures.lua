-- SPDX-License-Identifier: MIT
-- The table of figures that ci/bench and ci/gpu print: each against a limit that was measured in the same run.
-- Returns a function that makes one; `json`: an object a line instead.

local function quote(text)
  return '"' .. text:gsub('[%c"\\]', function(c) return ("\\u%04x"):format(c:byte()) end) .. '"'
end

return function(json)
  local figures = { missed = 0 }

  function figures.head()
    if json then return end
    print(("%-48s %12s %12s %-7s %8s  %-22s %s"):format("figure", "value", "limit", "unit", "ratio", "goal", "holds"))
  end

  -- holds: true, false, or nil: not judged.
  function figures.report(figure, unit, value, limit, ratio, goal, holds)
    if holds == false then figures.missed = figures.missed + 1 end
    if json then
      print(('{"figure":%s,"unit":"%s","value":%.6g,"limit":%.6g,"ratio":%.4g,"goal":%s,"holds":%s}'):format(quote(figure), unit,
        value, limit, ratio, quote(goal), holds == nil and "null" or tostring(holds)))
    else
      print(("%-48s %12.4g %12.4g %-7s %8.3f  %-22s %s"):format(figure, value, limit, unit, ratio, goal,
        holds == nil and "not judged" or holds and "yes" or "NO"))
    end
    io.stdout:flush()
  end

  local function without(figure, how, reason)
    reason = reason:gsub("%s+", " ")
    if json then
      print(('{"figure":%s,"%s":%s}'):format(quote(figure), how, quote(reason)))
    else
      print(("%-48s %s: %s"):format(figure, how, reason))
    end
    io.stdout:flush()
  end
  function figures.skip(figure, reason) without(figure, "skipped", reason) end
  function figures.fail(figure, reason)
    figures.missed = figures.missed + 1
    without(figure, "failed", reason)
  end

  return figures
end
