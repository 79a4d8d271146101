# Rscript read_by_r.R DIRECTORY: whether rstan, posterior, coda and bayesplot read the files of a run as they are.
# The numbers are held against those of read.csv, which knows nothing of chains.
packages <- c("rstan", "posterior", "coda", "bayesplot")
missing <- packages[!vapply(packages, requireNamespace, NA, quietly = TRUE)]
if (length(missing) > 0) {
    cat("Skipped: these R packages are not installed:", missing, "\n")
    quit(status = 0)
}

files <- list.files(commandArgs(TRUE)[1], "^chain_[0-9]+\\.csv$", full.names = TRUE)
plain <- lapply(files, read.csv, comment.char = "#")
fit <- rstan::read_stan_csv(files)
draws <- as.array(fit)
stopifnot(length(files) == 4, dim(draws)[2] == 4, dim(draws)[1] == nrow(plain[[1]]))

names <- dimnames(draws)$parameters
columns <- gsub("]", "", gsub("[[,]", ".", names))  # theta[3] is theta.3 in the file
for (chain in seq_along(files)) {
    for (k in seq_along(names)) stopifnot(all(draws[, chain, k] == plain[[chain]][[columns[k]]]))
    sampler <- rstan::get_sampler_params(fit, inc_warmup = FALSE)[[chain]]
    for (statistic in c("accept_stat__", "stepsize__", "treedepth__", "n_leapfrog__", "divergent__", "energy__"))
        stopifnot(all(sampler[, statistic] == plain[[chain]][[statistic]]))
}
stopifnot(all(rstan::get_elapsed_time(fit) >= 0))

means <- posterior::summarise_draws(posterior::as_draws_array(draws), "mean")
stopifnot(max(abs(means$mean - apply(draws, 3, mean))) < 1e-12)
stopifnot(length(coda::effectiveSize(rstan::As.mcmc.list(fit))) == length(names))
stopifnot(inherits(bayesplot::mcmc_trace(draws, pars = "tau"), "ggplot"))
cat("rstan, posterior, coda and bayesplot read", length(files), "chains of", length(names), "numbers\n")
