--- Gradient descent of one categorical distribution towards another, watching the divergence fall.
local peri = require "perilune"
local Categorical = peri.Categorical

-- Probabilities as a line of bars, all by one scale.
local function bars (d) return peri.plot(d, { yrange = { 0, 0.4 } }):spark() end

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
    print(string.format("%4d   %.2e    %s", step, loss:item(), bars(model)))
  end
  trace[step + 1] = loss:item()
  opt:zero_grad()
  loss:backward()
  opt:step()
end

print("        target    " .. bars(target) .. "\n")
print(peri.plot(trace, { log = "y", xlabel = "step", ylabel = "KL" }):text { height = 8 })

-- The other direction, with an optimiser that knows curvature: the same answer in a few steps.
local other = peri.param(peri.zeros(7))
local lbfgs = peri.optim.LBFGS({ other })
local loss = lbfgs:step(function ()
  local kl = peri.kl_divergence(Categorical { logits = other }, target)
  kl:backward()
  return kl
end)
print(string.format("\nL-BFGS on KL(model || target): %.1e after %d evaluations", loss, lbfgs.evaluations))
