# Intervals for a share of wins: binom.test (Clopper-Pearson), prop.test (Wilson), and the
# quantiles of the bootstrap distribution (binomial), the upper one by mirroring the lower one.
source("to_json.R")
cases <- list()
for (level in c(0.9, 0.95, 0.999)) for (n in c(1, 2, 6, 10, 29, 50, 200)) {
  for (wins in unique(c(0, 1, n %/% 2, n - 1, n))) {
    tail <- (1 - level) / 2
    share <- wins / n
    wilson <- suppressWarnings(prop.test(wins, n, conf.level = level, correct = FALSE))
    cases[[length(cases) + 1]] <- list(
      wins = wins, n = n, confidence_level = level,
      clopper_pearson = as.numeric(binom.test(wins, n, conf.level = level)$conf.int),
      wilson = as.numeric(wilson$conf.int),
      percentile = c(qbinom(tail, n, share), n - qbinom(tail, n, 1 - share)) / n
    )
  }
}
write_json(cases, "intervals.json")
