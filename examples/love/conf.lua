function love.conf (t)
  t.window.title, t.window.width, t.window.height = "Habits", 960, 600
  t.modules.physics, t.modules.video, t.modules.audio, t.modules.sound = false, false, false, false
end
