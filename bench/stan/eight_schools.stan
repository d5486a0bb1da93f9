data {
  real y[8];
  real<lower=0> sigma[8];
}
parameters {
  real mu;
  real<lower=0> tau;
  vector[8] theta_trans;
}
transformed parameters {
  vector[8] theta = mu + tau * theta_trans;
}
model {
  mu ~ normal(0, 5);
  tau ~ cauchy(0, 5);
  theta_trans ~ normal(0, 1);
  y ~ normal(theta, sigma);
}
