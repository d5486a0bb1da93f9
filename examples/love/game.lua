--- Habits: bombs fall into lanes, and those who drop them learn where the player likes to be.
--
-- Each enemy believes of each lane that a bomb hits with some probability, and knows it as Beta(hits + 1, misses + 1).
-- It draws a probability for every lane and drops its bomb where the draw is largest (Thompson sampling): lanes that it
-- knows little of are tried, lanes that never pay are left. It forgets slowly, so a player who changes habits escapes
-- for a while. Nothing here needs LÖVE.
local peri = require "perilune"

local LANES, FORGET = 5, 0.96
local FALL, RELOAD, SPEED = 0.8, 0.9, 9   -- seconds, seconds, lanes per second

local Enemy = {}
Enemy.__index = Enemy

local function new_enemy (place, wait)
  local enemy = setmetatable({ place = place, wait = wait, alpha = {}, beta = {} }, Enemy)
  for lane = 1, LANES do enemy.alpha[lane], enemy.beta[lane] = 1, 1 end
  return enemy
end

function Enemy:choose (rng)
  local draws = peri.Beta(self.alpha, self.beta):sample(nil, rng)
  return draws:argmax()
end

function Enemy:learn (lane, is_hit)
  for i = 1, LANES do   -- back towards Beta(1, 1)
    self.alpha[i], self.beta[i] = 1 + FORGET * (self.alpha[i] - 1), 1 + FORGET * (self.beta[i] - 1)
  end
  local counts = is_hit and self.alpha or self.beta
  counts[lane] = counts[lane] + 1
end

--- What it believes of a lane, as a density at the points x (a tensor).
function Enemy:density (lane, x)
  return peri.Beta(self.alpha[lane], self.beta[lane]):prob(x)
end

local Game = { LANES = LANES }
Game.__index = Game

function Game.new (seed)
  local self = setmetatable({ rng = peri.rng(seed), enemies = {}, bombs = {}, results = {}, time = 0 }, Game)
  self.lane, self.x = 3, 3
  for i = 1, 3 do self.enemies[i] = new_enemy(i * 1.5, i * RELOAD / 3) end
  return self
end

function Game:move (by) self.lane = math.max(1, math.min(LANES, self.lane + by)) end

-- A bomb has landed.
function Game:land (bomb)
  bomb.is_hit = math.abs(self.x - bomb.lane) < 0.5
  bomb.enemy:learn(bomb.lane, bomb.is_hit)
  self.results[#self.results + 1] = bomb.is_hit
end

function Game:update (dt)
  self.time = self.time + dt
  local way = self.lane - self.x
  self.x = self.x + math.max(-SPEED * dt, math.min(SPEED * dt, way))
  for _, enemy in ipairs(self.enemies) do
    enemy.wait = enemy.wait - dt
    if enemy.wait <= 0 then
      enemy.wait = enemy.wait + RELOAD
      self.bombs[#self.bombs + 1] = { enemy = enemy, lane = enemy:choose(self.rng), age = 0 }
    end
  end
  local falling = {}
  for _, bomb in ipairs(self.bombs) do
    local before = bomb.age
    bomb.age = before + dt / FALL
    if before < 1 and bomb.age >= 1 then self:land(bomb) end
    if bomb.age < 1.3 then falling[#falling + 1] = bomb end
  end
  self.bombs = falling
end

--- The share of hits among the results from first to last.
function Game:rate (first, last)
  local hits = 0
  for i = first, last do if self.results[i] then hits = hits + 1 end end
  return hits / math.max(1, last - first + 1)
end

--- A player of habit, for demonstrations: mostly in one lane, in another one from `change` seconds on.
function Game:habit (change)
  if self.next_step and self.time < self.next_step then return end
  self.next_step = self.time + 0.5
  local favourite = self.time < change and 2 or 4
  self.lane = self.rng:uniform() < 0.8 and favourite or math.floor(1 + self.rng:uniform() * LANES)
end

return Game
