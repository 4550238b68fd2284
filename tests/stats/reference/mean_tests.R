# t.test, paired and Welch: statistic, p-values, intervals; shifted by a margin for equivalence.
source("to_json.R")
set.seed(3141)
t_tests <- function(a, b, paired, margin) {
  test <- function(...) t.test(a, b, paired = paired, ...)
  list(
    a = a, b = b, margin = margin,
    statistic = as.numeric(test()$statistic), df = as.numeric(test()$parameter),
    two_sided = test()$p.value,
    greater = test(alternative = "greater")$p.value,
    less = test(alternative = "less")$p.value,
    interval95 = as.numeric(test()$conf.int),
    interval90 = as.numeric(test(conf.level = 0.9)$conf.int),
    equivalence = max(
      test(alternative = "greater", mu = -margin)$p.value,
      test(alternative = "less", mu = margin)$p.value
    )
  )
}
paired <- list()
welch <- list()
for (shift in c(0, 0.5, 20)) {
  for (n in c(3, 10, 29)) {
    a <- round(rnorm(n, shift), 6)
    paired[[length(paired) + 1]] <- t_tests(a, round(rnorm(n), 6), TRUE, 0.8)
    welch[[length(welch) + 1]] <- t_tests(a, round(rnorm(n + 4, sd = 3), 6), FALSE, 2)
  }
}
write_json(list(paired = paired, welch = welch), "mean_tests.json")
