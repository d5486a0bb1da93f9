data {
  int<lower=1> N;
  int<lower=1> K;
  matrix[N, K] x;
  int<lower=0, upper=1> y[N];
}
parameters {
  vector[K] beta;
}
model {
  beta ~ normal(0, 1);
  y ~ bernoulli_logit_glm(x, 0, beta);
}
