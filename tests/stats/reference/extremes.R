# The fewest failures of m, each X ~ Bin(n, 1 - p): P(Z <= z) = 1 - P(X > z)^m, in logarithms.
source("to_json.R")
best <- function(m, n, p, z) {
  log_survival <- m * pbinom(z, n, 1 - p, lower.tail = FALSE, log.p = TRUE)
  list(m = m, n = n, p = p, z = z, cdf = -expm1(log_survival), survival = exp(log_survival))
}
cases <- list(
  best(1000, 3000, 0.9, c(100, 150, 200, 220, 236, 248, 260, 280)),
  best(1e6, 1e6, 0.9, c(89500, 92000, 95000, 98000, 98368, 98600, 98700)),
  best(1e6, 1000, 0.5, c(300, 400, 420, 430)),
  best(1, 50, 0.7, c(0, 3, 10, 15, 25, 40, 49)),
  best(2, 10, 0.99, c(0, 1, 5))
)
write_json(cases, "extremes.json")
