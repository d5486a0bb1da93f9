--- Habits, for LÖVE 11: arrow keys move, escape ends.
--
--   make love-play
--
-- On the right is what the three enemies believe of each lane: how likely it is that a bomb hits there. With `--demo
-- FILE` a player of habit plays half a minute without clock, and the last picture is written to FILE.
local Game = require "game"
local peri = require "perilune"

local graphics = love.graphics
local COLOURS = { { 0.93, 0.49, 0.19 }, { 0.27, 0.66, 0.87 }, { 0.55, 0.80, 0.35 } }
local GROUND, PANEL, LANE = 540, 600, 100
local X = peri.linspace(0.004, 0.996, 125)
local xs = X:totable()

local game, demo

function love.load (arguments)
  game = Game.new(7)
  if arguments[1] == "--demo" then demo = { file = arguments[2], frames = 0 } end
  graphics.setNewFont(14)
  graphics.setBackgroundColor(0.07, 0.08, 0.11)
end

local STEP, CHANGE, FRAMES = 1 / 60, 16, 1920

local function demo_frame ()
  for _ = 1, 8 do
    game:habit(CHANGE)
    game:update(STEP)
    demo.frames = demo.frames + 1
  end
end

function love.update (dt)
  if demo then demo_frame() else game:update(math.min(dt, 0.1)) end
end

function love.keypressed (key)
  if key == "left" then game:move(-1)
  elseif key == "right" then game:move(1)
  elseif key == "escape" then love.event.quit()
  end
end

local function centre (lane) return (lane - 0.5) * LANE + 30 end

local function draw_field ()
  for lane = 1, game.LANES do
    graphics.setColor(1, 1, 1, lane % 2 == 0 and 0.05 or 0.02)
    graphics.rectangle("fill", centre(lane) - LANE / 2, 60, LANE, GROUND - 60)
  end
  for i, enemy in ipairs(game.enemies) do
    graphics.setColor(COLOURS[i])
    graphics.polygon("fill", centre(enemy.place) - 22, 40, centre(enemy.place) + 22, 40, centre(enemy.place), 66)
  end
  for _, bomb in ipairs(game.bombs) do
    for i, enemy in ipairs(game.enemies) do if enemy == bomb.enemy then graphics.setColor(COLOURS[i]) end end
    local from = centre(bomb.enemy.place)
    if bomb.age < 1 then
      local x = from + (centre(bomb.lane) - from) * math.min(1, bomb.age * 2)
      graphics.circle("fill", x, 66 + (GROUND - 80) * bomb.age, 8)
    else
      graphics.circle(bomb.is_hit and "fill" or "line", centre(bomb.lane), GROUND - 14, 14 + 60 * (bomb.age - 1))
    end
  end
  graphics.setColor(1, 1, 1)
  graphics.rectangle("fill", centre(game.x) - 26, GROUND - 12, 52, 24, 6)
end

-- The densities of one lane; tall ones are cut.
local function draw_beliefs (lane, top, height)
  graphics.setColor(1, 1, 1, 0.35)
  graphics.line(PANEL, top + height, PANEL + 330, top + height)
  graphics.print("lane " .. lane, PANEL, top)
  for i, enemy in ipairs(game.enemies) do
    local density, points = enemy:density(lane, X):totable(), {}
    for k, y in ipairs(density) do
      points[2 * k - 1] = PANEL + 330 * xs[k]
      points[2 * k] = top + height - height * math.min(y / 5, 1)
    end
    graphics.setColor(COLOURS[i])
    graphics.line(points)
  end
end

-- Hits while nothing is known, when the habit is learnt, after it has changed, and when that is learnt, too.
local function report (n)
  local half = math.floor(n * CHANGE * 60 / FRAMES)
  print(string.format("hits: %.2f at first, %.2f of a known habit, %.2f of a new one, %.2f later",
                      game:rate(1, 10), game:rate(half - 29, half),
                      game:rate(half + 1, half + 10), game:rate(n - 29, n)))
end

local function end_demo (n)
  demo.done = true
  graphics.captureScreenshot(function (picture)
    local file = assert(io.open(demo.file, "wb"))
    file:write(picture:encode("png"):getString())
    file:close()
    report(n)
    love.event.quit()
  end)
end

function love.draw ()
  draw_field()
  for lane = 1, game.LANES do draw_beliefs(lane, 40 + (lane - 1) * 104, 84) end
  graphics.setColor(1, 1, 1)
  graphics.print("P(hit) as the enemies believe it, 0 to 1", PANEL, 12)
  local n = #game.results
  local recent = 100 * game:rate(math.max(1, n - 29), n)
  graphics.print(string.format("bombs %d   hits of the last 30: %.0f %%", n, recent), 30, 12)
  if demo and demo.frames >= FRAMES and not demo.done then end_demo(n) end
end
