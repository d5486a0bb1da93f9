--- The tables of bench/models.md, from the figures in a folder: `lua5.4 bench/models/report.lua FOLDER`
local list = require "bench.models.list"

-- { name = { figure, ... } } of lines "name TAB figure TAB ..."; empty if there is no such file.
local function read (name)
  local file, rows = io.open(arg[1] .. "/" .. name .. ".tsv"), {}
  for line in file and file:lines() or function () end do
    local word, rest = line:match "^([%w_]+)\t(.*)$"
    if word then
      rows[word] = {}
      for figure in rest:gmatch "[^\t]+" do table.insert(rows[word], tonumber(figure)) end
    end
  end
  return rows
end

local function output (command)
  local pipe = io.popen(command .. " 2>/dev/null")
  local text = pipe:read "a"
  pipe:close()
  return (text:gsub("%s+$", ""))
end

local function version (package) return output("dpkg-query -W -f '${Version}' " .. package) end

local function digits (x) return x and string.format("%.3g", x):gsub("e%+0?", "e") or "–" end
local function whole (x) return x and string.format("%.0f", x) or "–" end
local function demand (text, is_met) return string.format("%s: %s", text, is_met and "yes" or "NO") end

local function row (...) print("| " .. table.concat({ ... }, " | ") .. " |") end

local function gradients ()
  local ours, stan, torch = read "perilune_gradient", read "stan_gradient", read "torch_gradient"
  print "\n## A log density and its gradient\n"
  print("µs of CPU: perilune replays the trace for many rows; of Stan a leapfrog step, in which there is little else; "
        .. "of PyTorch\n`torch.autograd.grad` of the same density written with tensors. The ratios are over ours.\n")
  row("model", "perilune", "demand", "Stan", "ratio", "PyTorch", "ratio")
  row("---", "---", "---", "---", "---", "---", "---")
  for _, one in ipairs(list) do
    local a, b, c = ours[one.name], stan[one.name], torch[one.name]
    if a then
      local goal = one.gradient == "Stan" and demand("below Stan", b and a[1] < b[1])
                or demand("≤ " .. one.gradient, a[1] <= one.gradient)
      row(one.title, digits(a[1]), goal, digits(b and b[1]), b and digits(b[1] / a[1]) or "–", digits(c and c[1]),
          c and digits(c[1] / a[1]) or "–")
    end
  end
end

local function chains ()
  local ours, stan, jags = read "perilune_nuts", read "stan_nuts", read "jags_nuts"
  print "\n## Effective draws per second of CPU\n"
  print("Bulk ESS of the slowest parameter over CPU, 4 chains of 1000 + 1000 draws; warm-up and the search for starts "
        .. "included, diagnostics,\nas of Stan, not (the third column has them). JAGS compiles its model in that time; "
        .. "Stan's compiler (a minute) is not counted.\n")
  row("model", "perilune", "with diagnostics", "demand", "Stan", "JAGS", "over Stan", "CPU s: perilune", "Stan", "JAGS")
  row("---", "---", "---", "---", "---", "---", "---", "---", "---", "---")
  local function rate (figures) return figures and figures[2] / figures[1] end
  for _, one in ipairs(list) do
    local a, b, c = ours[one.name], stan[one.name], jags[one.name]
    if a then
      local mine, theirs = a[3] / a[1], rate(b)
      local goal
      if type(one.nuts) == "number" then goal = demand("≥ " .. one.nuts, mine >= one.nuts)
      else goal = demand("≥ " .. one.nuts[1] .. " × Stan", theirs and mine >= one.nuts[1] * theirs) end
      row(one.title, whole(mine), whole(a[3] / a[2]), goal, whole(theirs), whole(rate(c)),
          theirs and digits(mine / theirs) or "–", digits(a[1]), digits(b and b[1]), digits(c and c[1]))
    end
  end
end

local function threads ()
  local figures = read "perilune_threads"
  print "\n## Four chains on two threads over one\n"
  print "Seconds of wall clock for the same draws, the best round of each; starts and diagnostics not included.\n"
  row("model", "one thread", "two threads", "ratio", "demand")
  row("---", "---", "---", "---", "---")
  for _, one in ipairs(list) do
    local t = figures[one.name]
    if t then row(one.title, digits(t[1]), digits(t[2]), digits(t[1] / t[2]), demand("≥ 1.8", t[1] / t[2] >= 1.8)) end
  end
end

local function from_nothing ()
  local figures = read "whole"
  local function ms (name) return figures[name] and 1000 * figures[name][1] end
  print "\n## Eight schools, from `lua5.4 eight_schools.lua` to the printed summary\n"
  row("", "ms of CPU", "demand")
  row("---", "---", "---")
  row("posed:nuts {}, 4 × 1000 draws", digits(ms "nuts"), demand("≤ 100", ms "nuts" and ms "nuts" <= 100))
  row("posed:vi {}", digits(ms "vi"), demand("≤ 60", ms "vi" and ms "vi" <= 60))
  row("jags, 4 × 1000 draws to files, no summary", digits(ms "jags"), "")
end

print "# Models beside Stan, JAGS and PyTorch\n"
print(string.format("Machine: %s, %s cores, kernels for %s; load average %s. %s; Lua %s. rstan %s, its models"
  .. " compiled by Debian's R (`%s`); JAGS %s; PyTorch %s.",
  output "sed -n 's/^model name[^:]*: //p' /proc/cpuinfo | head -1", output "nproc",
  output "grep -qw avx2 /proc/cpuinfo && echo AVX2" == "AVX2" and "AVX2" or "the baseline",
  output "cut -d' ' -f1 /proc/loadavg", output "cc --version | head -1", output("lua5.4 -v"):match "[%d.]+",
  version "r-cran-rstan", output "R CMD config CXX14FLAGS | grep -o -- '-O[0-9]'", version "jags",
  version "python3-torch"))
print "\nThe same models, priors and data on all sides: bench/models/list.lua, bench/stan, bench/jags,"
print "bench/models/torch_gradient.py. One thread; the best round of gradients, the middle one of chains."
print "`make bench-models` writes this page."
gradients()
chains()
threads()
from_nothing()
