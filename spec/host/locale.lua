--- Whatever perilune writes and reads as text, for hosts in other locales.
local peri = require "perilune"

local rng = peri.rng(99)
rng:normal(3)
local other = peri.rng(1)
assert(other:restore(rng:state()))
assert(other:normal() == rng:normal(), "a state that was saved is restored")

local function message (f, ...) return select(2, pcall(f, ...)) end

return table.concat({
  rng:state(),
  tostring(rng),
  tostring(peri.Normal(0.5, 1.25)),
  tostring(peri.Normal({ 0.5, 1.5 }, 1)),
  tostring(peri.tensor { 0.5, 1.25 }),
  tostring(peri.tensor(0.5)),
  tostring(peri.constraints.interval(0.5, 1.5)),
  message(peri.Normal, 0, -0.5),
  message(peri.zeros, 0.5),
  message(peri.arange, 1, 2, 0),
}, "\n")
