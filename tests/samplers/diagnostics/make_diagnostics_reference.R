# Makes diagnostics_reference.hpp with the R package posterior (Debian's r-cran-posterior 1.4.0):
#
#     Rscript make_diagnostics_reference.R > diagnostics_reference.hpp
#
# The draws are not stored: the test computes the same ones. All of the arithmetic below is exact in double.
suppressMessages(library(posterior))

# An autoregressive chain in steps of 1/65536, fed by the generator of Park and Miller. rho is a multiple of 1/16.
chain <- function(seed, draws, rho) {
    x <- numeric(draws)
    state <- seed
    y <- 0
    for (t in seq_len(draws)) {
        e <- 0
        for (k in 1:3) {
            state <- (16807 * state) %% 2147483647
            e <- e + floor(state / 32768) - 32768
        }
        y <- floor((rho * y + e / 65536) * 65536) / 65536
        x[t] <- y
    }
    x
}

# Chain c (from 0) is moved by c * shift and stretched by 1 + c * grow; then everything is rounded down to a grid.
make_draws <- function(case, number) {
    x <- sapply(seq_len(case$chains) - 1, function(c) {
        (1 + c * case$grow) * chain(1000 * number + c + 1, case$draws, case$rho) + c * case$shift
    })
    x <- matrix(x, nrow = case$draws)
    if (case$grid > 0) x <- floor(x / case$grid) * case$grid
    middle <- floor(case$draws / 2) + 1
    switch(case$special,
        none = x,
        not_a_number = { x[min(3, case$draws), 1] <- NaN; x },
        infinite = { x[min(3, case$draws), 1] <- Inf; x },
        nan_in_the_middle = { x[middle, 1] <- NaN; x },
        infinite_in_the_middle = { x[middle, 1] <- -Inf; x },
        constant = { x[] <- 0.1; x },
        constant_within = { for (c in seq_len(case$chains)) x[, c] <- 0.1 * c; x },
        one_constant = { x[, 1] <- 0.1; x },
        tiny = x * 2^-70,
        far = x + 2^20)
}

cases <- list()
add <- function(chains, draws, rho = 0, shift = 0, grow = 0, grid = 0, special = "none")
    cases[[length(cases) + 1]] <<- list(chains = chains, draws = draws, rho = rho, shift = shift, grow = grow,
                                        grid = grid, special = special)

for (chains in c(1, 2, 4)) for (draws in 1:13) add(chains, draws, rho = 0.5)
for (rho in c(-0.9375, -0.5, 0, 0.5, 0.875, 0.9375, 1)) { add(4, 250, rho); add(3, 101, rho); add(1, 400, rho) }
add(2, 100003, 0.9375)                                     # long ones, odd and even
add(1, 65536, -0.75)
add(4, 1000, 0.5, shift = 0.25)                            # chains in different places
add(4, 1000, 0.5, grow = 0.5)                              # of different width
add(4, 200, -0.9375, shift = 1, grow = 1)
for (grid in c(0.25, 1, 4)) { add(4, 300, 0.5, grid = grid); add(2, 33, 0, grid = grid) }   # ties
for (special in c("not_a_number", "infinite", "nan_in_the_middle", "infinite_in_the_middle", "constant", "constant_within",
                  "one_constant", "tiny", "far")) {
    add(4, 100, 0.5, special = special)
    add(3, 51, 0.5, special = special)
    add(1, 21, 0.5, special = special)
    add(4, 3, 0.5, special = special)
}

results <- list(rhat = rhat, rhat_basic = rhat_basic, ess_bulk = ess_bulk, ess_tail = ess_tail, ess_mean = ess_mean,
                ess_sd = ess_sd, ess_median = ess_median,
                ess_q0 = function(x) ess_quantile(x, 0), ess_q10 = function(x) ess_quantile(x, 0.1),
                ess_q100 = function(x) ess_quantile(x, 1),
                mcse_mean = mcse_mean, mcse_sd = mcse_sd, mcse_median = mcse_median,
                mcse_q0 = function(x) mcse_quantile(x, 0),
                mcse_q5 = function(x) mcse_quantile(x, 0.05), mcse_q95 = function(x) mcse_quantile(x, 0.95),
                mcse_q100 = function(x) mcse_quantile(x, 1))

number <- function(v) {
    v <- as.numeric(v)
    if (is.na(v)) "nan" else if (is.infinite(v)) "inf" else format(v, digits = 17)
}

cat("#pragma once\n\n#include <array>\n#include <limits>\n\n")
cat("// What the R package posterior", as.character(packageVersion("posterior")),
    "says, made by make_diagnostics_reference.R.\n")
cat("namespace pollen::test::posterior {\n\n")
cat("constexpr double nan = std::numeric_limits<double>::quiet_NaN(), inf = std::numeric_limits<double>::infinity();\n\n")
cat("enum class Special { none, not_a_number, infinite, nan_in_the_middle, infinite_in_the_middle, constant, constant_within,",
    "one_constant, tiny, far };\n\n")
cat("struct Case {\n    int chains, draws;\n    double rho, shift, grow, grid;\n    Special special;\n    std::array<double,",
    length(results), "> results;\n};\n\n")
cat("constexpr std::array<const char*, ", length(results), "> names{", paste0('"', names(results), '"', collapse = ", "),
    "};\n\n", sep = "")
cat("// clang-format off\n")
cat("constexpr std::array<Case, ", length(cases), "> cases{{\n", sep = "")
for (i in seq_along(cases)) {
    case <- cases[[i]]
    x <- make_draws(case, i)
    values <- sapply(results, function(f) number(suppressWarnings(f(x))))
    cat("    {", paste(c(case$chains, case$draws, case$rho, case$shift, case$grow, case$grid), collapse = ", "),
        ", Special::", case$special, ",\n     {{", paste(values, collapse = ", "), "}}},\n", sep = "")
}
cat("}};\n// clang-format on\n\n}  // namespace pollen::test::posterior\n")
