# Stan's side:  Rscript bench/stan/run.R gradient|nuts DATA CACHE [NAME ...]
#
# DATA is the folder with the models' data, CACHE one for compiled models: rstan takes about a minute for each, and one
# that is there, from the same source, is not compiled again. Prints a line for each model:
#   gradient   name, microseconds of CPU for a leapfrog step, which is a log density with its gradient and little else
#              (a call from R would cost more than most gradients), by the sampler's own clock; the least of ROUNDS
#   nuts       name, seconds of CPU of 4 chains, the least number of effective draws (posterior::ess_bulk) of the
#              parameters, leapfrog steps; the middle one of ROUNDS by draws per second
suppressMessages(library(rstan))

arguments <- commandArgs(trailingOnly = TRUE)
what <- arguments[1]
data_folder <- arguments[2]
cache <- arguments[3]
models <- list(
  eight_schools = c("mu", "tau", "theta"),
  radon         = c("mu_alpha", "sigma_alpha", "beta", "sigma_y", "alpha"),
  groups        = character(0),
  logistic      = "beta",
  mixture       = character(0),
  gp            = character(0),
  garch         = c("mu", "alpha0", "alpha1", "beta1"))
chosen <- if (length(arguments) > 3) arguments[-(1:3)] else names(models)
rounds <- as.integer(Sys.getenv("ROUNDS", "5"))

compiled <- function (name) {
  source <- paste(readLines(file.path("bench/stan", paste0(name, ".stan"))), collapse = "\n")
  file <- file.path(cache, paste0(name, ".rds"))
  if (file.exists(file)) {
    kept <- readRDS(file)
    if (kept@model_code == source) return(kept)
  }
  boost <- system.file("include", package = "BH")
  if (!dir.exists(file.path(boost, "boost"))) boost <- "/usr/include"   # Debian's
  model <- stan_model(model_code = source, model_name = name, boost_lib = boost)
  dir.create(cache, showWarnings = FALSE, recursive = TRUE)
  saveRDS(model, file)
  model
}

data_of <- function (name) {
  values <- new.env()
  sys.source(file.path(data_folder, paste0(name, ".R")), values)
  as.list(values)
}

# Seconds of sampling after the warm-up over its leapfrog steps: a chain's own work besides gradients is in it.
gradient <- function (name, model, data) {
  warmup <- 300
  spent <- function (draws, seed) {
    fit <- suppressWarnings(sampling(model, data, chains = 1, warmup = warmup, iter = warmup + draws, refresh = 0,
                                     seed = seed))
    get_elapsed_time(fit)[, "sample"] / sum(unlist(get_num_leapfrog_per_iteration(fit)))
  }
  draws <- if (name %in% c("groups", "logistic")) 200 else 2000
  cat(name, 1e6 * min(sapply(seq_len(rounds), function (seed) spent(draws, seed))), sep = "\t")
  cat("\n")
}

least_ess <- function (fit, sites) {
  draws <- as.array(fit, pars = sites)
  min(apply(draws, 3, posterior::ess_bulk))
}

nuts <- function (name, model, data) {
  sites <- models[[name]]
  if (length(sites) == 0) return()
  runs <- sapply(seq_len(rounds), function (seed) {
    fit <- suppressWarnings(sampling(model, data, chains = 4, cores = 1, warmup = 1000, iter = 2000, refresh = 0,
                                     seed = seed))
    c(sum(get_elapsed_time(fit)), least_ess(fit, sites), sum(unlist(get_num_leapfrog_per_iteration(fit))))
  })
  middle <- runs[, order(runs[2, ] / runs[1, ])[rounds %/% 2 + 1]]
  cat(name, middle, sep = "\t")
  cat("\n")
}

for (name in chosen) {
  sink(stderr())
  model <- compiled(name)
  data <- data_of(name)
  sink()
  (if (what == "gradient") gradient else nuts)(name, model, data)
}
