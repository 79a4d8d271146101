# The same models sampled by Stan's NUTS: one chain, diagonal metric, warm-up included. Prints one line a model: its name
# and the microseconds of one leapfrog step, all of NUTS included, in the fastest of several runs.
#
# usage: Rscript stan_peer.R NAME...
suppressMessages(library(rstan))
rstan_options(auto_write = FALSE, boost_lib = "/usr/include")
set.seed(1)

eight_schools <- list(runs = 20, iterations = 4000, code = "
  data { int J; vector[J] y; vector<lower=0>[J] sigma; }
  parameters { real mu; real<lower=0> tau; vector[J] z; }
  model { z ~ normal(0, 1); mu ~ normal(0, 5); tau ~ cauchy(0, 5); y ~ normal(mu + tau * z, sigma); }",
  data = list(J = 8, y = c(28, 8, -3, 7, -1, 1, 18, 12), sigma = c(15, 10, 16, 11, 9, 11, 10, 18)))

rows <- 1000
columns <- 24
x <- matrix(rnorm(rows * columns), rows, columns)
logistic <- list(runs = 20, iterations = 400, code = "
  data { int N; int D; matrix[N, D] X; int<lower=0, upper=1> y[N]; }
  parameters { real a; vector[D] b; }
  model { a ~ normal(0, 1); b ~ normal(0, 1); y ~ bernoulli_logit_glm(X, a, b); }",
  data = list(N = rows, D = columns, X = x, y = rbinom(rows, 1, plogis(x %*% rnorm(columns)))))

days <- 2905
volatility <- list(runs = 20, iterations = 60, code = "
  data { int T; vector[T] r; }
  parameters { real<lower=0> sigma; real<lower=0> nu; vector[T] s; }
  model {
    sigma ~ exponential(10); nu ~ exponential(0.1); s[1] ~ normal(0, 100); s[2:T] ~ normal(s[1:T-1], sigma);
    r ~ student_t(nu, 0, exp(s));
  }",
  data = list(T = days, r = exp(cumsum(c(-4.5, rnorm(days - 1, 0, 0.08)))) * rt(days, 9)))

models <- list(nuts_eight_schools = eight_schools, nuts_logistic = logistic, nuts_volatility = volatility)

for (name in commandArgs(trailingOnly = TRUE)) {
  m <- models[[name]]
  if (is.null(m)) next
  compiled <- stan_model(model_code = m$code)
  microseconds <- sapply(seq_len(m$runs), function(seed) {
    fit <- suppressWarnings(sampling(compiled, data = m$data, chains = 1, iter = m$iterations, refresh = 0, seed = seed))
    1e6 * sum(get_elapsed_time(fit)) / sum(get_sampler_params(fit, inc_warmup = TRUE)[[1]][, "n_leapfrog__"])
  })
  cat(name, min(microseconds), "\n")
}
