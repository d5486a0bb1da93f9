data {
  int<lower=1> J;
  int<lower=1> N;
  int<lower=1, upper=J> group[N];
  vector[N] y;
}
parameters {
  real mu;
  real<lower=0> tau;
  real<lower=0> sigma;
  vector[J] alpha;
}
model {
  mu ~ normal(0, 5);
  tau ~ normal(0, 2);
  sigma ~ normal(0, 2);
  alpha ~ normal(mu, tau);
  y ~ normal(alpha[group], sigma);
}
