--- The message of an error that a call must end with, without the position at its beginning.
return function (call, ...)
  local ok, message = pcall(call, ...)
  assert(not ok, "an error was expected")
  return (tostring(message):gsub("^[^:]+:%d+: ", ""))
end
