# JAGS's side:  Rscript bench/jags/run.R DATA [NAME ...]
#
# Prints for each model: name, seconds of CPU of 4 chains of 1000 + 1000 draws with the compilation of the model, and the
# least number of effective draws (posterior::ess_bulk); the middle one of ROUNDS by draws per second.
suppressMessages(library(rjags))

arguments <- commandArgs(trailingOnly = TRUE)
models <- list(
  eight_schools = c("mu", "tau", "theta"),
  radon         = c("mu_alpha", "sigma_alpha", "beta", "sigma_y", "alpha"))
chosen <- if (length(arguments) > 1) arguments[-1] else names(models)
rounds <- as.integer(Sys.getenv("ROUNDS", "5"))

run <- function (name, data, seed) {
  inits <- lapply(1:4, function (chain) list(.RNG.name = "base::Mersenne-Twister", .RNG.seed = 4 * seed + chain))
  spent <- system.time({
    model <- jags.model(file.path("bench/jags", paste0(name, ".jags")), data, inits, n.chains = 4, n.adapt = 0,
                        quiet = TRUE)
    suppressWarnings(adapt(model, 1000, end.adaptation = TRUE, progress.bar = "none"))
    draws <- coda.samples(model, models[[name]], 1000, progress.bar = "none")
  })
  columns <- seq_len(ncol(draws[[1]]))
  ess <- min(sapply(columns, function (j) posterior::ess_bulk(sapply(draws, function (chain) chain[, j]))))
  c(sum(spent[1:2]), ess)
}

for (name in chosen) {
  values <- new.env()
  sys.source(file.path(arguments[1], paste0(name, ".R")), values)
  data <- as.list(values)
  if (name == "eight_schools") data$J <- NULL   # the model has it as a number
  runs <- sapply(seq_len(rounds), function (seed) run(name, data, seed))
  cat(name, runs[, order(runs[2, ] / runs[1, ])[rounds %/% 2 + 1]], sep = "\t")
  cat("\n")
}
