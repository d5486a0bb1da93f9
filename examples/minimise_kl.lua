--- Gradient descent of one categorical distribution towards another, watching the divergence fall.
local peri = require "perilune"
local Categorical = peri.Categorical

local BARS = { "▁", "▂", "▃", "▄", "▅", "▆", "▇", "█" }
local function sparkline (values, highest)
  local bars = {}
  for i, x in ipairs(values) do bars[i] = BARS[1 + math.floor(math.min(x / highest, 1) * 7)] end
  return table.concat(bars)
end

local target = Categorical { 0.05, 0.1, 0.2, 0.4, 0.15, 0.07, 0.03 }
local logits = peri.param(peri.zeros(7))
local opt = peri.optim.SGD({ logits }, { lr = 1 })

print "KL(target || model) while the model learns, by gradient descent on its logits\n"
print "step   KL          model"
local trace, STEPS = {}, 400
for step = 0, STEPS do
  local model = Categorical { logits = logits }
  local loss = peri.kl_divergence(target, model)
  if step == 0 or step == 1 or step == 3 or step == 10 or step == 30 or step == 100 or step == STEPS then
    print(string.format("%4d   %.2e    %s", step, loss:item(), sparkline(logits:detach():softmax():totable(), 0.4)))
  end
  if step % 10 == 0 then trace[#trace + 1] = 12 + math.log(math.max(loss:item(), 1e-12), 10) end
  opt:zero_grad()
  loss:backward()
  opt:step()
end

print("\nlog10 KL, every tenth step:  " .. sparkline(trace, 12))
print("                   target    " .. sparkline(target.probs:totable(), 0.4))

-- The other direction, with an optimiser that knows curvature: the same answer in a few steps.
local other = peri.param(peri.zeros(7))
local lbfgs = peri.optim.LBFGS({ other })
local loss = lbfgs:step(function ()
  local kl = peri.kl_divergence(Categorical { logits = other }, target)
  kl:backward()
  return kl
end)
print(string.format("\nL-BFGS on KL(model || target): %.1e after %d evaluations", loss, lbfgs.evaluations))
