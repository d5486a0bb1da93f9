data {
  int<lower=1> J;
  int<lower=1> N;
  int<lower=1, upper=J> county_idx[N];
  vector[N] log_uppm;
  vector[N] floor_measure;
  vector[N] log_radon;
}
parameters {
  real mu_alpha;
  real<lower=0> sigma_alpha;
  vector[2] beta;
  real<lower=0> sigma_y;
  vector[J] alpha_raw;
}
transformed parameters {
  vector[J] alpha = mu_alpha + sigma_alpha * alpha_raw;
}
model {
  mu_alpha ~ normal(0, 10);
  sigma_alpha ~ normal(0, 1);
  beta ~ normal(0, 10);
  sigma_y ~ normal(0, 1);
  alpha_raw ~ normal(0, 1);
  log_radon ~ normal(alpha[county_idx] + beta[1] * log_uppm + beta[2] * floor_measure, sigma_y);
}
