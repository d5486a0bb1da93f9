--- The closed forms, one line a pair: KL(P || Q) is the kernel named Q in
-- src/kernel/kl/<p>.c, on the parameters of p and then of q.
return {
  { "Exponential", "Exponential" },
  { "Normal",      "Normal" },
  { "Uniform",     "Uniform" },
}
